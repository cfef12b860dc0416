"""Types of values: LLVM's scalar and pointer types, their vectors, and floats that compute in another type."""

from __future__ import annotations

from typing import NamedTuple

_BITS = {"half": 16, "float": 32, "double": 64, "ptr": 64}
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}


class Type(NamedTuple):
    """The type of a value; its text is LLVM's.

    scalar: LLVM's name. lanes: of a vector (1: a scalar). space: address space of a pointer. format: HLO's name of a float that is held as
    an integer (`bf16`, `f8e5m2`), which arithmetic and comparisons convert to f32 and back.
    """

    scalar: str
    lanes: int = 1
    space: int = 0
    format: str = ""

    def __str__(self) -> str:
        text = f"{self.scalar} addrspace({self.space})" if self.space else self.scalar
        return text if self.lanes == 1 else f"<{self.lanes} x {text}>"

    def __repr__(self) -> str:
        return f"{self.format} held as {self}" if self.format else str(self)

    @property
    def is_float(self) -> bool:
        """Whether LLVM has float arithmetic on it (not on floats held as integers)."""
        return self.scalar in _SUFFIX

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer in HLO too."""
        return self.scalar[0] == "i" and not self.format

    @property
    def bits(self) -> int:
        """Width of a lane."""
        return _BITS.get(self.scalar) or int(self.scalar[1:])

    @property
    def suffix(self) -> str:
        """How it is spelled in names of intrinsics."""
        name = _SUFFIX.get(self.scalar, f"p{self.space}" if self.scalar == "ptr" else self.scalar)
        return name if self.lanes == 1 else f"v{self.lanes}{name}"

    @property
    def computes_in(self) -> Type:
        """The type that arithmetic uses: f32 for floats of 16 bits and fewer, else this one."""
        return Type("float", self.lanes) if self.format or self.scalar == "half" else self

    def of_lanes(self, lanes: int) -> Type:
        """The vector with so many lanes of the same scalar."""
        return self._replace(lanes=lanes)


I1, I8, I16, I32, I64 = [Type(f"i{bits}") for bits in (1, 8, 16, 32, 64)]
F16, F32, F64 = Type("half"), Type("float"), Type("double")
BF16 = Type("i16", format="bf16")
PTR = Type("ptr")
