"""`sort` and `topk`.

A comparator that orders by keys (each the same function of both sides) becomes numpy sorts of those
keys. Any other comparator drives a merge sort, whose levels are each one vectorised run of the
comparator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xla_explorer.hlo.evaluator.conversion import WIDER, total_order_key, widen
from xla_explorer.hlo.evaluator.introsort import introsort
from xla_explorer.hlo.evaluator.registry import Array, UnsupportedOpcodeError, Value, evaluates
from xla_explorer.hlo.evaluator.vectorise import is_vectorisable

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

# Elements. Larger sorts are stable, since std::sort is emulated step by step (about 2 us an
# element).
_MOST_FOR_INTROSORT = 1 << 20


class SortKey(NamedTuple):
    """One key: `side` computes it from the even (left) parameters."""

    side: HloInstruction
    ascending: bool
    total_order: bool


@evaluates("sort")
def sort(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Sort all operands by one permutation along one dimension.

    The sort is stable. With `as_xla_cpu`, ties of a sort with is_stable=false come as in XLA:CPU.
    """
    dimensions = i.attributes.value("dimensions")
    axis = dimensions[0] if dimensions else operands[0].ndim - 1
    lines = [np.moveaxis(x, axis, -1) for x in operands]
    if lines[0].shape[-1] <= 1:
        results = list(operands)
    else:
        order = sorting_order(i.called[0], lines, evaluator)
        if (
            evaluator.as_xla_cpu
            and not i.attributes.value("is_stable")
            and order.size <= _MOST_FOR_INTROSORT
        ):
            order = _ties_as_xla_cpu(order, i.called[0], lines, evaluator)
        results = [np.moveaxis(np.take_along_axis(x, order, -1), -1, axis) for x in lines]
    return tuple(results) if i.shape.is_tuple else results[0]


def _ties_as_xla_cpu(
    order: Array, comparator: HloComputation, lines: Sequence[Array], evaluator: Evaluator
) -> Array:
    """Reorder ties of a stable order as `std::sort` does."""
    arguments: list[Array] = []
    alike = np.ones((*order.shape[:-1], order.shape[-1] - 1), bool)
    for line in lines:
        ordered = np.take_along_axis(line, order, -1)
        arguments += [ordered[..., :-1], ordered[..., 1:]]
        alike &= (ordered[..., :-1] == ordered[..., 1:]) & (
            ordered[..., :-1] != 0
        )  # a zero may have another sign
    less = np.asarray(evaluator.evaluate_elementwise(comparator, arguments))
    if (less | alike).all():  # no tie between distinguishable elements
        return order
    ranks = np.zeros(order.shape, np.int64)
    ranks[..., 1:] = np.cumsum(less, -1)
    ranks = np.take_along_axis(ranks, np.argsort(order, axis=-1), -1)
    rows = [introsort(row) for row in ranks.reshape(-1, order.shape[-1]).tolist()]
    return np.array(rows).reshape(order.shape)


def sorting_order(
    comparator: HloComputation, lines: Sequence[Array], evaluator: Evaluator
) -> Array:
    """Return the stable permutation of each line along the last axis."""
    keys = comparator_keys(comparator) if is_vectorisable(comparator) else None
    if keys is None:
        return merge_sort(comparator, lines, evaluator)
    order: Array | None = None
    for key in reversed(keys):
        values = _key_values(key, comparator, lines, evaluator)
        if values is None:
            return merge_sort(comparator, lines, evaluator)
        if order is not None:
            values = np.take_along_axis(values, order, -1)
        step = _stable_order(values, key.ascending)
        order = step if order is None else np.take_along_axis(order, step, -1)
    assert order is not None
    return order


def _stable_order(values: Array, ascending: bool) -> Array:
    if ascending:
        return np.argsort(values, axis=-1, kind="stable")
    # The complement reverses the order of integers and keeps ties in place.
    return np.argsort(~values, axis=-1, kind="stable")


def _key_values(
    key: SortKey, comparator: HloComputation, lines: Sequence[Array], evaluator: Evaluator
) -> Array | None:
    """Return the key as integers, which can be complemented.

    None if a float key holds NaN under a partial order.
    """
    arguments: list[Array] = []
    for line in lines:
        arguments += [line, line]
    values = evaluator.evaluate_subgraph(key.side, comparator, arguments)
    values = np.broadcast_to(values, lines[0].shape)
    if values.dtype in WIDER:
        values = widen(values)
    if values.dtype.kind == "c":
        return None
    if values.dtype.kind != "f":
        return values
    if not key.total_order:
        if (values != values).any():
            return None
        values = values + 0.0  # -0 and +0 are equal under a partial order
    return total_order_key(np.ascontiguousarray(values))


def comparator_keys(comparator: HloComputation) -> list[SortKey] | None:
    """Return the comparator's keys, most significant first; None for any other comparator."""
    return _keys_of(comparator.root)


def _keys_of(root: HloInstruction) -> list[SortKey] | None:
    name = root.opcode.name
    if name == "compare":
        return _compared_key(root)
    if name == "or":
        return _keys_of_or(root)
    if name == "select":
        return _keys_of_select(root)
    return None


def _compared_key(compare: HloInstruction) -> list[SortKey] | None:
    direction = compare.attributes["direction"]
    if direction not in ("LT", "GT"):
        return None
    left, right = compare.operands
    total = compare.attributes.get("type") == "TOTALORDER"
    if mirrored(left, right, 0):
        return [SortKey(left, direction == "LT", total)]
    if mirrored(right, left, 0):
        return [SortKey(right, direction == "GT", total)]
    return None


