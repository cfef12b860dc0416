"""Jobs over which LLVM ended its process: which functions those were, and other ways to code for them.

Everything is tried in processes of their own, one job at a time: the job may have died of its
neighbour.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
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
from xla_explorer.backends.llvm.llvm_module import Job
from xla_explorer.backends.llvm.module_partition import function_names, without_functions
from xla_explorer.backends.llvm.target_machine import TargetDescription, llvm_version
from xla_explorer.foundation.child_process import ChildEndedError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.warning import warn

_MOST_NAMES: Final = 4  # of the functions that a message names
_HINT: Final = "compile for another CPU (XLA_EXPLORER_TARGET) or on another backend, and report it with `session.stage('llvm-ir').text`"


class LlvmCrashedError(XlaExplorerError):
    """LLVM ends its process over some functions, however it is asked. functions: their names."""

    def __init__(self, message: str, functions: Sequence[str] = ()) -> None:
        super().__init__(message, _HINT)
        self.functions = tuple(functions)


class LlvmFallbackWarning(RuntimeWarning):
    """LLVM crashed over a function, whose code was then made with less optimisation."""


class Finished(NamedTuple):
    """What was made of a job: mostly one object or text.

    remarks: what had to be done otherwise, and why.
    """

    data: tuple[bytes, ...]
    seconds: dict[str, float]
    remarks: tuple[str, ...] = ()


def finished(job: Job, future: Future[Made], whole: bool = False) -> Finished:
    """Wait for a job that was submitted. whole: its object may not be cut in two.

    Raises what the job did (LlvmIrError, TargetError, RuntimeError), LlvmCrashedError where LLVM
    cannot make code in any way.
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
    """Does one job at a time, in a process that is replaced when it ends.

    died: how it did the last time.
    """

    def __init__(self) -> None:
        self._process: CodeProcess | None = None
        self.died: ChildEndedError | None = None

    def made(self, job: Job) -> Made | None:
        """What LLVM makes of it; None where it dies."""
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
    """The job in another way, as little of it as LLVM allows."""
    names = function_names(job.ir_text) or []
    guilty = _guilty(job, names, names, trial)
    assert trial.died is not None
    first = trial.died
    for text, rest in _cuts(job.ir_text, names, guilty, whole):
        for how, easier in _easier(job._replace(ir_text=text)):
            data, seconds = [], dict[str, float]()
            for part in (easier, job._replace(ir_text=rest)) if rest else (easier,):
                made = trial.made(part)
                if made is None:
                    break
                data.append(made.data)
                seconds = {
                    step: seconds.get(step, 0.0) + spent for step, spent in made.seconds.items()
                }
            else:
                remark = f"{_what_happened(first, guilty, job.description)}; code was made {how}, which is slower"
                warn(remark, LlvmFallbackWarning)
                return Finished(tuple(data), seconds, (remark,))
    raise LlvmCrashedError(_what_happened(first, guilty, job.description), guilty)


def _guilty(
    job: Job, names: Sequence[str], everything: Sequence[str], trial: _TrialProcess
) -> list[str]:
    """Those of the functions over which LLVM dies, each by itself where it does; empty where it does not die of these alone."""
    others = set(everything) - set(names)
    text = job.ir_text if not others else without_functions(job.ir_text, others)
    if not names or text is None or (others and trial.made(job._replace(ir_text=text)) is not None):
        return []
    if len(names) == 1:
        return list(names)
    half = len(names) // 2
    return [
        found
        for part in (names[:half], names[half:])
        for found in _guilty(job, part, everything, trial)
    ] or list(names)


def _cuts(
    text: str, names: Sequence[str], guilty: Sequence[str], whole: bool
) -> list[tuple[str, str]]:
    """What to make in another way, and what as ever: the guilty functions and the rest where the module may be cut, then all of it."""
    rest = without_functions(text, guilty)
    alone = without_functions(text, set(names) - set(guilty))
    cut = not whole and 0 < len(guilty) < len(names) and rest is not None and alone is not None
    return [*([(alone or "", rest or "")] if cut else []), (text, "")]


def _easier(job: Job) -> list[tuple[str, Job]]:
    """The same job with less and less to go wrong."""
    unoptimised = job._replace(passes="none", options=replace(job.options, level=0))
    return [
        ("at level 0 of the code generator", job._replace(code_level=0)),
        ("without optimisation", unoptimised),
    ]


def _what_happened(
    died: ChildEndedError, names: Sequence[str], description: TargetDescription
) -> str:
    """One sentence: LLVM, how it ended, over which functions, for which CPU."""
    named = ", ".join([f"`{name}`" for name in names[:_MOST_NAMES]]) or "a module"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    why = died.told.removeprefix("error: ")
    why = why[max(why.find("Assertion "), 0) :]
    return (
        f"LLVM {llvm_version()} {died.how} over {named}{more} for {description.cpu or description.triple}"
        + (f" ({why})" if why else "")
    )
