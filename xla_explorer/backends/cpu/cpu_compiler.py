"""The CPU compiler: HLO passes, buffers, one LLVM module and one object, loaded by LLJIT."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from xla_explorer.backends.cpu.blas import blas_symbols
from xla_explorer.backends.cpu.cpu_executable import CpuExecutable
from xla_explorer.backends.cpu.devices.device_program import DeviceProgram
from xla_explorer.backends.cpu_program.cpu_pipeline import FusionPolicy, cpu_pipeline
from xla_explorer.backends.cpu_program.cpu_stages import cpu_stages
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.cpu_program.program_writing import ENTRY, write_program
from xla_explorer.backends.interfaces import (
    AotCompilationOptions,
    CompileOptions,
    CompileResult,
    DevicesProgram,
)
from xla_explorer.backends.interpreter.whole_module import on_the_evaluator, why_no_native_code
from xla_explorer.backends.llvm.early_objects import EarlyObjects
from xla_explorer.backends.llvm.llvm_compiler import OptimizationOptions
from xla_explorer.backends.llvm.native_library import prepare_host
from xla_explorer.backends.llvm.object_cache import default_object_cache
from xla_explorer.backends.llvm.target_machine import TargetDescription, host_target, usable_cores
from xla_explorer.compiler.buffers import BufferAssignment, assign_buffers
from xla_explorer.compiler.codegen.dispatch import cpu_strategy, nest_kernel
from xla_explorer.compiler.codegen.ir.builder import contraction
from xla_explorer.compiler.codegen.kernel_store import KERNELS
from xla_explorer.compiler.codegen.nest.directives import DIRECTIVES, Directive
from xla_explorer.compiler.codegen.nest.schedule_text import parse_schedules
from xla_explorer.compiler.codegen.parallel_plan import cache_blocking_decision, parallel_decision
from xla_explorer.compiler.codegen.program_kernels import ProgramKernels
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.compiler.codegen.scheduled_kernel import ScheduledKernels
from xla_explorer.compiler.decisions.recorded import code_check
from xla_explorer.compiler.pipeline.default_pipelines import requested_pipeline
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.transforms.simplifiers.algebraic.algsimp import AlgebraicSimplifier
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal, Level
from xla_explorer.foundation.reason import Reason, place_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    from xla_explorer.backends.aot.ahead_of_time import AheadOfTimeProgram

PARALLEL_CODEGEN_LINES = 4000  # LLVM IR lines from which code generation on two cores pays


def _fusion_policy(given: Any) -> FusionPolicy:
    if given not in (None, *get_args(FusionPolicy)):
        raise XlaExplorerError(
            f"unknown fusion_policy {given!r}",
            f"choose from {', '.join(map(repr, get_args(FusionPolicy)))}",
        )
    return given or "time"


class CpuCompiler:
    """See `backends.interfaces.Compiler`."""

    name = "cpu"

    def default_pipeline(self) -> PassPipeline:
        """Return the HLO pipeline, as data."""
        return cpu_pipeline()

    def warm_up(self) -> None:
        """Initialise everything that the first compilation would, but compile nothing."""
        self.default_pipeline()
        for layout_sensitive in (False, True):
            AlgebraicSimplifier(is_layout_sensitive=layout_sensitive).rules().prepare()
        prepare_host()
        blas_symbols()

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None if native code (ours or a library's) exists for an optimised instruction."""
        return cpu_strategy(instruction, described_cpu(libraries=True)).why_not_native

    def compile_ahead_of_time(
        self, module: HloModule, options: AotCompilationOptions
    ) -> AheadOfTimeProgram:
        """Compile to an object file, for this machine unless the options name a triple.

        See `backends.interfaces.AheadOfTimeCompiler`.
        """
        from xla_explorer.backends.aot.ahead_of_time import ahead_of_time_program

        if not options.triple:
            options = replace(options, triple=host_target().triple, cpu=options.cpu or "native")
        return ahead_of_time_program(module, options)

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module; `none` runs only the passes that code generation needs."""
        options_given = options.backend_options
        policy = _fusion_policy(options_given.get("fusion_policy"))
        default = cpu_pipeline(
            excess_precision=bool(options_given.get("excess_precision")), fusion_policy=policy
        )
        pipeline = requested_pipeline(options.passes, default)
        target = described_cpu(libraries=True)
        if options.backend_options.get("donate"):
            target = replace(target, abilities=replace(target.abilities, takes_arguments=True))
        return optimize(
            module,
            pipeline,
            options.journal,
            control=options.control,
            target=target,
            verify=options.verify,
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Assign buffers, write and optimise LLVM IR, and make the object and the executable.

        A module with dynamic dimensions runs on the evaluator as a whole.
        """
        dynamic = why_no_native_code(trace.module, sizes=True)
        if dynamic is not None:
            return on_the_evaluator(trace, options, dynamic)
        seconds = {"hlo-passes": trace.seconds}
        started = time.perf_counter()
        module = trace.module
        assignment = assign_buffers(module, donate=bool(options.backend_options.get("donate")))
        seconds["buffers"] = time.perf_counter() - started
        started = time.perf_counter()
        early = EarlyObjects(
            host_target(), OptimizationOptions(), default_object_cache() if options.cache else None
        )
        program = self._program(trace, options, assignment, early)
        record_decisions(program, trace.journal)
        record_vector_width(trace, host_target())
        seconds["llvm-ir"] = time.perf_counter() - started - early.seconds
        started = time.perf_counter() - early.seconds
        compiled = early.with_rest(
            program.module, parts=0 if program.line_count > PARALLEL_CODEGEN_LINES else 1
        )
        seconds["llvm"] = time.perf_counter() - started
        started = time.perf_counter()
        executable = CpuExecutable(module, assignment, program, compiled, _schedules(options))
        seconds["load"] = time.perf_counter() - started
        return CompileResult(
            trace, executable, cpu_stages(trace, assignment, program, compiled), assignment, seconds
        )

    def on_devices(
        self, result: CompileResult, replicas: int, partitions: int
    ) -> DevicesProgram | None:
        """See `SeveralDevices`: a thread a device."""
        found = result.executable
        return (
            DeviceProgram(found, replicas, partitions) if isinstance(found, CpuExecutable) else None
        )

    def write_code(self, trace: PassTrace, options: CompileOptions) -> None:
        """Write LLVM IR without compiling it, for those who record how it is written.

        See `backends.interfaces.CodeWriter`.
        """
        assignment = assign_buffers(
            trace.module, donate=bool(options.backend_options.get("donate"))
        )
        self._program(trace, options, assignment, None)

    def _program(
        self,
        trace: PassTrace,
        options: CompileOptions,
        assignment: BufferAssignment,
        early: EarlyObjects | None,
    ) -> HostProgram:
        """Write the program; `early` compiles finished parts meanwhile, on several cores."""
        control = options.control
        with contraction(bool(options.backend_options.get("contraction", True))):
            kernels = ProgramKernels(
                described_cpu(libraries=True),
                thread_count(options.threads),
                ENTRY,
                control,
                ScheduledKernels(_schedules(options), control),
                trace.journal is not None and trace.journal.level >= Level.DECISIONS,
                early.add if early is not None and (early.cache or usable_cores() > 1) else None,
            )
            if options.cache and default_object_cache().enabled:
                kernels.store = KERNELS
            return write_program(trace.module, assignment, kernels)


