"""`value[...]`: tuple elements, slices, integers, new axes, and indices that are values themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.primitive_type import S32

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue


def index_value(value: HloValue, index: Any) -> HloValue:
    """numpy's basic indexing. An integer may be a scalar value of the builder: then it is a dynamic-slice."""
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
        raise HloBuilderError(f"{used} indices for the {rank} dimensions of {value.shape.text_without_layout}")
    fill: list[Any] = [slice(None)] * (rank - used)
    place = next((k for k, part in enumerate(parts) if part is Ellipsis), None)
    parts = [*parts, *fill] if place is None else [*parts[:place], *fill, *parts[place + 1 :]]
    return _basic(value, parts)


def _no_scalar(value: HloValue, part: HloValue, dimension: int) -> HloBuilderError:
    """The error of an index that is a value of the builder and no integer scalar: numpy's indexing by arrays and masks."""
    said = f"x[...] takes integer scalars as indices, got {part.shape.text_without_layout} for dimension {dimension} of {value!r}"
    if part.dtype.is_pred:
        return HloBuilderError(said, "a mask selects by element: b.where(mask, x, other)")
    if not part.dtype.is_integer:
        return HloBuilderError(said, "convert the index: i.astype(xe.s32)")
    sizes = value.shape.dimensions
    offset = [d if d < dimension else d - 1 + part.ndim for d in range(value.ndim) if d != dimension]
    window = [1 if d == dimension else size for d, size in enumerate(sizes)]
    call = (
        f"b.gather(x, i, offset_dims={offset}, collapsed_slice_dims=[{dimension}], start_index_map=[{dimension}], "
        f"index_vector_dim={part.ndim}, slice_sizes={window})"
    )
    return HloBuilderError(said, f"take elements by an array of indices with a gather: {call}")


def _basic(value: HloValue, parts: list[Any]) -> HloValue:
    sizes = value.shape.dimensions
    ranges: list[tuple[int, int, int]] = []
    dynamic: dict[int, Any] = {}
    reversed_dimensions: list[int] = []
    result: list[int | None] = []  # None: dropped, 1: new axis before the next; sizes are filled in at the end
    dimension = 0
    for part in parts:
        if part is None:
            result.append(1)
            continue
        size = sizes[dimension]
        if isinstance(part, slice):
            if any(hasattr(bound, "instruction") for bound in (part.start, part.stop, part.step)):
                raise HloBuilderError(
                    "bounds of a slice must be Python numbers", "use b.dynamic_slice(x, starts, sizes=...)"
                )
            start, stop, stride = part.indices(size)
            count = len(range(start, stop, stride))
            if stride < 0:
                reversed_dimensions.append(dimension)
                start, stride = (start + (count - 1) * stride if count else 0), -stride
            ranges.append((start, start + (count - 1) * stride + 1 if count else start, stride))
            result.append(count)
        elif hasattr(part, "instruction"):
            if not part.shape.is_scalar or not part.dtype.is_integer:
                raise _no_scalar(value, part, dimension)
            dynamic[dimension] = part
            ranges.append((0, size, 1))
            result.append(None)
        elif isinstance(part, int) or hasattr(part, "__index__"):
            number = int(part)
            if not -size <= number < size:
                raise IndexError(
                    f"index {number} is out of range for dimension {dimension} of {value.shape.text_without_layout}"
                )
            number %= size
            ranges.append((number, number + 1, 1))
            result.append(None)
        else:
            raise HloBuilderError(
                f"{part!r} cannot index a value", "use integers, slices, None, ... or scalar values; or b.gather"
            )
        dimension += 1
    builder = value.builder
    if any(r != (0, size, 1) for r, size in zip(ranges, sizes, strict=True)):
        value = builder.emit("slice", (value,), {"slice": ranges})
    if reversed_dimensions:
        value = builder.emit("reverse", (value,), {"dimensions": tuple(reversed_dimensions)})
    if dynamic:
        kind = next(iter(dynamic.values())).dtype
        if not kind.is_integer:
            kind = S32
        starts = [dynamic[d] if d in dynamic else builder.constant(0, kind) for d in range(value.ndim)]
        wanted = tuple([1 if d in dynamic else size for d, size in enumerate(value.shape.dimensions)])
        value = builder.emit("dynamic-slice", (value, *starts), {"dynamic_slice_sizes": wanted})
    return value.reshape([size for size in result if size is not None])
