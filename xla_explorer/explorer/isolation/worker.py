"""The child process: compiles and runs modules that it is sent, and writes on the blackboard what it is about to do.

Messages are pickles over this process's own pipes, between two processes of one user. Requests name a method of `Worker`; answers are
("ok", value), ("error", exception or None, text) or ("memory", text).
"""

from __future__ import annotations

import errno
import importlib
import os
import pickle
import signal
import sys
import threading
import time
from typing import Any

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.buffers.assignment import BufferAssignment
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace
from xla_explorer.explorer.isolation.blackboard import Blackboard
from xla_explorer.explorer.warming import warm_up
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.messages import receive, send
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo


def module_with_ids(text: str, ids: dict[str, tuple[int, dict[str, int]]]) -> HloModule:
    """The module of the text with the ids that its names have at home: computation -> (id, instruction -> id)."""
    module = parse_hlo(text)
    computations = {c: ids[c.name][0] for c in module.computations.values() if c.name in ids}
    instructions = {i: ids[c.name][1][i.name] for c in computations for i in c.instructions.values() if i.name in ids[c.name][1]}
    module.renumber(instructions, computations, module)
    return module


class Worker:
    """The programs of this process by number."""

    def __init__(self, board: Blackboard) -> None:
        self.board = board
        self.programs: dict[int, CompileResult] = {}
        self._floor = 0
        self._loaded: set[str] = set()

    def prepare(self, backend: str, imports: tuple[str, ...], memory: int | None, gone: tuple[int, ...]) -> None:
        """Load the backend (no timeout counts that) and plug-ins; forget programs; limit the memory to so many bytes above what is mapped
        before any program runs."""
        self.board.begin(-1, "loading")
        for number in gone:
            self.programs.pop(number, None)
        for name in imports:
            importlib.import_module(name)
        _limit_memory(None)
        if backend not in self._loaded:
            warm_up(backend)
            self._loaded.add(backend)
        if memory is not None:
            if not self._floor:
                self._floor = _mapped_bytes()
            _limit_memory(self._floor + memory)

    def compile(
        self, number: int, text: str, ids: dict[str, tuple[int, dict[str, int]]], backend: str, target: dict[str, Any], journal: str,
        threads: int | None, cache: bool, backend_options: dict[str, Any],
    ) -> dict[str, Any]:
        """Run the backend's half of a compile; what the session at home needs to know of it."""
        self.board.begin(number, "compiling")
        module = module_with_ids(text, ids)
        trace = PassTrace(module, PassPipeline("isolated", ()), Journal(journal), None, None, target)
        options = CompileOptions("none", journal, threads, False, cache, None, backend_options)
        result = self.programs[number] = platform(backend).compiler().run_backend(trace, options)
        executable = result.executable
        assert trace.journal is not None
        return {
            "stages": [(stage.name, stage.language, stage.compiler) for stage in result.stages.values()],
            "steps": None if executable is None else list(executable.steps),
            "buffers": isinstance(result.buffers, BufferAssignment),
            "seconds": dict(result.seconds),
            "why_not": result.why_not,
            "events": [(e.kind, e.by, e.subjects, e.names, e.reason, e.facts) for e in trace.journal.events],
            "emulates": hasattr(executable, "emulate"),
        }

    def stage(self, number: int, name: str) -> tuple[str | bytes, list[int | None]]:
        """Content and origins of a stage."""
        self.board.begin(number, "compiling")
        stage = self.programs[number].stages[name]
        return (stage.text if stage.is_text else stage.data), stage.origins

    def execute(self, number: int, arrays: list[Any]) -> list[Any]:
        """Leaves in, leaves out; with probes where the backend has them."""
        executable = self._begin(number, "running")
        watched = getattr(executable, "execute_watched", None)
        if watched is None:
            return list(executable.execute(arrays))
        return list(watched(arrays, self.board.rows(max(len(executable.steps), 1))))

    def profile(self, number: int, arrays: list[Any], repeats: int) -> Any:
        """See `Executable.profile`."""
        return self._begin(number, "measuring").profile(arrays, repeats)

    def emulate(self, number: int, arrays: list[Any], text: str | None = None) -> Any:
        """See the GPU executable."""
        return self._begin(number, "running").emulate(arrays, text=text)

    def _begin(self, number: int, phase: str) -> Any:
        self.board.begin(number, phase)
        return self.programs[number].executable


def _mapped_bytes() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 2 << 30  # not Linux: what LLVM and numpy map, generously


def _limit_memory(limit: int | None) -> None:
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = hard if limit is None else limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _out_of_memory(problem: BaseException | None) -> bool:
    while problem is not None:
        if isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno == errno.ENOMEM):
            return True
        problem = problem.__cause__
    return False


def _portable(problem: BaseException) -> BaseException | None:
    """The exception, if it survives the journey home."""
    try:
        copy = pickle.loads(pickle.dumps(problem))
    except Exception:
        return None
    return problem if isinstance(copy, type(problem)) and str(copy) == str(problem) else None


def _end_with_parent(parent: int) -> None:
    """A program in an endless loop never sees the pipe close."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def main() -> None:
    """Answer requests until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interrupt of a notebook is for the kernel, which ends us if it must
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print must not get between messages
    threading.Thread(target=_end_with_parent, args=(int(sys.argv[2]),), daemon=True).start()
    worker = Worker(Blackboard(sys.argv[1]))
    while True:
        try:
            name, *arguments = receive(requests)
        except EOFError:
            return
        try:
            answer: tuple[Any, ...] = ("ok", getattr(worker, name)(*arguments))
        except BaseException as problem:  # whatever it is, the answer is for the other side
            text = f"{type(problem).__name__}: {problem}"
            answer = ("memory", text) if _out_of_memory(problem) else ("error", _portable(problem), text)
        try:
            send(answers, answer)
        except MemoryError as problem:
            send(answers, ("memory", f"the results do not fit: {problem}"))
        worker.board.begin(-1, "idle")


if __name__ == "__main__":
    main()
