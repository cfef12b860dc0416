"""One task of a sweep: plain data in and out, so that it can run in any process on any machine."""

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
    """One module with one option.

    Attributes
    ----------
    module : str
        Its name in the table.
    text : str
        Its HLO.
    option : str
        Its name.
    settings : dict
        Keyword arguments of `xe.compile`, JSON values only.
    repeats : int
        Timed runs, 0 for none.
    check : bool
        Compare the values with the evaluator's.
    seed : int
        Of the random arguments.
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
        """A hash of the task's content: equal tasks of any sweep have equal keys."""
        what = [self.text, self.settings, self.repeats, self.check, self.seed, __version__]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def run_task(task: Task, measure: bool = True) -> dict[str, Any]:
    """Compile, and with `measure` run, check and time; a failure is a row with its error."""
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
    """Return sizes, estimates of the cost model, and seconds of the compile."""
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
    """Return the largest error against the evaluator, and a status if it is too large."""
    error, fine = largest_error(flatten_value(evaluate(session.source, *leaves)), values)
    return {"max_error": error, **({} if fine else {"status": "values differ"})}


def timed(session: Any, arguments: Any, repeats: int) -> dict[str, Any]:
    """Return median and spread of whole calls, in microseconds."""
    time_calls(session, arguments, 1)
    median, iqr = spread(time_calls(session, arguments, repeats))
    return {"median_us": median, "iqr_us": iqr, "n": repeats, "load": _load()}


@contextmanager
def alone_on_this_machine(patience: float = PATIENCE) -> Iterator[str]:
    """Wait until no other sweep of this user on the machine is timing.

    Two at a time would measure each other. Yields a note: empty, or why another sweep may disturb
    the times.

    patience: seconds to wait.
    """
    lock, note = _timing_lock()
    try:
        started, printed = time.monotonic(), False
        while lock is not None and not try_lock(lock):
            waited = time.monotonic() - started
            if waited > patience:
                note = (
                    "timed while another sweep ran, which did not end its own timing within "
                    f"{patience:g} s"
                )
                break
            if waited > 5 and not printed:
                printed = True
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
    """Return the lock file in the user's private folder; None and a note without one."""
    folder = user_cache_folder()
    try:
        if not private_folder(folder):
            return None, f"timed without a lock: {folder} is not this user's alone"
        # Links are not followed and the file is not truncated: a file of that name may be anything.
        return os.open(
            folder / "timing.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600
        ), ""
    except OSError as problem:
        return None, f"timed without a lock: {problem.strerror or problem}"


def machine() -> dict[str, Any]:
    """Return the machine, process, versions and time of a row."""
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
