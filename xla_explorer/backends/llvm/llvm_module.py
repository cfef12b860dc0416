"""Compilation of one module by LLVM: parse, optimise, generate code.

It runs in this process or a child: see `code_maker.py`. Nothing here imports numpy, so that the
child of `code_process.py` starts fast.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from xla_explorer.backends.llvm.parallel_llvm import emit_assembly_text, emit_object, run_passes
from xla_explorer.backends.llvm.target_machine import (
    TargetDescription,
    create_target_machine,
    llvm,
    own_target_machine,
)
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.ir.llvm_text import module_text
from xla_explorer.foundation.diagnostic import XlaExplorerError

LlvmIr = LlvmModule | str
"""A module, or the text of one, which is compiled as a whole."""


def text_of(ir: LlvmIr) -> str:
    """Return a module as text."""
    return ir if isinstance(ir, str) else module_text(ir)


class LlvmIrError(XlaExplorerError):
    """LLVM refused the IR.

    `line` and `column` count from 1 in the IR text (0: unknown); `excerpt` shows the place.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0, excerpt: str = "") -> None:
        place = f"LLVM IR line {line}: " if line else "LLVM IR: "
        super().__init__(place + message + (f"\n{excerpt}" if excerpt else ""))
        self.line = line
        self.column = column
        self.excerpt = excerpt


@dataclass(frozen=True, slots=True)
class OptimizationOptions:
    """Settings of LLVM's default pipeline; part of the cache key.

    level: 0 to 3, as in -O; also the code generator's level. The vectorisers and the unroller act
    from level 1 on. loop_unrolling: True lets LLVM unroll any loop; else only loops with unroll
    metadata. Measured on 55 programs, True costs a quarter more compile time and gains 1 % of run
    time: the vectoriser already interleaves profitable loops. by_optimization_level: functions with
    an optimisation level of their own (see `OptimizationLevel`) are separate modules. Measured: the
    same speed, at 0.6 of the compile time of matrix kernels (`final`), and at half of it for
    sorting (`short`). strength_reduction: True lets LLVM's code generator choose induction
    variables and address increments. Nests state these for machines whose addresses are a base, an
    index and a constant; see `reduces_strength`. verify: run LLVM's verifier first (about 0.1 us an
    instruction); this LLVM aborts the process on broken IR.
    """

    level: int = 3
    loop_vectorization: bool = True
    slp_vectorization: bool = True
    loop_interleaving: bool = True
    loop_unrolling: bool = False
    by_optimization_level: bool = True
    strength_reduction: bool = False
    verify: bool = True

    @classmethod
    def from_preset(cls, preset: str) -> OptimizationOptions:
        """Return a preset: `none` (O0), `fast` (O1) or `full` (O3).

        `fast` does not unroll, which saves about a tenth of the compile time.
        """
        try:
            return _PRESETS[preset]
        except KeyError:
            raise ValueError(
                f"unknown preset {preset!r}: choose from {', '.join(_PRESETS)}"
            ) from None

    def reduces_strength(self, description: TargetDescription) -> bool:
        """Return True if LLVM reduces strength.

        Without it on x86: the same speed, at three quarters of the code generator's time, and 2 %
        less code. It was not measured on other CPUs, whose addresses have fewer parts: each access
        would cost an addition.
        """
        return self.strength_reduction or description.architecture != "x86_64"

    def cache_key(self) -> str:
        """Return text that is equal exactly for options that give equal code."""
        flags = (
            self.loop_vectorization,
            self.slp_vectorization,
            self.loop_interleaving,
            self.loop_unrolling,
            self.by_optimization_level,
            self.strength_reduction,
        )
        return f"O{self.level}" + "".join("+" if flag else "-" for flag in flags)


_PRESETS = {
    "none": OptimizationOptions(level=0),
    "fast": OptimizationOptions(level=1, slp_vectorization=False, loop_unrolling=False),
    "full": OptimizationOptions(),
}


class Job(NamedTuple):
    """A module for LLVM, with the requested output.

    wanted: object code, assembly, or LLVM IR after the optimiser. passes: before code generation:
    `default`, `short` or `none` (see `run_pipeline`). verbose: assembly with LLVM's comments.
    code_level: of the code generator, 0 to 3, if it differs from `options.level`.
    """

    wanted: Literal["object", "assembly", "ir"]
    ir: LlvmIr
    passes: str
    description: TargetDescription
    options: OptimizationOptions
    verbose: bool = False
    code_level: int | None = None

    @property
    def ir_text(self) -> str:
        """The module as text."""
        return text_of(self.ir)


