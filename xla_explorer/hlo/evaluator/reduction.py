"""`reduce` and `scan`.

A reducer with a numpy ufunc (add, multiply, maximum, minimum, and, or, xor) is one numpy reduction.
Any other reducer is applied to whole slices along the reduced dimensions: a fold in order for few
slices, an order-preserving tree for many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.combiner import (
    Combiner,
    accumulation_dtype,
    combine_pair,
    combiner_of,
)
from xla_explorer.hlo.evaluator.conversion import WIDER, narrow, widen
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

# Reductions of at most this length are folded in order, which is correct for any reducer.
_FOLD_LIMIT = 256


@evaluates("reduce")
def reduce(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Fold f(init, x0, x1 ...) along `dimensions`, for N arrays and N initial values.

    The result is a tuple if the reducer returns one.
    """
    count = len(operands) // 2
    arrays, initial = operands[:count], operands[count:]
    dimensions = i.attributes.value("dimensions")
    if count == 1:
        combiner = combiner_of(i.called[0])
        if combiner is not None:
            result = reduce_known(combiner, arrays[0], initial[0], dimensions)
            return (result,) if i.shape.is_tuple else result
    results = reduce_general(i.called[0], arrays, initial, dimensions, evaluator)
    return tuple(results) if i.shape.is_tuple else results[0]


def reduce_known(
    combiner: Combiner, x: Array, initial: Array, dimensions: tuple[int, ...]
) -> Array:
    """Reduce with numpy, with the initial value folded in once; float sums in f64, rounded once."""
    dtype = x.dtype
    wide = accumulation_dtype(dtype, combiner.name)
    values = x if dtype not in WIDER else widen(x)
    if not values.size:  # adding to numpy's 0 would lose the sign of a negative zero
        kept_shape = np.delete(np.array(x.shape), dimensions).astype(int)
        return np.broadcast_to(initial, kept_shape).astype(dtype)
    if combiner.name in ("maximum", "minimum") or dtype == np.bool_:
        ufunc = (
            {"add": np.logical_or, "multiply": np.logical_and}.get(combiner.name, combiner.ufunc)
            if dtype == np.bool_
            else combiner.ufunc
        )
        reduced = narrow(np.asarray(ufunc.reduce(values, axis=dimensions)), dtype)
        return combine_pair(combiner, reduced, np.asarray(initial))
    start = widen(initial).astype(wide) if wide != initial.dtype else initial
    neutral: dict[str, Any] = {}
    if combiner.name == "add" and np.dtype(wide).kind in "fc":
        # numpy's own start of a sum, 0, would lose the sign of negative zeros.
        neutral["initial"] = -0.0 if np.dtype(wide).kind == "f" else complex(-0.0, -0.0)
    reduced = combiner.ufunc.reduce(values, axis=dimensions, dtype=wide, **neutral)
    return np.asarray(narrow(np.asarray(combiner.ufunc(reduced, start), wide), dtype))


def reduce_general(
    computation: HloComputation,
    arrays: Sequence[Array],
    initial: Sequence[Array],
    dimensions: tuple[int, ...],
    evaluator: Evaluator,
) -> list[Array]:
    """Reduce N arrays by any reducer: flatten the reduced dimensions to one, then fold or tree."""
    shape = arrays[0].shape
    kept = [d for d in range(len(shape)) if d not in dimensions]
    order = [*sorted(dimensions), *kept]
    kept_shape = tuple([shape[d] for d in kept])
    length = math.prod([shape[d] for d in dimensions])
    lines = [a.transpose(order).reshape(length, *kept_shape) for a in arrays]
    accumulators = [np.broadcast_to(v, kept_shape) for v in initial]

    def combine(left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
        return as_list(evaluator.evaluate_elementwise(computation, [*left, *right]))

    if length > _FOLD_LIMIT:
        while (n := lines[0].shape[0]) > 1:
            even = n - n % 2
            paired = combine([a[0:even:2] for a in lines], [a[1:even:2] for a in lines])
            lines = (
                [np.concatenate([p, a[even:]]) for p, a in zip(paired, lines, strict=True)]
                if n % 2
                else paired
            )
    for k in range(lines[0].shape[0]):
        accumulators = combine(accumulators, [a[k] for a in lines])
    return [np.asarray(a) for a in accumulators]


def as_list(value: Value) -> list[Array]:
    """Return the results of a reducer as a list, for one array or a tuple."""
    return list(value) if isinstance(value, tuple) else [value]


@evaluates("scan")
def scan(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Scan f(inputs at k ..., carries ...) -> (outputs at k ..., carries ...) along one dimension.

    The result is the outputs, then the final carries.
    """
    attributes = i.attributes
    carry_count = attributes.get("num_carries", 0)
    dimensions = attributes.value("dimensions")
    axis = dimensions[0] if dimensions else 0
    inputs, carries = (
        operands[: len(operands) - carry_count],
        list(operands[len(operands) - carry_count :]),
    )
    shapes = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
    output_count = len(shapes) - carry_count
    length = inputs[0].shape[axis] if inputs else shapes[0].dimensions[axis]
    scalars = all(p.shape.is_scalar for p in i.called[0].parameters())
    run = evaluator.evaluate_elementwise if scalars else evaluator.evaluate_computation
    outputs = [np.empty(s.dimensions, s.element_type.dtype) for s in shapes[:output_count]]
    steps = range(length - 1, -1, -1) if attributes.get("is_reverse", False) else range(length)
    for k in steps:
        taken = [np.asarray(np.take(x, k, axis=axis)) for x in inputs]
        values = as_list(run(i.called[0], [*taken, *carries]))
        for target, value in zip(outputs, values[:output_count], strict=True):
            target[(slice(None),) * axis + (k,)] = value
        carries = values[output_count:]
    results = (*outputs, *carries)
    return results if i.shape.is_tuple else results[0]
