"""The record of a program with planted mistakes, and of one mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

RNG: Final = np.random.default_rng(41)


class Mistake(NamedTuple):
    """One planted mistake.

    kind: see KINDS. place: a fragment of the source line that has it, or `argument NAME`. line: its
    number in a script; 0 for a program of `models` or `numerics`. gain: as measured before any
    question was put, a share of a run or a compile, bytes or seconds; None if it is to be measured.
    """

    kind: str
    place: str
    line: int = 0
    gain: float | None = None


class Program(NamedTuple):
    """A function with arguments, and the calls that compile it again.

    static: positions of static arguments. donated: positions that the caller donates. calls: of
    `why_recompiled`, empty for a program without recompilation.
    """

    function: Callable[..., Any]
    arrays: tuple[Any, ...]
    calls: tuple[tuple[Any, ...], ...] = ()
    static: tuple[int, ...] = ()
    donated: tuple[int, ...] = ()


Build = Callable[[frozenset[str]], Program]
"""Return the program in which the mistakes of some kinds are mended."""


class Planted(NamedTuple):
    """A program with its mistakes. is_wide: 64-bit types are enabled in JAX."""

    build: Build
    mistakes: tuple[Mistake, Mistake, Mistake]
    is_wide: bool = False


# The question that names each kind of mistake.
KINDS: Final = {
    "recompilation": "why_recompiled",
    "wide": "why_slow",
    "gather": "why_slow",
    "reshape": "why_slow",
    "one-hot": "why_slow",
    "unrolled": "why_slow_to_compile",
    "donation": "why_memory",
    "captured": "why_memory",
    "small-products": "why_slow",
    "precision": "why_slow",
    "host": "why_slow",
}


def normal(*shape: int) -> Any:
    """Return random numbers in 32 bits."""
    return RNG.standard_normal(shape).astype(np.float32)


def indices(most: int, *shape: int) -> Any:
    """Return random indices below a number."""
    return RNG.integers(0, most, shape).astype(np.int32)
