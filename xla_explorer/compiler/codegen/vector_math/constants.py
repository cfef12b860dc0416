"""Mathematical constants beyond double precision, as sums of parts that are exact in a type."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from xla_explorer.compiler.codegen.vector_math.math_builder import FORMATS


class ExactConstant:
    """A real number as an exact fraction, good to at least 50 digits."""

    __slots__ = ("value",)

    def __init__(self, digits: str) -> None:
        self.value = Fraction(digits)

    def high(self, element_type: str) -> float:
        """Return the nearest number of the element type."""
        return FORMATS[element_type].round(float(self.value))

    def low(self, element_type: str) -> float:
        """Return the nearest number to the error of `high`."""
        return FORMATS[element_type].round(float(self.value - Fraction(self.high(element_type))))

    def leading(self, element_type: str, bits: int) -> float:
        """Return the number truncated to `bits` bits; products with small integers are exact."""
        exponent = math.frexp(float(self.value))[1]
        scale = Fraction(2) ** (bits - exponent)
        return FORMATS[element_type].round(float(Fraction(math.floor(self.value * scale)) / scale))

    def after_leading(self, element_type: str, bits: int) -> float:
        """Return the nearest number to the error of `leading`."""
        return FORMATS[element_type].round(
            float(self.value - Fraction(self.leading(element_type, bits)))
        )


LN2: Final = ExactConstant("0.69314718055994530941723212145817656807550013436025525412068")
LOG2_E: Final = ExactConstant("1.44269504088896340735992468100189213742664595415298593413545")
HALF_PI: Final = ExactConstant("1.57079632679489661923132169163975144209858469968755291048747")
QUARTER_PI: Final = ExactConstant("0.78539816339744830961566084581987572104929234984377645524374")
PI: Final = ExactConstant("3.14159265358979323846264338327950288419716939937510582097494")

# n ln 2 is exact with the first part for every exponent n of the format, with and without fma.
_LEADING_LN2_BITS: Final = {"f32": 15, "f64": 41}
LN2_LEADING: Final = {name: LN2.leading(name, bits) for name, bits in _LEADING_LN2_BITS.items()}
LN2_REST: Final = {name: LN2.after_leading(name, bits) for name, bits in _LEADING_LN2_BITS.items()}
