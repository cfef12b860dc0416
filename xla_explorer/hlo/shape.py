"""Shapes, interned by their canonical text: equal shapes are one object while alive.

Comparison is `is`, hashing is cheap. Source: xla/shape.h. A shape is an array (element type,
dimensions, layout), a tuple, a token, an opaque, or a buffer `b(...)`. Dimensions may be
bounded-dynamic (`<=8`) or unbounded (`?`).
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from operator import index
from typing import Any

from xla_explorer.hlo.layout import Layout, default_layout, layout
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.text_form import TEXT

_MOST_BYTES = (1 << 63) - 1
UNBOUNDED = -1  # the size of a `?` dimension


class Shape:
    """An interned, immutable shape, made by `array_shape`, `tuple_shape` or `parse_shape`.

    element_type: the PrimitiveType, None for tuples and buffers. dimensions: sizes (bounds of
    dynamic dimensions). dynamic: a flag per dimension. tuple_shapes: the elements of a tuple, else
    (). base: the same shape with default layouts everywhere. Two shapes are compatible (XLA's
    `ShapeUtil::Compatible`) exactly if their bases are one object.
    """

    __slots__ = (
        "__weakref__",
        "_strides",
        "base",
        "byte_size",
        "dimensions",
        "dynamic",
        "element_count",
        "element_type",
        "is_array",
        "is_buffer",
        "is_scalar",
        "is_tuple",
        "layout",
        "rank",
        "text",
        "text_without_layout",
        "tuple_shapes",
    )

    text: str
    text_without_layout: str
    element_type: PrimitiveType
    dimensions: tuple[int, ...]
    dynamic: tuple[bool, ...]
    layout: Layout
    tuple_shapes: tuple[Shape, ...]
    base: Shape
    rank: int
    element_count: int
    byte_size: int
    is_tuple: bool
    is_buffer: bool
    is_array: bool
    is_scalar: bool
    _strides: tuple[int, ...] | None

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_shape, (self.text,)

    def compatible(self, other: Shape) -> bool:
        """Return True if types and dimensions are the same; layouts may differ."""
        return self.base is other.base

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance in elements between adjacent elements along each dimension, from the layout."""
        if self._strides is None:
            result, step = [0] * self.rank, 1
            for dimension in self.layout.minor_to_major:
                result[dimension] = step
                step *= self.dimensions[dimension]
            self._strides = tuple(result)
        return self._strides

    def with_layout(self, order: Layout | tuple[int, ...]) -> Shape:
        """Return the same array with another layout."""
        return array_shape(
            self.element_type,
            self.dimensions,
            order if isinstance(order, Layout) else layout(order),
            self.dynamic,
        )

    def with_element_type(self, element_type: PrimitiveType) -> Shape:
        """Return the same dimensions and layout with another element type."""
        return array_shape(element_type, self.dimensions, self.layout, self.dynamic)

    def with_dimensions(self, dimensions: Iterable[int]) -> Shape:
        """Return the same element type with other dimensions and the default layout."""
        return array_shape(self.element_type, tuple(dimensions))

    def leaves(self, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Shape]]:
        """Yield (index, shape) of each non-tuple leaf, depth first.

        An array is its own leaf at ().
        """
        if not self.is_tuple:
            yield index, self
        else:
            for number, part in enumerate(self.tuple_shapes):
                yield from part.leaves((*index, number))

    def sub_shape(self, index: tuple[int, ...]) -> Shape:
        """Return the shape at a tuple index such as (0, 2)."""
        found = self
        for number in index:
            found = found.tuple_shapes[number]
        return found


# `_ALIVE` makes shapes unique; the other two are caches. They are cleared when full, so that a
# process with ever new shapes does not keep them all.
_ALIVE: weakref.WeakValueDictionary[str, Shape] = weakref.WeakValueDictionary()
_BY_TEXT: dict[str, Shape] = {}
_BY_KEY: dict[Any, Shape] = {}
_MOST_REMEMBERED = 1 << 14  # texts or keys: about 20 MB
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it when this process was forked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _remembered(text: str) -> Shape | None:
    found = _BY_TEXT.get(text)
    if found is None and (found := _ALIVE.get(text)) is not None:
        _BY_TEXT[text] = found
    return found


def _only_one(shape: Shape) -> Shape:
    """Return the shape, or an equal one that another thread has made in the meantime."""
    with _lock:
        found = _ALIVE.setdefault(shape.text, shape)
    if len(_BY_TEXT) >= _MOST_REMEMBERED:
        _BY_TEXT.clear()
    _BY_TEXT[shape.text] = found
    return found


