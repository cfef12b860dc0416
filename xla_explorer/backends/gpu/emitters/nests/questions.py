"""Analyses of a nest before lowering: users of values, stores, associativity, contiguity."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Combination,
    LoopNest,
    Reduce,
    Statement,
    Store,
    axes_of,
    ids_of,
    uses_of,
    walk,
)
from xla_explorer.hlo.analysis.indexing import Axis


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
