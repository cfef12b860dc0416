"""Loops that never run, run once, or carry unused state.

Source: xla/service/while_loop_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import control_edges
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead, replace_root
from xla_explorer.compiler.transforms.inlining.call_inliner import CALL, inline_call
from xla_explorer.compiler.transforms.loops.induction import find_induction
from xla_explorer.compiler.transforms.loops.loop_state import (
    WHILE,
    element,
    initial_parts,
    may_be_reshaped,
    own_computations,
    parameter_of,
    passed_on,
    read_only_by_elements,
    readers_of,
    replace_loop,
)
from xla_explorer.compiler.transforms.loops.loop_state_changes import (
    first_of_equal_elements,
    flatten_state,
    merge_induction_variables,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import (
    remove_dead_instructions,
    remove_unreachable_computations,
)
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.shape import tuple_shape


def _sources(computation: HloComputation, start: list[HloInstruction]) -> set[int]:
    """Return the indices of the state's elements that the given instructions depend on."""
    seen: set[HloInstruction] = set()
    found: set[int] = set()
    stack = list(start)
    while stack:
        i = stack.pop()
        if i in seen:
            continue
        seen.add(i)
        if i.opcode is GET_TUPLE_ELEMENT and i.operands[0].opcode is PARAMETER:
            found.add(int(i.attributes["index"]))
        stack.extend(i.operands)
        stack.extend(i.control_predecessors)
    return found


def invariant_elements(loop: HloInstruction) -> set[int]:
    """Return elements that the body passes on, or sets to the constant that they start from.

    After the loop they have their initial value.
    """
    start = loop.operands[0]
    found = passed_on(loop.called[1])
    for number, given in enumerate(loop.called[1].root.operands):
        if (
            given.opcode is CONSTANT
            and start.opcode is TUPLE
            and start.operands[number].opcode is CONSTANT
        ):
            if given.literal == start.operands[number].literal:
                found.add(number)
    return found


def live_elements(loop: HloInstruction) -> set[int]:
    """Return elements that the condition, a user, a side effect or a live element depends on.

    Users can read an invariant element before the loop.
    """
    condition, body = loop.called
    live = _sources(
        condition,
        [condition.root, *[i for i in condition.instructions.values() if has_side_effect(i)]],
    )
    outside = (
        {int(user.attributes["index"]) for user in loop.users}
        if read_only_by_elements(loop)
        else set(range(len(loop.shape.tuple_shapes)))
    )
    live |= outside - invariant_elements(loop)
    live |= _sources(body, [i for i in body.instructions.values() if has_side_effect(i)])
    pending = list(live)
    while pending:
        for needed in _sources(body, [body.root.operands[pending.pop()]]):
            if needed not in live:
                live.add(needed)
                pending.append(needed)
    return live


def constant_elements(loop: HloInstruction) -> dict[int, HloInstruction]:
    """Return elements that are read in the loop, start from a scalar constant and never change.

    The result maps each element to its constant.
    """
    start = loop.operands[0]
    if start.opcode is not TUPLE:
        return {}
    condition, body = loop.called
    found = {}
    for number in invariant_elements(loop):
        value = start.operands[number]
        if value.opcode is not CONSTANT or not value.shape.is_scalar:
            continue
        readers = [
            u
            for c in (condition, body)
            for g in parameter_of(c).users
            if g.attributes["index"] == number
            for u in g.users
        ]
        if any(u is not body.root for u in readers):
            found[number] = value
    return found


def sink_constants(loop: HloInstruction) -> int:
    """Replace reads of invariant constant elements in condition and body; return their number."""
    if may_be_reshaped(loop) is not None or not (found := constant_elements(loop)):
        return 0
    own_computations(loop)
    for called in loop.called:
        for number, value in found.items():
            for reader in [
                u for u in parameter_of(called).users if u.attributes["index"] == number
            ]:
                made: HloInstruction | None = None
                for user in list(reader.users):
                    made = made or called.add_constant(value.literal)
                    called.set_operands(user, [made if o is reader else o for o in user.operands])
                remove_if_dead(called, reader)
    return len(found)


def _narrow(computation: HloComputation, kept: list[int], *, is_body: bool) -> None:
    """Change the parameter (and the root of a body) to the kept elements."""
    parameter = parameter_of(computation)
    place = {old: new for new, old in enumerate(kept)}
    shape = tuple_shape([parameter.shape.tuple_shapes[k] for k in kept])
    if is_body:
        old_root = computation.root
        replace_root(
            computation,
            computation.add(TUPLE, shape, [old_root.operands[k] for k in kept], name=old_root.name),
        )
        remove_dead_instructions(computation)
    for user in list(parameter.users):
        index = int(user.attributes["index"])
        if index in place:
            computation.set_attributes(user, user.attributes.with_values(index=place[index]))
        else:
            _remove_with_readers(computation, user)
    computation.set_shape(parameter, shape)


def _remove_with_readers(computation: HloComputation, i: HloInstruction) -> None:
    """Remove a dead element with its readers, which only control edges keep."""
    for user in list(i.users):
        _remove_with_readers(computation, user)
    if i.id in computation.instructions:
        computation.remove(i)


