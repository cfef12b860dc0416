"""`gather` and `scatter`.

Gather clamps each slice into bounds. Scatter skips each window that is not wholly in bounds, and
applies updates of one element in their order. Source: StableHLO spec, gather and scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.analysis.empty_slices import gathers_nothing
from xla_explorer.hlo.evaluator.combiner import combiner_of, returned_parameter
from xla_explorer.hlo.evaluator.conversion import WIDER, convert
from xla_explorer.hlo.evaluator.data_movement import up_to_bounds
from xla_explorer.hlo.evaluator.reduction import as_list
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates
from xla_explorer.hlo.primitive_type import S64

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


def index_vectors(indices: Array, index_vector_dim: int) -> Array:
    """Return the indices as s64 [batch ..., component]; index_vector_dim = rank means scalars."""
    if indices.dtype == np.uint64:
        # An index beyond s64 is out of bounds on the high side.
        indices = np.minimum(indices, np.uint64(2**63 - 1))
    whole = convert(indices, S64)
    return (
        whole[..., None]
        if index_vector_dim == whole.ndim
        else np.moveaxis(whole, index_vector_dim, -1)
    )


def _start(
    vectors: Array, component_of: dict[int, int], batch_of: dict[int, int], dimension: int
) -> Array | None:
    """Return start indices along an operand dimension by batch position; None if always 0."""
    if dimension in component_of:
        return vectors[..., component_of[dimension]]
    if dimension in batch_of:
        batch = vectors.shape[:-1]
        axis = batch_of[dimension]
        return np.arange(batch[axis]).reshape([-1 if d == axis else 1 for d in range(len(batch))])
    return None


def _batch_axis(dimension: int, index_vector_dim: int) -> int:
    """Return the axis in `index_vectors` of a dimension of the indices."""
    return dimension - (dimension > index_vector_dim)


@evaluates("gather")
def gather(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Gather slices at clamped starts, laid out along the batch dimensions of the indices."""
    x, indices = operands
    if gathers_nothing(i):
        return np.broadcast_to(
            convert(np.zeros((), np.int8), i.shape.element_type), i.shape.dimensions
        )
    if 0 in x.shape:
        x = up_to_bounds(x, i.operands[0].shape.dimensions)
    value = i.attributes.value
    vector_dim = value("index_vector_dim")
    vectors = index_vectors(indices, vector_dim)
    sizes, offset_dims = value("slice_sizes"), value("offset_dims")
    if any(i.operands[0].shape.dynamic):
        sizes = [min(n, actual) for n, actual in zip(sizes, x.shape, strict=True)]
    component_of = {d: k for k, d in enumerate(value("start_index_map"))}
    batching = value("operand_batching_dims")
    batch_of = {
        d: _batch_axis(b, vector_dim)
        for d, b in zip(batching, value("start_indices_batching_dims"), strict=True)
    }
    dropped = set(value("collapsed_slice_dims")) | set(batching)
    batch_rank = vectors.ndim - 1
    windowed = [d for d in range(x.ndim) if d not in dropped]
    # Dimensions taken whole stay slices and go last, so the indexed dimensions come first.
    whole = [d for d in windowed if d not in component_of and sizes[d] == x.shape[d]]
    indexed = [d for d in range(x.ndim) if d not in whole]
    inner = [d for d in indexed if d in windowed]
    selectors: list[Array] = []
    for d in indexed:
        start = _start(vectors, component_of, batch_of, d)
        at = (
            np.zeros((1,) * batch_rank, np.int64)
            if start is None
            else np.clip(start, 0, x.shape[d] - sizes[d])
        )
        at = at.reshape(at.shape + (1,) * len(inner))
        if d in windowed:
            at = at + np.arange(sizes[d]).reshape([-1 if o == d else 1 for o in inner])
        selectors.append(at)
    shape = (*vectors.shape[:-1], *[sizes[d] for d in inner])
    taken = x.transpose([*indexed, *whole])
    if selectors:
        selectors[0] = np.broadcast_to(selectors[0], shape)
        taken = taken[tuple(selectors)]
    else:
        taken = np.broadcast_to(taken, (*shape, *taken.shape))
    # From [batch ..., inner ..., whole ...] to the dimension order of the result.
    window_axes = {d: batch_rank + k for k, d in enumerate([*inner, *whole])}
    batch_axes, offsets = iter(range(batch_rank)), iter([window_axes[d] for d in windowed])
    axes = [next(offsets) if d in offset_dims else next(batch_axes) for d in range(taken.ndim)]
    return taken.transpose(axes)


