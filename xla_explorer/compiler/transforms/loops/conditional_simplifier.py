"""Conditionals with a constant selector or with cheap branches.

Source: xla/service/conditional_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import control_edges, described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar, scalar_constant
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.rewriting.removal import control_targets
from xla_explorer.compiler.transforms.inlining.call_inliner import CALL, inline_call
from xla_explorer.compiler.transforms.loops.conditional_elements import (
    Callers,
    count_callers,
    drop_unused_operands,
    drop_unused_results,
    share_equal_results,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.foundation.measured import at_most, equal
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, TUPLE, opcode
from xla_explorer.hlo.primitive_type import PRED
from xla_explorer.hlo.shape import tuple_shape

CONDITIONAL = opcode("conditional")


def known_branch(conditional: HloInstruction) -> int | Reason:
    """Return the branch that runs: the only one, or the one of a constant selector.

    An index out of range selects the last branch.
    """
    branches = conditional.called
    if len(branches) == 1:
        return 0
    selector = conditional.operands[0]
    value = uniform_value(selector) if selector.shape.is_scalar else None
    if value is None:
        return refuse("selector-not-constant", f"%{selector.name} is not a constant")
    if selector.shape.element_type.is_pred:
        return 0 if value else 1
    return int(value) if 0 <= value < len(branches) else len(branches) - 1


@value_formatter(lambda i: control_edges((i,), control_targets(i.parent)))
def has_no_control_edges(conditional: HloInstruction) -> Reason | None:
    """Require no control edges, which would be lost, and no scheduling group."""
    if "_scheduling_group_id" in (conditional.attributes.get("frontend_attributes") or ""):
        return refuse("scheduling-group", f"%{conditional.name} belongs to a scheduling group")
    if conditional.control_predecessors or conditional in control_targets(conditional.parent):
        return refuse("control-dependency", f"%{conditional.name} has control edges")
    return None


_MOVES = frozenset(
    ["parameter", "tuple", "get-tuple-element", "constant", "broadcast", "bitcast", "reshape"]
)
_LIGHT = frozenset(["concatenate", "dynamic-slice", "pad", "reduce", "slice"])
# elements computed in both branches; their time equals a jump and a kernel call, about a
# microsecond
MOST_SELECTED_WORK = 1024
LARGEST_SELECTED_BYTES = 1 << 16


@value_formatter(lambda conditional: equal("branches", len(conditional.called), 2))
def two_branches(conditional: HloInstruction) -> Reason | None:
    """Require two branches, for a select."""
    count = len(conditional.called)
    return (
        None
        if count == 2
        else refuse("not-two-branches", f"%{conditional.name} has {count} branches", branches=count)
    )


@value_formatter(
    lambda conditional: (
        f"{_branch_opcodes(conditional)}; work allowed: {MOST_SELECTED_WORK:,} elements"
    )
)
def branches_are_cheap(conditional: HloInstruction) -> Reason | None:
    """Require branches that only move values, or compute few elements with cheap operations."""
    work = 0
    for branch in conditional.called:
        for i in branch.instructions.values():
            if i.opcode.name in _MOVES:
                continue
            if not (i.opcode.elementwise or i.opcode.name in _LIGHT) or i.opcode.expensive:
                return refuse(
                    "branch-not-cheap",
                    f"%{i.name} in %{branch.name} is worth skipping",
                    opcode=i.opcode.name,
                )
            work += max(
                [x.shape.element_count for x in (i, *i.operands) if x.shape.is_array], default=0
            )
            if work > MOST_SELECTED_WORK:
                return refuse(
                    "branch-not-cheap",
                    f"%{branch.name} computes {work} elements or more",
                    elements=work,
                )
    return None


@value_formatter(lambda conditional: _branch_opcodes(conditional))
def branches_only_compute(conditional: HloInstruction) -> Reason | None:
    """Require XLA's condition: elementwise operations, reductions and moves, at any cost."""
    for branch in conditional.called:
        for i in branch.instructions.values():
            if not (
                i.opcode.elementwise
                or i.opcode.name in _LIGHT
                or (i.opcode.name in _MOVES and i.opcode.name != "bitcast")
            ):
                return refuse(
                    "branch-not-cheap",
                    f"%{i.name} in %{branch.name} is worth skipping",
                    opcode=i.opcode.name,
                )
    return None


@value_formatter(lambda conditional: described(conditional.operands[0]))
def selector_is_pred(conditional: HloInstruction) -> Reason | None:
    """Require a pred selector, as XLA does."""
    kind = conditional.operands[0].shape.element_type
    return (
        None
        if kind.is_pred
        else refuse("selector-not-pred", f"%{conditional.operands[0].name} is {kind.name}")
    )


@value_formatter(
    lambda conditional: (
        f"instructions {', '.join([str(len(c.instructions)) for c in conditional.called])}"
    )
)
def no_branch_is_empty(conditional: HloInstruction) -> Reason | None:
    """Require work in each branch, as XLA does: a branch that only forwards beats a select."""
    if any(leaf.is_array for _, leaf in conditional.shape.leaves()):
        for branch in conditional.called:
            if all(
                i.opcode.name in ("tuple", "get-tuple-element", "parameter")
                for i in branch.instructions.values()
            ):
                return refuse("branch-empty", f"%{branch.name} returns its arguments")
    return None


@value_formatter(
    lambda conditional: f"side effects: {'some' if has_side_effect(conditional) else 'none'}"
)
def without_side_effects(conditional: HloInstruction) -> Reason | None:
    """Require that both branches may run."""
    return (
        refuse("side-effect", f"a branch of %{conditional.name} has side effects")
        if has_side_effect(conditional)
        else None
    )


