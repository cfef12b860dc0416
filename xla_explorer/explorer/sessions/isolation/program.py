"""Compiles in the child process, and their executables in this one."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import (
    CompilationStage,
    CompileOptions,
    CompileResult,
    ProfileResult,
    ProgramStep,
    hlo_stage,
)
from xla_explorer.backends.registry import is_registered_here, platform
from xla_explorer.compiler.buffers.assignment import assign_buffers
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS, INDEXED_EMITTERS
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.written_schedules import WrittenSchedule
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace
from xla_explorer.compiler.pipeline.default_pipelines import requested_pipeline
from xla_explorer.compiler.pipeline.pass_interface import declared_passes
from xla_explorer.explorer.sessions.isolation.outcome import Outcome
from xla_explorer.explorer.sessions.isolation.process import process_lock
from xla_explorer.explorer.sessions.isolation.settings import Isolation
from xla_explorer.explorer.sessions.isolation.work import RemoteWork, forgotten
from xla_explorer.foundation.plain_data import PlainDataError, packed
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_numbers = itertools.count(1)


def why_not_sent(backend: str, passes: Any, isolation: Isolation) -> Reason | None:
    """Return why a compile cannot be sent to the child; None if it can.

    The child has the installed packages and the modules of `Isolation.imports`, but no definitions
    of a notebook.
    """
    if isolation.imports:
        return None
    if is_registered_here(backend):
        return Reason(
            "backend-of-this-process",
            f"the backend {backend!r} was registered in this process; a child does not have it",
        )
    emitters = {**ELEMENTWISE_EMITTERS, **INDEXED_EMITTERS}
    own = sorted(
        [opcode for opcode, function in emitters.items() if function.__module__ == "__main__"]
    )
    if own:
        message = (
            f"the emitter of {', '.join(own)} was written in this notebook, a child does not "
            "have it"
        )
        return Reason("emitter-of-this-process", message, {"opcodes": own})
    return _why_pass_not_sent(passes)


def _why_pass_not_sent(passes: Any) -> Reason | None:
    """Return a reason if the pipeline has passes or rules that a notebook defined."""
    if isinstance(passes, str) and not any(
        cls.__module__ == "__main__" for cls in declared_passes().values()
    ):
        return None
    pipeline = requested_pipeline(passes, PassPipeline("default", ()))
    own = sorted({step.name for step in pipeline.passes() if type(step).__module__ == "__main__"})
    if own:
        message = (
            f"the pass {', '.join(own)} was written in this notebook, a child does not have it"
        )
        return Reason("pass-of-this-process", message, {"passes": own})
    try:
        packed(pipeline)
    except PlainDataError as problem:
        return Reason(
            "pass-of-this-process", f"the pipeline cannot be sent to a child: {problem.message}"
        )
    return None


class RemoteProgram(RemoteWork):
    """A program whose code lives in the child.

    When the child has gone, the next question compiles the optimised module in a new one.
    """

    def __init__(
        self, name: str, backend: str, options: CompileOptions, isolation: Isolation
    ) -> None:
        super().__init__(name, backend, isolation)
        self.options = options
        self.number = next(_numbers)
        self.trace: PassTrace | None = None
        weakref.finalize(self, forgotten.append, self.number)

    def compile(
        self, given: Any, filename: str | None, verify: bool, check_values: Any
    ) -> dict[str, Any]:
        """Compile from the text to the code in the child."""
        is_path = isinstance(given, Path)
        request = (
            "compile",
            self.number,
            str(given) if is_path else given,
            is_path,
            filename,
            verify,
            check_values,
            self.backend,
        )
        with process_lock:
            process = self.prepared()
            described: dict[str, Any] = self.answer_of(process, *request, self.options)
            self.process = process
        return described

    def ask(self, name: str, *arguments: Any) -> Any:
        """Send a request about the program and return the answer."""
        with process_lock, self.one_run():
            process = self.prepared()
            if process is not self.process:
                self._restore(process)
            return self.answer_of(process, name, self.number, *arguments)

    def restore(self) -> dict[str, Any]:
        """Compile the optimised module, and return a description of the backend's result."""
        with process_lock, self.one_run():
            return self._restore(self.prepared())

    def _restore(self, process: Any) -> dict[str, Any]:
        described: dict[str, Any] = self.answer_of(
            process, "restore", self.number, self.trace, self.backend, self.options
        )
        self.process = process
        return described


