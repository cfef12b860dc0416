"""The CPU backend's compiler for another CPU: without libraries, one object ahead of time."""

from __future__ import annotations

import time
from dataclasses import replace

from xla_explorer.backends.aot.ahead_of_time import (
    AheadOfTimeProgram,
    ahead_of_time_program,
    compile_ahead_of_time,
    write_kernels,
)
from xla_explorer.backends.aot.errors import AheadOfTimeError
from xla_explorer.backends.cpu.cpu_compiler import record_vector_width
from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
from xla_explorer.backends.cpu_program.cpu_stages import cpu_stages
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.cross.foreign_executable import ForeignExecutable
from xla_explorer.backends.cross.runners import make_runner, runner_availability
from xla_explorer.backends.interfaces import (
    AotCompilationOptions,
    CompileOptions,
    CompileResult,
    hlo_stage,
)
from xla_explorer.backends.llvm.cpu_targets import CpuTarget, UnknownTargetError, target_description
from xla_explorer.backends.llvm.object_cache import default_object_cache
from xla_explorer.backends.llvm.target_machine import TargetDescription
from xla_explorer.compiler.buffers.assignment import assign_buffers
from xla_explorer.compiler.codegen.dispatch import cpu_strategy
from xla_explorer.compiler.pipeline.default_pipelines import requested_pipeline
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

PREFIX = "xe_module"  # of the entry that the runners call
_OPTIONS = ("cpu", "features")


class CrossCompiler:
    """See `backends.interfaces.Compiler`.

    `CompileOptions.backend_options`: cpu, features, as LLVM spells them.
    """

    def __init__(self, target: CpuTarget) -> None:
        self.target = target
        self.name = target.name

    def default_pipeline(self) -> PassPipeline:
        """Return the HLO pipeline, as data."""
        return cpu_pipeline(self.name, libraries=False)

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None if there is native code for the (optimised) instruction, else the reason."""
        return cpu_strategy(
            instruction, described_cpu(target_description(self.target))
        ).why_not_native

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module; `none` runs only the passes that code generation needs."""
        pipeline = requested_pipeline(options.passes, self.default_pipeline())
        target = described_cpu(self._description(options))
        return optimize(
            module,
            pipeline,
            options.journal,
            control=options.control,
            target=target,
            verify=options.verify,
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Assign buffers, compile to an object, and make an executable if a runner is installed.

        A module with an instruction without native code has neither, because no evaluator can run
        it there.
        """
        description = self._description(options)
        seconds = {"hlo-passes": trace.seconds}
        started = time.perf_counter()
        assignment = None
        try:
            cache = default_object_cache() if options.cache else None
            assignment = assign_buffers(trace.module)
            seconds["buffers"] = time.perf_counter() - started
            program = compile_ahead_of_time(
                trace, description, PREFIX, assignment=assignment, cache=cache
            )
        except AheadOfTimeError as problem:
            stages = (
                {}
                if trace.initial is None
                else {"hlo": hlo_stage("hlo", HloModule.from_snapshot(trace.initial))}
            )
            stages["hlo-optimized"] = hlo_stage("hlo-optimized", trace.module)
            return CompileResult(
                trace, None, stages, assignment, seconds, why_not=problem.reasons[0]
            )
        seconds["llvm"] = time.perf_counter() - started - seconds["buffers"]
        record_vector_width(trace, description)
        stages = cpu_stages(trace, assignment, program.program, program.compiled)
        why_not = runner_availability(self.target, description)
        executable = (
            ForeignExecutable(program, make_runner(self.target)) if why_not is None else None
        )
        return CompileResult(trace, executable, stages, assignment, seconds, why_not, program)

    def write_code(self, trace: PassTrace, options: CompileOptions) -> None:
        """Write LLVM IR without compiling it (see `backends.interfaces.CodeWriter`)."""
        target = described_cpu(self._description(options))
        write_kernels(trace.module, assign_buffers(trace.module), target, PREFIX)

    def compile_ahead_of_time(
        self, module: HloModule, options: AotCompilationOptions
    ) -> AheadOfTimeProgram:
        """Compile to an object file, for this CPU unless the options name a triple.

        See `backends.interfaces.AheadOfTimeCompiler`.
        """
        target = self.target
        if not options.triple:
            features = options.features or target.features
            options = replace(
                options, triple=target.triple, cpu=options.cpu or target.cpu, features=features
            )
        return ahead_of_time_program(module, options)

    def _description(self, options: CompileOptions) -> TargetDescription:
        given = options.backend_options
        unknown = [name for name in given if name not in _OPTIONS]
        if unknown:
            raise UnknownTargetError(
                f"the backend {self.name} has no option {unknown[0]!r}",
                f"choose from {' and '.join(_OPTIONS)}",
            )
        return target_description(self.target, given.get("cpu"), given.get("features"))