def _keys_of_or(root: HloInstruction) -> list[SortKey] | None:
    """Return the keys of `a < b or (a == b and rest)`."""
    for strict, other in (root.operands, root.operands[::-1]):
        if other.opcode.name == "and":
            for equal, rest in (other.operands, other.operands[::-1]):
                found = _lexicographic(strict, equal, rest)
                if found is not None:
                    return found
    return None


def _keys_of_select(root: HloInstruction) -> list[SortKey] | None:
    """Return the keys of `select(a == b, rest, a < b)`, or of its form with `!=`."""
    condition, on_true, on_false = root.operands
    direction = condition.attributes.get("direction")
    if condition.opcode.name != "compare" or direction not in ("EQ", "NE"):
        return None
    strict, rest = (on_false, on_true) if direction == "EQ" else (on_true, on_false)
    return _lexicographic(strict, condition, rest)


def _lexicographic(
    strict: HloInstruction, equal: HloInstruction, rest: HloInstruction
) -> list[SortKey] | None:
    if equal.opcode.name != "compare" or equal.attributes["direction"] not in ("EQ", "NE"):
        return None
    first, following = _keys_of(strict), _keys_of(rest)
    if first is None or following is None or len(first) != 1:
        return None
    return first + following if _compares_equality(equal, first[0]) else None


def _compares_equality(equal: HloInstruction, key: SortKey) -> bool:
    """Return True if EQ or NE compares both sides' key: `a == b`, or `(a < b) == (b < a)`."""
    left, right = equal.operands
    if left.opcode.name == "compare" and right.opcode.name == "compare":
        if left.attributes is not right.attributes or left.operands != right.operands[::-1]:
            return False
        if left.attributes["direction"] not in ("LT", "GT"):
            return False
        equal, (left, right) = left, left.operands
    if (equal.attributes.get("type") == "TOTALORDER") != key.total_order:
        return False
    return any(
        (a is key.side or mirrored(key.side, b, 0)) and mirrored(a, b, 0)
        for a, b in ((left, right), (right, left))
    )


def mirrored(left: HloInstruction, right: HloInstruction, offset: int) -> bool:
    """Return True if `right` is `left` with every even parameter 2k replaced by 2k + 1."""
    known: set[tuple[int, int]] = set()

    def same(a: HloInstruction, b: HloInstruction) -> bool:
        if (a.id, b.id) in known:
            return True
        if a.opcode is not b.opcode or a.shape is not b.shape or a.called or b.called:
            return False
        if a.opcode.name == "parameter":
            return int(a.payload) % 2 == offset and int(b.payload) == int(a.payload) + 1
        if a.opcode.name == "constant":
            return a is b or bool(a.literal == b.literal)
        if a.attributes is not b.attributes or len(a.operands) != len(b.operands):
            return False
        if not all(map(same, a.operands, b.operands)):
            return False
        known.add((a.id, b.id))
        return True

    return same(left, right)


def merge_sort(comparator: HloComputation, lines: Sequence[Array], evaluator: Evaluator) -> Array:
    """Sort every line at once by a stable bottom-up merge sort.

    It makes about log2(n)^2 / 2 vectorised comparisons of all elements.
    """
    length = lines[0].shape[-1]
    rows = [np.ascontiguousarray(x).reshape(-1, length) for x in lines]
    count = rows[0].shape[0]
    row = np.arange(count)[:, None]
    order = np.broadcast_to(np.arange(length), (count, length)).copy()

    def before(a: Array, b: Array) -> Array:
        arguments: list[Array] = []
        for x in rows:
            arguments += [x[row, a], x[row, b]]
        return np.asarray(evaluator.evaluate_elementwise(comparator, arguments))

    place = np.arange(length)
    width = 1
    while width < length:
        block = place // (2 * width) * (2 * width)
        in_left = place - block < width
        # Each element searches the other run: elements of the right run count the elements not
        # after them, elements of the left run those before.
        other = np.where(in_left, np.minimum(block + width, length), block)
        stop = np.minimum(other + width, length)
        low = np.broadcast_to(other, (count, length)).copy()
        high = np.broadcast_to(stop, (count, length)).copy()
        mine = order
        while (searching := low < high).any():
            middle = (low + high) // 2
            probe = order[row, np.minimum(middle, length - 1)]
            # Left element a: skip b while b < a. Right element b: skip a while not b < a.
            skip = np.where(in_left, before(probe, mine), ~before(mine, probe)) & searching
            low = np.where(skip, middle + 1, low)
            high = np.where(searching & ~skip, middle, high)
        target = (
            block
            + (place - np.where(in_left, block, np.minimum(block + width, length)))
            + (low - other)
        )
        merged = np.full_like(order, -1)
        merged[row, target] = order
        if (merged < 0).any():  # without a strict weak order two elements may get one position
            merged = np.take_along_axis(order, np.argsort(target, axis=-1, kind="stable"), -1)
        order = merged
        width *= 2
    return order.reshape(lines[0].shape)


@evaluates("topk")
def top_k(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (values, s32 indices) of the k largest (or smallest) along the last dimension."""
    return largest(operands[0], i.attributes.value("k"), smallest=not i.attributes.value("largest"))


def largest(x: Array, k: int, *, smallest: bool = False) -> tuple[Array, Array]:
    """Return the k largest along the last dimension in total order, and their s32 indices.

    Ties keep the lower index.
    """
    if x.dtype.kind == "c":
        raise UnsupportedOpcodeError(
            "topk",
            "complex numbers have no total order",
            "order them by a real number made of them",
        )
    keys = total_order_key(np.ascontiguousarray(x))
    if keys.dtype == np.bool_:
        keys = keys.astype(np.int8)
    order = np.argsort(keys if smallest else ~keys, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)
