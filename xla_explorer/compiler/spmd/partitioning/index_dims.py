"""Classify the dimensions of gathers and scatters for partitioning.

An operand dimension is passed through, indexed, or parallel: its index is the position itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True)
class IndexDims:
    """The dimensions of a gather or scatter, in one vocabulary.

    Attributes
    ----------
    index_dims : tuple of int
        Dimensions of the indices besides the index vector, in order.
    window_dims : tuple of int
        Dimensions of the slices (result or updates) that run inside a window.
    batch_dims : tuple of int
        The other dimensions of the slices, one for each of `index_dims`.
    window_operand_dims : tuple of int
        The operand's dimension of each of `window_dims`.
    batching : tuple of (int, int)
        Operand and index dimension of each explicit batch dimension.
    indexed : tuple of int
        The operand's dimension of each index component.
    vector_dim : int
        Of the indices; the rank if an index is a scalar.
    collapsed : tuple of int
        Operand dimensions that the slices lack.
    """

    index_dims: tuple[int, ...]
    window_dims: tuple[int, ...]
    batch_dims: tuple[int, ...]
    window_operand_dims: tuple[int, ...]
    batching: tuple[tuple[int, int], ...]
    indexed: tuple[int, ...]
    vector_dim: int
    collapsed: tuple[int, ...]


def index_dims(
    i: HloInstruction, indices: HloInstruction, slices_rank: int, operand_rank: int
) -> IndexDims:
    """Return the dimensions of a gather or of a scatter."""
    gather = i.opcode.name == "gather"
    value = i.attributes.value
    window = value("offset_dims" if gather else "update_window_dims")
    collapsed = value("collapsed_slice_dims" if gather else "inserted_window_dims")
    batching = value("operand_batching_dims" if gather else "input_batching_dims")
    index_batching = value(
        "start_indices_batching_dims" if gather else "scatter_indices_batching_dims"
    )
    indexed = value("start_index_map" if gather else "scatter_dims_to_operand_dims")
    vector = value("index_vector_dim")
    gone = {*collapsed, *batching}
    return IndexDims(
        tuple([d for d in range(indices.shape.rank) if d != vector]),
        tuple(window),
        tuple([d for d in range(slices_rank) if d not in window]),
        tuple([d for d in range(operand_rank) if d not in gone]),
        tuple(zip(batching, index_batching, strict=True)),
        tuple(indexed),
        vector,
        tuple(collapsed),
    )


def parallel_dims(dims: IndexDims, indices: HloInstruction) -> dict[int, int]:
    """Return {operand dimension: index dimension} where the index is the position itself.

    Such a pair splits by the same axes without communication: row k reads row k.
    """
    found = {}
    for number, operand_dim in enumerate(dims.indexed):
        along = _counts_along(indices, dims.vector_dim, number)
        if along is not None and along in dims.index_dims:
            found[operand_dim] = along
    return found


def _counts_along(indices: HloInstruction, vector_dim: int, number: int) -> int | None:
    """Return the dimension along which one index component counts 0, 1, 2 ..., or None."""
    name = indices.opcode.name
    if name == "iota":
        alone = vector_dim >= indices.shape.rank or indices.shape.dimensions[vector_dim] == 1
        dim = int(indices.attributes["iota_dimension"])
        return dim if alone and dim != vector_dim else None
    if name == "concatenate" and indices.attributes["dimensions"] == (vector_dim,):
        at = 0
        for part in indices.operands:
            size = part.shape.dimensions[vector_dim]
            if at <= number < at + size:
                return _counts_along(part, vector_dim, number - at)
            at += size
    if name == "constant":
        return _counted_constant(indices, vector_dim, number)
    if name in ("copy", "convert"):
        return _counts_along(indices.operands[0], vector_dim, number)
    if name == "broadcast":
        mapping = indices.attributes.value("dimensions")
        inner = indices.operands[0]
        source = _counts_along(inner, inner.shape.rank, 0) if vector_dim not in mapping else None
        return None if source is None else int(mapping[source])
    if name == "reshape":
        return _through_reshape(indices, vector_dim)
    return None


def _counted_constant(indices: HloInstruction, vector_dim: int, number: int) -> int | None:
    """Return the dimension along which one component of constant indices counts, or None."""
    array = np.asarray(indices.literal.array)
    if vector_dim < array.ndim:
        array = np.take(array, [number], vector_dim)
    for dim, size in enumerate(array.shape):
        steps = np.arange(size).reshape([-1 if d == dim else 1 for d in range(array.ndim)])
        if size > 1 and dim != vector_dim and (array == steps).all():
            return dim
    return None


def _through_reshape(indices: HloInstruction, vector_dim: int) -> int | None:
    """Return the counted dimension if the reshape only adds dimensions of size one."""
    inner = indices.operands[0]
    wide = [d for d, n in enumerate(indices.shape.dimensions) if n > 1]
    old = [d for d, n in enumerate(inner.shape.dimensions) if n > 1]
    sizes = [indices.shape.dimensions[d] for d in wide]
    if sizes != [inner.shape.dimensions[d] for d in old] or vector_dim in wide:
        return None
    dim = _counts_along(inner, inner.shape.rank, 0)
    return wide[old.index(dim)] if dim in old else None


def local_indices(
    p: Partitioner, indices: HloInstruction, dims: IndexDims, offsets: dict[int, Sequence[int]]
) -> HloInstruction:
    """Return indices counted from the device's first element.

    offsets: for some operand dimensions, the global index of each device's first element.
    """
    if not any(any(numbers) for numbers in offsets.values()):
        return indices
    kind = indices.shape.element_type

    def scalar(numbers: Sequence[int]) -> HloInstruction:
        made = p.w.of_device(numbers)
        if kind is not p.s32:
            made = p.w.add("convert", [made], p.w.constant(0, kind).shape)
        return made

    zero = [0] * p.axes.count
    numbers = [scalar(offsets.get(d, zero)) for d in dims.indexed]
    if dims.vector_dim >= indices.shape.rank:
        shift = p.w.broadcast(numbers[0], indices.shape.dimensions)
    else:
        vector = p.w.concatenate([p.w.reshape(n, (1,)) for n in numbers], 0)
        shift = p.w.broadcast(vector, indices.shape.dimensions, (dims.vector_dim,))
    return p.w.add("subtract", [indices, shift])


def offsets_of(
    p: Partitioner, value: ShardedValue, tiling: Tiling, dims: Sequence[int]
) -> dict[int, Sequence[int]]:
    """Return the first global index of each device along some split dimensions."""
    return {d: p.w.starts(value.dims, tiling, d) for d in dims if tiling.dims[d]}


def counted_dims(chosen: Assignment, names: Sequence[str]) -> list[int]:
    """Return the operand dimensions whose indices count from each device's first element."""
    found = []
    for factor, name in zip(chosen.factors, names, strict=True):
        dim = factor.dims[0]
        if name in ("index-parallel", "trivial-slice") and dim is not None:
            found.append(dim)
    return found


def split_axes(tiling: Tiling, dims: Sequence[int]) -> Axes:
    """Return the axes of some dimensions, in order."""
    return tuple([k for d in dims for k in tiling.dims[d]])
