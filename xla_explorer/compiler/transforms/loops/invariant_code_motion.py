"""What a loop computes anew but never differently moves in front of it.

Source: xla/service/while_loop_invariant_code_motion.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import has_side_effect, remove_if_dead
from xla_explorer.compiler.transforms.loops.induction import runs_at_most_once
from xla_explorer.compiler.transforms.loops.while_loop_simplifier import (
    WHILE,
    called_elsewhere,
    element,
    has_no_control_edges,
    may_be_reshaped,
    own_computations,
    parameter_of,
    remove_replaced,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.opcodes.spec import Trait
from xla_explorer.hlo.shape import tuple_shape

# Cheap to make again, so that carrying the value would cost more.
_NOT_WORTH_IT = frozenset(["constant", "broadcast", "iota", "get-tuple-element", "tuple", "bitcast", "reshape", "parameter"])
_NEVER = frozenset(
    ["domain", "after-all", "add-dependency", "opt-barrier", "partition-id", "replica-id", "custom-call", "while", "conditional"]
)


def is_array(i: HloInstruction) -> Reason | None:
    """Only arrays are carried."""
    if i.shape.is_array and not any(i.shape.dynamic):
        return None
    return refuse("not-an-array", f"%{i.name} is {i.shape}")


def does_not_grow(i: HloInstruction) -> Reason | None:
    """The value is not larger than what it is made of, which the loop holds anyway."""
    given = sum([o.shape.byte_size for o in i.operands])
    if i.shape.byte_size <= max(given, 64):
        return None
    return refuse("value-grows", f"%{i.name} has {i.shape.byte_size} bytes, its operands {given}", bytes=i.shape.byte_size, operands=given)


LEGALITY = (is_array,)
PROFITABILITY = (does_not_grow,)


def invariant_instructions(
    loop: HloInstruction, context: PassContext, worth: frozenset[str] | None = None
) -> tuple[list[HloInstruction], list[HloInstruction]]:
    """(all invariant instructions of the body in order, those worth hoisting that something varying reads)."""
    body = loop.called[1]
    passed_on = {
        number
        for number, o in enumerate(body.root.operands)
        if o.opcode is GET_TUPLE_ELEMENT and o.operands[0].opcode is PARAMETER and o.attributes["index"] == number
    }
    invariant: dict[HloInstruction, None] = {}
    for i in body.post_order():
        if i.opcode is PARAMETER or i is body.root or i.control_predecessors:
            continue
        if i.opcode is GET_TUPLE_ELEMENT and i.operands[0].opcode is PARAMETER:
            if i.attributes["index"] in passed_on:
                invariant[i] = None
            continue
        if i.opcode.name in _NEVER or Trait.NON_DETERMINISTIC in i.opcode.traits or i.opcode.asynchronous or has_side_effect(i):
            continue
        if all(o in invariant for o in i.operands) and (i.operands or i.opcode.name in ("constant", "iota")):
            checks = PROFITABILITY if worth is None else ()
            if i.opcode.name not in _NOT_WORTH_IT and context.decide("loop-hoisting", LEGALITY, checks, i) is not None:
                continue
            invariant[i] = None
    fits = [i for i in invariant if (i.opcode.name not in _NOT_WORTH_IT if worth is None else i.opcode.name in worth)]
    wanted = [i for i in fits if any(u not in invariant for u in i.users)]
    return list(invariant), wanted


def hoist(loop: HloInstruction, context: PassContext, worth: frozenset[str] | None = None) -> HloInstruction | None:
    """Move what is invariant in front of the loop. Returns the new loop, None when nothing moved.

    worth: opcodes that move whatever their size; None: whatever does not grow.
    """
    if may_be_reshaped(loop) is not None or has_no_control_edges(loop) is not None:
        return None
    if runs_at_most_once(loop):
        return None
    _, wanted = invariant_instructions(loop, context, worth)
    if not wanted:
        return None
    if called_elsewhere(loop):
        own_computations(loop)
        _, wanted = invariant_instructions(loop, context, worth)
    body = loop.called[1]
    computation, start = loop.parent, loop.operands[0]
    count = len(loop.shape.tuple_shapes)
    copies: dict[HloInstruction, HloInstruction] = {}

    def outside(i: HloInstruction) -> HloInstruction:
        stack = [i]
        while stack:
            current = stack[-1]
            missing = [] if current.opcode is GET_TUPLE_ELEMENT else [o for o in current.operands if o not in copies]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if current in copies:
                continue
            if current.opcode is GET_TUPLE_ELEMENT:
                index = int(current.attributes["index"])
                copies[current] = start.operands[index] if start.opcode is TUPLE else element(computation, start, index)
            else:
                copies[current] = computation.add(
                    current.opcode,
                    current.shape,
                    [copies[o] for o in current.operands],
                    current.attributes,
                    called=current.called,
                    payload=current.payload,
                    name=current.name,
                    metadata=current.metadata,
                )
        return copies[i]

    carried = [outside(i) for i in wanted]
    shape = tuple_shape([*loop.shape.tuple_shapes, *[i.shape for i in wanted]])
    parts = [start.operands[k] if start.opcode is TUPLE else element(computation, start, k) for k in range(count)]
    made = computation.add(
        WHILE,
        shape,
        (computation.add(TUPLE, shape, [*parts, *carried]),),
        loop.attributes,
        called=loop.called,
        name=loop.name,
        metadata=loop.metadata,
    )
    for called in loop.called:
        called.set_shape(parameter_of(called), shape)
    parameter, old_root = parameter_of(body), body.root
    read = [body.add(GET_TUPLE_ELEMENT, i.shape, (parameter,), attributes_of({"index": count + k})) for k, i in enumerate(wanted)]
    for i, reader in zip(wanted, read, strict=True):
        body.replace(i, reader)
    body.set_root(body.add(TUPLE, shape, [*old_root.operands, *read], name=old_root.name))
    remove_if_dead(body, old_root)
    remove_dead_instructions(body)
    for user in list(loop.users):
        if user.opcode is GET_TUPLE_ELEMENT:
            computation.replace(user, element(computation, made, int(user.attributes["index"])))
            remove_if_dead(computation, user)
    if loop.users or loop.is_root:
        computation.replace(loop, computation.add(TUPLE, loop.shape, [element(computation, made, k) for k in range(count)]))
    remove_replaced(loop)
    return made


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopInvariantCodeMotion:
    """Operations of a loop body that depend only on state that never changes are computed once, before the loop."""

    name: ClassVar[str] = "while-loop-invariant-code-motion"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Hoist out of every loop, inner ones first, so that a value may leave several loops."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.instructions.values() if i.opcode is WHILE]:
                made = hoist(loop, context)
                if made is not None:
                    context.rewrote(
                        "loop-hoisting", loop, made, (made.id,), {"values": len(made.shape.tuple_shapes) - len(loop.shape.tuple_shapes)}
                    )
                    changed = True
        if changed:
            order = module.post_order_computations()
            rest = [c for c in module.computations.values() if c not in set(order)]
            module.computations = {c.name: c for c in [*rest, *order]}
        return changed