def _schedules(options: CompileOptions) -> Mapping[str, Sequence[Directive]]:
    return parse_schedules(str(options.backend_options.get("schedules") or ""))


def thread_count(threads: int | None) -> int:
    """Return the threads of a program: the user's number, else the usable cores."""
    return usable_cores() if threads is None else int(threads)


_DECIDED_IN = {
    "parallel": place_of(parallel_decision),
    "cache-blocking": place_of(cache_blocking_decision),
    "loop-vectorization": place_of(ProgramKernels.note_vectors),
    "vector-width": place_of(TargetDescription.vector_width_fact),
    "loop-nest": place_of(nest_kernel),
    **{f"loop-{name}": place_of(ScheduledKernels.kernel) for name in DIRECTIVES},
}


def record_decisions(program: HostProgram, journal: Journal | None) -> None:
    """Record the decisions about threads, cache blocking and vectors of each kernel."""
    if journal is None or journal.level < Level.DECISIONS:
        return
    for found in program.decisions:
        checks = code_check(found.kind, found.accepted, found.reason, {}, _DECIDED_IN[found.kind])
        journal.write(
            "decision",
            found.kind,
            (found.instruction,),
            (found.name,),
            found.reason,
            accepted=found.accepted,
            checklist=checks,
        )


def record_vector_width(trace: PassTrace, target: TargetDescription) -> None:
    """Record the vector width of the program as a decision of kind `vector-width` of its result."""
    if trace.journal is None or trace.journal.level < Level.DECISIONS:
        return
    root, fact = trace.module.entry.root, target.vector_width_fact()
    wide = bool(target.vector_register_bits)
    checks = code_check("vector-width", wide, fact, {}, _DECIDED_IN["vector-width"])
    trace.journal.write(
        "decision", "vector-width", (root.id,), (root.name,), fact, accepted=wide, checklist=checks
    )
