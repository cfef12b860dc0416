"""Stages of the GPU backend.

Hlo, hlo-optimized, buffers, llvm-ir, llvm-ir-optimized, ptx, launches, sass.
The last one needs NVIDIA's tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.disassembly import sass_of, why_no_sass
from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.gpu_program import GpuProgram
from xla_explorer.backends.gpu.kernel_module import kernel_groups, write_kernels
from xla_explorer.backends.interfaces import CompilationStage, hlo_stage
from xla_explorer.backends.llvm.assembly import parse_assembly
from xla_explorer.backends.llvm.debug_lines import with_debug_lines
from xla_explorer.backends.llvm.llvm_compiler import (
    OptimizationOptions,
    emit_assembly,
    optimized_ir,
)
from xla_explorer.backends.llvm.parallel_llvm import compilation_threads
from xla_explorer.backends.llvm.stages import strip_debug
from xla_explorer.backends.llvm.target_machine import TargetDescription, usable_cores
from xla_explorer.compiler.buffers import BufferAssignment
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.ir.llvm_text import text_with_origins
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.transforms.library_calls.library_call import call_name
from xla_explorer.hlo.module import HloModule

# Loops inside a GPU thread gain nothing from vectorisation; the warp is the vector.
PTX_OPTIMIZATION = OptimizationOptions(
    level=3,
    loop_vectorization=False,
    slp_vectorization=False,
    loop_unrolling=True,
    strength_reduction=True,
)
_VARIABLES = (".shared", ".global", ".const")
_DEBUG_LABEL = re.compile(r"\$L__(tmp|func_begin|func_end|debug|info)\w*:")


def gpu_stages(
    trace: PassTrace,
    assignment: BufferAssignment | None,
    program: GpuProgram,
    architecture: GpuArchitecture,
) -> dict[str, CompilationStage]:
    """Return the stages by name, each produced when it is read."""
    target = architecture.target

    def with_lines() -> LlvmModule:
        return with_debug_lines(program.module, "DebugDirectivesOnly")

    stages = stages_before_assembly(trace, assignment, program)
    stages.append(
        CompilationStage(
            "llvm-ir-optimized",
            lambda: strip_debug(optimized_ir(with_lines(), target, PTX_OPTIMIZATION)),
            "llvm",
        )
    )
    stages.append(CompilationStage("ptx", lambda: ptx_of(program, target), "ptx"))
    if why_no_sass() is None:
        stages.append(
            CompilationStage(
                "sass",
                lambda: sass_of(
                    emit_assembly(with_lines(), target, PTX_OPTIMIZATION), architecture.name
                ),
                "sass",
            )
        )
    stages.append(CompilationStage("launches", lambda: launch_table(program)))
    return {stage.name: stage for stage in stages}


def stages_before_assembly(
    trace: PassTrace, assignment: BufferAssignment | None, program: GpuProgram
) -> list[CompilationStage]:
    """Return hlo, hlo-optimized, buffers, llvm-ir, which are common to all GPUs."""
    stages = []
    if trace.initial is not None:
        stages.append(hlo_stage("hlo", HloModule.from_snapshot(trace.initial)))
    stages.append(hlo_stage("hlo-optimized", trace.module))

    def buffers() -> tuple[str, list[int | None]]:
        assert assignment is not None
        rows = assignment.to_rows()
        text = [
            repr(assignment),
            *[", ".join([f"{key}={value}" for key, value in row.items()]) for row in rows],
        ]
        return "\n".join(text), [None, *[row["id"] for row in rows]]

    if assignment is not None:
        stages.append(CompilationStage("buffers", buffers))
    stages.append(CompilationStage("llvm-ir", lambda: text_with_origins(program.module), "llvm"))
    return stages


def ptx_of(program: GpuProgram, target: TargetDescription) -> tuple[str, list[int | None]]:
    """Return the PTX of all kernels, and the instruction id of each line.

    Many kernels are compiled in groups, on all cores.
    """

    def emitted(kernels: Sequence[GpuKernel]) -> tuple[str, list[int | None]]:
        module = with_debug_lines(write_kernels(kernels, program.dialect), "DebugDirectivesOnly")
        return ptx_without_debug(emit_assembly(module, target, PTX_OPTIMIZATION))

    groups = kernel_groups(program.kernels)
    if len(groups) == 1:
        return emitted(program.kernels)
    emit = map if usable_cores() == 1 else compilation_threads().map
    return _joined(list(emit(emitted, groups)))


def _joined(parts: list[tuple[str, list[int | None]]]) -> tuple[str, list[int | None]]:
    """Join PTX modules: one header, and each shared variable or constant once."""
    lines: list[str] = []
    origins: list[int | None] = []
    variables: set[str] = set()
    for text, owners in parts:
        in_header = bool(lines)
        for line, owner in zip(text.splitlines(), owners, strict=True):
            if in_header:
                in_header = not line.startswith(".address_size")
            elif line.startswith(_VARIABLES) and line.endswith(";"):
                if line not in variables:
                    variables.add(line)
                    lines.append(line)
                    origins.append(owner)
            else:
                lines.append(line)
                origins.append(owner)
    return "\n".join(lines) + "\n", origins


def ptx_without_debug(text: str) -> tuple[str, list[int | None]]:
    """Return PTX text without `.loc`, `.file` and debug sections, and each line's instruction id.

    The text is still valid for ptxas.
    """
    lines: list[str] = []
    origins: list[int | None] = []
    in_debug_section = False
    for line in parse_assembly(text, "module.hlo"):
        stripped = line.text.strip()
        if stripped.startswith(".section"):
            in_debug_section = True
        if in_debug_section:
            in_debug_section = stripped != "}"
            continue
        if stripped.startswith((".loc", ".file")) or _DEBUG_LABEL.match(stripped):
            continue
        lines.append(
            line.text.split("// @")[0].rstrip() if stripped.startswith("// @") else line.text
        )
        origins.append(None if line.hlo_line is None else line.hlo_line - 1)
    return "\n".join(lines) + "\n", origins


def launch_table(program: GpuProgram) -> tuple[str, list[int | None]]:
    """Return a line per kernel launch, copy and host call, with reasoning and instruction ids."""
    lines: list[str] = []
    origins: list[int | None] = []
    emitted = {i.id: made.refused for i, made in program.emitted}
    for thunk in program.walk():
        name = f"%{thunk.instruction.name}"
        if thunk.kernel is not None:
            kernel = thunk.kernel
            text = (
                f"kernel       {name}: {kernel.name} ({kernel.emitter}), {kernel.launch}: "
                f"{kernel.launch.reasoning}"
            )
            for refused, why in emitted.get(thunk.instruction.id, ()):
                text += f". Not {refused}: {why.code}: {why.message}"
            if thunk.reason is not None:
                text += f". {thunk.reason.code}: {thunk.reason.message}"
        elif thunk.kind == "copy":
            source, target = thunk.arguments
            here, there = [f"{place.allocation.name}+{place.offset}" for place in (source, target)]
            text = f"copy         {name}: {target.size} bytes, {here} to {there}"
        elif thunk.kind == "evaluator":
            text = f"evaluator    {name}: {thunk.reason}"
        elif thunk.call is not None:
            text = f"library      {name}: {call_name(thunk.call)}: {thunk.call}"
        elif thunk.kind == "wait":
            text = f"wait         {name}"
        else:
            text = f"{thunk.kind:12s} {name}: {sum(map(len, thunk.bodies))} steps inside"
        if thunk.stream or thunk.waits:
            text += f"; on stream {thunk.stream}"
            text += f" after streams {', '.join(map(str, thunk.waits))}" if thunk.waits else ""
        lines.append(text)
        origins.append(thunk.instruction.id)
    return "\n".join(lines), origins
