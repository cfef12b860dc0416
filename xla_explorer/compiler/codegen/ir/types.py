"""Types of values: LLVM's scalars, pointers and vectors, and floats that are stored as integers."""

from __future__ import annotations

from typing import Any

_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}


class Type:
    """The type of a value; its text is LLVM's. Equal types are one object.

    scalar: LLVM's name. lanes: of a vector (1: a scalar). space: address space of a pointer.
    format: HLO's name of a float that is stored as an integer (`bf16`, `f8e5m2`); its arithmetic
    and comparisons convert to f32 and back.

    scalar may be a structure, such as `{ i64, i1 }`, whose bits are 0.

    is_float: LLVM has float arithmetic on the type (not on floats stored as integers). is_integer:
    an integer in HLO too. is_small: a float of 16 bits or fewer, which computes in f32. bits: width
    of a lane. suffix: its spelling in names of intrinsics.
    """

    __slots__ = (
        "bits",
        "format",
        "is_float",
        "is_integer",
        "is_small",
        "lanes",
        "scalar",
        "space",
        "suffix",
        "text",
    )
    _known: dict[tuple[str, int, int, str], Type] = {}  # noqa: RUF012  # shared by all instances on purpose

    scalar: str
    lanes: int
    space: int
    format: str
    text: str
    is_float: bool
    is_integer: bool
    is_small: bool
    bits: int
    suffix: str

    def __new__(cls, scalar: str, lanes: int = 1, space: int = 0, format: str = "") -> Type:
        """Return the one object of the type."""
        key = scalar, lanes, space, format
        found = cls._known.get(key)
        if found is not None:
            return found
        self = cls._known[key] = super().__new__(cls)
        self.scalar, self.lanes, self.space, self.format = key
        text = f"{scalar} addrspace({space})" if space else scalar
        self.text = text if lanes == 1 else f"<{lanes} x {text}>"
        self.is_float = scalar in _SUFFIX
        self.is_integer = scalar[0] == "i" and not format
        self.is_small = scalar == "half" or bool(format)
        self.bits = _BITS.get(scalar) or (int(scalar[1:]) if scalar[1:].isdigit() else 0)
        name = _SUFFIX.get(scalar, f"p{space}" if scalar == "ptr" else scalar)
        self.suffix = name if lanes == 1 else f"v{lanes}{name}"
        return self

    def __reduce__(self) -> Any:
        return Type, (self.scalar, self.lanes, self.space, self.format)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{self.format} held as {self}" if self.format else self.text

    @property
    def computes_in(self) -> Type:
        """The type that arithmetic uses: f32 for small floats, else this one."""
        return Type("float", self.lanes) if self.is_small else self

    def of_lanes(self, lanes: int) -> Type:
        """Return the vector type with the same scalar and the given number of lanes."""
        if lanes == self.lanes:
            return self
        return self._known.get((self.scalar, lanes, self.space, self.format)) or Type(
            self.scalar, lanes, self.space, self.format
        )


I1, I8, I16, I32, I64 = [Type(f"i{bits}") for bits in (1, 8, 16, 32, 64)]
F16, F32, F64 = Type("half"), Type("float"), Type("double")
BF16 = Type("i16", format="bf16")
PTR = Type("ptr")
POINTERS = {t.text: t for t in (PTR, *[Type("ptr", space=n) for n in (1, 3, 4)])}


def structure_type(*fields: Type) -> Type:
    """Return the type of a structure, as some instructions return."""
    return Type(f"{{ {', '.join([t.text for t in fields])} }}")


def type_named(t: Type | str) -> Type:
    """Return a scalar or pointer type by its LLVM name."""
    return t if isinstance(t, Type) else POINTERS.get(t) or Type(t)
