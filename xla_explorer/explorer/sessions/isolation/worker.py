"""The child process: it reads, optimises, compiles and runs modules.

It writes each activity on the blackboard first. Requests name a method of `Worker`. Answers are
("ok", value), ("error", exception or None, text) or ("memory", text). Both are values as
`plain_data` writes them.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.buffers.assignment import BufferAssignment
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.written_schedules import WrittenSchedule, written_schedules
from xla_explorer.compiler.pipeline import PassControl, PassTrace
from xla_explorer.explorer.sessions.isolation.blackboard import Blackboard
from xla_explorer.explorer.sessions.isolation.outcome import compiled, source_of
from xla_explorer.explorer.sessions.isolation.travelling import portable, with_state
from xla_explorer.explorer.sessions.warming import warm_backend
from xla_explorer.foundation.memory_limit import limit_memory, mapped_bytes
from xla_explorer.foundation.messages import own_streams, received, send
from xla_explorer.foundation.plain_data import PlainDataError
from xla_explorer.hlo.evaluator import evaluate, evaluate_replicated
from xla_explorer.hlo.module import HloModule


class Worker:
    """The programs of this process by number."""

    def __init__(self, board: Blackboard) -> None:
        self.board = board
        self.programs: dict[int, CompileResult] = {}
        self._floor = 0
        self._loaded: set[str] = set()

    def prepare(
        self,
        backend: str,
        imports: tuple[str, ...],
        memory: int | None,
        gone: tuple[int, ...],
        environment: dict[str, str | None],
    ) -> None:
        """Load the backend and plug-ins, forget programs, and limit the memory.

        Loading has no time limit. The memory limit is in bytes above those mapped before any
        program runs.
        """
        self.board.begin(-1, "loading")
        for number in gone:
            self.programs.pop(number, None)
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for name in imports:
            importlib.import_module(name)
        limit_memory(None)
        if backend not in self._loaded:
            warm_backend(backend)
            self._loaded.add(backend)
        if memory is not None:
            if not self._floor:
                self._floor = mapped_bytes()
            limit_memory(self._floor + memory)

    def compile(
        self,
        number: int,
        given: Any,
        is_path: bool,
        filename: str | None,
        verify: bool,
        check_values: Any,
        backend: str,
        options: CompileOptions,
    ) -> dict[str, Any]:
        """Compile from the text to the code; return what the session in the other process needs.

        source: the module, if a text was given. trace, error, phase, seconds: as those of
        `compiled`. backend: the backend's result.
        """
        board = self.board
        board.begin(number, "parsing")
        source = source_of(Path(given) if is_path else given, filename, verify)
        board.begin(number, "in the passes")
        outcome = compiled(
            source,
            backend,
            _watched(options, board),
            check_values,
            lambda: board.begin(number, "compiling"),
        )
        if outcome.error is not None and _out_of_memory(outcome.error):
            raise MemoryError(str(outcome.error)) from outcome.error
        error = outcome.error
        if error is not None and portable(error) is None:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return {
            "source": None if source is given else source,
            "trace": outcome.trace,
            "error": error,
            "phase": outcome.phase,
            "seconds": dict(outcome.seconds),
            "backend": None if outcome.result is None else self._described(number, outcome.result),
        }

    def restore(
        self, number: int, trace: PassTrace, backend: str, options: CompileOptions
    ) -> dict[str, Any]:
        """Run the backend on a module that another child, now gone, had optimised."""
        self.board.begin(number, "compiling")
        return self._described(number, platform(backend).compiler().run_backend(trace, options))

    def _described(self, number: int, result: CompileResult) -> dict[str, Any]:
        self.programs[number] = result
        executable = result.executable
        return {
            "stages": [
                (stage.name, stage.language, stage.compiler) for stage in result.stages.values()
            ],
            "steps": None if executable is None else list(executable.steps),
            "buffers": isinstance(result.buffers, BufferAssignment),
            "seconds": dict(result.seconds),
            "why_not": result.why_not,
            "emulates": hasattr(executable, "emulate"),
        }

    def stage(self, number: int, name: str) -> tuple[str | bytes, list[int | None]]:
        """Return the content and the origins of a stage."""
        self.board.begin(number, "compiling")
        stage = self.programs[number].stages[name]
        return (stage.text if stage.is_text else stage.data), stage.origins

    def schedules(self, number: int) -> dict[int, WrittenSchedule]:
        """Return the schedules of the kernels."""
        return written_schedules(getattr(self.programs[number].executable, "program", None))

    def llvm_module(self, number: int) -> LlvmModule | None:
        """Return the LLVM module of the program, if the backend makes one."""
        return getattr(self.programs[number].executable, "llvm_module", None)

    def execute(self, number: int, arrays: list[Any]) -> list[Any]:
        """Run on leaves, with instrumentation if the backend has it."""
        executable = self._begin(number, "running")
        watched = getattr(executable, "execute_watched", None)
        if watched is None:
            return list(executable.execute(arrays))
        return list(watched(arrays, self.board.rows(max(len(executable.steps), 1))))

    def profile(self, number: int, arrays: list[Any], repeats: int) -> Any:
        """See `Executable.profile`."""
        return self._begin(number, "measuring").profile(arrays, repeats)

    def emulate(
        self, number: int, arrays: list[Any], options: Any = None, text: str | None = None
    ) -> Any:
        """See the GPU executable."""
        return self._begin(number, "running").emulate(arrays, options, text)

    def kernel_threads(self, number: int) -> dict[str, int]:
        """See the GPU executable."""
        executable: Any = self.programs[number].executable
        return dict(executable.kernel_threads)

    def evaluate(
        self, module: HloModule, values: list[Any], options: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """Evaluate a module; return the result, and the hosts and evaluators that it changed."""
        self.board.begin(-1, "evaluating")
        result = evaluate(module, *values, **options)
        return result, with_state(options)

    def evaluate_replicated(
        self, module: HloModule, values: list[Any], options: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """See `hlo.evaluator.evaluate_replicated`."""
        self.board.begin(-1, "evaluating")
        results = evaluate_replicated(module, values, **options)
        return results, with_state(options)

    def _begin(self, number: int, phase: str) -> Any:
        self.board.begin(number, phase)
        return self.programs[number].executable


def _watched(options: CompileOptions, board: Blackboard) -> CompileOptions:
    """Return the options with a control that names each pass on the blackboard."""
    control = options.control or PassControl()
    control.on_pass = board.name_pass
    return CompileOptions(
        options.passes,
        options.journal,
        options.threads,
        options.verify,
        options.cache,
        control,
        options.backend_options,
    )


def _out_of_memory(problem: BaseException | None) -> bool:
    while problem is not None:
        if isinstance(problem, MemoryError) or (
            isinstance(problem, OSError) and problem.errno == errno.ENOMEM
        ):
            return True
        if isinstance(problem, RuntimeError) and "can't start new thread" in str(
            problem
        ):  # its stack does not fit
            return True
        problem = problem.__cause__
    return False


def main() -> None:
    """Answer requests until the pipe closes."""
    requests, answers = own_streams()
    worker = Worker(Blackboard(sys.argv[1]))
    for name, *arguments in received(requests):
        try:
            answer: tuple[Any, ...] = ("ok", getattr(worker, name)(*arguments))
        except BaseException as problem:  # any exception is an answer to the other process
            text = f"{type(problem).__name__}: {problem}"
            answer = (
                ("memory", text) if _out_of_memory(problem) else ("error", portable(problem), text)
            )
        try:
            send(answers, answer)
        except MemoryError as problem:
            answer = "memory", f"the results do not fit: {problem}"
            send(answers, answer)
        except PlainDataError as problem:
            send(answers, ("error", None, str(problem)))
        if (
            answer[0] != "memory"
        ):  # after that this process is ended, and the board has its activity
            worker.board.begin(-1, "idle")
