"""Analyses of a nest before lowering: users of values, stores, associativity, contiguity."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.argmax import argmax_direction
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Combination,
    Compute,
    LoopNest,
    Reduce,
    Statement,
    Store,
    axes_of,
    ids_of,
    uses_of,
    walk,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression


def statements_of(nest: LoopNest) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
    """Yield every statement with those around it; combiners' statements follow their reduction."""
    for s, around in walk(nest.body):
        yield s, around
        if isinstance(s, Reduce) and isinstance(s.combiner, Combination):
            yield from [(x, around) for x, _ in walk(s.combiner.body)]


def needed_by_all_threads(nest: LoopNest) -> set[int]:
    """Return values used inside more thread axes than they are defined in, and their operands."""
    opened: dict[int, set[Axis]] = {}
    rows = list(statements_of(nest))
    for s, around in rows:
        here = {b.axis for x in around for b in axes_of(x) if b.kind.is_launched}
        opened.update([(number, here) for number in ids_of(s)])
    found: set[int] = set()
    for s, around in reversed(rows):
        here = {b.axis for x in (*around, s) for b in axes_of(x) if b.kind.is_launched}
        everywhere = any(number in found for number in ids_of(s))
        found.update(
            [number for number in uses_of(s) if everywhere or here - opened.get(number, here)]
        )
    return found


def stored_arrays(body: Body) -> set[str]:
    """Return the arrays that statements store to."""
    return {s.array for s, _ in walk(body) if isinstance(s, Store)}


def adds_products(s: Reduce) -> bool:
    """Return whether a reduction is that of a dot or convolution."""
    made = s.body[-1] if s.body else None
    return isinstance(made, Compute) and made.origin is None and made.opcode.name == "multiply"


def why_not_associative(s: Reduce) -> Reason | None:
    """Return None if partial results can be combined in any order, up to rounding."""
    if argmax_direction(s) is not None:
        return None
    if isinstance(s.combiner, Combination) or (
        s.elements[0].is_complex and s.combiner.name != "add"
    ):
        return refuse(
            "reducer-not-known-associative",
            f"%{s.ids[0]} is not known to be associative and commutative",
        )
    return None


def are_contiguous(offset: IndexExpression, axis: Axis, width: int) -> bool:
    """Return True if elements along an axis are contiguous, and each `width` of them aligned."""
    first = offset.substitute({axis: IndexExpression()})
    if first.constant % width or any(factor % width for _, factor in first.terms):
        return False
    steps = [
        offset.substitute({axis: IndexExpression((), k)}) - first for k in range(1, axis.extent)
    ]
    return all(step.constant == k and not step.terms for k, step in enumerate(steps, 1))
