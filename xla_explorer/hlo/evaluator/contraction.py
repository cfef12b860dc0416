"""Dots: exact wrapping integers; floats in f64 (c128), short contractions in their own type.

A sum of a few terms has one natural order and gains little from a wider type. Its result equals a
plain loop in the result's own precision, as in XLA:CPU and the StableHLO test data. Long sums are
accumulated in f64 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.analysis.product_types import wider_type
from xla_explorer.hlo.evaluator.conversion import convert, widen
from xla_explorer.hlo.evaluator.registry import Array, UnsupportedOpcodeError, Value, evaluates
from xla_explorer.hlo.primitive_type import PrimitiveType, primitive_type_of

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

# Beyond this number of multiply-adds a dot of f32 (or narrower) operands stays in f32: twice as
# fast.
_DOUBLE_PRECISION_LIMIT = 1 << 36
# Contractions of at most this length are summed in order in the result's own type.
_SHORT = 8
_LOOP_TYPES = frozenset(("f32", "f64", "c64", "c128"))


@evaluates("dot")
def dot(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Compute a general dot.

    Batch dimensions, then free dimensions of the left and the right side.
    """
    value = i.attributes.value
    return dot_general(
        operands[0],
        operands[1],
        value("lhs_contracting_dims"),
        value("rhs_contracting_dims"),
        value("lhs_batch_dims"),
        value("rhs_batch_dims"),
        i.shape.element_type,
    )


def dot_general(
    lhs: Array,
    rhs: Array,
    lhs_contracting: Sequence[int],
    rhs_contracting: Sequence[int],
    lhs_batch: Sequence[int],
    rhs_batch: Sequence[int],
    element_type: PrimitiveType,
) -> Array:
    """Compute the dot of two arrays in any element type.

    Source: StableHLO spec, dot_general.
    """
    lhs_free = [d for d in range(lhs.ndim) if d not in lhs_contracting and d not in lhs_batch]
    rhs_free = [d for d in range(rhs.ndim) if d not in rhs_contracting and d not in rhs_batch]
    batch = [lhs.shape[d] for d in lhs_batch]
    contracted = math.prod([lhs.shape[d] for d in lhs_contracting])
    left = lhs.transpose([*lhs_batch, *lhs_free, *lhs_contracting])
    right = rhs.transpose([*rhs_batch, *rhs_contracting, *rhs_free])
    rows, columns = [lhs.shape[d] for d in lhs_free], [rhs.shape[d] for d in rhs_free]
    product = matrix_product(
        left.reshape(math.prod(batch), math.prod(rows), contracted),
        right.reshape(math.prod(batch), contracted, math.prod(columns)),
        element_type,
    )
    return product.reshape((*batch, *rows, *columns))


def matrix_product(left: Array, right: Array, element_type: PrimitiveType) -> Array:
    """Multiply [B, M, K] by [B, K, N] in the widest type, then convert to `element_type`."""
    kind = wider_type(primitive_type_of(left.dtype), primitive_type_of(right.dtype), element_type)
    if kind.is_float:
        left, right = convert(left, kind), convert(right, kind)
    left, right = widen(left), widen(right)
    if left.dtype == np.bool_ and right.dtype == np.bool_ and element_type.is_pred:
        return np.asarray(np.matmul(left, right))
    # pred counts as 0 or 1 in sums, and a product with an integer wraps.
    left, right = [
        side.astype(np.uint8) if side.dtype == np.bool_ else side for side in (left, right)
    ]
    if left.dtype.kind in "iu" and right.dtype.kind in "iu" and kind.is_integer:
        return convert(convert(_integer_product(left, right), kind), element_type)
    holds = all(
        side.dtype.kind not in "fc" or np.can_cast(side.dtype, kind.dtype) for side in (left, right)
    )
    loops = kind is element_type and kind.name in _LOOP_TYPES and left.shape[-1] <= _SHORT
    if loops and holds and left.size and right.size:
        return _short_product(left.astype(kind.dtype), right.astype(kind.dtype))
    work = left.size * right.shape[-1]
    complex_ = "c" in (left.dtype.kind, right.dtype.kind)
    narrow_ = max(left.dtype.itemsize, right.dtype.itemsize) <= (8 if complex_ else 4)
    single, double = ("c8", "c16") if complex_ else ("f4", "f8")
    accumulate = np.dtype(single if narrow_ and work > _DOUBLE_PRECISION_LIMIT else double)
    product = np.matmul(left.astype(accumulate, copy=False), right.astype(accumulate, copy=False))
    return convert(convert(product, kind), element_type)


