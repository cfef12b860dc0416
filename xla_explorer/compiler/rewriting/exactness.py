"""The exactness of a rule's result, as a claim that a test can check."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from xla_explorer.foundation.reason import Reason, refuse


@dataclasses.dataclass(frozen=True)
class Exactness:
    """The claim of a rule.

    `BITWISE`: the same bits (payloads of NaN excepted).
    `NUMERIC`: equal values; a zero may change its sign.
    `approximate(n)`: within n units in the last place; infinities and NaN stay.
    `REAL`: equal over the real numbers, and only roundings differ. No number becomes an infinity or
    NaN, no infinity becomes a finite number; a NaN may become a number.
    `FAST`: equal over the real numbers as long as nothing overflows or underflows. Such a rule acts
    with the option `fast_math` of `algsimp` only.

    A result within the bound of the largest finite number may round to infinity, and the reverse
    (NaN in types without infinities). By `REAL`, a complex number with an infinite part may become
    another one or NaN: products of such numbers have NaN parts. The partial sums of a sum that is
    added in another order may leave the range: HLO leaves the order open.
    """

    kind: str
    ulps: int = 0

    BITWISE: ClassVar[Exactness]
    NUMERIC: ClassVar[Exactness]
    REAL: ClassVar[Exactness]
    FAST: ClassVar[Exactness]

    @staticmethod
    def approximate(ulps: int) -> Exactness:
        """Return the claim "within so many units in the last place"."""
        return Exactness("approximate", ulps)

    def __str__(self) -> str:
        return f"approximate within {self.ulps} ulp" if self.kind == "approximate" else self.kind

    @property
    def is_about_last_digits(self) -> bool:
        """True if a difference in the last digits breaks the claim."""
        return self.kind in ("bitwise", "numeric", "approximate")

    def difference(
        self,
        expected: np.ndarray[Any, Any],
        actual: np.ndarray[Any, Any],
        *,
        scale: float | np.ndarray[Any, Any] = 1.0,
    ) -> Reason | None:
        """Return None if `actual` keeps the claim about `expected`, else its first violation.

        scale: the magnitude of the operands, one number or one for each element; a sum that cancels
        is exact relative to it.
        """
        if expected.shape != actual.shape or expected.dtype != actual.dtype:
            return refuse(
                "type-differs",
                f"expected {expected.dtype}{list(expected.shape)}, got "
                f"{actual.dtype}{list(actual.shape)}",
            )
        wrong = self._wrong(expected, actual, scale)
        if not wrong.any():
            return None
        place = tuple(map(int, np.argwhere(wrong)[0]))
        return refuse(
            "value-differs",
            f"at {list(place)}: {actual[place]!r} where {expected[place]!r} was to be kept "
            f"({self})",
            index=place,
            count=int(wrong.sum()),
        )

    def _wrong(
        self,
        expected: np.ndarray[Any, Any],
        actual: np.ndarray[Any, Any],
        scale: float | np.ndarray[Any, Any],
    ) -> np.ndarray[Any, Any]:
        if expected.dtype.kind in "biu" or not _is_floating(expected):
            return np.asarray(expected != actual, bool)
        if expected.dtype.kind == "c":
            if self.kind in ("real", "fast"):  # roundings are relative to the modulus
                with np.errstate(all="ignore"):
                    modulus = np.abs(expected)
                scale = np.maximum(scale, np.where(np.isfinite(modulus), modulus, 0))
            real, imaginary = (
                self._wrong(expected.real, actual.real, scale),
                self._wrong(expected.imag, actual.imag, scale),
            )
            wrong = np.asarray(real | imaginary)
            if self.kind not in ("real", "fast"):
                return wrong
            lost = ~np.isnan(expected) & np.isfinite(actual)
            return np.where(np.isfinite(expected), wrong, lost)
        with np.errstate(all="ignore"):
            a, b = expected.astype(np.float64), actual.astype(np.float64)
            nan = np.isnan(a)
            if self.kind == "bitwise":
                return np.asarray(
                    np.where(nan, ~np.isnan(b), (a != b) | (np.signbit(a) != np.signbit(b)))
                )
            if self.kind == "numeric":
                return np.asarray(np.where(nan, ~np.isnan(b), a != b))
            unit = _unit_in_last_place(expected)
            if self.kind == "approximate":
                return np.asarray(
                    ~_near(a, b, self.ulps * unit, expected.dtype) & ~(nan & np.isnan(b))
                )
            relative = max(1e-6, float(float_limits(expected.dtype).eps))
            bound = (64 if expected.dtype.itemsize > 2 else 8) * unit + relative * np.where(
                np.isfinite(a), np.maximum(np.abs(a), scale), 0
            )
            near = nan | _near(a, b, bound, expected.dtype)
            if self.kind == "fast":
                near |= ~np.isfinite(a) | ~np.isfinite(b)
            return np.asarray(~near)


def _near(
    a: np.ndarray[Any, Any],
    b: np.ndarray[Any, Any],
    bound: np.ndarray[Any, Any],
    dtype: np.dtype[Any],
) -> np.ndarray[Any, Any]:
    """Return True where two values lie within a bound of each other.

    An overflow counts as the number after the largest finite one.
    """
    information = float_limits(dtype)
    largest = float(information.max)
    behind = largest * (1 + float(information.eps) / 2)
    step = bound + largest * float(information.eps) / 2
    overflow = (
        np.isinf if np.isinf(np.asarray(np.inf).astype(dtype).astype(np.float64)) else np.isnan
    )
    near = a == b
    for one, other in ((a, b), (b, a)):
        # A NaN's sign does not show on which side the range was left.
        beyond = np.where(
            overflow is np.isnan, np.copysign(behind, other), np.copysign(behind, one)
        )
        near |= overflow(one) & np.isfinite(other) & (np.abs(beyond - other) <= step)
    finite = np.isfinite(a) & np.isfinite(b)
    return np.asarray(near | (finite & (np.abs(np.where(finite, a - b, 0)) <= bound)))


Exactness.BITWISE = Exactness("bitwise")
Exactness.NUMERIC = Exactness("numeric")
Exactness.REAL = Exactness("real")
Exactness.FAST = Exactness("fast")


def float_limits(dtype: np.dtype[Any]) -> Any:
    """Return the finfo of a float type: eps, smallest subnormal and so on.

    Types of ml_dtypes are included; for a complex type, the finfo of its parts. ValueError for a
    type that is not a float.
    """
    import ml_dtypes

    information: Any = ml_dtypes.finfo
    return information(dtype)


def _is_floating(array: np.ndarray[Any, Any]) -> bool:
    if array.dtype.kind in "fc":
        return True
    try:
        float_limits(array.dtype)
    except (ValueError, TypeError):
        return False
    return True


def _unit_in_last_place(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    info = float_limits(array.dtype)
    magnitude = np.abs(array.astype(np.float64))
    magnitude = np.where(np.isfinite(magnitude), magnitude, float(info.max))
    return np.asarray(np.maximum(magnitude * float(info.eps), float(info.smallest_subnormal)))
