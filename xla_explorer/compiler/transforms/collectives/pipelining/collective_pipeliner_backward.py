"""Prefetch of gathered weights: a loop gathers the next iteration's while it computes.

Source: xla/service/collective_pipeliner.cc, direction kBackward.

========================================  ======================================================
handled by XLA                            here
========================================  ======================================================
operands of invariant state and the index  the same
custom calls and others before it         the same, if no other instruction reads them
loop-invariant collectives                `include_invariants`
loops of one iteration                    unchanged
_xla_send_recv_validation bounds          the same
control edges at the collective           refused in both (without the option of XLA)
elements of the state that vary           hole: refused
recv-done                                 hole: not pipelined
acceptable_formatting, postprocessing     hooks of the caller in XLA; not here
========================================  ======================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.removal import remove_if_dead, replace_root
from xla_explorer.compiler.transforms.collectives.pipelining.copies import (
    only_last,
    refresh_channels,
    set_bounds,
    with_fresh_channel,
    without_last,
)
from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call
from xla_explorer.compiler.transforms.loops.induction import (
    InductionVariable,
    element_index,
    find_induction,
)
from xla_explorer.compiler.transforms.loops.loop_state import (
    WHILE,
    element,
    initial_parts,
    may_be_reshaped,
    own_computations,
    parameter_of,
    passed_on,
    readers_of,
    replace_loop,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import TUPLE
from xla_explorer.hlo.shape import tuple_shape

_MOVES: Final = frozenset(
    ["bitcast", "broadcast", "constant", "copy", "dynamic-slice", "iota", "reshape", "slice",
     "transpose"]
)  # fmt: skip
"""Opcodes, besides element-wise ones, between the state and a collective."""


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectivePipelinerBackward:
    """Move a collective of invariant data to the iteration before, such as all-gathers of weights.

    The first one runs before the loop. The last iteration is peeled off, so that as many run as
    before. opcodes: the collectives. include_invariants: those whose operand is the same in each
    iteration too.
    """

    name: ClassVar[str] = "collective-pipeliner-backward"
    opcodes: tuple[str, ...] = ("all-gather",)
    include_invariants: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, inner ones first."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode is WHILE]:
                changed |= self._visit(loop, context)
        return changed

    def _visit(self, loop: HloInstruction, context: PassContext) -> bool:
        found = [i for i in loop.called[1].post_order() if i.opcode.name in self.opcodes]
        if not found:
            return False
        induction = find_induction(loop)
        reason = may_be_reshaped(loop)
        if isinstance(induction, Reason):
            reason = reason or induction
        elif induction.trip_count < 2 or not (loop.users or loop.is_root):
            return False
        elif not found_in(loop, self.opcodes, self.include_invariants):
            message = f"%{found[0].name} reads what the loop computes"
            reason = reason or refuse("not-invariant", message)
        if reason is not None or isinstance(induction, Reason):
            if reason is not None:
                context.refused(self.name, found[0], reason)
            return False
        own_computations(loop)
        _pipeline(loop, found_in(loop, self.opcodes, self.include_invariants), induction)
        return True


def found_in(
    loop: HloInstruction, opcodes: Sequence[str], include_invariants: bool = False
) -> list[HloInstruction]:
    """Return the collectives of a loop's body whose operands the next iteration's index gives."""
    induction = find_induction(loop)
    if not isinstance(induction, InductionVariable):
        return []
    body = loop.called[1]
    allowed = passed_on(body) | {induction.element}
    found = []
    for i in body.post_order():
        if i.opcode.name in opcodes and len(i.operands) == 1 and not i.control_predecessors:
            read = _elements_read(i, allowed)
            if read is not None and (include_invariants or induction.element in read):
                found.append(i)
    return found


def _elements_read(i: HloInstruction, allowed: set[int]) -> set[int] | None:
    """Return the elements of the state that an operand is computed from; None if it reads others.

    Instructions that cost more than a move must have no reader outside, so that they do not run
    twice.
    """
    found, pending, seen, costly = set[int](), list(i.operands), {i}, list[HloInstruction]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        number = element_index(one)
        if number is not None and number in allowed:
            found.add(number)
            continue
        if one.opcode.name == "parameter" or has_side_effect(one):
            return None
        if one.opcode.name not in _MOVES and (not one.opcode.elementwise or one.called):
            costly.append(one)
        pending += one.operands
    return found if all(seen.issuperset(one.users) for one in costly) else None


def _pipeline(
    loop: HloInstruction, collectives: list[HloInstruction], induction: InductionVariable
) -> None:
    """Carry the collectives' results in the state, shorten the loop and peel its last iteration."""
    computation, (condition, body) = loop.parent, loop.called
    parts, old_root = initial_parts(loop), body.root
    before = [_cloned(computation, i, lambda k: parts[k]) for i in collectives]
    shape = tuple_shape([*[p.shape for p in parts], *[i.shape for i in collectives]])
    for called in (condition, body):
        called.set_shape(parameter_of(called), shape)
    held = [element(body, parameter_of(body), len(parts) + k) for k in range(len(collectives))]

    def following(number: int) -> HloInstruction:
        """Return an element of the state of the next iteration."""
        if number == induction.element:
            return old_root.operands[number]
        return readers_of(body, number)[0]

    after = [_cloned(body, i, following) for i in collectives]
    for i, value in zip(collectives, held, strict=True):
        body.replace(i, value)
        remove_if_dead(body, i)
    replace_root(body, body.add(TUPLE, shape, [*body.root.operands, *held], name=old_root.name))
    last = body.clone()
    remove_dead_instructions(last)
    operands = [*body.root.operands[: len(parts)], *after]
    replace_root(body, body.add(TUPLE, shape, operands, name=old_root.name))
    set_bounds(body, without_last(induction.trip_count))
    set_bounds(last, only_last(induction.trip_count))
    refresh_channels(last)
    _shorten(condition, induction)
    _replace(loop, [*parts, *before], last)


