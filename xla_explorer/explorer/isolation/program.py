"""The backend's half of a compile in the child process, and the executable that stands for it here."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import CompileOptions, CompileResult, ProfileResult, ProgramStep, Stage, hlo_stage
from xla_explorer.backends.registry import is_registered_here, platform
from xla_explorer.compiler.buffers.assignment import assign_buffers
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS, INDEXED_EMITTERS
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace
from xla_explorer.explorer.isolation.failure import (
    IsolatedCrashError,
    IsolatedError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
    failure,
)
from xla_explorer.explorer.isolation.process import ChildProcess, ProcessEndedError, RemoteError, shared_process
from xla_explorer.explorer.isolation.settings import Isolation
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_KINDS: dict[str, type[IsolatedError]] = {"crash": IsolatedCrashError, "timeout": IsolatedTimeoutError, "memory": IsolatedMemoryError}
_HINTS = {
    "crash": "this session is unharmed; session.stage('llvm-ir') has the code, session.bisect(...) finds the pass that broke it",
    "timeout": "a loop whose condition stays true? raise timeout= if it is only slow",
    "memory": "smaller shapes, or raise memory_limit=",
}
_numbers = itertools.count(1)
_forgotten: list[int] = []
"""Programs whose session is gone. Nothing is sent from a finalizer, which may run anywhere: they wait for the next question."""


def kept_here(backend: str, isolation: Isolation) -> Reason | None:
    """Why a backend's code is not sent to the child; None when it is.

    The child knows what is installed and what `Isolation.imports` names. What a notebook defined itself, it does not.
    """
    if backend == "xla":
        return Reason("own-process", "real XLA runs in a process of its own anyway")
    if isolation.imports:
        return None
    if is_registered_here(backend):
        return Reason("backend-of-this-process", f"the backend {backend!r} was registered in this process, a child does not know it")
    emitters = {**ELEMENTWISE_EMITTERS, **INDEXED_EMITTERS}
    own = sorted([opcode for opcode, function in emitters.items() if function.__module__ == "__main__"])
    if own:
        message = f"the emitter of {', '.join(own)} was written in this notebook, a child does not have it"
        return Reason("emitter-of-this-process", message, {"opcodes": own})
    return None


class RemoteProgram:
    """A module that was compiled in the child. When the child has gone, the next question compiles it again in a new one."""

    def __init__(self, backend: str, trace: PassTrace, options: CompileOptions, isolation: Isolation) -> None:
        self.module: HloModule = trace.module
        self.backend, self.isolation = backend, isolation
        self.number = next(_numbers)
        self.steps: list[ProgramStep] = []
        ids = {c.name: (c.id, {i.name: i.id for i in c.instructions.values()}) for c in self.module.computations.values()}
        journal = "off" if trace.journal is None else trace.journal.level.name.lower()
        self._request = (
            self.number, self.module.to_text(), ids, backend, dict(trace.target), journal,
            options.threads, options.cache, dict(options.backend_options),
        )
        self._process: ChildProcess | None = None
        weakref.finalize(self, _forgotten.append, self.number)

    def compile(self) -> dict[str, Any]:
        """Compile it in the child."""
        process, lock = shared_process()
        with lock:
            self._process = None
            described: dict[str, Any] = self._asked(process, "compile", *self._request)
            self._process = process
        return described

    def ask(self, name: str, *arguments: Any) -> Any:
        """A question about the program."""
        _, lock = shared_process()
        with lock:
            if self._process is None or not self._process.alive:
                self.compile()
            assert self._process is not None
            return self._asked(self._process, name, self.number, *arguments)

    def _asked(self, process: ChildProcess, *request: Any) -> Any:
        limits = self.isolation
        try:
            gone, _forgotten[:] = tuple(_forgotten), []
            process.ask(None, "prepare", self.backend, limits.imports, limits.memory, gone)
            return process.ask(limits.timeout, *request)
        except ProcessEndedError as ended:
            self._process = None
            hint = _HINTS[ended.how]
            if ended.how == "timeout" and ended.progress.phase == "compiling":
                hint = "a big module takes long to compile: raise timeout="
            raise failure(_KINDS[ended.how], ended.words, hint, self.module, self.steps, ended.progress) from None
        except RemoteError as raised:
            if getattr(raised.problem, "fatal", False):  # its device's context is lost: the next question goes to a new child
                process.close()
                self._process = None
            if raised.problem is not None:
                raise raised.problem from None
            raise IsolatedError(f"{self.module.name} in its child process: {raised.text}") from None




class RemoteExecutable:
    """See `backends.interfaces.Executable`; runs in the child."""

    def __init__(self, program: RemoteProgram) -> None:
        self.program = program

    @property
    def module(self) -> HloModule:
        """The optimised module."""
        return self.program.module

    @property
    def steps(self) -> list[ProgramStep]:
        """What runs, in order."""
        return self.program.steps

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Leaves in, leaves out. IsolatedError (a crash, a timeout, memory) names the kernel."""
        return list(self.program.ask("execute", [np.asarray(a) for a in arrays]))

    def profile(self, arrays: list[Array], repeats: int) -> ProfileResult:
        """Measured in the child, without the way there."""
        found: ProfileResult = self.program.ask("profile", [np.asarray(a) for a in arrays], repeats)
        return found