@value_formatter(
    lambda conditional: at_most("bytes", conditional.shape.byte_size, LARGEST_SELECTED_BYTES)
)
def result_is_small(conditional: HloInstruction) -> Reason | None:
    """Require arrays small enough for a cheap select."""
    for _, leaf in conditional.shape.leaves():
        if not leaf.is_array:
            return refuse("not-an-array", f"%{conditional.name} gives a {leaf}")
        if any(leaf.dynamic):
            return refuse(
                "dynamic-dimension",
                f"%{conditional.name} gives {leaf}, whose size each branch decides",
                shape=leaf.text,
            )
    size = conditional.shape.byte_size
    return (
        refuse("result-too-large", f"%{conditional.name} gives {size} bytes", bytes=size)
        if size > LARGEST_SELECTED_BYTES
        else None
    )


def _branch_opcodes(conditional: HloInstruction) -> str:
    found = dict.fromkeys(
        [i.opcode.name for branch in conditional.called for i in branch.instructions.values()]
    )
    return f"opcodes {', '.join(list(found)[:8])}"


def replace_by_select(conditional: HloInstruction) -> None:
    """Run both branches and select every leaf of the result."""
    computation, selector = conditional.parent, conditional.operands[0]
    if not selector.shape.element_type.is_pred:
        zero = scalar_constant(computation, selector.shape, 0)
        selector = computation.add(
            "compare",
            selector.shape.with_element_type(PRED),
            (selector, zero),
            attributes_of({"direction": "EQ"}),
        )
    results = []
    for number, branch in enumerate(conditional.called):
        call = computation.add(
            CALL,
            conditional.shape,
            (conditional.operands[number + 1],),
            called=(branch,),
            metadata=conditional.metadata,
        )
        # A user keeps the call's result reachable while it is inlined.
        holder = computation.add(TUPLE, tuple_shape([call.shape]), (call,))
        inline_call(call)
        results.append(holder.operands[0])
        computation.remove(holder)
    chosen = _select(computation, selector, *results)
    computation.replace(conditional, chosen)
    computation.remove(conditional)


def _select(
    computation: HloComputation, selector: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    if a.shape.is_tuple:
        parts = [
            [
                computation.add(GET_TUPLE_ELEMENT, part, (whole,), attributes_of({"index": k}))
                for whole in (a, b)
            ]
            for k, part in enumerate(a.shape.tuple_shapes)
        ]
        return computation.add(
            TUPLE, a.shape, [_select(computation, selector, x, y) for x, y in parts]
        )
    if not a.shape.is_array:
        return computation.add("after-all", a.shape, (a, b))  # a token
    wide = selector if not a.shape.rank else broadcast_scalar(computation, selector, a.shape)
    return computation.add("select", a.shape, (wide, a, b))


TO_SELECT = (has_no_control_edges, two_branches)
WORTH_SELECTING = (branches_are_cheap, result_is_small)
SELECTED_BY_XLA = (
    selector_is_pred,
    without_side_effects,
    branches_only_compute,
    no_branch_is_empty,
)


@register_pass("conditional-simplifier")
@dataclasses.dataclass(frozen=True)
class ConditionalSimplifier:
    """Replace conditionals by a branch or a select, and drop unused elements.

    A conditional with a constant selector, or with one branch, becomes the branch, inlined. Two
    cheap branches become both of them and a select. Unused elements of results and operands are
    dropped, and equal elements are read once. select_all: select wherever XLA does, even if running
    both branches costs more than it saves.
    """

    name: ClassVar[str] = "simplify-conditional"
    kinds: ClassVar[tuple[str, ...]] = (
        "conditional-to-select",
        "branch-removal",
    )
    select_all: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Simplify every conditional, callees first."""
        callers: Callers | None = None
        changed = False
        for computation in module.post_order_computations():
            for conditional in [
                i for i in computation.instructions.values() if i.opcode is CONDITIONAL
            ]:
                if conditional.id not in computation.instructions:
                    # its only reader was a conditional before it, which no longer reads it
                    continue
                callers = callers or count_callers(module)
                changed |= self._narrow(conditional, callers, context)
                if self._remove(conditional, context):
                    changed, callers = True, None  # its branches were inlined
                elif dropped := drop_unused_operands(conditional, callers):
                    context.rewrote(
                        "drop-conditional-operands",
                        conditional,
                        conditional,
                        (),
                        {"elements": dropped},
                    )
                    changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed

    def _narrow(self, conditional: HloInstruction, callers: Callers, context: PassContext) -> bool:
        shared = share_equal_results(conditional)
        if shared:
            context.rewrote(
                "share-conditional-results", conditional, conditional, (), {"readers": shared}
            )
        dropped = drop_unused_results(conditional, callers)
        if dropped:
            context.rewrote(
                "drop-conditional-results", conditional, conditional, (), {"elements": dropped}
            )
        return bool(shared or dropped)

    def _remove(self, conditional: HloInstruction, context: PassContext) -> bool:
        """Replace it by the branch that runs, or both and a select; return True if replaced."""
        branch = known_branch(conditional)
        if isinstance(branch, Reason):
            legality = (*TO_SELECT, *SELECTED_BY_XLA) if self.select_all else TO_SELECT
            if (
                context.decide(
                    "conditional-to-select",
                    legality,
                    () if self.select_all else WORTH_SELECTING,
                    conditional,
                )
                is not None
            ):
                return False
            replace_by_select(conditional)
            return True
        if context.decide("branch-removal", (has_no_control_edges,), (), conditional) is not None:
            return False
        computation = conditional.parent
        call = computation.add(
            CALL,
            conditional.shape,
            (conditional.operands[branch + 1],),
            called=(conditional.called[branch],),
            metadata=conditional.metadata,
        )
        computation.replace(conditional, call)
        computation.remove(conditional)
        inline_call(call)
        return True