def array_shape(
    element_type: PrimitiveType | str,
    dimensions: Iterable[int],
    order: Layout | None = None,
    dynamic: tuple[bool, ...] = (),
) -> Shape:
    """Return an array shape, row-major by default; the sizes may include UNBOUNDED for `?`."""
    if isinstance(element_type, str):
        element_type = PRIMITIVE_TYPES[element_type]
    dimensions = tuple(dimensions)
    key = (element_type, dimensions, order, dynamic)
    found = _BY_KEY.get(key)
    if found is None:
        if len(_BY_KEY) >= _MOST_REMEMBERED:
            _BY_KEY.clear()
        found = _BY_KEY[key] = _make_array(
            element_type,
            dimensions,
            order or default_layout(len(dimensions)),
            dynamic if any(dynamic) else (False,) * len(dimensions),
        )
    return found


def _make_array(
    element_type: PrimitiveType,
    dimensions: tuple[int, ...],
    order: Layout,
    dynamic: tuple[bool, ...],
) -> Shape:
    sizes = ",".join(
        [
            ("?" if size == UNBOUNDED else f"<={size}") if moving else str(size)
            for size, moving in zip(dimensions, dynamic, strict=True)
        ]
    )
    bare = f"{element_type.name}[{sizes}]"
    text = bare + order.text
    found = _remembered(text)
    if found is not None:
        return found
    if math.prod([max(size, 1) for size in dimensions]) * max(element_type.bytes, 1) > _MOST_BYTES:
        raise ShapeError(f"{bare[:80]} has more bytes than 64 bits can count")
    shape = Shape()
    shape.text, shape.text_without_layout = text, bare
    shape.element_type, shape.dimensions, shape.dynamic, shape.layout = (
        element_type,
        dimensions,
        dynamic,
        order,
    )
    shape.tuple_shapes, shape.rank, shape._strides = (), len(dimensions), None
    shape.is_tuple = shape.is_buffer = False
    shape.is_array = element_type.is_array_type
    shape.is_scalar = shape.is_array and not dimensions
    shape.element_count = math.prod([max(size, 0) for size in dimensions])
    shape.byte_size = shape.element_count * element_type.bytes if shape.is_array else 0
    shape.base = (
        shape
        if order.is_default
        else _make_array(element_type, dimensions, default_layout(len(dimensions)), dynamic)
    )
    return _only_one(shape)


def _make_composite(parts: tuple[Shape, ...], is_buffer: bool) -> Shape:
    prefix = "b" if is_buffer else ""
    text = f"{prefix}({', '.join([part.text for part in parts])})"
    found = _remembered(text)
    if found is not None:
        return found
    shape = Shape()
    shape.text = text
    shape.text_without_layout = (
        f"{prefix}({', '.join([part.text_without_layout for part in parts])})"
    )
    shape.element_type, shape.dimensions, shape.dynamic, shape.layout = None, (), (), layout(())  # type: ignore[assignment]
    shape.tuple_shapes, shape.rank, shape._strides = parts, 0, None
    shape.is_tuple, shape.is_buffer, shape.is_array, shape.is_scalar = (
        not is_buffer,
        is_buffer,
        False,
        False,
    )
    shape.element_count, shape.byte_size = 0, sum([part.byte_size for part in parts])
    bases = tuple([part.base for part in parts])
    shape.base = (
        shape
        if all(a is b for a, b in zip(bases, parts, strict=True))
        else _make_composite(bases, is_buffer)
    )
    return _only_one(shape)


def tuple_shape(parts: Iterable[Shape]) -> Shape:
    """Return the tuple of the given shapes."""
    return _make_composite(tuple(parts), False)


def buffer_shape(part: Shape) -> Shape:
    """Return `b(f32[4])`: a buffer that holds the given array."""
    return _make_composite((part,), True)


def token_shape() -> Shape:
    """Return `token[]`."""
    return array_shape("token", ())


class ShapeError(ValueError):
    """An impossible shape, or shapes that do not fit together. The message names both sides."""


def parse_shape(text: str) -> Shape:
    """Parse text such as `f32[2,3]{1,0}`, `(f32[], s32[2])`, `b(f32[4])`, or raise ShapeError.

    Repeated texts are cached and cost one dictionary access.
    """
    found = _BY_TEXT.get(text)
    if found is None:
        found, end = TEXT.read_shape(text, 0)
        if text[end:].strip():
            raise ShapeError(f"stray text after the shape: {text[end:].strip()!r}")
        _BY_TEXT[text] = found
    return found


def _shape_of(element_type: PrimitiveType, sizes: tuple[Any, ...]) -> Shape:
    """Return the shape of the expression `f32[2, 3]`."""
    if not all(hasattr(size, "__index__") and size >= 0 for size in sizes):
        raise ShapeError(
            f"{element_type.name}[{', '.join(map(repr, sizes))}]: dimensions must be integers "
            "from 0 on"
        )
    return array_shape(element_type, [index(size) for size in sizes])


PrimitiveType.make_shape = _shape_of
