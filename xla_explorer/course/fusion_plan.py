"""A fusion plan as a set: the instructions whose results are stored.

Everything else is computed inside the kernels that need it. This is a small integer model of XLA's
fusion decisions: bytes that the kernels read and write, and operations that they execute,
recomputation included.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

# Operations per element, by default one. Data movement inside a loop is free.
WEIGHTS = {"exponential": 10, "tanh": 10, "log": 10, "rsqrt": 10, "divide": 5, "power": 20}
_FREE = frozenset(["broadcast", "reshape", "transpose", "slice", "constant", "parameter", "iota"])
MUST_STORE = frozenset(["reduce", "dot"])
WORK_LIMIT = 1.5


class PlanCost(NamedTuple):
    """The cost of a fusion plan.

    kernels: the number of kernels. bytes: read and written by all kernels. operations: executed,
    with those that fusion repeats.
    """

    kernels: int
    bytes: int
    operations: int


def is_given(i: HloInstruction) -> bool:
    """Return True if an instruction needs no kernel.

    Parameters are in memory, constants in the code, tuples are only pointers.
    """
    return i.opcode.name in ("parameter", "constant", "tuple", "get-tuple-element")


def required(computation: HloComputation) -> set[HloInstruction]:
    """Return the instructions that every plan stores.

    They are results of the program, reductions, matrix products and their operands.
    """
    results = (
        computation.root.operands
        if computation.root.opcode.name == "tuple"
        else (computation.root,)
    )
    stored = {i for i in results if not is_given(i)}
    for i in computation.instructions.values():
        if i.opcode.name in MUST_STORE:
            stored.add(i)
        if i.opcode.name == "dot":
            stored.update([o for o in i.operands if not is_given(o)])
    return stored


def default_plan(computation: HloComputation) -> set[HloInstruction]:
    """Return the plan to beat: store values with several readers, compute the others in place."""
    return required(computation) | {
        i for i in computation.instructions.values() if len(i.users) > 1 and not is_given(i)
    }


def plan_cost(computation: HloComputation, stored: Iterable[HloInstruction]) -> PlanCost:
    """Return the bytes that a plan moves, and the operations that it executes.

    Each kernel reads each array once, however often its loop needs an element.
    """
    stores = set(stored)
    kernels = moved = operations = 0
    for i in computation.post_order():
        if i not in stores or is_given(i):
            continue
        reads, work = _kernel(i, stores)
        kernels, moved, operations = (
            kernels + 1,
            moved + i.shape.byte_size + sum([r.shape.byte_size for r in reads]),
            operations + work,
        )
    return PlanCost(kernels, moved, operations)


def _kernel(root: HloInstruction, stores: set[HloInstruction]) -> tuple[set[HloInstruction], int]:
    """Return the arrays that the kernel of `root` reads, and its operations.

    A member runs once for each step of its busiest reader.
    """
    reads: set[HloInstruction] = set()
    evaluations = {root: root.shape.element_count}
    operations = 0
    for i in reversed(root.parent.post_order()):
        if i not in evaluations:
            continue
        steps = i.operands[0].shape.element_count if i.opcode.name == "reduce" else evaluations[i]
        if i.opcode.name == "dot":
            operations += int(instruction_cost(i).flops)
        elif i.opcode.name not in _FREE:
            operations += WEIGHTS.get(i.opcode.name, 1) * steps
        for o in i.operands:
            if o in stores or o.opcode.name == "parameter":
                reads.add(o)
            elif not is_given(o):
                evaluations[o] = max(evaluations.get(o, 0), steps)
    return reads, operations


def unfused_operations(computation: HloComputation) -> int:
    """Return the operations if every instruction stores its result, so that nothing is repeated."""
    return plan_cost(
        computation, [i for i in computation.instructions.values() if not is_given(i)]
    ).operations


def plan_refusal(computation: HloComputation, stored: Iterable[HloInstruction]) -> Reason | None:
    """Return the reason that a set of instructions is not a valid plan, or None."""
    stores = set(stored)
    foreign = [i for i in stores if i.parent is not computation]
    if foreign:
        return refuse(
            "not-of-this-computation", f"%{foreign[0].name} stands in another computation"
        )
    missing = sorted([i.name for i in required(computation) - stores])
    if missing:
        return refuse(
            "must-be-stored",
            f"%{missing[0]} must be stored: it is a result, a reduction, a product, or an "
            "operand of one",
        )
    work, limit = (
        plan_cost(computation, stores).operations,
        WORK_LIMIT * unfused_operations(computation),
    )
    if work > limit:
        return refuse(
            "too-much-work",
            f"the kernels execute {work} operations, {limit:.0f} are allowed",
            operations=work,
            limit=limit,
        )
    return None
