"""Literals: constant values with a shape.

Source: xla/literal.h. An array literal holds a numpy array in row-major logical order for any
layout; a tuple literal holds literals. Text is decoded on first use only. Literals are immutable;
equality is by shape and bits.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from xla_explorer.hlo.primitive_type import primitive_type_of
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape
from xla_explorer.hlo.text_form import TEXT

_ELIDED = "{...}"
_LARGEST_KEY = 1 << 16  # bytes


class Literal:
    """A shaped constant. `scalar` is the Python number of a rank-0 array, else None."""

    __slots__ = ("_array", "_key", "_scalar", "_text", "parts", "shape")

    def __init__(
        self,
        shape: Shape,
        array: np.ndarray[Any, Any] | None = None,
        text: str | None = None,
        parts: tuple[Literal, ...] = (),
        scalar: Any = None,
    ) -> None:
        self.shape = shape
        self._array = array
        self._text = text
        self.parts = parts
        self._scalar = scalar
        self._key: Any = None

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The value in logical row-major order, in the element type's dtype. Read-only."""
        if self._array is None:
            if self._text is None:
                raise TypeError(f"a literal of shape {self.shape} is not an array")
            self._array = TEXT.read_array(self.shape, self._text)
            self._array.setflags(write=False)
        return self._array

    @property
    def scalar(self) -> Any:
        """The element of a rank-0 literal as a Python (or ml_dtypes) scalar, else None."""
        if self._scalar is None and self.shape.is_scalar:
            self._scalar = (
                self.array[()].item()
                if not self.shape.element_type.is_complex
                else complex(self.array[()])
            )
        return self._scalar

    @property
    def splat(self) -> Any:
        """The common value of all elements as a Python scalar, else None.

        NaNs are equal only bit for bit.
        """
        if self.shape.is_scalar:
            return self.scalar
        if not self.shape.is_array or self.shape.element_count == 0:
            return None
        flat = self.array.reshape(-1)
        first = flat[:1].tobytes()
        if flat.tobytes() != first * flat.size:
            return None
        return flat[0].item()

    @property
    def is_elided(self) -> bool:
        """Return True if the text is the placeholder `{...}`, whose `array` is a counter."""
        return self._text == _ELIDED

    @property
    def has_elided_values(self) -> bool:
        """Return True if the literal, or a part of a tuple, is the placeholder."""
        return self.is_elided or any(part.has_elided_values for part in self.parts)

    @property
    def text(self) -> str:
        """The literal as HLO text, in full."""
        if self._text is None or self.is_elided:
            text = TEXT.write_literal(self)
            if self.is_elided:
                return text  # not cached: the literal must stay marked as elided
            self._text = text
        return self._text

    @property
    def key(self) -> Any:
        """Hashable identity by value: shape and bits."""
        if self._key is None:
            if self.parts or self.shape.is_tuple:
                self._key = (self.shape, tuple([part.key for part in self.parts]))
            elif self.is_elided:
                self._key = (self.shape, _ELIDED)
            else:
                self._key = (self.shape, _identity(self.array))
        return self._key

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Literal) and self.shape is other.shape and self.key == other.key
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Literal({self.shape} {self.text[:80]})"


def _identity(array: np.ndarray[Any, Any]) -> bytes:
    """Return the bytes of an array, or a digest for a large one, as every snapshot keeps it."""
    if array.nbytes <= _LARGEST_KEY:
        return array.tobytes()
    return hashlib.blake2b(np.ascontiguousarray(array).view(np.uint8).data, digest_size=32).digest()


def literal_from_array(value: Any, shape: Shape | None = None) -> Literal:
    """Return a literal from an array-like, or from a tuple of array-likes.

    shape: converts the values to its element type; by default the array's, row-major.
    """
    if isinstance(value, tuple):
        parts = tuple(
            [
                literal_from_array(v, shape.tuple_shapes[i] if shape else None)
                for i, v in enumerate(value)
            ]
        )
        return Literal(shape or tuple_shape([part.shape for part in parts]), parts=parts)
    array = np.asarray(value)
    kind = array.dtype if shape is None else shape.element_type.dtype
    array = array.astype(kind, order="C", copy=True)  # one copy: constants may fill the memory
    if shape is None:
        shape = array_shape(primitive_type_of(array.dtype), array.shape)
    elif array.shape != shape.dimensions:
        array = np.array(np.broadcast_to(array, shape.dimensions), order="C")
    array.setflags(write=False)
    return Literal(shape, array)
