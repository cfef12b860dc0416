"""Arguments from the host: checked against their parameters and converted to their layout."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.given_values import (
    GivenValueError,
    array_of,
    has_dimensions_of,
    whole_booleans,
)
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
NOTHING: Array = np.empty(0, np.uint8)


class ArgumentError(XlaExplorerError, TypeError):
    """An argument does not fit its parameter."""


class LeafReader:
    """Check and layout of one argument leaf.

    name: of the parameter. shape: of the leaf. A token has no memory: any value (usually None)
    becomes an empty array. A dynamic array is padded to its bound, followed by the sizes of its
    dimensions as s32.
    """

    __slots__ = (
        "dimensions",
        "dtype",
        "has_sizes",
        "is_plain",
        "is_pred",
        "name",
        "order",
        "shape",
        "writable_order",
    )

    def __init__(self, name: str, shape: Shape) -> None:
        self.name = name
        self.shape = shape
        self.dtype = shape.element_type.dtype if shape.is_array else NOTHING.dtype
        self.dimensions = shape.dimensions if shape.is_array else NOTHING.shape
        self.has_sizes = shape.is_array and any(shape.dynamic)
        self.is_pred = shape.is_array and shape.element_type.is_pred
        natural = not shape.is_array or shape.layout.is_default or shape.rank < 2
        self.order = None if natural else tuple(reversed(shape.layout.minor_to_major))
        self.is_plain = natural and not self.has_sizes and not self.is_pred

    def prepare(self, value: Any) -> Array:
        """Return the argument as an array in the parameter's layout.

        ArgumentError names both sides.
        """
        array = value if type(value) is np.ndarray else as_numpy(value)
        if (
            self.is_plain and array.dtype is self.dtype and array.shape == self.dimensions
        ):  # the common case
            flags = array.flags
            if flags.c_contiguous and flags.aligned:
                return array
        if self.has_sizes and array.dtype == self.dtype and has_dimensions_of(array, self.shape):
            return self._with_sizes(array)
        if array.dtype != self.dtype or array.shape != self.dimensions:
            if not self.shape.is_array:
                return NOTHING
            if (
                array.dtype != self.dtype
                and array.ndim == 0
                and np.can_cast(array.dtype, self.dtype, "same_kind")
            ):
                array = array.astype(self.dtype)
            if array.dtype != self.dtype or array.shape != self.dimensions:
                raise ArgumentError(
                    f"parameter %{self.name} is {self.shape.text_without_layout}, the argument is "
                    f"{array.dtype}[{','.join(map(str, array.shape))}]",
                    "pass an array of that type and shape, for example with .astype and .reshape",
                )
        if self.is_pred:
            array = whole_booleans(array)
        if self.order is not None:
            array = array.transpose(self.order)
        flags = array.flags
        if flags.c_contiguous and flags.aligned:
            return array
        return np.require(array, requirements=("C", "A")).reshape(array.shape)

    def _with_sizes(self, array: Array) -> Array:
        count, rank = self.shape.byte_size, array.ndim
        memory = np.zeros(count + 4 * rank, np.uint8)
        memory[count:] = np.array(array.shape, np.int32).view(np.uint8)
        whole: Array = memory[:count].view(self.dtype).reshape(self.dimensions)
        whole[tuple([slice(size) for size in array.shape])] = array
        return whole


def as_numpy(value: Any) -> Array:
    """Return a numpy array from DLPack, the array interface or a nested sequence.

    Nothing is copied if possible.
    """
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        with suppress(TypeError, BufferError, RuntimeError):
            return np.from_dlpack(value)
    try:
        return array_of(value)
    except GivenValueError as problem:
        raise ArgumentError(f"an argument {problem.message}", problem.hint) from None


def wrong_count(readers: Sequence[LeafReader], given: int) -> ArgumentError:
    """Return the error for a number of arrays other than the number of leaves."""
    return ArgumentError(
        f"the module takes {len(readers)} array{'s' if len(readers) != 1 else ''}, got {given}",
        "parameters: " + ", ".join([f"%{r.name}: {r.shape.text_without_layout}" for r in readers]),
    )
