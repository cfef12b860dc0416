"""What the writer of a nest asks about it before it begins: types of values, who needs them, whether all can be written."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.nest.extremes import direction_of_extreme
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    Choose,
    Combination,
    Compute,
    For,
    Iota,
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
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, Quotient, Remainder, RuntimeValue


def statements_of(nest: LoopNest) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
    """Every statement with those around it; those of combiners, which are not nested, behind their reduction."""
    for s, around in walk(nest.body):
        yield s, around
        if isinstance(s, Reduce) and isinstance(s.combiner, Combination):
            yield from [(x, around) for x, _ in walk(s.combiner.body)]


def indices_of(s: Statement) -> tuple[IndexExpression, ...]:
    """The indices and guards that a statement is written with."""
    if isinstance(s, Load | Store):
        return s.place
    if isinstance(s, Iota):
        return (s.index,)
    if isinstance(s, Choose):
        return tuple([g.expression for case in s.cases for g in case.guards])
    return tuple([g.expression for g in s.guards]) if isinstance(s, For | Reduce) else ()


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
        found.update([number for number in uses_of(s) if everywhere or here - opened.get(number, here)])
    return found


def why_not_written(nest: LoopNest) -> Reason | None:
    """None where a kernel can be written of a nest."""
    for s, around in statements_of(nest):
        if isinstance(s, Allocate):
            if any(b.kind in (AxisKind.THREAD, AxisKind.WARP) for x in around for b in axes_of(x)):
                return refuse("not-lowered", f"%{s.array.name} is allocated by each thread")
        if isinstance(s, Compute) and s.opcode.name not in ELEMENTWISE_EMITTERS:
            return refuse("not-lowered", f"%{s.id}: {s.opcode.name} has no emitter of single elements", opcode=s.opcode.name)
        for x in indices_of(s):
            for atom in x.atoms():
                if isinstance(atom, Quotient | Remainder) and atom.dividend.bounds[0] < 0:
                    return refuse("not-lowered", f"the index {x} divides what may be negative")
                if isinstance(atom, RuntimeValue) and atom.low:
                    return refuse("not-lowered", f"the index {x} is clamped from {atom.low} on, not from 0")
    return None


def stored_arrays(body: Body) -> set[str]:
    """The arrays that statements store to."""
    return {s.array for s, _ in walk(body) if isinstance(s, Store)}


def loaded_arrays(body: Body) -> set[str]:
    """The arrays that statements load from."""
    return {s.array for s, _ in walk(body) if isinstance(s, Load)}


def why_not_associative(s: Reduce) -> Reason | None:
    """None where partial results of a reduction combine in any order to what one after the other gives (but for rounding)."""
    if direction_of_extreme(s) is not None:
        return None
    if isinstance(s.combiner, Combination) or (s.elements[0].is_complex and s.combiner.name != "add"):
        return refuse("reducer-not-known-associative", f"%{s.ids[0]} is not known to give the same in any order")
    return None
