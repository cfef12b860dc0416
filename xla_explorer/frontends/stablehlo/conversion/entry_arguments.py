"""A user's shapes or values for the arguments of a program with open sizes."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from operator import index
from typing import Any, NamedTuple, NoReturn

import numpy as np

from xla_explorer.frontends.stablehlo.conversion.known_values import LARGEST_FOLDED
from xla_explorer.frontends.stablehlo.program import Argument, Function
from xla_explorer.frontends.stablehlo.reader import Reader
from xla_explorer.hlo.shape import UNBOUNDED, Shape


class EntryArgument(NamedTuple):
    """The shape of an argument, and its value if the user gives one."""

    shape: Shape
    value: np.ndarray[Any, Any] | None

    @property
    def key(self) -> tuple[Shape, bytes | None]:
        """Equal for arguments with which a function is the same computation."""
        return self.shape, None if self.value is None else self.value.tobytes()


def entry_arguments(
    reader: Reader, function: Function, stated: Sequence[Shape], given: Sequence[Any] | None
) -> list[EntryArgument]:
    """Return the arguments of the entry with the sizes that the user gave.

    Fails at the argument that they do not fit.
    """
    if given is None:
        return [EntryArgument(shape, None) for shape in stated]
    if not isinstance(given, list | tuple) or len(given) != len(stated):
        count = f"gives {len(given)}" if isinstance(given, list | tuple) else "must be a list"
        reader.fail(
            f"`shapes` {count}, and @{function.name} takes {len(stated)} "
            f"argument{'s' if len(stated) != 1 else ''}",
            f"give one for each: shapes={shapes_template(stated)}",
            function.at,
            len(function.name) + 1,
        )
    return [
        _checked(reader, number, argument, shape, one)
        for number, (argument, shape, one) in enumerate(
            zip(function.arguments, stated, given, strict=True)
        )
    ]


def shapes_template(stated: Sequence[Shape]) -> str:
    """Return a template of a user's `shapes`, with `?` for each open size."""
    return f"[{', '.join([_written(shape) for shape in stated])}]"


def _written(shape: Shape) -> str:
    if not shape.is_array:
        return "None"
    sizes = [
        "?" if moving else str(size)
        for size, moving in zip(shape.dimensions, shape.dynamic, strict=True)
    ]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _checked(
    reader: Reader, number: int, argument: Argument, stated: Shape, given: Any
) -> EntryArgument:
    def fail(message: str, hint: str) -> NoReturn:
        reader.fail(f"shapes[{number}] {message}", hint, argument.at, max(len(argument.name), 1))

    if given is None:
        return EntryArgument(stated, None)
    try:
        sizes, value = _sizes_and_value(given)
    except (AttributeError, TypeError, ValueError):
        fail(
            f"must be a tuple of sizes or the value of the argument, got {given!r}"[:200],
            f"write {_written(stated)}",
        )
    text = stated.text_without_layout
    if not stated.is_array or len(sizes) != stated.rank:
        what = given if isinstance(given, Number) else sizes
        fail(f"is {what}, but {argument.name} is {text}", f"write {_written(stated)}")
    for size, own, moving in zip(sizes, stated.dimensions, stated.dynamic, strict=True):
        if size != own and not moving:
            hint = "give the size that the file states; only a dynamic dimension (`?`) takes any"
            fail(f"is {sizes}, but {argument.name} is {text}", hint)
        if size < 0 or (moving and own != UNBOUNDED and size > own):
            fail(f"is {sizes}, but {argument.name} is {text}", "give a size from 0 up to the bound")
    shape = stated.with_dimensions(sizes)
    if value is None or shape.element_type.is_float:
        return EntryArgument(shape, None)
    cast = value.astype(shape.element_type.dtype)
    if not np.array_equal(cast, value):
        fail(f"is {given}, which {text} cannot hold", "correct the value")
    return EntryArgument(shape, cast)


def _sizes_and_value(given: Any) -> tuple[tuple[int, ...], np.ndarray[Any, Any] | None]:
    """Read a shape (a tuple or list of integers), an array, or an object with a shape.

    The value of short arrays of integers is kept.
    """
    if isinstance(given, tuple | list):
        return tuple([index(size) for size in given]), None
    if isinstance(given, Number) and not hasattr(given, "shape"):
        return (), np.asarray(given) if isinstance(given, int) else None
    sizes = tuple([index(size) for size in given.shape])
    if not hasattr(given, "__array__"):
        return sizes, None
    array = np.asarray(given)
    return sizes, array if array.dtype.kind in "iub" and array.size <= LARGEST_FOLDED else None
