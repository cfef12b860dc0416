"""The terms of opcodes that are more than a movement or elementwise: sums, products, scatters.

Each function of `MEANINGS` takes the evaluator, an instruction and the terms of its operands, and
returns the terms of its result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from xla_explorer.compiler.rewriting.proofs.scalars import Scalars, Term, UnsupportedProofError
from xla_explorer.compiler.rewriting.proofs.solver import z3
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.windows import window_positions
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

Terms: TypeAlias = np.ndarray[Any, Any]
"""A value: a term for each element."""


class Symbolic(Protocol):
    """The part of the evaluator of terms that a meaning uses."""

    scalars: Scalars

    def combine(self, reducer: HloComputation, values: Sequence[Term]) -> list[Term]:
        """Return the results of a reducer of scalars."""


def _reduce(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Any:
    """Fold from the initial values in row-major order; HLO leaves the order open."""
    count = len(operands) // 2
    arrays, initial = operands[:count], operands[count:]
    dimensions = sorted(i.attributes.value("dimensions"))
    kept = [d for d in range(arrays[0].ndim) if d not in dimensions]
    kept_shape = [arrays[0].shape[d] for d in kept]
    length = math.prod([arrays[0].shape[d] for d in dimensions])
    lines = [a.transpose([*kept, *dimensions]).reshape(*kept_shape, length) for a in arrays]
    results = [np.empty(kept_shape, object) for _ in arrays]
    for place in np.ndindex(*kept_shape):
        values = [start[()] for start in initial]
        for k in range(length):
            values = symbolic.combine(i.called[0], [*values, *[a[(*place, k)] for a in lines]])
        for result, value in zip(results, values, strict=True):
            result[place] = value
    return tuple(results) if i.shape.is_tuple else results[0]


def _reduce_window(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Any:
    count = len(operands) // 2
    arrays, initial = operands[:count], operands[count:]
    window = i.attributes.value("window")
    sizes = zip(window.dimensions, arrays[0].shape, strict=True)
    output = tuple([d.output_size(n) for d, n in sizes])
    results = [np.full(output, start, object) for start in initial]
    for position in window_positions(window, arrays[0].shape, output):
        shape = results[0][position.windows].shape
        for place in np.ndindex(*shape):
            values = symbolic.combine(
                i.called[0],
                [
                    *[a[position.windows][place] for a in results],
                    *[x[position.elements][place] for x in arrays],
                ],
            )
            for result, value in zip(results, values, strict=True):
                result[position.windows][place] = value
    return tuple(results) if i.shape.is_tuple else results[0]


def _map(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Terms:
    made = np.empty(i.shape.dimensions, object)
    for place in np.ndindex(*i.shape.dimensions):
        (made[place],) = symbolic.combine(i.called[0], [one[place] for one in operands])
    return made


def _dot(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Terms:
    """Sum the products along the contracting dimensions, in order."""
    lhs, rhs = operands
    value = i.attributes.value
    left, batch, rows = _matrices(lhs, value("lhs_batch_dims"), value("lhs_contracting_dims"))
    right, _, columns = _matrices(rhs, value("rhs_batch_dims"), value("rhs_contracting_dims"))
    zero, multiply, add = _products(symbolic, i)
    made = np.empty((len(left), left.shape[1], right.shape[1]), object)
    for b, m, n in np.ndindex(*made.shape):
        total = zero
        for x, y in zip(left[b, m], right[b, n], strict=True):
            total = add(total, multiply(x, y))
        made[b, m, n] = total
    return made.reshape((*batch, *rows, *columns))


def _matrices(
    x: Terms, batch: Sequence[int], contracted: Sequence[int]
) -> tuple[Terms, list[int], list[int]]:
    """Return [batch, free, contracted], the batch sizes and the free sizes."""
    free = [d for d in range(x.ndim) if d not in batch and d not in contracted]
    sizes = [[x.shape[d] for d in dims] for dims in (batch, free, contracted)]
    moved = x.transpose([*batch, *free, *contracted])
    return moved.reshape([math.prod(one) for one in sizes]), sizes[0], sizes[1]


def _products(
    symbolic: Symbolic, i: HloInstruction
) -> tuple[Term, Callable[[Term, Term], Term], Callable[[Term, Term], Term]]:
    """Return zero, product and sum of the element type; all types of the product must be equal."""
    kind = i.shape.element_type
    if any(operand.shape.element_type is not kind for operand in i.operands):
        raise UnsupportedProofError("a product of mixed types has no terms")
    # Converted: a type of exponents only has no zero.
    zero = symbolic.scalars.literal(kind, np.zeros(()).astype(kind.dtype)[()])
    return zero, symbolic.scalars.binary(kind, "multiply"), symbolic.scalars.binary(kind, "add")


def _convolution(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Terms:
    """Sum the products of each window with the kernel, as the evaluator lays them out."""
    value = i.attributes.value
    labels, window = value("dim_labels"), value("window")
    groups = max(value("feature_group_count"), value("batch_group_count"))
    zero, multiply, add = _products(symbolic, i)
    lhs = operands[0].transpose([labels.input_batch, *labels.input_spatial, labels.input_feature])
    rhs = operands[1].transpose(
        [*labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature]
    )
    spatial, (inputs, outputs) = lhs.shape[1:-1], rhs.shape[-2:]
    # As [group, batch, spatial ..., feature] and [spatial ..., group, feature, output].
    if value("feature_group_count") > 1:
        lhs = np.moveaxis(lhs.reshape(*lhs.shape[:-1], groups, inputs), -2, 0)
    else:
        lhs = lhs.reshape(groups, lhs.shape[0] // groups, *lhs.shape[1:])
    rhs = np.moveaxis(rhs.reshape(*rhs.shape[:-1], groups, outputs // groups), -2, -3)
    sizes = [d.output_size(n) for d, n in zip(window.dimensions, spatial, strict=True)]
    total = np.full((groups, lhs.shape[1], *sizes, outputs // groups), zero, object)
    whole = slice(None)
    for position in window_positions(window, spatial, sizes) if inputs else ():
        block, kernel = lhs[(whole, whole, *position.elements)], rhs[position.kernel]
        sums = total[(whole, whole, *position.windows)]
        for place in np.ndindex(*sums.shape):
            for k in range(inputs):
                product = multiply(block[(*place[:-1], k)], kernel[place[0], k, place[-1]])
                sums[place] = add(sums[place], product)
        total[(whole, whole, *position.windows)] = sums
    result = np.moveaxis(total, 0, -2).reshape(lhs.shape[1], *sizes, outputs)
    order = [0] * result.ndim
    order[labels.output_batch], order[labels.output_feature] = 0, result.ndim - 1
    for k, d in enumerate(labels.output_spatial):
        order[d] = k + 1
    return result.transpose(order)


def _scatter(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Any:
    """Combine each update where its start is an element's place; in order of the updates."""
    value, count = i.attributes.value, len(operands) // 2
    if value("input_batching_dims"):
        raise UnsupportedProofError("a scatter with batching dimensions has no terms")
    targets = [np.array(one) for one in operands[:count]]
    shape, updates = targets[0].shape, operands[count + 1 :]
    starts = _Starts(i, operands[count])
    windowed = [d for d in range(len(shape)) if d not in value("inserted_window_dims")]
    window_dims = sorted(value("update_window_dims"))
    batch_dims = [d for d in range(updates[0].ndim) if d not in window_dims]
    sizes = [1] * len(shape)
    for d, u in zip(windowed, window_dims, strict=True):
        sizes[d] = updates[0].shape[u]
    for place in np.ndindex(*updates[0].shape):
        offset = [0] * len(shape)
        for d, u in zip(windowed, window_dims, strict=True):
            offset[d] = place[u]
        row = tuple([place[d] for d in batch_dims])
        for target in np.ndindex(*shape):
            at = [t - o for t, o in zip(target, offset, strict=True)]
            if any(not 0 <= n <= shape[d] - sizes[d] for d, n in enumerate(at)):
                continue
            condition = starts.condition(row, at)
            if condition is None:
                continue
            old = [one[target] for one in targets]
            new = symbolic.combine(i.called[0], [*old, *[u[place] for u in updates]])
            for one, before, after in zip(targets, old, new, strict=True):
                one[target] = z3().If(condition, after, before)
    return tuple(targets) if i.shape.is_tuple else targets[0]


