"""Formats of floats of eight bits and fewer.

Formats with negative zero: OCP 8-bit Floating Point Specification 1.0 and OCP Microscaling Formats
1.0. Formats without: Noune et al., "8-bit Numerical Formats for Deep Neural Networks", 2022.
"""

from __future__ import annotations

from typing import NamedTuple


class SmallFormat(NamedTuple):
    """A float format of at most 8 bits.

    exponent, mantissa: bits. kind: `ieee` has infinities and NaNs; `fn` one NaN and no infinity;
    `fnuz` NaN in place of -0; `finite` neither; `power` powers of two without a sign, and one NaN.
    """

    exponent: int
    mantissa: int
    bias: int
    kind: str

    @property
    def has_sign(self) -> bool:
        """True if the format has negative numbers."""
        return self.kind != "power"

    @property
    def magnitude_bits(self) -> int:
        """Bits without the sign."""
        return self.exponent + self.mantissa

    @property
    def largest(self) -> int:
        """The code of the largest finite number."""
        everything = (1 << self.magnitude_bits) - 1
        if self.kind == "ieee":
            return (((1 << self.exponent) - 1) << self.mantissa) - 1
        return everything - 1 if self.kind in ("fn", "power") else everything

    @property
    def overflow(self) -> int:
        """The code of values that are too large, without the sign."""
        return {"finite": self.largest, "fnuz": 1 << self.magnitude_bits}.get(
            self.kind, self.largest + 1
        )

    @property
    def nan(self) -> int:
        """The code of NaN, without the sign."""
        if self.kind == "ieee":
            return self.largest + 1 + (1 << (self.mantissa - 1))
        return {"fnuz": 1 << self.magnitude_bits, "finite": 1 << self.magnitude_bits}.get(
            self.kind, self.largest + 1
        )


SMALL_FLOATS = {
    "f8e5m2": SmallFormat(5, 2, 15, "ieee"),
    "f8e4m3": SmallFormat(4, 3, 7, "ieee"),
    "f8e3m4": SmallFormat(3, 4, 3, "ieee"),
    "f8e4m3fn": SmallFormat(4, 3, 7, "fn"),
    "f8e4m3fnuz": SmallFormat(4, 3, 8, "fnuz"),
    "f8e5m2fnuz": SmallFormat(5, 2, 16, "fnuz"),
    "f8e4m3b11fnuz": SmallFormat(4, 3, 11, "fnuz"),
    "f4e2m1fn": SmallFormat(2, 1, 1, "finite"),
    "f8e8m0fnu": SmallFormat(8, 0, 127, "power"),
}
