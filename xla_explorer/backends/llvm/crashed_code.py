"""Recovery of jobs that crash LLVM: find the functions that crash it, compile them otherwise.

Each attempt runs alone in a process of its own, because a job may have died of another job's crash.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Final, NamedTuple

from xla_explorer.backends.llvm.code_maker import (
    CodeProcess,
    Made,
    NoCodeProcessError,
    in_this_process,
    result_of,
)
from xla_explorer.backends.llvm.llvm_module import Job, LlvmIr
from xla_explorer.backends.llvm.module_partition import separable, without_functions
from xla_explorer.backends.llvm.target_machine import TargetDescription, llvm_version
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.foundation.child_process import ChildEndedError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.warning import warn

_MOST_NAMES: Final = 4  # of the functions that a message names
_HINT: Final = (
    "compile for another CPU (XLA_EXPLORER_TARGET) or on another backend, and report it with "
    "`session.stage('llvm-ir').text`"
)


class LlvmCrashedError(XlaExplorerError):
    """LLVM crashes on some functions at every optimisation level. functions: their names."""

    def __init__(self, message: str, functions: Sequence[str] = ()) -> None:
        super().__init__(message, _HINT)
        self.functions = tuple(functions)


class LlvmFallbackWarning(RuntimeWarning):
    """LLVM crashed over a function, whose code was then made with less optimisation."""


class Finished(NamedTuple):
    """The output of a job: usually one object or text.

    remarks: deviations from the requested compilation, with their causes.
    """

    data: tuple[bytes, ...]
    seconds: dict[str, float]
    remarks: tuple[str, ...] = ()


def finished(job: Job, future: Future[Made], whole: bool = False) -> Finished:
    """Wait for a submitted job. whole: its object must not be split in two.

    Raises the job's exception (LlvmIrError, TargetError, RuntimeError), LlvmCrashedError if LLVM
    crashes at every level.
    """
    try:
        made = result_of(future)
    except ChildEndedError:
        try:
            return _recovered(job, whole)
        except NoCodeProcessError as problem:  # it was there before
            raise LlvmCrashedError(
                f"LLVM ended its process, and no other can be started ({problem})"
            ) from None
    except NoCodeProcessError as problem:
        made = in_this_process(job, problem)
    return Finished((made.data,), made.seconds)


class _TrialProcess:
    """A process for one job at a time, replaced after a crash.

    died: the last crash.
    """

    def __init__(self) -> None:
        self._process: CodeProcess | None = None
        self.died: ChildEndedError | None = None

    def made(self, job: Job) -> Made | None:
        """Return LLVM's output for a job; None if LLVM crashes."""
        if self._process is None or not self._process.alive:
            self._process = CodeProcess(1)
        try:
            return self._process.submit(job).result()
        except ChildEndedError as problem:
            self.died = problem
            return None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()


_one_at_a_time = threading.Lock()


def _recovered(job: Job, whole: bool) -> Finished:
    with _one_at_a_time:
        trial = _TrialProcess()
        try:
            made = trial.made(job)  # alone, it may be done
            return (
                Finished((made.data,), made.seconds)
                if made is not None
                else _otherwise(job, whole, trial)
            )
        finally:
            trial.close()


def _otherwise(job: Job, whole: bool, trial: _TrialProcess) -> Finished:
    """Compile the crashing functions with less optimisation, and the rest as usual."""
    names = [] if isinstance(job.ir, str) else [f.name for f in separable(job.ir)]
    guilty = _guilty(job, names, names, trial)
    assert trial.died is not None
    first = trial.died
    for ir, rest in _cuts(job.ir, names, guilty, whole):
        for how, easier in _easier(job._replace(ir=ir)):
            data, seconds = [], dict[str, float]()
            for part in (easier, job._replace(ir=rest)) if rest else (easier,):
                made = trial.made(part)
                if made is None:
                    break
                data.append(made.data)
                seconds = {
                    step: seconds.get(step, 0.0) + spent for step, spent in made.seconds.items()
                }
            else:
                remark = (
                    f"{_what_happened(first, guilty, job.description)}; code was made {how}, "
                    "which is slower"
                )
                warn(remark, LlvmFallbackWarning)
                return Finished(tuple(data), seconds, (remark,))
    raise LlvmCrashedError(_what_happened(first, guilty, job.description), guilty)


def _guilty(
    job: Job, names: Sequence[str], everything: Sequence[str], trial: _TrialProcess
) -> list[str]:
    """Return the functions that crash LLVM by bisection; empty if these alone do not.

    If no single function crashes it, the smallest crashing group is returned.
    """
    others = set(everything) - set(names)
    ir = _without(job.ir, others) if others else job.ir
    if not names or ir is None or (others and trial.made(job._replace(ir=ir)) is not None):
        return []
    if len(names) == 1:
        return list(names)
    half = len(names) // 2
    return [
        found
        for part in (names[:half], names[half:])
        for found in _guilty(job, part, everything, trial)
    ] or list(names)


def _without(ir: LlvmIr, names: Collection[str]) -> LlvmModule | None:
    return None if isinstance(ir, str) else without_functions(ir, names)


def _cuts(
    ir: LlvmIr, names: Sequence[str], guilty: Sequence[str], whole: bool
) -> list[tuple[LlvmIr, LlvmModule | None]]:
    """Return (crashing functions, rest) if the module can be partitioned; then all of it."""
    rest, alone = _without(ir, guilty), _without(ir, set(names) - set(guilty))
    if whole or not 0 < len(guilty) < len(names) or rest is None or alone is None:
        return [(ir, None)]
    return [(alone, rest), (ir, None)]


def _easier(job: Job) -> list[tuple[str, Job]]:
    """Return the job at lower optimisation levels, each with its description."""
    unoptimised = job._replace(passes="none", options=replace(job.options, level=0))
    return [
        ("at level 0 of the code generator", job._replace(code_level=0)),
        ("without optimisation", unoptimised),
    ]


def _what_happened(
    died: ChildEndedError, names: Sequence[str], description: TargetDescription
) -> str:
    """Return one sentence: LLVM, how it ended, the functions, the CPU."""
    named = ", ".join([f"`{name}`" for name in names[:_MOST_NAMES]]) or "a module"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    why = died.explanation.removeprefix("error: ")
    why = why[max(why.find("Assertion "), 0) :]
    return (
        f"LLVM {llvm_version()} {died.how} over {named}{more} for "
        f"{description.cpu or description.triple}"
    ) + (f" ({why})" if why else "")
