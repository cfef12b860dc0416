"""Shape rules of gather and scatter.

Source: StableHLO gather and scatter (constraints C1 to C23); shape_inference.cc.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import (
    bare,
    require_array,
    require_dimensions,
    require_operand_count,
    require_same_type,
)
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape, tuple_shape


def _index_batch(
    indices: Shape, index_vector_dim: int, index_map: tuple[int, ...], what: str
) -> list[int]:
    """Return the sizes of the batch dimensions of the indices: all but index_vector_dim."""
    require_array(indices, "the indices")
    if not indices.element_type.is_integer:
        raise ShapeError(f"the indices must be integers, they are {bare(indices)}")
    if not 0 <= index_vector_dim <= indices.rank:
        raise ShapeError(
            f"index_vector_dim {index_vector_dim} is out of range for indices {bare(indices)}"
        )
    length = 1 if index_vector_dim == indices.rank else indices.dimensions[index_vector_dim]
    if length != len(index_map):
        raise ShapeError(
            f"{what} names {len(index_map)} dimensions, an index of {bare(indices)} has {length} "
            "components"
        )
    return [size for d, size in enumerate(indices.dimensions) if d != index_vector_dim]


def _batching(
    operand: Shape,
    indices: Shape,
    of_operand: tuple[int, ...],
    of_indices: tuple[int, ...],
    index_vector_dim: int,
) -> None:
    if len(of_operand) != len(of_indices):
        raise ShapeError(
            f"{len(of_operand)} batching dimensions of the operand go with {len(of_indices)} of "
            "the indices"
        )
    require_dimensions(of_operand, operand, "operand batching dimension")
    require_dimensions(of_indices, indices, "indices batching dimension")
    for a, b in zip(of_operand, of_indices, strict=True):
        if b == index_vector_dim:
            raise ShapeError(f"indices batching dimension {b} is index_vector_dim")
        if operand.dimensions[a] != indices.dimensions[b]:
            raise ShapeError(
                f"batching dimension {a} of {bare(operand)} and {b} of {bare(indices)} differ in "
                "size"
            )


def gather(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the batch dimensions of the indices, with the offset dimensions at `offset_dims`."""
    operand, indices = operands
    require_array(operand)
    offset, collapsed = attributes.value("offset_dims"), attributes.value("collapsed_slice_dims")
    batching, sizes = attributes.value("operand_batching_dims"), attributes.value("slice_sizes")
    start_map, vector = attributes.value("start_index_map"), attributes.value("index_vector_dim")
    batch = _index_batch(indices, vector, start_map, "start_index_map")
    require_dimensions(start_map, operand, "start_index_map dimension")
    require_dimensions(collapsed + batching, operand, "collapsed or batching dimension")
    _batching(operand, indices, batching, attributes.value("start_indices_batching_dims"), vector)
    if len(sizes) != operand.rank:
        raise ShapeError(
            f"slice_sizes gives {len(sizes)} sizes for the {operand.rank} dimensions of "
            f"{bare(operand)}"
        )
    for d, (size, whole) in enumerate(zip(sizes, operand.dimensions, strict=True)):
        if not isinstance(size, int):
            raise ShapeError("slice_sizes must be one list of sizes")
        if not 0 <= size <= (whole if whole >= 0 else size):
            raise ShapeError(
                f"slice size {size} of dimension {d} does not fit into {bare(operand)}"
            )
        if (d in collapsed or d in batching) and size > 1:
            raise ShapeError(
                f"dimension {d} is collapsed or batching, its slice size must be at most 1, it "
                f"is {size}"
            )
    kept = [size for d, size in enumerate(sizes) if d not in collapsed and d not in batching]
    if len(kept) != len(offset):
        raise ShapeError(
            f"offset_dims names {len(offset)} dimensions, a slice of {bare(operand)} keeps "
            f"{len(kept)}"
        )
    rank = len(batch) + len(offset)
    require_dimensions(offset, rank, "offset dimension")
    if list(offset) != sorted(offset):
        raise ShapeError(f"offset_dims {list(offset)} must be sorted")
    outer, inner = iter(batch), iter(kept)
    inside = set(offset)
    return array_shape(
        operand.element_type, [next(inner) if d in inside else next(outer) for d in range(rank)]
    )


def scatter(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the inputs' shapes (a tuple for several); operands are inputs, indices, updates."""
    require_operand_count(operands, 3)
    if len(operands) % 2 == 0:
        raise ShapeError(f"takes N inputs, the indices and N updates, got {len(operands)} operands")
    count = len(operands) // 2
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    windows, inserted = (
        attributes.value("update_window_dims"),
        attributes.value("inserted_window_dims"),
    )
    batching, index_map = (
        attributes.value("input_batching_dims"),
        attributes.value("scatter_dims_to_operand_dims"),
    )
    vector = attributes.value("index_vector_dim")
    batch = _index_batch(indices, vector, index_map, "scatter_dims_to_operand_dims")
    for number, (value, update) in enumerate(zip(inputs, updates, strict=True)):
        require_array(value, f"input {number}")
        require_array(update, f"update {number}")
        require_same_type(value, update, f"input {number} and its update")
        if value.dimensions != inputs[0].dimensions or update.dimensions != updates[0].dimensions:
            raise ShapeError(
                f"inputs and updates 0 and {number} differ in dimensions: {bare(inputs[0])}, "
                f"{bare(updates[0])} vs "
                f"{bare(value)}, {bare(update)}"
            )
    value, update = inputs[0], updates[0]
    require_dimensions(index_map, value, "scatter_dims_to_operand_dims dimension")
    require_dimensions(inserted + batching, value, "inserted or batching dimension")
    _batching(value, indices, batching, attributes.value("scatter_indices_batching_dims"), vector)
    require_dimensions(windows, update, "update_window_dims dimension")
    if list(windows) != sorted(windows):
        raise ShapeError(f"update_window_dims {list(windows)} must be sorted")
    bounds = [
        size for d, size in enumerate(value.dimensions) if d not in inserted and d not in batching
    ]
    if len(bounds) != len(windows):
        raise ShapeError(
            f"update_window_dims names {len(windows)} dimensions, a window of {bare(value)} has "
            f"{len(bounds)}"
        )
    if update.rank != len(windows) + len(batch):
        raise ShapeError(
            f"the update {bare(update)} must have rank {len(windows) + len(batch)} for indices "
            f"{bare(indices)}"
        )
    inside, outer, bound = set(windows), iter(batch), iter(bounds)
    for d, size in enumerate(update.dimensions):
        if d in inside:
            limit = next(bound)
            if size > limit >= 0:
                raise ShapeError(
                    f"window dimension {d} of the update {bare(update)} exceeds {limit} of "
                    f"{bare(value)}"
                )
        elif size != (expected := next(outer)) and size >= 0 and expected >= 0:
            raise ShapeError(
                f"dimension {d} of the update {bare(update)} must be {expected}, as in the "
                f"indices {bare(indices)}"
            )
    return value.base if count == 1 else tuple_shape([v.base for v in inputs])
