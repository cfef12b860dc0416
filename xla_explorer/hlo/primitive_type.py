"""XLA's primitive types, one object each, with their dtype of numpy or ml_dtypes.

Source: xla_data.proto `PrimitiveType`. Sub-byte types take one byte an element, as in ml_dtypes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np


class Kind(enum.Enum):
    """Families of primitive types."""

    PRED = "pred"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"
    FLOAT = "floating point"
    COMPLEX = "complex"
    TOKEN = "token"
    OPAQUE = "opaque"


class PrimitiveType:
    """An element type. Compare with `is`; look it up by its HLO name in `PRIMITIVE_TYPES`."""

    make_shape: ClassVar[Callable[[PrimitiveType, tuple[Any, ...]], Any]]
    """Constructor of the shape `f32[2, 3]`, set by `shape.py`."""

    def __init__(
        self, name: str, bits: int, kind: Kind, dtype_name: str | None, component: str | None = None
    ) -> None:
        self.name = name
        self.bits = bits
        self.kind = kind
        self.bytes = (bits + 7) // 8
        self._dtype_name = dtype_name
        self._component = component
        self.is_float = kind is Kind.FLOAT
        self.is_complex = kind is Kind.COMPLEX
        self.is_signed = kind is Kind.SIGNED
        self.is_unsigned = kind is Kind.UNSIGNED
        self.is_pred = kind is Kind.PRED
        self.is_integer = kind in (Kind.SIGNED, Kind.UNSIGNED)
        self.has_sign = (
            kind in (Kind.SIGNED, Kind.FLOAT, Kind.COMPLEX) and name != "f8e8m0fnu"
        )  # a type of exponents only
        self.is_array_type = kind not in (Kind.TOKEN, Kind.OPAQUE)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Numpy dtype of one element in host memory. TypeError for token and opaque."""
        if self._dtype_name is None:
            raise TypeError(f"{self.name} has no elements, so it has no numpy dtype")
        if hasattr(np, self._dtype_name):
            numpy_dtype: np.dtype[Any] = np.dtype(getattr(np, self._dtype_name))
            return numpy_dtype
        import ml_dtypes

        extension: np.dtype[Any] = np.dtype(getattr(ml_dtypes, self._dtype_name))
        return extension

    @property
    def component(self) -> PrimitiveType:
        """f32 for c64, f64 for c128, the type itself otherwise."""
        return PRIMITIVE_TYPES[self._component] if self._component else self

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return primitive_type, (self.name,)

    def __getitem__(self, dimensions: int | tuple[int, ...]) -> Any:
        """Return the Shape `f32[2, 3]` with the default layout; `f32[()]` is the scalar.

        ShapeError for anything but sizes.
        """
        return PrimitiveType.make_shape(
            self, dimensions if isinstance(dimensions, tuple) else (dimensions,)
        )


def _declare() -> dict[str, PrimitiveType]:
    rows: list[tuple[str, int, Kind, str | None, str | None]] = [
        ("pred", 8, Kind.PRED, "bool_", None),
        ("token", 0, Kind.TOKEN, None, None),
        ("opaque", 0, Kind.OPAQUE, None, None),
    ]
    for bits in (1, 2, 4, 8, 16, 32, 64):
        rows += [
            (f"s{bits}", bits, Kind.SIGNED, f"int{bits}", None),
            (f"u{bits}", bits, Kind.UNSIGNED, f"uint{bits}", None),
        ]
    rows += [
        ("f16", 16, Kind.FLOAT, "float16", None),
        ("bf16", 16, Kind.FLOAT, "bfloat16", None),
        ("f32", 32, Kind.FLOAT, "float32", None),
        ("f64", 64, Kind.FLOAT, "float64", None),
        ("c64", 64, Kind.COMPLEX, "complex64", "f32"),
        ("c128", 128, Kind.COMPLEX, "complex128", "f64"),
        ("f4e2m1fn", 4, Kind.FLOAT, "float4_e2m1fn", None),
        ("f6e2m3fn", 6, Kind.FLOAT, "float6_e2m3fn", None),
        ("f6e3m2fn", 6, Kind.FLOAT, "float6_e3m2fn", None),
        ("f8e5m2", 8, Kind.FLOAT, "float8_e5m2", None),
        ("f8e4m3", 8, Kind.FLOAT, "float8_e4m3", None),
        ("f8e4m3fn", 8, Kind.FLOAT, "float8_e4m3fn", None),
        ("f8e4m3b11fnuz", 8, Kind.FLOAT, "float8_e4m3b11fnuz", None),
        ("f8e5m2fnuz", 8, Kind.FLOAT, "float8_e5m2fnuz", None),
        ("f8e4m3fnuz", 8, Kind.FLOAT, "float8_e4m3fnuz", None),
        ("f8e3m4", 8, Kind.FLOAT, "float8_e3m4", None),
        ("f8e8m0fnu", 8, Kind.FLOAT, "float8_e8m0fnu", None),
    ]
    return {row[0]: PrimitiveType(*row) for row in rows}


PRIMITIVE_TYPES: dict[str, PrimitiveType] = _declare()
_BY_DTYPE_NAME = {t._dtype_name: t for t in PRIMITIVE_TYPES.values() if t._dtype_name}
_BY_DTYPE_NAME["bool"] = PRIMITIVE_TYPES["pred"]

PRED, TOKEN, OPAQUE = (PRIMITIVE_TYPES[n] for n in ("pred", "token", "opaque"))
S8, S16, S32, S64 = (PRIMITIVE_TYPES[n] for n in ("s8", "s16", "s32", "s64"))
U8, U16, U32, U64 = (PRIMITIVE_TYPES[n] for n in ("u8", "u16", "u32", "u64"))
F16, BF16, F32, F64, C64, C128 = (
    PRIMITIVE_TYPES[n] for n in ("f16", "bf16", "f32", "f64", "c64", "c128")
)


def primitive_type(name: str) -> PrimitiveType:
    """Return the primitive type of an HLO name such as `f32`; KeyError if it is unknown."""
    return PRIMITIVE_TYPES[name]


def primitive_type_of(dtype: Any) -> PrimitiveType:
    """Return the primitive type of a numpy (or ml_dtypes) dtype.

    TypeError if HLO has no such type.
    """
    dtype = np.dtype(dtype)
    found = _BY_DTYPE_NAME.get(dtype.name)
    if found is None:
        raise TypeError(f"numpy dtype {dtype} has no HLO primitive type")
    return found