def _short_product(left: Array, right: Array) -> Array:
    total = left[..., :, 0, None] * right[..., None, 0, :]
    for k in range(1, left.shape[-1]):
        total += left[..., :, k, None] * right[..., None, k, :]
    return np.asarray(total)


def _integer_product(left: Array, right: Array) -> Array:
    """Multiply modulo 2**64; through f64 and BLAS if no partial sum can exceed 2**53."""
    if left.size and right.size:
        largest = max(abs(int(left.max())), abs(int(left.min()))) * max(
            abs(int(right.max())), abs(int(right.min()))
        )
        if largest * left.shape[-1] < 1 << 53:
            return np.asarray(np.matmul(left.astype(np.float64), right.astype(np.float64))).astype(
                np.int64
            )
    wide = np.uint64 if left.dtype.kind == "u" else np.int64
    return np.asarray(np.matmul(left.astype(wide), right.astype(wide)))


def _block_scaled(x: Array, scale: Array) -> Array:
    """Return the f64 values of x times their block's scale; blocks of a dimension are equal."""
    values = widen(scale).astype(np.float64)
    for d, (size, blocks) in enumerate(zip(x.shape, scale.shape, strict=True)):
        values = np.repeat(values, size // blocks, axis=d) if blocks else values
    return np.asarray(widen(x).astype(np.float64) * values)


def _is_scale_of(scale: Array, x: Array) -> bool:
    return scale.ndim == x.ndim and all(
        b > 0 and n % b == 0 for n, b in zip(x.shape, scale.shape, strict=True)
    )


@evaluates("scaled-dot")
def scaled_dot(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Compute a dot of block-scaled operands.

    The operands are (lhs, lhs scale, rhs, rhs scale), or in the older order (lhs, rhs, lhs scale,
    rhs scale). The order follows from the shapes: a scale's sizes divide its operand's. If both
    orders fit, the scale is the smaller array.
    """
    first, second, third, fourth = operands
    interleaved = _is_scale_of(second, first) and _is_scale_of(fourth, third)
    if interleaved and _is_scale_of(third, first) and _is_scale_of(fourth, second):
        interleaved = second.size <= third.size
    lhs, lhs_scale, rhs, rhs_scale = (
        (first, second, third, fourth) if interleaved else (first, third, second, fourth)
    )
    value = i.attributes.value
    return dot_general(
        _block_scaled(lhs, lhs_scale),
        _block_scaled(rhs, rhs_scale),
        value("lhs_contracting_dims"),
        value("rhs_contracting_dims"),
        value("lhs_batch_dims"),
        value("rhs_batch_dims"),
        i.shape.element_type,
    )


@evaluates("ragged-dot")
def ragged_dot(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Compute a dot whose ragged left dimension is split into groups, each with its own right side.

    Group results go to separate rows if the ragged dimension is free, or are separate results if it
    contracts. Source: StableHLO / jax.lax.ragged_dot_general, three modes by the kind of the ragged
    dimension.
    """
    lhs, rhs, sizes = operands
    value = i.attributes.value
    lhs_contracting, rhs_contracting = value("lhs_contracting_dims"), value("rhs_contracting_dims")
    lhs_batch, rhs_batch = value("lhs_batch_dims"), value("rhs_batch_dims")
    ragged = value("lhs_ragged_dims")[0]
    groups = value("rhs_group_dims")
    if sizes.ndim != 1:
        return _ragged_dot_by_batch(i, operands, evaluator)
    element_type = i.shape.element_type
    result = np.zeros(i.shape.dimensions, element_type.dtype)
    start = 0
    for number, size in enumerate(map(int, sizes)):
        stop = min(start + size, lhs.shape[ragged])
        part = (slice(None),) * ragged + (slice(start, stop),)
        if ragged in lhs_contracting:
            other = rhs_contracting[lhs_contracting.index(ragged)]
            result[number] = dot_general(
                lhs[part],
                rhs[(slice(None),) * other + (slice(start, stop),)],
                lhs_contracting,
                rhs_contracting,
                lhs_batch,
                rhs_batch,
                element_type,
            )
        elif ragged in lhs_batch:
            at = lhs_batch.index(ragged)
            other = rhs_batch[at]
            result[(slice(None),) * at + (slice(start, stop),)] = dot_general(
                lhs[part],
                rhs[(slice(None),) * other + (slice(start, stop),)],
                lhs_contracting,
                rhs_contracting,
                lhs_batch,
                rhs_batch,
                element_type,
            )
        else:
            group = groups[0]
            chosen = np.take(rhs, number, axis=group)
            contracting = tuple([d - (d > group) for d in rhs_contracting])
            batch = tuple([d - (d > group) for d in rhs_batch])
            free = [d for d in range(lhs.ndim) if d not in lhs_contracting and d not in lhs_batch]
            at = len(lhs_batch) + free.index(ragged)
            result[(slice(None),) * at + (slice(start, stop),)] = dot_general(
                lhs[part], chosen, lhs_contracting, contracting, lhs_batch, batch, element_type
            )
        start = stop
    return result


def _ragged_dot_by_batch(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Compute a ragged dot with group sizes [batch ..., outer ..., group], one mask per group.

    The outer dimensions are of the ragged dimension's kind (batch, contracting or free) and
    precede it.
    """
    lhs, rhs, sizes = operands
    value = i.attributes.value
    lhs_contracting, rhs_contracting = value("lhs_contracting_dims"), value("rhs_contracting_dims")
    lhs_batch, rhs_batch = value("lhs_batch_dims"), value("rhs_batch_dims")
    ragged, groups = value("lhs_ragged_dims")[0], value("rhs_group_dims")
    free = [d for d in range(lhs.ndim) if d not in lhs_contracting and d not in lhs_batch]
    kind = next(list(dims) for dims in (lhs_batch, lhs_contracting, free) if ragged in dims)
    outer = kind[: kind.index(ragged)]
    prefix = outer if ragged in lhs_batch else [*lhs_batch, *outer]
    wanted = tuple([lhs.shape[d] for d in prefix])
    if sizes.shape[:-1] != wanted:
        raise UnsupportedOpcodeError(
            "ragged-dot",
            f"%{i.name}: group sizes of shape {list(sizes.shape)} where "
            f"{[*wanted, sizes.shape[-1]]} is required",
        )

    def over_lhs(bounds: Array) -> Array:
        spread = bounds.transpose(np.argsort(prefix) if prefix else ())
        return np.asarray(
            spread.reshape([lhs.shape[d] if d in prefix else 1 for d in range(lhs.ndim)])
        )

    stops = np.cumsum(sizes.astype(np.int64), axis=-1)
    place = np.arange(lhs.shape[ragged]).reshape(
        [-1 if d == ragged else 1 for d in range(lhs.ndim)]
    )
    element_type = i.shape.element_type
    result = np.zeros(i.shape.dimensions, element_type.dtype)
    for number in range(sizes.shape[-1]):
        inside = (place >= over_lhs(stops[..., number] - sizes[..., number])) & (
            place < over_lhs(stops[..., number])
        )
        mask = np.broadcast_to(inside, lhs.shape)
        if ragged in lhs_contracting:
            # The mask depends only on batch and contracting dimensions, which the right side
            # shares.
            batches = np.moveaxis(
                mask, [*lhs_batch, *lhs_contracting], range(len(lhs_batch) + len(lhs_contracting))
            )
            shared = batches.reshape(*batches.shape[: batches.ndim - len(free)], -1)[..., 0]
            matching = [*rhs_batch, *rhs_contracting]
            right = shared.transpose(np.argsort(matching)).reshape(
                [n if d in matching else 1 for d, n in enumerate(rhs.shape)]
            )
            zero = rhs.dtype.type(0)
            result[number] = dot_general(
                np.where(mask, lhs, lhs.dtype.type(0)),
                np.where(right, rhs, zero),
                lhs_contracting,
                rhs_contracting,
                lhs_batch,
                rhs_batch,
                element_type,
            )
            continue
        chosen, contracting, batch = rhs, rhs_contracting, rhs_batch
        if groups:
            chosen = np.take(rhs, number, axis=groups[0])
            contracting = tuple([d - (d > groups[0]) for d in rhs_contracting])
            batch = tuple([d - (d > groups[0]) for d in rhs_batch])
        product = dot_general(
            lhs, chosen, lhs_contracting, contracting, lhs_batch, batch, element_type
        )
        rows = np.moveaxis(mask, lhs_contracting, range(len(lhs_contracting)))[
            (0,) * len(lhs_contracting)
        ]
        # The mask without contracting dimensions, batch dimensions first, as in the result.
        left = [d for d in range(lhs.ndim) if d not in lhs_contracting]
        rows = rows.transpose([left.index(d) for d in (*lhs_batch, *free)])
        result = np.where(
            rows.reshape(rows.shape + (1,) * (product.ndim - rows.ndim)), product, result
        )
    return np.asarray(result)