def remove_dead_elements(loop: HloInstruction) -> HloInstruction | Reason:
    """Drop the elements of the state that nothing depends on; return the new loop."""
    reason = may_be_reshaped(loop)
    if reason is not None:
        return reason
    count = len(loop.shape.tuple_shapes)
    live = live_elements(loop)
    if len(live) == count:
        return refuse("all-live", f"every element of %{loop.name} is needed")
    own_computations(loop)
    return keep_elements(loop, sorted(live))


def keep_elements(loop: HloInstruction, kept: list[int]) -> HloInstruction:
    """Drop the other elements of the state, if read by themselves only; return the new loop."""
    for number, called in enumerate(loop.called):
        remove_dead_instructions(called)
        _narrow(called, kept, is_body=number == 1)
    parts = initial_parts(loop)
    return replace_loop(
        loop,
        [parts[k] for k in kept],
        lambda made, old: (
            element(loop.parent, made, kept.index(old)) if old in kept else parts[old]
        ),
    )


def merge_equal_elements(loop: HloInstruction) -> HloInstruction | Reason:
    """Merge elements that start from the same value and that the body passes on."""
    reason = may_be_reshaped(loop)
    if reason is not None:
        return reason
    same = first_of_equal_elements(loop)
    if not same:
        return refuse("nothing-to-merge", f"no two elements of %{loop.name} are equal")
    own_computations(loop)
    for called in loop.called:
        for again, first in same.items():
            for reader in readers_of(called, again):
                called.set_attributes(reader, reader.attributes.with_values(index=first))
    return keep_elements(loop, [k for k in range(len(loop.shape.tuple_shapes)) if k not in same])


def remove_loop_that_never_runs(loop: HloInstruction) -> None:
    """Replace the loop by its initial value."""
    computation = loop.parent
    computation.replace(loop, loop.operands[0])
    remove_if_dead(computation, loop, control_targets(computation))


def inline_loop_that_runs_once(loop: HloInstruction) -> None:
    """Replace the loop by its inlined body."""
    computation = loop.parent
    call = computation.add(
        CALL, loop.shape, loop.operands, called=(loop.called[1],), metadata=loop.metadata
    )
    computation.replace(loop, call)
    remove_if_dead(computation, loop)
    inline_call(call)


@value_formatter(lambda loop: control_edges((loop,), control_targets(loop.parent)))
def has_no_control_edges(loop: HloInstruction) -> Reason | None:
    """Require no control edges, which would be lost."""
    if loop.control_predecessors or loop in control_targets(loop.parent):
        return refuse("control-dependency", f"%{loop.name} has control edges")
    return None


# The changes of the state, in XLA's order; the first that applies is made.
_STATE_CHANGES: tuple[tuple[str, Callable[[HloInstruction], HloInstruction | Reason]], ...] = (
    ("merge-equal-elements", merge_equal_elements),
    ("flatten-loop-state", flatten_state),
    ("dead-loop-elements", remove_dead_elements),
)
_NOTHING_TO_DO = ("all-live", "nothing-to-merge", "state-flat")


@register_pass("while-loop-simplifier")
@dataclasses.dataclass(frozen=True)
class WhileLoopSimplifier:
    """Remove loops that never run, inline loops that run once, and reduce the loop state.

    Loops that never run become their initial value. Of the state, these elements are removed:
    unread, repeated, nested in tuples, constant, and counting along with another element. Each run
    makes one change per loop; the rest is left to the next run. merge_induction_variables: compute
    all induction variables from one.
    """

    name: ClassVar[str] = "simplify-while-loops"
    kinds: ClassVar[tuple[str, ...]] = ("loop-removal",)
    merge_induction_variables: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Simplify every loop, inner ones first."""
        changed = False
        for computation in module.post_order_computations():
            loops = [i for i in computation.instructions.values() if i.opcode is WHILE]
            for loop in loops:
                if loop.id in computation.instructions:
                    changed |= self.simplify(loop, context)
        if changed:
            remove_unreachable_computations(module)
            module.computations = {c.name: c for c in module.post_order_computations()}
        return changed

    def simplify(self, loop: HloInstruction, context: PassContext) -> bool:
        """Simplify one loop; return True if anything changed."""
        before = len(loop.shape.tuple_shapes)
        for kind, change in _STATE_CHANGES:
            result = change(loop)
            if not isinstance(result, Reason):
                after = len(result.shape.tuple_shapes)
                context.rewrote(
                    kind, loop, result, (result.id,), {"before": before, "after": after}
                )
                return True
            if result.code not in _NOTHING_TO_DO and kind == _STATE_CHANGES[-1][0]:
                context.refused(kind, loop, result)
        sunk = sink_constants(loop)
        if sunk:
            context.rewrote("sink-loop-constants", loop, loop, (), {"constants": sunk})
        found = find_induction(loop)
        if not isinstance(found, Reason) and found.trip_count <= 1 and not has_side_effect(loop):
            if (
                context.decide(
                    "loop-removal",
                    (has_no_control_edges,),
                    (),
                    loop,
                    facts=lambda: {"trip_count": found.trip_count},
                )
                is None
            ):
                (inline_loop_that_runs_once if found.trip_count else remove_loop_that_never_runs)(
                    loop
                )
                return True
        if self.merge_induction_variables:
            merged = merge_induction_variables(loop)
            if not isinstance(merged, Reason):
                after = len(merged.shape.tuple_shapes)
                context.rewrote(
                    "merge-induction-variables",
                    loop,
                    merged,
                    (merged.id,),
                    {"before": before, "after": after},
                )
                return True
        return sunk > 0
