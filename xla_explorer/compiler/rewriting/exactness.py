"""How faithfully a rule keeps the value, as a claim that a test can check."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from xla_explorer.foundation.reason import Reason, refuse


@dataclasses.dataclass(frozen=True)
class Exactness:
    """What the rule claims.

    `BITWISE`: the same bits (payloads of NaN excepted). `NUMERIC`: equal values; a zero may change its sign.
    `approximate(n)`: within n units in the last place; infinities and NaN stay. `REAL`: equal over the real numbers
    only:
    rounding, overflow, infinities and NaN may differ (XLA applies these rules by default).
    """

    kind: str
    ulps: int = 0

    BITWISE: ClassVar[Exactness]
    NUMERIC: ClassVar[Exactness]
    REAL: ClassVar[Exactness]

    @staticmethod
    def approximate(ulps: int) -> Exactness:
        """Within so many units in the last place."""
        return Exactness("approximate", ulps)

    def __str__(self) -> str:
        return f"approximate within {self.ulps} ulp" if self.kind == "approximate" else self.kind

    def difference(self, expected: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> Reason | None:
        """None when `actual` keeps the claim about `expected`, else where it breaks it first."""
        if expected.shape != actual.shape or expected.dtype != actual.dtype:
            return refuse(
                "type-differs",
                f"expected {expected.dtype}{list(expected.shape)}, got {actual.dtype}{list(actual.shape)}",
            )
        wrong = self._wrong(expected, actual)
        if not wrong.any():
            return None
        place = tuple(map(int, np.argwhere(wrong)[0]))
        return refuse(
            "value-differs",
            f"at {list(place)}: {actual[place]!r} where {expected[place]!r} was to be kept ({self})",
            index=place,
            count=int(wrong.sum()),
        )

    def _wrong(self, expected: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if expected.dtype.kind in "biu" or not _is_floating(expected):
            return np.asarray(expected != actual, bool)
        if expected.dtype.kind == "c":
            return np.asarray(self._wrong(expected.real, actual.real) | self._wrong(expected.imag, actual.imag))
        a, b = expected.astype(np.float64), actual.astype(np.float64)
        nan = np.isnan(a)
        with np.errstate(all="ignore"):
            if self.kind == "bitwise":
                return np.asarray(np.where(nan, ~np.isnan(b), (a != b) | (np.signbit(a) != np.signbit(b))))
            if self.kind == "numeric":
                return np.asarray(np.where(nan, ~np.isnan(b), a != b))
            unit = _unit_in_last_place(expected)
            if self.kind == "approximate":
                near = (a == b) | (np.abs(a - b) <= self.ulps * unit)
                return np.asarray(np.where(nan, ~np.isnan(b), ~near))
            near = (
                (a == b)
                | ~np.isfinite(a)
                | ~np.isfinite(b)
                | (np.abs(a - b) <= 64 * unit + 1e-6 * np.maximum(np.abs(a), 1))
            )
            return np.asarray(~near)


Exactness.BITWISE = Exactness("bitwise")
Exactness.NUMERIC = Exactness("numeric")
Exactness.REAL = Exactness("real")


def _float_information(dtype: np.dtype[Any]) -> Any:
    """eps, smallest subnormal and so on; of the narrow types of ml_dtypes too. ValueError when it is not a float."""
    import ml_dtypes

    information: Any = ml_dtypes.finfo
    return information(dtype)


def _is_floating(array: np.ndarray[Any, Any]) -> bool:
    if array.dtype.kind in "fc":
        return True
    try:
        _float_information(array.dtype)
    except (ValueError, TypeError):
        return False
    return True


def _unit_in_last_place(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    info = _float_information(array.dtype)
    magnitude = np.abs(array.astype(np.float64))
    return np.asarray(np.maximum(magnitude * float(info.eps), float(info.smallest_subnormal)))
