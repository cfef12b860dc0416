"""Differences of results: by claim, in units in the last place, and the strictest tier kept."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from xla_explorer.compiler.rewriting.exactness import Exactness, float_limits
from xla_explorer.explorer.sameness.sides import SameArgumentError
from xla_explorer.explorer.sessions.arguments import Array

_MOST_ULPS = 64
"""Differences above this many units are named by another tier."""

_NAMED = {
    "bitwise": Exactness.BITWISE,
    "numeric": Exactness.NUMERIC,
    "real": Exactness.REAL,
    "fast": Exactness.FAST,
}


def claim_of(given: Any) -> Exactness:
    """Return a claim from its name, from a number of ulps, or as it is."""
    if isinstance(given, Exactness):
        return given
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return Exactness.approximate(given)
    if isinstance(given, str) and given.isdecimal():
        return Exactness.approximate(int(given))
    if isinstance(given, str) and given in _NAMED:
        return _NAMED[given]
    raise SameArgumentError(
        f"claim must be one of {', '.join(_NAMED)}, or a number of ulps; got {given!r}",
        "claim='bitwise', or claim=2",
    )


def keeps(claim: Exactness, expected: Array, actual: Array, scale: Any) -> bool:
    """Return True if a result keeps a claim.

    For floats of 8 bits, whose unit in the last place is an eighth, `real` is within two units.
    """
    if claim.kind == "real" and expected.dtype.itemsize == 1 and is_float(expected):
        claim = Exactness.approximate(2)
    return claim.difference(expected, actual, scale=scale) is None


def is_float(array: Array) -> bool:
    """Return True for floats and complex numbers, those of ml_dtypes included."""
    try:
        float_limits(array.dtype)
    except (ValueError, TypeError):
        return False
    return True


def ulps_apart(expected: Array, actual: Array) -> np.ndarray[Any, Any]:
    """Return the distances in units in the last place of the expected values.

    Infinite for a NaN or an infinity on one side only, and for integers that differ.
    """
    if not is_float(expected):
        return np.asarray(np.where(expected == actual, 0.0, np.inf))
    if expected.dtype.kind == "c":
        parts = [ulps_apart(expected.real, actual.real), ulps_apart(expected.imag, actual.imag)]
        return np.asarray(np.maximum(*parts))
    info = float_limits(expected.dtype)
    with np.errstate(all="ignore"):
        a, b = expected.astype(np.float64), actual.astype(np.float64)
        size = np.clip(np.abs(a), float(info.smallest_normal), float(info.max))
        unit = 2.0 ** np.floor(np.log2(size)) * float(info.eps)
        distance = np.abs(a - b) / unit
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        finite = np.isfinite(a) & np.isfinite(b)
        return np.asarray(np.where(same, 0.0, np.where(finite, distance, np.inf)))


def loses_special_values(expected: Array, actual: Array, unsure: Any) -> bool:
    """Return True if a NaN became a number, or an infinity a finite number.

    unsure: places at which a rounding of the arguments decides between them.
    """
    if not is_float(expected):
        return False
    with np.errstate(all="ignore"):
        kind = np.complex128 if expected.dtype.kind == "c" else np.float64
        a, b = expected.astype(kind), actual.astype(kind)
    lost = (np.isnan(a) & ~np.isnan(b)) | (np.isinf(a) & np.isfinite(b))
    return bool((lost & ~unsure).any())


@dataclasses.dataclass
class Worst:
    """The worst difference so far. ulps: infinite for a NaN or infinity on one side only."""

    ulps: float = 0.0
    absolute: float = 0.0


@dataclasses.dataclass
class Tiers:
    """The claims that all compared results keep so far, and the worst difference."""

    worst: Worst = dataclasses.field(default_factory=Worst)
    kept: dict[str, bool] = dataclasses.field(default_factory=lambda: dict.fromkeys(_NAMED, True))

    def add(self, expected: Array, actual: Array, scale: Any, loses: bool) -> None:
        """Take one pair of results into account. loses: a NaN or infinity became a number."""
        self.kept["real"] &= not loses
        for name, claim in _NAMED.items():
            if self.kept[name]:
                self.kept[name] = keeps(claim, expected, actual, scale)
        ulps = ulps_apart(expected, actual)
        if ulps.size:
            self.worst.ulps = max(self.worst.ulps, float(ulps.max()))
            with np.errstate(all="ignore"):
                wide = np.complex128 if expected.dtype.kind == "c" else np.float64
                apart = np.abs(expected.astype(wide) - actual.astype(wide))
            apart = apart[np.isfinite(apart)]
            self.worst.absolute = max(self.worst.absolute, float(apart.max(initial=0.0)))

    @property
    def name(self) -> str:
        """The strictest tier: bitwise, numeric, `within n ulp`, real, fast or different."""
        for name in ("bitwise", "numeric"):
            if self.kept[name]:
                return name
        if self.worst.ulps <= _MOST_ULPS:
            return f"within {math.ceil(self.worst.ulps)} ulp"
        return next((name for name in ("real", "fast") if self.kept[name]), "different")
