"""Support of the lowering: types and opcodes that it has code for, and facts about a whole nest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xla_explorer.compiler.codegen.elemental import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.llvm_types import type_is_emitted
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    Combination,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    axes_of,
    elements_of,
    ids_of,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.rewriting import overwrites
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape


def why_launched(nest: LoopNest) -> Reason | None:
    """Return a refusal if an axis is numbered by a GPU launch."""
    bound = next((b for b in nest.axes().values() if b.kind.is_launched), None)
    return (
        None
        if bound is None
        else refuse("axis-of-a-launch", f"{bound.axis} is @{bound.kind.value}: a CPU has no launch")
    )


def why_not_lowered(nest: LoopNest, launched: bool = False) -> Reason | None:
    """Return a refusal if the lowering has no code for a part of a nest.

    launched: the lowering for GPUs.
    """
    for array in nest.arrays:
        if (reason := type_is_emitted(array.shape)) is not None:
            return refuse("not-lowered", reason.message, element=array.shape.element_type.name)
    if not launched and (reason := why_launched(nest)) is not None:
        return reason
    for s, around in nest.statements():
        if isinstance(s, Allocate) and any(
            b.kind in (AxisKind.THREAD, AxisKind.WARP) for x in around for b in axes_of(x)
        ):
            return refuse(
                "not-lowered", f"%{s.array.name} must be allocated once, not by each thread"
            )
        for t in elements_of(s):
            if not _is_written(t):
                return refuse(
                    "not-lowered", f"loop nests have no code for values of {t}", element=t.name
                )
        if isinstance(s, Compute):
            if s.opcode.name not in ELEMENTWISE_EMITTERS:
                return refuse(
                    "not-lowered",
                    f"%{s.id}: loop nests have no code for {s.opcode.name}",
                    opcode=s.opcode.name,
                )
            continue
        if isinstance(s, Reduce) and s.each and launched and isinstance(s.combiner, Combination):
            what = "scans by several operations on a GPU"
            return refuse("not-lowered", f"%{s.ids[0]}: loop nests have no code for {what}")
        if isinstance(s, Reduce) and (reason := _combiner_is_not_written(s)) is not None:
            return reason
    return None


@cache
def _is_written(element: PrimitiveType) -> bool:
    return type_is_emitted(array_shape(element, ())) is None


def _combiner_is_not_written(s: Reduce) -> Reason | None:
    """Return a refusal for a combiner without code.

    Its operations need elementwise emitters, and a single operation an identity element.
    """
    if isinstance(s.combiner, Combination):
        inside = [
            x.opcode.name for c in s.combiner.combinations for x in c.body if isinstance(x, Compute)
        ]
        bad = next((name for name in inside if name not in ELEMENTWISE_EMITTERS), None)
        return (
            refuse(
                "not-lowered",
                f"%{s.ids[0]}: loop nests have no code for {bad} in a combiner",
                opcode=bad,
            )
            if bad
            else None
        )
    if identity_element(s.combiner.name, s.elements[0]) is None:
        return refuse(
            "not-lowered",
            f"%{s.ids[0]}: loop nests have no code for the combiner {s.combiner.name} of {s.elements[0]}",
        )
    return None


def phases_of(nest: LoopNest) -> tuple[int, ...]:
    """Return the number of tasks of each phase, none for a nest of one phase.

    A nest has two phases if memory carries values from a parallel loop to later statements, or
    these overwrite some. The second has one task, or as many if it has a parallel loop too.
    """
    if nest.tasks == 1 or not any(
        isinstance(s, Allocate) or overwrites(nest, s) for s in nest.body
    ):
        return ()
    parallel = [s for s in nest.body if isinstance(s, For) and s.kind is AxisKind.PARALLEL]
    carried = {s.array.name for s in nest.body if isinstance(s, Allocate)}
    second_is_parallel = len(parallel) > 1 and any(
        isinstance(s, Load) and s.array in carried for s, _ in walk((parallel[-1],))
    )
    return nest.tasks, nest.tasks if second_is_parallel else 1


def _union(parts: list[frozenset[Axis]]) -> frozenset[Axis]:
    """Return the union of sets of axes.

    If one of them contains the others, it is returned itself, so that values share sets.
    """
    most = frozenset[Axis]()
    for part in parts:
        if part is not most:
            most = part if most <= part else most if part <= most else most | part
    return most


def dependencies(nest: LoopNest) -> dict[int, frozenset[Axis]]:
    """Return the axes on which each value depends."""
    found: dict[int, frozenset[Axis]] = {}

    def visit(body: Body) -> None:
        for s in body:
            if isinstance(s, Compute):
                found[s.id] = _union([found[o] for o in s.operands])
            elif isinstance(s, For):
                visit(s.body)
            elif isinstance(s, Load):
                found[s.id] = frozenset().union(*[x.axes for x in s.place])
            elif isinstance(s, Constant):
                found[s.id] = frozenset()
            elif isinstance(s, Iota):
                found[s.id] = s.index.axes
            elif isinstance(s, SelectRegion):
                for case in s.cases:
                    visit(case.body)
                guards = [g.expression.axes for case in s.cases for g in case.guards]
                found[s.id] = frozenset().union(*[found[case.value] for case in s.cases], *guards)
            elif isinstance(s, Reduce):
                visit(s.body)
                inner = frozenset().union(
                    *[found[n] for n in s.values], *[g.expression.axes for g in s.guards]
                )
                outside = frozenset().union(*[found[n] for n in s.initial])
                own = {b.axis for b in s.axes}
                found.update(dict.fromkeys(s.ids, (inner - own) | outside))
                found.update(dict.fromkeys(s.running, inner | outside | own))
                visit(s.each)
                if isinstance(s.combiner, Combination):
                    found.update(
                        dict.fromkeys(
                            [n for c in s.combiner.combinations for x in c.body for n in ids_of(x)],
                            frozenset(),
                        )
                    )

    visit(nest.body)
    return found


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