def perform(job: Job) -> tuple[bytes, dict[str, float]]:
    """Do the job in this process.

    Returns the requested output, and the seconds of each step: `parse`, `optimize`, `emit`. Raises
    LlvmIrError for IR that does not parse or verify, TargetError for an unknown target or one
    without objects.
    """
    started = time.perf_counter()
    options, description = job.options, job.description
    level = options.level if job.code_level is None else job.code_level
    with IrModule(job.ir_text, description, verify=options.verify) as ir:
        parsed = time.perf_counter()
        # Verbosity is a state of the target machine, so a verbose job has its own.
        machine = (create_target_machine if job.verbose else own_target_machine)(description, level)
        run_pipeline(ir.module, machine, options, job.passes)
        optimized = time.perf_counter()
        if job.wanted == "object":
            made = emit_object(machine, ir.module, options.reduces_strength(description))
        elif job.wanted == "assembly":
            machine.set_asm_verbosity(job.verbose)
            made = emit_assembly_text(
                machine, ir.module, options.reduces_strength(description)
            ).encode()
        else:
            made = str(ir.module).encode()
    emitted = time.perf_counter()
    return made, {
        "parse": parsed - started,
        "optimize": optimized - parsed,
        "emit": emitted - optimized,
    }


class IrModule:
    """A llvmlite module in an LLVM context of its own; closing frees both, in the right order.

    The process-wide context would keep every type and constant of every compilation for ever.
    Python's collector may free module and context in the wrong order, which crashes.
    """

    __slots__ = ("_context", "module")

    def __init__(
        self, ir_text: str, description: TargetDescription, *, verify: bool = True
    ) -> None:
        binding = llvm(all_targets=not description.is_host)
        self.module: Any = None
        self._context: Any = binding.create_context()
        self._context._owned = True
        try:
            self.module = binding.parse_assembly(ir_text, self._context)
            self.module.triple = description.triple
            self.module.data_layout = description.data_layout
            if verify:
                self.module.verify()
        except RuntimeError as problem:
            self.close()
            raise _ir_error(str(problem), ir_text) from None

    def close(self) -> None:
        """Free the module, then its context."""
        module, self.module = self.module, None
        context, self._context = self._context, None
        if module is not None:
            module.close()
        if context is not None and not context.closed:
            context._owned = False
            context.close()

    def __enter__(self) -> IrModule:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.close()


def run_pipeline(
    module: Any, machine: Any, options: OptimizationOptions, passes: str = "default"
) -> None:
    """Optimise a llvmlite module in place.

    passes: LLVM's -O0 to -O3 pipeline (`default`), its -O0 at every level (`none`), or mem2reg and
    constant folding only (`short`).
    """
    binding = llvm()
    tuning = binding.create_pipeline_tuning_options(
        speed_level=options.level if passes == "default" else 0
    )
    tuning.loop_vectorization = options.loop_vectorization
    tuning.slp_vectorization = options.slp_vectorization
    tuning.loop_interleaving = options.loop_interleaving
    tuning.loop_unrolling = options.loop_unrolling
    builder = binding.create_pass_builder(machine, tuning)
    if passes == "short" and options.level:
        manager = binding.create_new_module_pass_manager()
        manager.add_always_inliner_pass()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_instruction_combine_pass()
        manager.add_sroa_pass()  # of arrays, now that places in them are constant
        manager.add_new_gvn_pass()
    else:
        manager = builder.getModulePassManager()
    run_passes(manager, module, builder)


_PARSE_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")


def _ir_error(text: str, ir_text: str) -> LlvmIrError:
    found = _PARSE_PLACE.search(text)
    if found is None:
        # The verifier prints the sentence, then the instruction, without a line number: look the
        # instruction up.
        sentences = [line for line in text.splitlines() if line.strip()]
        message = sentences[0].strip() if sentences else "refused without a message"
        lines = ir_text.splitlines()
        for candidate in sentences[1:]:
            wanted = candidate.strip()
            for number, line in enumerate(lines, 1):
                if line.strip() == wanted:
                    return LlvmIrError(message, number, 0, _excerpt(lines, number, 0))
        return LlvmIrError(message, excerpt="\n".join(sentences[1:6]))
    place, column = int(found[1]), int(found[2])
    return LlvmIrError(found[3], place, column, _excerpt(ir_text.splitlines(), place, column))


def _excerpt(lines: list[str], line: int, column: int, around: int = 2) -> str:
    shown = []
    for number in range(max(1, line - around), min(len(lines), line + around) + 1):
        shown.append(f"{'>' if number == line else ' '} {number:5d} | {lines[number - 1][:160]}")
        if number == line and 0 < column <= 160:
            shown.append(" " * (10 + column - 1) + "^")
    return "\n".join(shown)
