"""Trials of advice: flags and rewritten programs of XLA, timed in turns with the compilation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.xla.child import XlaChild, XlaProcessError
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.backends.xla.xla_platform import XlaExecutable
from xla_explorer.explorer.advice.rules import Advice
from xla_explorer.explorer.xla.forms import FORMS, form_lines, rewritten
from xla_explorer.explorer.xla.median_interval import median_interval
from xla_explorer.explorer.xla.what_if import largest_difference
from xla_explorer.hlo.module import HloModule

_ROUNDS: Final = 25
_FEW_ROUNDS: Final = 11  # of programs that run long
_LONG_US: Final = 5e4
_MOST_SERIES: Final = 3
"""The most series of rounds: a trial whose interval has 1.0 is measured again, if it is faster."""
_LEAST: Final = 3  # runs a round
_GAIN: Final = 1.03
"""Times that differ by less count as equal."""
_LINES: Final = 3
"""Source lines at which a form is tried, the largest first: each takes a compile and runs."""


class TimedTrial(NamedTuple):
    """Microseconds of a run by rounds, without and with a change; the difference of the results."""

    before: list[float]
    after: list[float]
    difference: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which the median of (with : without) lies with a probability of 95 %.

        Of few rounds, the smallest and the largest ratio.
        """
        ratios = [b / a for a, b in zip(self.before, self.after, strict=True)]
        return median_interval(ratios)[1:]

    @property
    def is_open(self) -> bool:
        """True if the change seems to help, but the interval contains 1.0."""
        is_faster = float(np.median(self.before)) > _GAIN * float(np.median(self.after))
        return is_faster and self.interval[1] >= 1.0


class Change(NamedTuple):
    """A program or a flag to try, the line of what is changed, and the advice that proposes it."""

    advice: Advice
    module: HloModule
    line: str


def try_advice(
    advice: Sequence[Advice],
    module: HloModule,
    executable: XlaExecutable,
    leaves: Sequence[Any],
    repeats: int,
) -> tuple[list[Advice], list[Advice]]:
    """Return (the advice that helps or cannot be tried, what was tried without gain), with times.

    What was measured comes first. A form is tried at each of its source lines by itself. A flag
    that XLA refuses is left out of both; so is a rewritten program with other results.
    """
    kept: list[Advice] = []
    without_gain: list[Advice] = []
    for one in advice:
        changes = changes_of(one, module)
        kept += [one] if not changes else []
        for change in changes:
            trial = timed_trial(one.flags, change.module, executable, leaves, repeats)
            if trial is None:
                kept += [one._replace(line=change.line)] if one.form else []
                continue
            tried, helps = _judged(change, trial)
            if tried is not None:
                (kept if helps else without_gain).append(tried)
    return sorted(kept, key=lambda one: (one.tried_us is None, -one.gain_us)), without_gain


def changes_of(advice: Advice, module: HloModule) -> list[Change]:
    """Return what advice proposes to try: a flag, or a form at each of its largest lines."""
    if not advice.form:
        return [Change(advice, module, advice.line)] if advice.flags else []
    lines = list(form_lines(advice.form, module).items())
    if len(lines) < 2:
        made = rewritten(advice.form, module)
        line = next((line for line, _ in lines if line), advice.line)
        return [Change(advice, made, line)] if made is not None else []
    each = [
        (line, rewritten(advice.form, module, frozenset(names))) for line, names in lines[:_LINES]
    ]
    return [Change(advice, made, line or advice.line) for line, made in each if made is not None]


def _judged(change: Change, trial: TimedTrial) -> tuple[Advice | None, bool]:
    """Return the advice with its times, None for other results; and True if it helps."""
    one = change.advice
    most = FORMS[one.form].most_different if one.form else None
    if most is not None and not trial.difference <= most:
        return None, False
    before, after = [float(np.median(times)) for times in (trial.before, trial.after)]
    ratios = trial.interval
    tried = one._replace(
        line=change.line,
        tried_us=(before, after),
        gain_us=max(before - after, 0.0),
        ratios=ratios,
        difference=trial.difference if most is not None or one.flags else 0.0,
    )
    return tried, before > _GAIN * after and ratios[1] < 1.0


def timed_trial(
    flags: str, module: HloModule, executable: XlaExecutable, leaves: Sequence[Any], repeats: int
) -> TimedTrial | None:
    """Time a program in a child process, in turns with the compilation; None if XLA refuses it."""
    child = XlaChild(flags=flags, dumped="")
    arrays = [np.asarray(leaf) for leaf in leaves]
    kinds = [p.shape.element_type.dtype for p in module.entry.parameters()]
    theirs = [a.astype(kind, copy=False) for a, kind in zip(arrays, kinds, strict=True)]
    before: list[float] = []
    after: list[float] = []
    each = max(repeats // _FEW_ROUNDS, _LEAST)
    try:
        child.ask(*SourceNames(module).request)
        results = list(child.ask("run", theirs))
        difference = _difference(list(executable.run(arrays)), results)
        rounds = _ROUNDS if executable.time(arrays, 1)[0] < _LONG_US else _FEW_ROUNDS
        for _ in range(_MOST_SERIES):
            for _ in range(rounds):
                before.append(float(np.median(executable.time(arrays, each))))
                times = child.ask("time", theirs, each)
                after.append(float(np.median([float(us) for us in times])))
            if not TimedTrial(before, after, difference).is_open:
                break
    except XlaProcessError:
        return None
    finally:
        child.close()
    return TimedTrial(before, after, difference)


def _difference(before: list[Any], after: list[Any]) -> float:
    """Return the largest difference of results; infinity for results of other shapes."""
    alike = [a.shape == b.shape for a, b in zip(before, after, strict=True)]
    return largest_difference(before, after) if all(alike) else float("inf")