class _Starts:
    """The start of each window of a scatter, as terms."""

    def __init__(self, i: HloInstruction, indices: Terms) -> None:
        self.kind: PrimitiveType = i.operands[len(i.operands) // 2].shape.element_type
        self.component = {
            d: k for k, d in enumerate(i.attributes.value("scatter_dims_to_operand_dims"))
        }
        vector = i.attributes.value("index_vector_dim")
        self.vectors = (
            indices[..., None] if vector == indices.ndim else np.moveaxis(indices, vector, -1)
        )
        self.most = (1 << (self.kind.bits - self.kind.is_signed)) - 1

    def condition(self, row: tuple[int, ...], at: Sequence[int]) -> Term | None:
        """Return where the window of a row starts at this place; None if it never does."""
        conditions = []
        for d, number in enumerate(at):
            if d not in self.component:
                if number:
                    return None
                continue
            if number > self.most:
                return None
            conditions.append(self.vectors[(*row, self.component[d])] == number)
        return z3().And(*conditions) if conditions else z3().BoolVal(True)


def _sort(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Any:
    """Return the operands; only lines of at most one element have terms."""
    (dimension,) = i.attributes.value("dimensions")
    if operands[0].shape[dimension] > 1 and operands[0].size:
        raise UnsupportedProofError("sort has no terms")
    return tuple(operands) if i.shape.is_tuple else operands[0]


def _bitcast_convert(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Terms:
    """Return the elements with the same bits, split into narrower ones or joined to wider ones."""
    source, target = i.operands[0].shape.element_type, i.shape.element_type
    if any(kind.is_pred or kind.is_complex for kind in (source, target)):
        raise UnsupportedProofError(f"a bitcast from {source.name} to {target.name} has no terms")
    bits = np.empty(operands[0].shape, object)
    for place in np.ndindex(*bits.shape):
        bits[place] = _bits_of(symbolic, source, operands[0][place])
    if source.bits > target.bits:
        parts = [_part(bits, k, target.bits) for k in range(source.bits // target.bits)]
        bits = np.stack(parts, -1)
    elif source.bits < target.bits:
        joined = np.empty(bits.shape[:-1], object)
        for place in np.ndindex(*joined.shape):
            joined[place] = z3().Concat(*reversed(list(bits[place])))
        bits = joined
    made = np.empty(i.shape.dimensions, object)
    for place in np.ndindex(*made.shape):
        made[place] = _of_bits(symbolic, target, bits[place])
    return made


def _part(bits: Terms, number: int, width: int) -> Terms:
    made = np.empty(bits.shape, object)
    for place in np.ndindex(*bits.shape):
        whole = z3().Extract((number + 1) * width - 1, number * width, bits[place])
        made[place] = z3().simplify(whole)
    return made


def _bits_of(symbolic: Symbolic, kind: PrimitiveType, term: Term) -> Term:
    """Return the bits of an element: a function of a float, which `_of_bits` reverts."""
    if kind.is_integer:
        return term
    if term.decl().name() == f"{kind.name} of bits":
        return term.arg(0)
    # Operations may give a NaN of any payload, which is one value here.
    if term.num_args() or term.decl().kind() != z3().Z3_OP_UNINTERPRETED:
        raise UnsupportedProofError("the bits of a computed float have no terms")
    bits = z3().BitVecSort(kind.bits)
    return z3().Function(f"bits of {kind.name}", symbolic.scalars.sort(kind), bits)(term)


def _of_bits(symbolic: Symbolic, kind: PrimitiveType, bits: Term) -> Term:
    bits = z3().simplify(bits)
    if kind.is_integer:
        return bits
    if bits.decl().name() == f"bits of {kind.name}":
        return bits.arg(0)
    sort = symbolic.scalars.sort(kind)
    return z3().Function(f"{kind.name} of bits", z3().BitVecSort(kind.bits), sort)(bits)


def _custom_call(symbolic: Symbolic, i: HloInstruction, operands: list[Any]) -> Any:
    """Return the operand of a call that only states a sharding."""
    if custom_call_target(i) != "Sharding":
        raise UnsupportedProofError("custom-call has no terms")
    return operands[0]


MEANINGS: Final[dict[str, Callable[[Symbolic, HloInstruction, list[Any]], Any]]] = {
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "map": _map,
    "dot": _dot,
    "convolution": _convolution,
    "scatter": _scatter,
    "sort": _sort,
    "custom-call": _custom_call,
    "bitcast-convert": _bitcast_convert,
}
