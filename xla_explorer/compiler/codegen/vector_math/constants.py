"""Mathematical constants to more than double precision, split into parts that each element type holds exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from xla_explorer.compiler.codegen.vector_math.scalar_builder import FORMATS


class Constant:
    """A real number as an exact fraction, good to at least 50 digits."""

    __slots__ = ("value",)

    def __init__(self, digits: str) -> None:
        self.value = Fraction(digits)

    def high(self, element_type: str) -> float:
        """The nearest number of the element type."""
        return FORMATS[element_type].round(float(self.value))

    def low(self, element_type: str) -> float:
        """The nearest number to what `high` leaves out."""
        return FORMATS[element_type].round(float(self.value - Fraction(self.high(element_type))))


LN2: Final = Constant("0.69314718055994530941723212145817656807550013436025525412068")
LOG2_E: Final = Constant("1.44269504088896340735992468100189213742664595415298593413545")
HALF_PI: Final = Constant("1.57079632679489661923132169163975144209858469968755291048747")
QUARTER_PI: Final = Constant("0.78539816339744830961566084581987572104929234984377645524374")
PI: Final = Constant("3.14159265358979323846264338327950288419716939937510582097494")
