"""Trials of advised XLA flags: compiled in a child process, timed against the compilation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from xla_explorer.backends.xla.child import XlaChild, XlaProcessError
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.backends.xla.xla_platform import XlaExecutable
from xla_explorer.explorer.measures.advice_rules import Advice
from xla_explorer.hlo.module import HloModule

_ROUNDS: Final = 5
_LEAST: Final = 3  # runs a round
_GAIN: Final = 1.03
"""Times that differ by less count as equal."""


def try_flags(
    advice: Sequence[Advice],
    module: HloModule,
    executable: XlaExecutable,
    leaves: Sequence[Any],
    repeats: int,
) -> tuple[list[Advice], list[Advice]]:
    """Return (the advice that helps or has no flag, the flags without gain), with times.

    A flag that XLA refuses is left out of both.
    """
    kept: list[Advice] = []
    without_gain: list[Advice] = []
    for one in advice:
        if not one.flags:
            kept.append(one)
            continue
        times = _times(one.flags, module, executable, leaves, repeats)
        if times is None:
            continue
        before, after = times
        tried = one._replace(tried_us=times, gain_us=max(before - after, 0.0))
        (kept if before > _GAIN * after else without_gain).append(tried)
    return sorted(kept, key=lambda one: -one.gain_us), without_gain


def _times(
    flags: str, module: HloModule, executable: XlaExecutable, leaves: Sequence[Any], repeats: int
) -> tuple[float, float] | None:
    child = XlaChild(flags=flags, dumped="")
    arrays = [np.asarray(leaf) for leaf in leaves]
    before: list[float] = []
    after: list[float] = []
    each = max(repeats // _ROUNDS, _LEAST)
    try:
        child.ask(*SourceNames(module).request)
        child.ask("run", arrays)
        for _ in range(_ROUNDS):
            before += executable.time(arrays, each)
            after += [float(us) for us in child.ask("time", arrays, each)]
    except XlaProcessError:
        return None
    finally:
        child.close()
    return float(np.median(before)), float(np.median(after))