class RemoteEmulatedExecutable(RemoteExecutable):
    """With the PTX emulator's counters. here: the program compiled in this process, whose kernels are stepped: none of its code runs
    natively."""

    def __init__(self, program: RemoteProgram, here: Callable[[], Any]) -> None:
        super().__init__(program)
        self._here = here

    def emulate(self, arrays: list[Array], text: str | None = None) -> Any:
        """See the GPU executable."""
        return self.program.ask("emulate", [np.asarray(a) for a in arrays], text)

    def stepper(self, *arguments: Any) -> Any:
        """See the GPU executable."""
        return self._here().stepper(*arguments)


def run_backend_isolated(backend: str, trace: PassTrace, options: CompileOptions, isolation: Isolation) -> CompileResult:
    """What `Compiler.run_backend` gives, with code, loading and running in the child process. Raises what it raises, and IsolatedError."""
    program = RemoteProgram(backend, trace, options, isolation)
    described = program.compile()
    if trace.journal is not None:
        for event in described["events"]:
            trace.journal.write(*event)
    if described["steps"] is not None:
        program.steps = described["steps"]
    executable: RemoteExecutable | None = None
    if described["emulates"]:
        silent = PassTrace(trace.module, PassPipeline("stepped", ()), Journal("off"), None, None, dict(trace.target))
        executable = RemoteEmulatedExecutable(program, lambda: platform(backend).compiler().run_backend(silent, options).executable)
    elif described["steps"] is not None:
        executable = RemoteExecutable(program)
    donate = bool(options.backend_options.get("donate"))
    buffers = assign_buffers(trace.module, donate=donate) if described["buffers"] else None
    stages = _stages(program, trace, described["stages"])
    return CompileResult(trace, executable, stages, buffers, described["seconds"], described["why_not"])


def _stages(program: RemoteProgram, trace: PassTrace, described: list[tuple[str, str, str]]) -> dict[str, Stage]:
    """The modules as they are here, the rest asked for when it is looked at."""
    own = {"hlo-optimized": hlo_stage("hlo-optimized", trace.module)}
    if trace.initial is not None:
        own = {"hlo": hlo_stage("hlo", HloModule.from_snapshot(trace.initial)), **own}

    def remote(name: str, language: str, compiler: str) -> Stage:
        return Stage(name, lambda: program.ask("stage", name), language, compiler)

    rest = {name: remote(name, language, compiler) for name, language, compiler in described if name not in own}
    return {**own, **rest}
