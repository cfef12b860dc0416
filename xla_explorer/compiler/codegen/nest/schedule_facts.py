"""The decisions of a schedule in numbers, for the journal."""

from __future__ import annotations

import math
from typing import Any

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    Combination,
    Compute,
    Constant,
    LoopNest,
    Reduce,
    axes_of,
    bodies_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.hlo.identity_element import identity_element

IN_REGISTERS = (AxisKind.UNROLLED, AxisKind.VECTOR)


def schedule_facts(schedule: Schedule, fused: bool = False) -> dict[str, Any]:
    """Return extents of every axis, lanes of the widest vector, registers per value, tasks.

    `reorders-sum` if `sums_out_of_order`. `contracts-products`: number of float sums and
    differences that the target may contract with a product into one rounding.
    """
    axes = schedule.nest.axes().values()
    facts: dict[str, Any] = {
        "schedule": str(schedule),
        "extents": {b.axis.name: b.axis.extent for b in axes},
        "lanes": max([b.axis.extent for b in axes if b.kind is AxisKind.VECTOR], default=1),
        "registers": _registers(schedule.nest.body),
        "tasks": schedule.nest.tasks,
    }
    if sums_out_of_order(schedule.nest):
        facts["reorders-sum"] = True
    if fused and (contracted := _contracted(schedule.start)):
        facts["contracts-products"] = contracted
    return facts


def _contracted(nest: LoopNest) -> int:
    """Return the number of float sums and differences of a product.

    HLO leaves their contraction open, and of two products the contracted one.
    """
    computed = {
        s.id: s
        for s, _ in nest.statements()
        if isinstance(s, Compute) and (s.element.is_float or s.element.is_complex)
    }
    products = {number for number, s in computed.items() if s.opcode.name == "multiply"}
    return sum(
        s.opcode.name in ("add", "subtract") and not products.isdisjoint(s.operands)
        for s in computed.values()
    )


def _registers(body: Body) -> int:
    """Return the registers of a value that depends on every unrolled axis around it."""
    own = [
        math.prod([b.axis.extent for b in axes_of(s) if b.kind is AxisKind.UNROLLED])
        * max(map(_registers, bodies_of(s)), default=1)
        for s in body
        if bodies_of(s)
    ]
    return max(own, default=1)


def reorders_sums(schedule: Schedule) -> bool:
    """Return True if float sums or products are reassociated over threads, registers or kernels."""
    return bool(schedule.scratch) or any(sums_out_of_order(s.nest) for s in schedule.stages)


def sums_out_of_order(nest: LoopNest) -> tuple[int, ...]:
    """Return the float sums and products that are not computed in program order.

    The order is row-major, from the initial value on.
    """
    reductions = [s for s, _ in nest.statements() if isinstance(s, Reduce)]
    kept = any(
        isinstance(s, Allocate) for s, _ in nest.statements()
    )  # partial results, the only reductions with private memory
    return tuple(
        [
            number
            for s in reductions
            if _counts_order(s) and (kept or not _is_in_order(nest, s, reductions))
            for number in s.ids
        ]
    )


def _counts_order(s: Reduce) -> bool:
    ordered = isinstance(s.combiner, Combination) or s.combiner.name not in ("add", "multiply")
    return not ordered and any(t.is_float or t.is_complex for t in s.elements)


def _is_in_order(nest: LoopNest, s: Reduce, reductions: list[Reduce]) -> bool:
    if s.each:  # starts with the initial value, and is in order except for lanes
        return not any(b.kind is AxisKind.VECTOR and b.axis.extent > 1 for b in s.axes)
    if any((b.kind in IN_REGISTERS or b.kind.is_launched) and b.axis.extent > 1 for b in s.axes):
        return False
    if any(
        inner is not s and set(inner.ids) & set(s.values)
        for inner, _ in walk(s.body)
        if isinstance(inner, Reduce)
    ):
        return False  # of partial results
    before = next((r for r in reductions if s.initial[0] in r.ids), None)
    if before is not None:
        return before.combiner is s.combiner  # continues in the same registers
    first = next(
        (x for x, _ in nest.statements() if isinstance(x, Constant) and x.id == s.initial[0]), None
    )
    assert not isinstance(s.combiner, Combination)
    # accumulators start with the identity element; the initial value is added last
    return first is not None and bool(
        first.literal.array[()] == identity_element(s.combiner.name, s.elements[0])
    )
