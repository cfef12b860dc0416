"""LLVM IR of one kernel of a session, and the settings of the backend's calls of LLVM.

One kernel is compiled without the others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest

if TYPE_CHECKING:
    from xla_explorer.backends.llvm.llvm_compiler import OptimizationOptions
    from xla_explorer.backends.llvm.target_machine import TargetDescription
    from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule

_DEFINE = re.compile(r'^define [^@]*@"?([^"( ]+)"?\(')
_NAMED = re.compile(r'@"?([\w.$-]+)"?')

OF_LLVM = ("cpu", "gpu")


def finished_functions(session: Compilation) -> frozenset[str]:
    """Return the functions whose optimisation level is final: LLVM's passes do not change them."""
    return frozenset(
        [
            function.name
            for function in _program_module(session).functions
            if function.optimization_level is OptimizationLevel.FINAL
        ]
    )


def _program_module(session: Compilation) -> LlvmModule:
    """Return the module of a session's program, whose backend is one of `OF_LLVM`."""
    module: LlvmModule | None = getattr(session.executable, "llvm_module", None)
    if module is None:
        raise XlaExplorerError(
            f"this session of {session.backend} has no LLVM IR",
            "its program must be compiled, and by a backend that LLVM serves",
        )
    return module


class LlvmSetting(NamedTuple):
    """Settings of a backend's calls of LLVM: target, options, and harmless debug information."""

    target: TargetDescription
    options: OptimizationOptions
    emission: str


def llvm_setting(session: Compilation) -> LlvmSetting:
    """Return the LLVM setting of a session. XlaExplorerError for backends without one."""
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.llvm_compiler import OptimizationOptions
    from xla_explorer.backends.llvm.target_machine import host_target

    if session.backend == "cpu":
        return LlvmSetting(host_target(), OptimizationOptions(), "LineTablesOnly")
    if session.backend == "gpu":
        # Start-up time: the GPU's code generation.
        from xla_explorer.backends.gpu.architecture import gpu_architecture
        from xla_explorer.backends.gpu.gpu_stages import PTX_OPTIMIZATION

        name = getattr(getattr(session.executable, "ptx", None), "architecture", None)
        if name is not None:
            return LlvmSetting(
                gpu_architecture(name).target, PTX_OPTIMIZATION, "DebugDirectivesOnly"
            )
    raise XlaExplorerError(
        f"LLVM's work is followed for the backends {', '.join(OF_LLVM)}; this session is of "
        f"{session.backend}"
    )


def kernel_ir(session: Compilation, function: str | None = None) -> LlvmModule:
    """Return LLVM IR with the HLO instructions as debug locations, whole or of one function.

    The function comes with its callees. It gets external linkage, so that LLVM keeps it without
    callers.
    """
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.debug_lines import with_debug_lines

    setting = llvm_setting(session)
    module = _program_module(session)
    if function is not None:
        module = module.reached_from(function)
    return with_debug_lines(module, setting.emission)


def functions_reached(text: str, function: str) -> str:
    """Return the definitions of `function` and its callees in LLVM's output."""
    lines = text.split("\n")
    bodies: dict[str, list[str]] = {}
    start, name = -1, ""
    for k, line in enumerate(lines):
        found = _DEFINE.match(line)
        if found:
            start, name = k, found[1]
        elif line == "}" and start >= 0:
            bodies[name] = lines[start : k + 1]
            start = -1
    kept: set[str] = set()
    work = [function]
    while work:
        one = work.pop()
        if one in bodies and one not in kept:
            kept.add(one)
            work += {called for line in bodies[one] for called in _NAMED.findall(line)}
    return "\n".join([line for name, body in bodies.items() if name in kept for line in body])


def optimized_lines(session: Compilation, instruction: int) -> list[str]:
    """Return the lines of optimised LLVM IR of an instruction.

    They come from the whole program if its code exists already, else from the kernel alone.
    """
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.llvm_compiler import optimized_parts
    from xla_explorer.backends.llvm.stages import strip_debug

    stage = session.stages().get("llvm-ir-optimized")
    if stage is None:
        return []
    function = _function_of(session, instruction)
    if stage.is_made or function is None or session.backend not in OF_LLVM:
        return (
            [line for line, origin in stage.lines() if origin == instruction]
            if stage.is_made
            else []
        )
    setting, found = llvm_setting(session), []
    for part in optimized_parts(kernel_ir(session, function), setting.target, setting.options):
        text, origins = strip_debug(part)
        found += [
            line
            for line, origin in zip(text.split("\n"), origins, strict=False)
            if origin == instruction
        ]
    return found


def _function_of(session: Compilation, instruction: int) -> str | None:
    """Return the LLVM function of the kernel that computes an instruction; None without one."""
    functions = {step.instruction: getattr(step, "function", "") for step in program_steps(session)}
    if functions.get(instruction):
        return functions[instruction]
    for key, function in functions.items():
        if function:
            body = session.module.find(key).called if _is_fusion(session, key) else ()
            if any(instruction in computation.instructions for computation in body):
                return function
    return None


def _is_fusion(session: Compilation, key: int) -> bool:
    record = session.passes.lineage.records.get(key)
    return record is not None and record.opcode.name == "fusion"


def function_of(session: Compilation, kernel: str) -> str:
    """Return the LLVM function of a kernel's name as the tables show it.

    XlaExplorerError with the existing names.
    """
    wanted = kernel.lstrip("%")
    functions: dict[str, str] = {}
    for step in program_steps(session):
        function = getattr(step, "function", "") or ""
        if function:
            functions[step.name] = functions[function] = function
    if wanted not in functions:
        near = nearest(wanted, list(functions), 3) or list(functions)[:5]
        raise XlaExplorerError(
            f"no kernel is called {kernel}",
            f"kernels: {', '.join(near)}" if near else "this program has none",
        )
    return functions[wanted]