class RemoteExecutable:
    """See `backends.interfaces.Executable`; runs in the child."""

    def __init__(self, program: RemoteProgram) -> None:
        self.program = program

    @property
    def module(self) -> HloModule:
        """The optimised module."""
        assert self.program.module is not None
        return self.program.module

    @property
    def steps(self) -> list[ProgramStep]:
        """The steps of the program, in order."""
        return list(self.program.steps)

    @cached_property
    def written_schedules(self) -> dict[int, WrittenSchedule]:
        """By which schedules the kernels were written, by the id of the instruction."""
        found: dict[int, WrittenSchedule] = self.program.ask("schedules")
        return found

    @cached_property
    def llvm_module(self) -> LlvmModule | None:
        """The LLVM module of the program, if the backend makes one."""
        found: LlvmModule | None = self.program.ask("llvm_module")
        return found

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run on leaves. IsolatedError (a crash, a timeout, memory) names the kernel."""
        return list(self.program.ask("execute", [np.asarray(a) for a in arrays]))

    def profile(self, arrays: list[Array], repeats: int) -> ProfileResult:
        """Measure in the child, without the time of the messages."""
        found: ProfileResult = self.program.ask("profile", [np.asarray(a) for a in arrays], repeats)
        return found


class RemoteEmulatedExecutable(RemoteExecutable):
    """With the PTX emulator's counters.

    here: the program compiled in this process, whose kernels are stepped: none of its code runs
    natively.
    """

    def __init__(self, program: RemoteProgram, here: Callable[[], Any]) -> None:
        super().__init__(program)
        self._here = here

    def emulate(self, arrays: list[Array], options: Any = None, text: str | None = None) -> Any:
        """See the GPU executable."""
        return self.program.ask("emulate", [np.asarray(a) for a in arrays], options, text)

    @cached_property
    def kernel_threads(self) -> dict[str, int]:
        """See the GPU executable."""
        found: dict[str, int] = self.program.ask("kernel_threads")
        return found

    def stepper(self, *arguments: Any) -> Any:
        """See the GPU executable."""
        return self._here().stepper(*arguments)


def compile_isolated(
    given: Any,
    filename: str | None,
    backend: str,
    options: CompileOptions,
    isolation: Isolation,
    *,
    verify: bool,
    check_values: Any,
) -> tuple[HloModule, Outcome]:
    """Compile in the child process; return the module as written and the result of `compiled`.

    This process repeats only work that the child did within its limits: it reads the answer and
    assigns buffers. Raises exceptions of parsing and verifying, and IsolatedError.
    """
    program = RemoteProgram(
        given.name if isinstance(given, HloModule | Path) else "the module",
        backend,
        options,
        isolation,
    )
    found = program.compile(given, filename, verify, check_values)
    source: HloModule = given if found["source"] is None else found["source"]
    trace: PassTrace = found["trace"]
    program.module, program.trace, program.name = trace.module, trace.without_steps(), source.name
    result = (
        None
        if found["backend"] is None
        else _result(program, backend, trace, options, found["backend"])
    )
    return source, Outcome(trace, result, found["error"], found["phase"], found["seconds"])


def restored_result(
    name: str, backend: str, trace: PassTrace, options: CompileOptions, isolation: Isolation
) -> CompileResult:
    """Return the backend's result for a module that was optimised before, made in the child."""
    program = RemoteProgram(name, backend, options, isolation)
    program.module, program.trace = trace.module, trace.without_steps()
    return _result(program, backend, trace, options, program.restore())


def _result(
    program: RemoteProgram,
    backend: str,
    trace: PassTrace,
    options: CompileOptions,
    described: dict[str, Any],
) -> CompileResult:
    if described["steps"] is not None:
        program.steps = described["steps"]
    executable: RemoteExecutable | None = None
    if described["emulates"]:
        again = trace.without_steps()
        executable = RemoteEmulatedExecutable(
            program, lambda: platform(backend).compiler().run_backend(again, options).executable
        )
    elif described["steps"] is not None:
        executable = RemoteExecutable(program)
    donate = bool(options.backend_options.get("donate"))
    buffers = assign_buffers(trace.module, donate=donate) if described["buffers"] else None
    stages = _stages(program, trace, described["stages"])
    return CompileResult(
        trace, executable, stages, buffers, described["seconds"], described["why_not"]
    )


def _stages(
    program: RemoteProgram, trace: PassTrace, described: list[tuple[str, str, str]]
) -> dict[str, CompilationStage]:
    """Return the modules of this process, and stages that the child sends on first use."""
    own = {"hlo-optimized": hlo_stage("hlo-optimized", trace.module)}
    if trace.initial is not None:
        own = {"hlo": hlo_stage("hlo", HloModule.from_snapshot(trace.initial)), **own}
    return {
        **own,
        **{
            name: CompilationStage(name, partial(program.ask, "stage", name), *how)
            for name, *how in described
        },
        **own,
    }
