"""What the writer of a nest asks about it before it begins: who needs values, what is stored, what may be combined in any order, which
copies are neighbours in memory."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.extremes import direction_of_extreme
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Combination,
    Compute,
    Load,
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
    """Every statement with those around it; those of combiners, which are not nested, behind their reduction."""
    for s, around in walk(nest.body):
        yield s, around
        if isinstance(s, Reduce) and isinstance(s.combiner, Combination):
            yield from [(x, around) for x, _ in walk(s.combiner.body)]


def needed_by_all_threads(nest: LoopNest) -> set[int]:
    """Values that are used where more axes of threads are open than where they are made, or by such values."""
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
    """The arrays that statements store to."""
    return {s.array for s, _ in walk(body) if isinstance(s, Store)}


def loaded_arrays(body: Body) -> set[str]:
    """The arrays that statements load from."""
    return {s.array for s, _ in walk(body) if isinstance(s, Load)}


def adds_products(s: Reduce) -> bool:
    """Whether a reduction is that of a dot or convolution."""
    made = s.body[-1] if s.body else None
    return isinstance(made, Compute) and made.origin is None and made.opcode.name == "multiply"


def why_not_associative(s: Reduce) -> Reason | None:
    """None where partial results of a reduction combine in any order to what one after the other gives (but for rounding)."""
    if direction_of_extreme(s) is not None:
        return None
    if isinstance(s.combiner, Combination) or (
        s.elements[0].is_complex and s.combiner.name != "add"
    ):
        return refuse(
            "reducer-not-known-associative",
            f"%{s.ids[0]} is not known to be associative and commutative",
        )
    return None


def are_neighbours(offset: IndexExpression, axis: Axis, width: int) -> bool:
    """Whether elements along an axis lie beside one another, and each `width` of them at a multiple of as many."""
    first = offset.substitute({axis: IndexExpression()})
    if first.constant % width or any(factor % width for _, factor in first.terms):
        return False
    steps = [
        offset.substitute({axis: IndexExpression((), k)}) - first for k in range(1, axis.extent)
    ]
    return all(step.constant == k and not step.terms for k, step in enumerate(steps, 1))
