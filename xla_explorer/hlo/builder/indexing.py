"""`value[...]`: tuple elements, slices, integers, new axes, and values as indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue

Array = np.ndarray[Any, Any]


def index_value(value: HloValue, index: Any) -> HloValue:
    """Index a value as numpy does, by slices, integers, and one array of numbers or mask.

    An integer may be a scalar value of the builder, which gives a dynamic-slice.
    """
    if value.shape.is_tuple:
        count = len(value.shape.tuple_shapes)
        if not isinstance(index, int) or not -count <= index < count:
            raise IndexError(f"a tuple of {count} elements has no element {index!r}")
        return value.builder.get_tuple_element(value, index % count)
    parts = list(index) if isinstance(index, tuple) else [index]
    rank = value.shape.rank
    if sum(part is Ellipsis for part in parts) > 1:
        raise HloBuilderError("an index has at most one ...")
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > rank:
        raise HloBuilderError(
            f"{used} indices for the {rank} dimensions of {value.shape.text_without_layout}"
        )
    fill: list[Any] = [slice(None)] * (rank - used)
    place = next((k for k, part in enumerate(parts) if part is Ellipsis), None)
    parts = [*parts, *fill] if place is None else [*parts[:place], *fill, *parts[place + 1 :]]
    arrays = [k for k, part in enumerate(parts) if _is_array(part)]
    if not arrays:
        return _basic(value, parts)
    (place, *more), others = (
        arrays,
        [part for part in parts if part is not None and not isinstance(part, slice)],
    )
    if more or len(others) > 1:
        raise HloBuilderError(
            f"an array of indices must be the only index except slices, got {len(others)} for "
            f"{value.shape.text_without_layout}",
            "index in two steps: x[0][:, [1, 2]]; or write b.gather",
        )
    axis = sum(part is not None for part in parts[:place])
    rows = _rows(parts[place], axis, value)
    return _taken(_basic(value, [*parts[:place], slice(None), *parts[place + 1 :]]), place, rows)


def _is_array(part: Any) -> bool:
    """Return True if an index is an array of numbers.

    A sequence, or a numpy array with dimensions.
    """
    return not hasattr(part, "instruction") and (
        isinstance(part, (list, tuple, range)) or np.ndim(part) > 0
    )


def _rows(given: Any, axis: int, value: HloValue) -> Array:
    """Return indices in [0, size) from an array of integers or a boolean mask."""
    size, text = value.shape.dimensions[axis], value.shape.text_without_layout
    if any(
        hasattr(part, "instruction") for part in (given if isinstance(given, (list, tuple)) else ())
    ):
        raise HloBuilderError(
            "a list of indices must hold Python numbers, it holds values",
            "write b.concatenate of them, and b.gather",
        )
    rows = np.asarray(given)
    if rows.dtype == np.bool_:
        if rows.shape != (size,):
            raise HloBuilderError(
                f"a mask of {list(rows.shape)} must have the {size} elements of dimension {axis} "
                f"of {text}"
            )
        rows = np.flatnonzero(rows)
    if not rows.size:
        rows = rows.astype(np.int32)
    if not np.issubdtype(rows.dtype, np.integer):
        raise HloBuilderError(
            f"an array of indices must hold integers, it holds {rows.dtype}",
            "convert it with .astype(int)",
        )
    wrong = rows[(rows < -size) | (rows >= size)]
    if wrong.size:
        raise IndexError(f"index {wrong[0]} is out of range for dimension {axis} of {text}")
    return np.where(rows < 0, rows + size, rows).astype(np.int32)


def _taken(value: HloValue, dimension: int, rows: Array) -> HloValue:
    """Take elements along one dimension by an array of indices."""
    return value.builder.emit(
        "gather",
        (value, value.builder.constant(rows, S32)),
        take_attributes(value.shape, dimension, rows.ndim),
    )


def take_attributes(shape: Shape, dimension: int, rank: int) -> dict[str, Any]:
    """Return the attributes of a gather that takes elements along a dimension.

    rank: of the array of indices.
    """
    return {
        "offset_dims": [
            d if d < dimension else d - 1 + rank for d in range(shape.rank) if d != dimension
        ],
        "collapsed_slice_dims": [dimension],
        "start_index_map": [dimension],
        "index_vector_dim": rank,
        "slice_sizes": [1 if d == dimension else size for d, size in enumerate(shape.dimensions)],
    }


def _no_scalar(value: HloValue, part: HloValue, dimension: int) -> HloBuilderError:
    """Return the error for an index that is a value but no integer scalar."""
    said = (
        f"x[...] takes integer scalars as indices, got {part.shape.text_without_layout} for "
        f"dimension {dimension} of {value!r}"
    )
    if part.dtype.is_pred:
        return HloBuilderError(said, "a mask selects by element: b.where(mask, x, other)")
    if not part.dtype.is_integer:
        return HloBuilderError(said, "convert the index: i.astype(xe.s32)")
    return HloBuilderError(
        said, f"take elements by an array of indices: np.take(x, i, axis={dimension})"
    )


def _basic(value: HloValue, parts: list[Any]) -> HloValue:
    selection = _Selection(value)
    for part in parts:
        selection.add(part)
    return selection.emit()


class _Selection:
    """Selection of elements by integers, slices, new axes and scalar values.

    ranges: (start, limit, stride) of each dimension. result: its size of each result dimension,
    without those of integers.
    """

    def __init__(self, value: HloValue) -> None:
        self.value = value
        self.ranges: list[tuple[int, int, int]] = []
        self.dynamic: dict[int, HloValue] = {}
        self.reversed: list[int] = []
        self.result: list[int] = []

    def add(self, part: Any) -> None:
        """Apply a part of the index to the next dimension; None is a new axis."""
        if part is None:
            self.result.append(1)
        elif isinstance(part, slice):
            self._add_slice(part)
        elif hasattr(part, "instruction"):
            self._add_value(part)
        elif not isinstance(part, (bool, np.bool_)) and hasattr(part, "__index__"):
            self._add_integer(int(part))
        else:
            raise HloBuilderError(
                f"{part!r} cannot index a value",
                "use integers, slices, None, ..., one array of integers or scalar values; or "
                "b.gather",
            )

    def _size(self) -> int:
        return self.value.shape.dimensions[len(self.ranges)]

    def _add_slice(self, part: slice) -> None:
        if any(hasattr(bound, "instruction") for bound in (part.start, part.stop, part.step)):
            raise HloBuilderError(
                "bounds of a slice must be Python numbers",
                "use b.dynamic_slice(x, starts, sizes=...)",
            )
        start, stop, stride = part.indices(self._size())
        count = len(range(start, stop, stride))
        if stride < 0:
            self.reversed.append(len(self.ranges))
            start, stride = (start + (count - 1) * stride if count else 0), -stride
        self.ranges.append((start, start + (count - 1) * stride + 1 if count else start, stride))
        self.result.append(count)

    def _add_value(self, part: HloValue) -> None:
        dimension = len(self.ranges)
        if not part.shape.is_scalar or not part.dtype.is_integer:
            raise _no_scalar(self.value, part, dimension)
        self.dynamic[dimension] = part
        self.ranges.append((0, self._size(), 1))

    def _add_integer(self, number: int) -> None:
        size = self._size()
        if not -size <= number < size:
            raise IndexError(
                f"index {number} is out of range for dimension {len(self.ranges)} of "
                f"{self.value.shape.text_without_layout}"
            )
        number %= size
        self.ranges.append((number, number + 1, 1))

    def emit(self) -> HloValue:
        """Emit a slice, a reverse, a dynamic-slice and a reshape, as necessary."""
        value, builder = self.value, self.value.builder
        whole = [(0, size, 1) for size in value.shape.dimensions]
        if self.ranges != whole:
            value = builder.emit("slice", (value,), {"slice": self.ranges})
        if self.reversed:
            value = builder.emit("reverse", (value,), {"dimensions": tuple(self.reversed)})
        if self.dynamic:
            kind = next(iter(self.dynamic.values())).dtype
            starts = [
                self.dynamic[d] if d in self.dynamic else builder.constant(0, kind)
                for d in range(value.ndim)
            ]
            wanted = tuple(
                [1 if d in self.dynamic else size for d, size in enumerate(value.shape.dimensions)]
            )
            value = builder.emit("dynamic-slice", (value, *starts), {"dynamic_slice_sizes": wanted})
        return value.reshape(self.result)
