"""Axes and sizes as in numpy: any integers, negative axes from the end, each axis once."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.shape import Shape


def integer(name: str, given: Any, role: str) -> int:
    """Return a Python or numpy integer as an int.

    HloBuilderError for anything else, bool included.
    """
    try:
        if isinstance(given, (bool, np.bool_)):
            raise TypeError
        return index(given)
    except TypeError:
        raise HloBuilderError(
            f"{name}: {role} must be an integer, it is {given!r}",
            f"write the {role} as a Python int",
        ) from None


def several(given: Any) -> bool:
    """Return True if axes or sizes are a sequence."""
    return isinstance(given, Iterable) and not isinstance(given, str) and np.ndim(given) == 1  # type: ignore[arg-type]


def one_axis(name: str, shape: Shape, given: Any) -> int:
    """Return an axis in [0, rank)."""
    axis = integer(name, given, "axis")
    if not -shape.rank <= axis < shape.rank:
        raise HloBuilderError(
            f"{name}: axis {axis} is out of range for {shape.text_without_layout} with "
            f"{shape.rank} dimensions",
            f"choose from {-shape.rank} to {shape.rank - 1}"
            if shape.rank
            else "a scalar has no axes",
        )
    return axis % shape.rank


def axis_numbers(name: str, shape: Shape, given: Any) -> list[int]:
    """Return axes in [0, rank) from one axis, several, or None for all."""
    if given is None:
        return list(range(shape.rank))
    axes = [one_axis(name, shape, axis) for axis in (given if several(given) else (given,))]
    for number, axis in enumerate(axes):
        if axis in axes[:number]:
            raise HloBuilderError(
                f"{name}: axis {axis} of {shape.text_without_layout} is given twice in "
                f"{list(given)}",
                "name each axis once",
            )
    return axes


def axis_order(name: str, shape: Shape, given: Any) -> list[int]:
    """Return a permutation of all axes; None reverses them."""
    if given is None:
        return list(range(shape.rank))[::-1]
    order = axis_numbers(name, shape, given)
    if len(order) != shape.rank:
        raise HloBuilderError(
            f"{name}: {len(order)} axes {order} for the {shape.rank} dimensions of "
            f"{shape.text_without_layout}",
            "name every axis once",
        )
    return order


def sizes_of(name: str, given: Any) -> list[int]:
    """Return sizes of dimensions from one or several; -1 is left as it is."""
    sizes = [integer(name, size, "size") for size in (given if several(given) else (given,))]
    wrong = [size for size in sizes if size < -1]
    if wrong:
        raise HloBuilderError(
            f"{name}: a dimension cannot have {wrong[0]} elements, in {sizes}",
            "sizes are 0 or more",
        )
    return sizes


def from_the_end(attributes: dict[str, Any], rank: int) -> dict[str, Any]:
    """Return attributes with negative axes counted from the end.

    An axis out of range stays, so that the opcode's shape rule reports it.
    """
    return attributes | {
        name: tuple([axis + rank if -rank <= axis < 0 else axis for axis in given])
        if isinstance(given, tuple)
        else given + rank if -rank <= given < 0 else given
        for name, given in attributes.items()
        if name in AXES
    }  # fmt: skip


def axes_attribute(name: str, given: Any) -> Any:
    """Return an attribute of axes from integers of any kind."""
    if name == "iota_dimension":
        return integer(name, given, "axis")
    return tuple([integer(name, axis, "axis") for axis in (given if several(given) else (given,))])


AXES = ("dimensions", "iota_dimension")
"""Attributes that are axes of an operand, or of the result of broadcast and iota."""
