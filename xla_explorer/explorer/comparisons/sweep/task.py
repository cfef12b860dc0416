"""One task of a sweep: plain data in, plain data out, so that it can run in any process on any machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from xla_explorer import __version__
from xla_explorer.backends.llvm.object_cache import user_cache_folder
from xla_explorer.explorer.measures.profiling import spread, time_calls
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, compile_as, program_steps
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.foundation.file_writing import try_lock
from xla_explorer.foundation.private_folder import private_folder
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.evaluator import evaluate, flatten_value

PATIENCE: Final = 600.0  # seconds


class Task(NamedTuple):
    """module: its name in the table.

    text: HLO. option: its name. settings: keyword arguments of `xe.compile`, JSON values only.

    repeats: timed runs, 0 for none. check: compare the values with the evaluator's. seed: of the
    random arguments.
    """

    module: str
    text: str
    option: str
    settings: dict[str, Any]
    repeats: int
    check: bool
    seed: int

    @property
    def key(self) -> str:
        """What the task is, by content: equal tasks of any sweep have equal keys."""
        what = [self.text, self.settings, self.repeats, self.check, self.seed, __version__]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def run_task(task: Task, measure: bool = True) -> dict[str, Any]:
    """Compile, and with `measure` run, check and time; a failure is a row too, with status and error."""
    row: dict[str, Any] = {
        "module": task.module,
        "option": task.option,
        "key": task.key,
        "status": "ok",
        "error": "",
        **machine(),
    }
    try:
        session = compile_as(Compilation, task.text, **{"journal": "off", **task.settings})
        row |= facts(session, task)
        if measure:
            arguments = random_arguments(session.source, seed=task.seed)
            leaves = session.signature.leaves(arguments)
            values = session.executable.execute(leaves)
            if task.check:
                row |= checked(session, leaves, values)
            if task.repeats:
                with alone_on_this_machine() as note:
                    row |= {**timed(session, arguments, task.repeats), "note": note}
    except Exception as problem:  # any failure of one task is that task's result
        row["status"], row["error"] = "failed", f"{type(problem).__name__}: {problem}"[:2000]
    return row


def facts(session: Any, task: Task) -> dict[str, Any]:
    """What the compile came to: sizes, estimates of the cost model, seconds by phase."""
    cost = module_cost(session.module)
    buffers = session.result.buffers
    return {
        "backend": session.backend,
        "instructions": session.module.instruction_count(),
        "kernels": len(program_steps(session)),
        "flops": cost.flops,
        "bytes": cost.bytes_accessed,
        "peak_bytes": buffers.arena_size if buffers is not None else None,
        "compile_seconds": sum(session.seconds.values()),
    }


@as_one_run
def checked(session: Any, leaves: list[Any], values: list[Any]) -> dict[str, Any]:
    """How far the values are from the evaluator's; the status says so when too far."""
    error, fine = largest_error(flatten_value(evaluate(session.source, *leaves)), values)
    return {"max_error": error, **({} if fine else {"status": "values differ"})}


def timed(session: Any, arguments: Any, repeats: int) -> dict[str, Any]:
    """Median and spread of whole calls, in microseconds."""
    time_calls(session, arguments, 1)
    median, iqr = spread(time_calls(session, arguments, repeats))
    return {"median_us": median, "iqr_us": iqr, "n": repeats, "load": _load()}


@contextmanager
def alone_on_this_machine(patience: float = PATIENCE) -> Iterator[str]:
    """Only one process of this user's sweeps times at once on a machine: two at a time would measure each other.

    Gives a note: empty, or why the times are taken beside another's. patience: seconds to wait for
    the others.
    """
    lock, note = _timing_lock()
    try:
        started, told = time.monotonic(), False
        while lock is not None and not try_lock(lock):
            waited = time.monotonic() - started
            if waited > patience:
                note = f"timed beside another sweep, which did not end its own timing within {patience:g} s"
                break
            if waited > 5 and not told:
                told = True
                print(
                    "xla_explorer: waiting for another sweep on this machine to finish a timing",
                    file=sys.stderr,
                    flush=True,
                )
            time.sleep(0.02)
        yield note
    finally:
        if lock is not None:
            os.close(lock)  # and with it the lock


def _timing_lock() -> tuple[int | None, str]:
    """The lock's file, in the folder that only this user writes; None and a note where there is none."""
    folder = user_cache_folder()
    try:
        if not private_folder(folder):
            return None, f"timed without a lock: {folder} is not this user's alone"
        # Never followed where it is a link, never shortened: a file of that name may be anything.
        return os.open(
            folder / "timing.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600
        ), ""
    except OSError as problem:
        return None, f"timed without a lock: {problem.strerror or problem}"


def machine() -> dict[str, Any]:
    """Where and with what a row was made."""
    import numpy

    return {
        "host": platform.node(),
        "process": os.getpid(),
        "load": _load(),
        "xla_explorer": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }


def _load() -> float | None:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