@evaluates("scatter")
def scatter(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return copies of the operands with updates combined in; windows out of bounds are skipped."""
    count = len(operands) // 2
    targets, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    value = i.attributes.value
    shape = targets[0].shape
    vector_dim = value("index_vector_dim")
    vectors = index_vectors(indices, vector_dim)
    component_of = {d: k for k, d in enumerate(value("scatter_dims_to_operand_dims"))}
    batching = value("input_batching_dims")
    batch_of = {
        d: _batch_axis(b, vector_dim)
        for d, b in zip(batching, value("scatter_indices_batching_dims"), strict=True)
    }
    window_dims = value("update_window_dims")
    inserted = set(value("inserted_window_dims")) | set(batching)
    windowed = [d for d in range(len(shape)) if d not in inserted]
    batch_dims = [d for d in range(updates[0].ndim) if d not in window_dims]
    sizes = {d: updates[0].shape[u] for d, u in zip(windowed, sorted(window_dims), strict=True)}
    batch_rank = len(batch_dims)
    linear = np.zeros((1,) * (batch_rank + len(windowed)), np.int64)
    inside = np.ones((1,) * batch_rank, np.bool_)
    for d, extent in enumerate(shape):
        stride = math.prod(shape[d + 1 :])
        start = _start(vectors, component_of, batch_of, d)
        if start is not None:
            inside = inside & (start >= 0) & (start <= extent - sizes.get(d, 1))
            linear = linear + np.where(inside, start * stride if start.size else start, 0).reshape(
                np.broadcast_shapes(start.shape, inside.shape) + (1,) * len(windowed)
            )
        elif sizes.get(d, 1) > extent:
            inside = inside & False
        if d in sizes:
            linear = linear + (np.arange(sizes[d]) * stride).reshape(
                [1] * batch_rank + [-1 if w == d else 1 for w in windowed]
            )
    full = (*[updates[0].shape[d] for d in batch_dims], *[sizes[d] for d in windowed])
    positions = np.broadcast_to(linear, full).reshape(-1)
    keep = np.broadcast_to(inside.reshape(inside.shape + (1,) * len(windowed)), full).reshape(-1)
    order = [*batch_dims, *sorted(window_dims)]
    values = [np.broadcast_to(u, u.shape).transpose(order).reshape(-1) for u in updates]
    if not keep.all():
        positions, values = positions[keep], [v[keep] for v in values]
    flat = [np.array(t, order="C").reshape(-1) for t in targets]
    results = [
        r.reshape(shape) for r in scatter_elements(flat, positions, values, i.called[0], evaluator)
    ]
    return tuple(results) if i.shape.is_tuple else results[0]


def scatter_elements(
    targets: list[Array],
    positions: Array,
    updates: Sequence[Array],
    computation: HloComputation,
    evaluator: Evaluator,
) -> list[Array]:
    """Set targets[k][positions[j]] = f(targets ..., updates[k][j] ...) for j in order, in place.

    The targets are flat. Repeated positions are split into rounds: the first update of every
    element, then every second update, and so on.
    """
    if len(targets) == 1:
        returned = returned_parameter(computation)
        if returned is not None:
            if returned == 1:
                targets[0][positions] = updates[0]
            return targets
        combiner = combiner_of(computation)
        if (
            combiner is not None
            and targets[0].dtype not in WIDER
            and targets[0].dtype.kind not in "fc"
        ):
            combiner.ufunc.at(targets[0], positions, updates[0])
            return targets
        if (
            combiner is not None
            and targets[0].dtype.kind in "fc"
            and combiner.name in ("add", "multiply")
        ):
            combiner.ufunc.at(targets[0], positions, updates[0])
            return targets
    for chosen in rounds(positions):
        at = positions[chosen]
        values = as_list(
            evaluator.evaluate_elementwise(
                computation, [*[t[at] for t in targets], *[u[chosen] for u in updates]]
            )
        )
        for target, value in zip(targets, values, strict=True):
            target[at] = value
    return targets


def rounds(positions: Array) -> list[Array]:
    """Split updates into index arrays with distinct positions each, in order of occurrence."""
    if not positions.size:
        return []
    order = np.argsort(positions, kind="stable")
    sorted_positions = positions[order]
    first = np.flatnonzero(np.concatenate([[True], sorted_positions[1:] != sorted_positions[:-1]]))
    occurrence = np.arange(positions.size) - np.repeat(
        first, np.diff(np.append(first, positions.size))
    )
    if not occurrence.any():
        return [order]
    by_round = np.argsort(occurrence, kind="stable")
    ends = np.cumsum(np.bincount(occurrence))
    return [order[part] for part in np.split(by_round, ends[:-1])]
