"""Data movement: broadcast, reshape, slice, pad, concatenate, bitcast, iota; views if possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.conversion import convert, from_bits, to_bits, type_of
from xla_explorer.hlo.evaluator.registry import Array, EvaluationError, Value, evaluates
from xla_explorer.hlo.primitive_type import S64, PrimitiveType
from xla_explorer.hlo.shape import UNBOUNDED, Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates("iota")
def iota(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the index along `iota_dimension` in the element type; complex: imaginary part 0."""
    shape = i.shape
    dimension = i.attributes.get("iota_dimension", 0)
    if not shape.rank or not shape.element_count:
        return np.zeros(shape.dimensions, shape.element_type.dtype)
    line = convert(np.arange(shape.dimensions[dimension], dtype=S64.dtype), shape.element_type)
    return np.broadcast_to(
        line.reshape([-1 if d == dimension else 1 for d in range(shape.rank)]), shape.dimensions
    )


@evaluates("broadcast")
def broadcast(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return a view whose dimension `dimensions[k]` is operand dimension k."""
    x = operands[0]
    shape = i.shape
    if x.ndim == 0:
        return np.broadcast_to(x, shape.dimensions)
    dimensions = i.attributes.value("dimensions")
    order = sorted(range(x.ndim), key=dimensions.__getitem__)
    target = [1] * shape.rank
    sizes = list(shape.dimensions)
    for k, d in enumerate(dimensions):
        target[d] = x.shape[k]
        if any(i.operands[0].shape.dynamic):
            sizes[d] = x.shape[k]
    return np.broadcast_to(x.transpose(order).reshape(target), sizes)


@evaluates("reshape")
def reshape(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the same elements in row-major order under other dimensions."""
    x, shape = operands[0], i.shape
    if not any(shape.dynamic):
        x = up_to_bounds(x, i.operands[0].shape.dimensions)
    return x.reshape(
        _actual_sizes(x, i.operands[0].shape.dimensions, shape.dimensions, shape.dynamic)
    )


def _actual_sizes(
    x: Array, source: Sequence[int], bounds: Sequence[int], dynamic: Sequence[bool]
) -> list[int]:
    """Return the sizes of a reshape, given the bounds of x (`source`) and of the result (`bounds`).

    A single dynamic dimension of the result follows from the element count. Several dynamic
    dimensions must equal the operand's, apart from dimensions of size 1.
    """
    if dynamic.count(True) == 1:
        return [-1 if d else n for n, d in zip(bounds, dynamic, strict=True)]
    if any(dynamic) and [n for n in bounds if n != 1] == [n for n in source if n != 1]:
        sizes = iter([actual for n, actual in zip(source, x.shape, strict=True) if n != 1])
        return [next(sizes) if n != 1 else 1 for n in bounds]
    return list(bounds)


def up_to_bounds(x: Array, bounds: Sequence[int]) -> Array:
    """Return the array padded with zeros to the bounds of its dynamic dimensions.

    HLO leaves the padding undefined.
    """
    if x.shape == tuple(bounds):
        return x
    return np.pad(
        x, [(0, max(0, bound - size)) for size, bound in zip(x.shape, bounds, strict=True)]
    )


@evaluates("dynamic-reshape")
def dynamic_reshape(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Reshape to sizes given as scalars.

    If the operand has as many elements as the bounds, the block within the sizes is returned.
    """
    x = operands[0]
    sizes = [int(s) for s in operands[1:]]
    if math.prod(sizes) == x.size and min(sizes, default=0) >= 0:
        return x.reshape(sizes)
    if x.size != i.shape.element_count:
        raise EvaluationError(f"%{i.name} reshapes {x.size} elements to {sizes}")
    return x.reshape(i.shape.dimensions)[tuple([slice(0, max(0, size)) for size in sizes])]


@evaluates("transpose")
def transpose(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return a view whose dimension k is operand dimension `dimensions[k]`."""
    return operands[0].transpose(i.attributes.value("dimensions"))


@evaluates("reverse")
def reverse(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return a view with the listed dimensions reversed."""
    return np.flip(operands[0], i.attributes.value("dimensions"))


@evaluates("slice")
def static_slice(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the view `[start:limit:stride]` of each dimension."""
    x = _grown_where_static(operands[0], i)
    return x[tuple([slice(d.start, d.limit, d.stride) for d in i.attributes.value("slice")])]


def _grown_where_static(x: Array, i: HloInstruction) -> Array:
    """Pad to its bound each operand dimension that is static in the result."""
    bounds, dynamic = i.operands[0].shape.dimensions, i.shape.dynamic or (False,) * i.shape.rank
    return up_to_bounds(
        x,
        [
            size if kept else bound
            for size, bound, kept in zip(x.shape, bounds, dynamic, strict=True)
        ],
    )


def start_indices(values: Sequence[Value]) -> list[int]:
    """Return start indices given as scalars, or (the old form) as one vector."""
    if len(values) == 1 and values[0].ndim == 1:
        return [int(v) for v in values[0]]
    return [int(v) for v in values]


def clamped(starts: Sequence[int], bounds: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Clamp starts so that a block of the given sizes lies within the bounds."""
    return [
        max(0, min(s, bound - size)) for s, bound, size in zip(starts, bounds, sizes, strict=True)
    ]


@evaluates("dynamic-slice")
def dynamic_slice(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return a view of a block at a start that is clamped into bounds."""
    x = _grown_where_static(operands[0], i)
    sizes = [min(n, actual) for n, actual in zip(i.shape.dimensions, x.shape, strict=True)]
    starts = clamped(start_indices(operands[1:]), x.shape, sizes)
    return x[tuple([slice(s, s + n) for s, n in zip(starts, sizes, strict=True)])]


@evaluates("dynamic-update-slice")
def dynamic_update_slice(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return a copy of operand 0 with a block replaced, at a start that is clamped into bounds."""
    x, update = operands[0], operands[1]
    starts = clamped(start_indices(operands[2:]), x.shape, update.shape)
    result = x.copy()
    result[tuple([slice(s, s + n) for s, n in zip(starts, update.shape, strict=True)])] = update
    return result


@evaluates("concatenate")
def concatenate(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Concatenate along `dimensions[0]`."""
    return np.concatenate(operands, axis=i.attributes.value("dimensions")[0])


@evaluates("pad")
def pad(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Pad by `low_high_interior`; a negative low or high crops after the interior padding."""
    x, value = operands
    sizes, into, source = [], [], []
    for n, d in zip(x.shape, i.attributes.value("padding"), strict=True):
        step = d.interior + 1
        extent = n + max(n - 1, 0) * d.interior
        sizes.append(max(0, d.low + extent + d.high))
        first = 0 if d.low >= 0 else -(d.low // step)  # the first element that is not cropped
        last = min(n, (sizes[-1] - 1 - d.low) // step + 1) if sizes[-1] else 0
        source.append(slice(first, max(first, last)))
        start = d.low + first * step
        into.append(
            slice(
                start,
                start + max(0, (last - first - 1) * step + 1) if last > first else start,
                step,
            )
        )
    result = np.full(sizes, value, x.dtype)
    result[tuple(into)] = x[tuple(source)]
    return result


@evaluates("bitcast-convert")
def bitcast_convert(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Reinterpret the bits, little endian.

    A narrower type adds a minor dimension, a wider one removes it.
    """
    return reinterpret(operands[0], i.shape.element_type)


def reinterpret(x: Array, target: PrimitiveType) -> Array:
    """Reinterpret the bits as another type (see `bitcast_convert`)."""
    source = type_of(x.dtype)
    if source.bits == target.bits:
        return (
            from_bits(to_bits(x), target)
            if not (source.is_complex or target.is_complex)
            else np.ascontiguousarray(x).view(target.dtype)
        )
    if min(source.bits, target.bits) >= 8:
        whole = np.array(x, order="C", copy=None)
        if source.bits > target.bits:
            view = np.uint8 if target.is_pred else target.dtype
            parts = whole.reshape(*x.shape, 1).view(view)
            return np.asarray(parts != 0) if target.is_pred else parts
        return np.asarray(whole.view(target.dtype)).reshape(x.shape[:-1])
    # numpy stores sub-byte types one a byte; the first element is in the low bits.
    ratio = max(source.bits, target.bits) // min(source.bits, target.bits)
    narrow_bits = min(source.bits, target.bits)
    bits = to_bits(x)
    shifts = (np.arange(ratio) * narrow_bits).astype(np.uint64)
    if source.bits > target.bits:
        parts = (bits[..., None].astype(np.uint64) >> shifts) & np.uint64((1 << narrow_bits) - 1)
        return from_bits(parts.astype(np.uint8), target)
    joined = np.bitwise_or.reduce(bits.astype(np.uint64) << shifts, axis=-1)
    return from_bits(joined.astype(np.dtype(f"u{max(1, target.bits // 8)}")), target)


@evaluates("bitcast")
def bitcast(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the same buffer under another shape, following both layouts."""
    source, target = i.operands[0].shape, i.shape
    x = operands[0]
    if not target.is_array:
        return x
    physical = source.layout.minor_to_major[::-1]
    if any(target.dynamic):
        order = target.layout.minor_to_major[::-1]
        moved = x.transpose(physical)
        bounds, dynamic = [target.dimensions[d] for d in order], [target.dynamic[d] for d in order]
        sizes = _actual_sizes(moved, [source.dimensions[d] for d in physical], bounds, dynamic)
        return moved.reshape(sizes).transpose(np.argsort(order))
    stored = x.transpose(physical).reshape(-1)
    if source.element_type is not target.element_type:
        ratio = source.element_type.bits // target.element_type.bits
        if ratio == 0:
            stored = stored.reshape(-1, target.element_type.bits // source.element_type.bits)
        stored = reinterpret(stored, target.element_type).reshape(-1)
    return _from_storage(stored, target)


def _from_storage(stored: Array, shape: Shape) -> Array:
    major_to_minor = shape.layout.minor_to_major[::-1]
    return stored.reshape([shape.dimensions[d] for d in major_to_minor]).transpose(
        np.argsort(major_to_minor) if shape.rank else ()
    )


@evaluates("get-dimension-size")
def get_dimension_size(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the actual size of a dimension as s32."""
    return np.asarray(operands[0].shape[i.attributes.value("dimensions")[0]], np.int32)


@evaluates("set-dimension-size")
def set_dimension_size(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the array with the given size of one dimension.

    Values of dynamic shapes have their actual size here. A smaller size crops. A larger one, up to
    the bound, pads with zeros; HLO leaves the padding undefined.
    """
    x, size = operands
    dimension = i.attributes.value("dimensions")[0]
    wanted = bound = i.shape.dimensions[dimension]
    if i.shape.dynamic[dimension]:
        if bound == UNBOUNDED:  # the operand's size is the bound
            bound = max(i.operands[0].shape.dimensions[dimension], x.shape[dimension])
        wanted = max(0, min(int(size), bound))
    if wanted > x.shape[dimension]:
        grown = np.zeros([wanted if d == dimension else n for d, n in enumerate(x.shape)], x.dtype)
        grown[tuple([slice(0, n) for n in x.shape])] = x
        return grown
    return x[tuple([slice(0, wanted) if d == dimension else slice(None) for d in range(x.ndim)])]
