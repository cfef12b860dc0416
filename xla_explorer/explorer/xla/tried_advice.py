"""Trials of advice: flags and rewritten programs of XLA, timed in turns with the compilation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.xla.child import XlaChild, XlaProcessError
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.backends.xla.xla_platform import XlaExecutable
from xla_explorer.explorer.advice.rules import Advice
from xla_explorer.explorer.xla.forms import FORMS, form_line, rewritten
from xla_explorer.explorer.xla.what_if import largest_difference
from xla_explorer.hlo.module import HloModule

_ROUNDS: Final = 25
_FEW_ROUNDS: Final = 11  # of programs that run long
_LONG_US: Final = 5e4
_RANKS: Final = {_ROUNDS: 7, _FEW_ROUNDS: 1}
"""Ranks from the ends between which the median lies in 95 of 100 series (binomial, p = 1/2)."""
_LEAST: Final = 3  # runs a round
_GAIN: Final = 1.03
"""Times that differ by less count as equal."""


class TimedTrial(NamedTuple):
    """Microseconds of a run by rounds, without and with a change; the difference of the results."""

    before: list[float]
    after: list[float]
    difference: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which the median of (with : without) lies with a probability of 95 %.

        Of an unusual number of rounds, the smallest and the largest ratio.
        """
        ratios = sorted([b / a for a, b in zip(self.before, self.after, strict=True)])
        rank = _RANKS.get(len(ratios), 0)
        return ratios[rank], ratios[-1 - rank]


def try_advice(
    advice: Sequence[Advice],
    module: HloModule,
    executable: XlaExecutable,
    leaves: Sequence[Any],
    repeats: int,
) -> tuple[list[Advice], list[Advice]]:
    """Return (the advice that helps or cannot be tried, what was tried without gain), with times.

    What was measured comes first. A flag that XLA refuses is left out of both; so is a rewritten
    program with other results.
    """
    kept: list[Advice] = []
    without_gain: list[Advice] = []
    for one in advice:
        changed = rewritten(one.form, module) if one.form else module
        if changed is None or not (one.flags or one.form):
            kept.append(one)
            continue
        trial = _timed(one.flags, changed, executable, leaves, repeats)
        if trial is None:
            kept += [one] if one.form else []
            continue
        most = FORMS[one.form].most_different if one.form else None
        if most is not None and not trial.difference <= most:
            continue
        before, after = [float(np.median(times)) for times in (trial.before, trial.after)]
        ratios = trial.interval
        tried = one._replace(
            line=(form_line(one.form, module) if one.form else "") or one.line,
            tried_us=(before, after),
            gain_us=max(before - after, 0.0),
            ratios=ratios,
            difference=trial.difference if most is not None or one.flags else 0.0,
        )
        helps = before > _GAIN * after and ratios[1] < 1.0
        (kept if helps else without_gain).append(tried)
    return sorted(kept, key=lambda one: (one.tried_us is None, -one.gain_us)), without_gain


def _timed(
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
        for _ in range(rounds):
            before.append(float(np.median(executable.time(arrays, each))))
            after.append(float(np.median([float(us) for us in child.ask("time", theirs, each)])))
    except XlaProcessError:
        return None
    finally:
        child.close()
    return TimedTrial(before, after, difference)


def _difference(before: list[Any], after: list[Any]) -> float:
    """Return the largest difference of results; infinity for results of other shapes."""
    alike = [a.shape == b.shape for a, b in zip(before, after, strict=True)]
    return largest_difference(before, after) if all(alike) else float("inf")
