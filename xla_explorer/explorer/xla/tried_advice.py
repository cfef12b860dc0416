"""Trials of advice: flags and rewritten programs of XLA, timed in turns with the compilation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.xla.child import XlaChild, XlaProcessError
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.backends.xla.xla_platform import XlaExecutable
from xla_explorer.explorer.advice.rules import Advice
from xla_explorer.explorer.xla.tried_forms import rewritten
from xla_explorer.explorer.xla.what_if import largest_difference
from xla_explorer.hlo.module import HloModule

_ROUNDS: Final = 11
_LEAST: Final = 3  # runs a round
_GAIN: Final = 1.03
"""Times that differ by less count as equal."""
_MOST_DIFFERENT: Final = 1e-2
"""Results of a rewritten program that differ by more are those of another program."""


class TimedTrial(NamedTuple):
    """Microseconds of a run by rounds, without and with a change; the difference of the results."""

    before: list[float]
    after: list[float]
    difference: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which the median of (with : without) lies with a probability of 95 %.

        Of eleven rounds, the second smallest and the second largest ratio; of fewer, all.
        """
        ratios = sorted([b / a for a, b in zip(self.before, self.after, strict=True)])
        return (ratios[1], ratios[-2]) if len(ratios) >= _ROUNDS else (ratios[0], ratios[-1])


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
        if one.form and not trial.difference <= _MOST_DIFFERENT:
            continue
        before, after = [float(np.median(times)) for times in (trial.before, trial.after)]
        ratios = trial.interval
        tried = one._replace(
            tried_us=(before, after),
            gain_us=max(before - after, 0.0),
            ratios=ratios,
            difference=trial.difference,
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
    each = max(repeats // _ROUNDS, _LEAST)
    try:
        child.ask(*SourceNames(module).request)
        results = list(child.ask("run", theirs))
        difference = largest_difference(list(executable.run(arrays)), results)
        for _ in range(_ROUNDS):
            before.append(float(np.median(executable.time(arrays, each))))
            after.append(float(np.median([float(us) for us in child.ask("time", theirs, each)])))
    except XlaProcessError:
        return None
    finally:
        child.close()
    return TimedTrial(before, after, difference)
