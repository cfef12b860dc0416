"""Conditionals whose branch is known at compile time. Source: xla/service/conditional_simplifier.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar, scalar_constant
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.rewriting.removal import control_targets
from xla_explorer.compiler.transforms.inlining.call_inliner import CALL, inline_call
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, TUPLE, opcode
from xla_explorer.hlo.primitive_type import PRED
from xla_explorer.hlo.shape import tuple_shape

CONDITIONAL = opcode("conditional")


def known_branch(conditional: HloInstruction) -> int | Reason:
    """The branch that runs: the only one, or the one that a constant selector names (out of range: the last)."""
    branches = conditional.called
    if len(branches) == 1:
        return 0
    selector = conditional.operands[0]
    value = uniform_value(selector) if selector.shape.is_scalar else None
    if value is None:
        return refuse("selector-not-constant", f"%{selector.name} is no constant")
    if selector.shape.element_type.is_pred:
        return 0 if value else 1
    return int(value) if 0 <= value < len(branches) else len(branches) - 1


def has_no_control_edges(conditional: HloInstruction) -> Reason | None:
    """Control edges would be lost; a scheduling group is kept together."""
    if "_scheduling_group_id" in (conditional.attributes.get("frontend_attributes") or ""):
        return refuse("scheduling-group", f"%{conditional.name} belongs to a scheduling group")
    if conditional.control_predecessors or conditional in control_targets(conditional.parent):
        return refuse("control-dependency", f"%{conditional.name} has control edges")
    return None


_CHEAP = frozenset(["parameter", "tuple", "get-tuple-element", "constant", "broadcast", "bitcast", "reshape"])
LARGEST_SELECTED_BYTES = 1 << 16


def two_branches(conditional: HloInstruction) -> Reason | None:
    """A select chooses between two."""
    count = len(conditional.called)
    return None if count == 2 else refuse("not-two-branches", f"%{conditional.name} has {count} branches", branches=count)


def branches_are_cheap(conditional: HloInstruction) -> Reason | None:
    """Running both branches costs next to nothing: they move values, or compute scalars without expensive
    operations."""
    for branch in conditional.called:
        for i in branch.instructions.values():
            if i.opcode.name in _CHEAP:
                continue
            if i.opcode.elementwise and not i.opcode.expensive and not i.called and i.shape.is_scalar:
                continue
            return refuse("branch-not-cheap", f"%{i.name} in %{branch.name} is worth skipping", opcode=i.opcode.name)
    return None


def result_is_small(conditional: HloInstruction) -> Reason | None:
    """Arrays only, small enough that selecting between them is cheap."""
    for _, leaf in conditional.shape.leaves():
        if not leaf.is_array:
            return refuse("not-an-array", f"%{conditional.name} gives a {leaf}")
    size = conditional.shape.byte_size
    return refuse("result-large", f"%{conditional.name} gives {size} bytes", bytes=size) if size > LARGEST_SELECTED_BYTES else None


def replace_by_select(conditional: HloInstruction) -> None:
    """Run both branches and select every leaf of the result."""
    computation, selector = conditional.parent, conditional.operands[0]
    if not selector.shape.element_type.is_pred:
        zero = scalar_constant(computation, selector.shape, 0)
        selector = computation.add("compare", selector.shape.with_element_type(PRED), (selector, zero), attributes_of({"direction": "EQ"}))
    results = []
    for number, branch in enumerate(conditional.called):
        call = computation.add(
            CALL,
            conditional.shape,
            (conditional.operands[number + 1],),
            called=(branch,),
            metadata=conditional.metadata,
        )
        # A user keeps the call's result in reach while it is inlined.
        holder = computation.add(TUPLE, tuple_shape([call.shape]), (call,))
        inline_call(call)
        results.append(holder.operands[0])
        computation.remove(holder)
    chosen = _select(computation, selector, *results)
    computation.replace(conditional, chosen)
    computation.remove(conditional)


def _select(computation: HloComputation, selector: HloInstruction, a: HloInstruction, b: HloInstruction) -> HloInstruction:
    if a.shape.is_tuple:
        parts = [
            [computation.add(GET_TUPLE_ELEMENT, part, (whole,), attributes_of({"index": k})) for whole in (a, b)]
            for k, part in enumerate(a.shape.tuple_shapes)
        ]
        return computation.add(TUPLE, a.shape, [_select(computation, selector, x, y) for x, y in parts])
    wide = selector if not a.shape.rank else broadcast_scalar(computation, selector, a.shape)
    return computation.add("select", a.shape, (wide, a, b))


TO_SELECT = (has_no_control_edges, two_branches)
WORTH_SELECTING = (branches_are_cheap, result_is_small)


@register_pass("conditional-simplifier")
@dataclasses.dataclass(frozen=True)
class ConditionalSimplifier:
    """A conditional with a constant selector, or with one branch, becomes that branch, inlined; one with two cheap
    branches
    becomes both of them and a select."""

    name: ClassVar[str] = "simplify-conditional"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Simplify every conditional, callees first."""
        changed = False
        for computation in module.post_order_computations():
            for conditional in [i for i in computation.instructions.values() if i.opcode is CONDITIONAL]:
                branch = known_branch(conditional)
                if isinstance(branch, Reason):
                    if context.decide("conditional-to-select", TO_SELECT, WORTH_SELECTING, conditional) is None:
                        replace_by_select(conditional)
                        changed = True
                    continue
                if context.decide("branch-removal", (has_no_control_edges,), (), conditional) is not None:
                    continue
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
                changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed
