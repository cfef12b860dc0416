"""The basis of policies: registers of an axis, and queries about loops."""

from __future__ import annotations

from xla_explorer.compiler.codegen.llvm_types import value_type
from xla_explorer.compiler.codegen.nest.directives import Tail
from xla_explorer.compiler.codegen.nest.directives.base import is_collapsible
from xla_explorer.compiler.codegen.nest.directives.splits import is_repeatable
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Compute,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    elements_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.codegen.vector_math import vector_math_opcodes
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, RuntimeValue
from xla_explorer.hlo.primitive_type import PrimitiveType

FUNCTIONS = frozenset(vector_math_opcodes()) - {"sqrt"}


def accesses(nest: LoopNest, body: Body) -> list[tuple[Load | Store, IndexExpression]]:
    """Return every load and store with its offset in elements."""
    return [(s, nest.offset_of(s)) for s, _ in walk(body) if isinstance(s, (Load, Store))]


def has_masks(plan: Plan, body: Body) -> bool:
    """Return True if the target has masked loads and stores for all accesses of a body."""
    arrays = [plan.nest.array(s.array) for s, _ in walk(body) if isinstance(s, (Load, Store))]
    sizes = {
        a.shape.element_type.bytes // (2 if a.shape.element_type.is_complex else 1)
        for a in arrays
        if a is not None
    }
    return sizes <= plan.tuning.masks


def tail_may_overlap(axis: AxisHandle) -> bool:
    """Return True if the last block of an axis may start earlier, so that no tail remains.

    Non-temporal stores must not be repeated.
    """
    nest, tuning = axis.plan.nest, axis.plan.tuning
    streamed = all(
        a.shape.byte_size >= tuning.streamed_bytes // 2 for a in nest.arrays if a.written
    )
    return (
        tuning.overlaps_tails
        and not streamed
        and is_repeatable(nest, axis.name)
        and not is_looked_up(axis.body)  # rows at data-dependent addresses are prefetched whole
    )


def is_looked_up(body: Body) -> bool:
    """Return True if the address of a load is known only at run time."""
    return any(
        isinstance(s, Load) and any(isinstance(a, RuntimeValue) for x in s.place for a in x.atoms())
        for s, _ in walk(body)
    )


def unrolled_registers(axis: AxisHandle, lanes: int, tail: Tail = "guard") -> AxisHandle:
    """Split an axis into unrolled registers; return the axis of their lanes."""
    registers = axis.split(lanes, tail)
    registers.outer.unroll()
    return registers.inner


def unroll_steps(axis: AxisHandle, steps: int) -> None:
    """Unroll a loop so that `steps` iterations overlap, or all of them."""
    if axis.extent > steps:
        axis.split(steps).inner.unroll()
    elif axis.extent > 1:
        axis.unroll()


def vectorize_interleaved(axis: AxisHandle, lanes: int, interleave: int) -> None:
    """Turn an axis into vector registers, `interleave` of them."""
    (unrolled_registers(axis, lanes) if interleave > 1 else axis).vectorize()


def in_registers(axis: AxisHandle, lanes: int, interleave: int, tail: Tail = "guard") -> None:
    """Split an axis into blocks of whole vector registers."""
    vectorize_interleaved(axis.split(lanes * interleave, tail).inner, lanes, interleave)


def chain_of(loop: For) -> list[For]:
    """Return perfectly nested loops, outermost first."""
    found = [loop]
    while len(found[-1].body) == 1 and isinstance(inner := found[-1].body[0], For):
        found.append(inner)
    return found


def collapses(nest: LoopNest, body: Body, outer: Axis, inner: Axis) -> bool:
    """Return True if all accesses treat both axes as one axis.

    An axis without iterations has no period.
    """
    if not inner.extent:
        return False
    indices = [offset for _, offset in accesses(nest, body)] + [
        s.index for s, _ in walk(body) if isinstance(s, Iota)
    ]
    return all(is_collapsible(x, outer, inner) for x in indices)


def width_of(element: PrimitiveType) -> int:
    """Return the bytes of a lane in the registers in which an element computes."""
    if element.is_pred:
        return 1
    t = value_type(element)
    return max(t.computes_in.bits // 8, 1) * (2 if element.is_complex else 1)


def widest(statements: list[Statement]) -> int:
    """Return the bytes of the widest lane among the values of statements."""
    return max(map(width_of, {t for s in statements for t in elements_of(s)}), default=1)


def width_in_memory(nest: LoopNest, s: Load | Store) -> int:
    """Return the bytes of an element that is loaded or stored."""
    array = nest.array(s.array)
    assert array is not None
    return array.shape.element_type.bytes


def statements_of(body: Body) -> list[Statement]:
    """Return all statements of a body except loops."""
    return [s for s, _ in walk(body) if not isinstance(s, For)]


def calls_functions(statements: list[Statement]) -> bool:
    """Return True if code calls mathematical functions."""
    return any(isinstance(s, Compute) and s.opcode.name in FUNCTIONS for s in statements)


def lanes_for(nest: LoopNest, statements: list[Statement], tuning: Tuning) -> int:
    """Return the lanes of a register of the widest elements in memory.

    Values that compute in wider types use at most two registers.
    """
    memory = [width_in_memory(nest, s) for s in statements if isinstance(s, (Load, Store))]
    return max(
        min(tuning.register_bytes // max(memory), 2 * tuning.register_bytes // widest(statements)),
        2,
    )


def is_sum_of_products(s: Reduce) -> bool:
    """Return True for the reduction of a dot or convolution.

    Products that are separate HLO instructions do not count.
    """
    made = s.body[-1] if s.body else None
    return isinstance(made, Compute) and made.origin is None and made.opcode.name == "multiply"