def _shorten(condition: HloComputation, induction: InductionVariable) -> None:
    """Let a loop stop one iteration earlier."""
    (reader,) = readers_of(condition, induction.element)[:1]
    limit = scalar_constant(condition, reader.shape, induction.limit - induction.step)
    root = condition.root
    attributes = root.attributes.with_values(direction=induction.direction)
    made = condition.add("compare", root.shape, (reader, limit), attributes, name=root.name)
    replace_root(condition, made)


def _replace(loop: HloInstruction, parts: list[HloInstruction], last: HloComputation) -> None:
    """Replace a loop by one with another state, followed by its last iteration."""
    computation, calls = loop.parent, list[HloInstruction]()

    def of_last(made: HloInstruction, number: int) -> HloInstruction:
        if not calls:
            calls.append(computation.add("call", made.shape, (made,), called=(last,)))
        return element(computation, calls[0], number)

    replace_loop(loop, parts, of_last)
    users = list(calls[0].users)
    state = inline_call(calls[0])[last.root]
    computation.module.remove_computation(last)
    for user in users:
        computation.replace(user, state.operands[int(user.attributes["index"])])
        remove_if_dead(computation, user)
    remove_if_dead(computation, state)


def _cloned(
    computation: HloComputation, i: HloInstruction, of_element: Callable[[int], HloInstruction]
) -> HloInstruction:
    """Add a copy of a collective and of what computes its operand from elements of the state."""
    copies: dict[HloInstruction, HloInstruction] = {}

    def copied(one: HloInstruction) -> HloInstruction:
        if one not in copies:
            number = element_index(one)
            if number is not None:
                copies[one] = of_element(number)
            else:
                operands = [copied(operand) for operand in one.operands]
                copies[one] = computation.add(
                    one.opcode, one.shape, operands, with_fresh_channel(one), called=one.called,
                    payload=one.payload, name=one.name, metadata=one.metadata,
                )  # fmt: skip
        return copies[one]

    return copied(i)
