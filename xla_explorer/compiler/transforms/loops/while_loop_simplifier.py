"""Loops that do not run, run once, or carry what nobody reads. Source: xla/service/while_loop_simplifier.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, has_side_effect, remove_if_dead
from xla_explorer.compiler.transforms.inlining.call_inliner import CALL, inline_call
from xla_explorer.compiler.transforms.loops.induction import find_induction
from xla_explorer.compiler.transforms.simplifiers.dead_code import (
    remove_dead_instructions,
    remove_unreachable_computations,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, PARAMETER, TUPLE, opcode
from xla_explorer.hlo.shape import tuple_shape

WHILE = opcode("while")


def element(computation: HloComputation, whole: HloInstruction, index: int) -> HloInstruction:
    """A get-tuple-element."""
    return computation.add(GET_TUPLE_ELEMENT, whole.shape.tuple_shapes[index], (whole,), attributes_of({"index": index}))


def parameter_of(computation: HloComputation) -> HloInstruction:
    """The one parameter of a condition or body."""
    return next(i for i in computation.instructions.values() if i.opcode is PARAMETER)


def remove_replaced(loop: HloInstruction) -> None:
    """Take out a loop whose place another one took, side effects or not, and what only it read."""
    computation, operands = loop.parent, loop.operands
    if loop.id not in computation.instructions:
        return  # it died with its last reader
    computation.remove(loop)
    for operand in operands:
        remove_if_dead(computation, operand)


def read_only_by_elements(i: HloInstruction) -> bool:
    """Whether every user takes one element, and the instruction is not the root."""
    return not i.is_root and all(user.opcode is GET_TUPLE_ELEMENT for user in i.users)


def may_be_reshaped(loop: HloInstruction) -> Reason | None:
    """The state of the loop is a tuple that everybody takes apart."""
    condition, body = loop.called
    if not loop.shape.is_tuple or body.root.opcode is not TUPLE:
        return refuse("state-not-tuple", f"the state of %{loop.name} is not put together as a tuple")
    for computation in (condition, body):
        if not read_only_by_elements(parameter_of(computation)):
            return refuse("state-read-whole", f"%{computation.name} reads its state as a whole")
    if loop.attributes.sharding_text:
        return refuse("sharded", f"%{loop.name} has a sharding for each element")
    return None


def _sources(computation: HloComputation, start: list[HloInstruction]) -> set[int]:
    """Indices of the state's elements that the given instructions depend on."""
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
    """Elements that the body passes on as they are, or sets to the constant that they start from.

    After the loop they are what they were before.
    """
    start, found = loop.operands[0], set()
    for number, given in enumerate(loop.called[1].root.operands):
        if given.opcode is GET_TUPLE_ELEMENT:
            if given.operands[0].opcode is PARAMETER and given.attributes["index"] == number:
                found.add(number)
        elif given.opcode is CONSTANT and start.opcode is TUPLE and start.operands[number].opcode is CONSTANT:
            if given.literal == start.operands[number].literal:
                found.add(number)
    return found


def live_elements(loop: HloInstruction) -> set[int]:
    """Elements that the condition, a user of the loop, a side effect, or another live element depends on.

    What users read of an element that never changes, they can read before the loop.
    """
    condition, body = loop.called
    live = _sources(condition, [condition.root, *[i for i in condition.instructions.values() if has_side_effect(i)]])
    outside = (
        {int(user.attributes["index"]) for user in loop.users} if read_only_by_elements(loop) else set(range(len(loop.shape.tuple_shapes)))
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
    """Elements that start from a scalar constant, never change, and are read in the condition or the body: element ->
    constant."""
    start = loop.operands[0]
    if start.opcode is not TUPLE:
        return {}
    condition, body = loop.called
    found = {}
    for number in invariant_elements(loop):
        value = start.operands[number]
        if value.opcode is not CONSTANT or not value.shape.is_scalar:
            continue
        readers = [u for c in (condition, body) for g in parameter_of(c).users if g.attributes["index"] == number for u in g.users]
        if any(u is not body.root for u in readers):
            found[number] = value
    return found


def sink_constants(loop: HloInstruction) -> int:
    """Let condition and body read constants of their own instead of elements that never change. Returns how many."""
    if may_be_reshaped(loop) is not None or not (found := constant_elements(loop)):
        return 0
    own_computations(loop)
    for called in loop.called:
        for number, value in found.items():
            for reader in [u for u in parameter_of(called).users if u.attributes["index"] == number]:
                made: HloInstruction | None = None
                for user in list(reader.users):
                    if user is called.root and user.opcode is TUPLE:
                        continue
                    made = made or called.add_constant(value.literal)
                    called.set_operands(user, [made if o is reader else o for o in user.operands])
    return len(found)


def own_computations(loop: HloInstruction) -> None:
    """Copies of condition and body when others call them too."""
    if called_elsewhere(loop):
        loop.parent.set_called(loop, tuple([c.clone() for c in loop.called]))


def _narrow(computation: HloComputation, kept: list[int], *, is_body: bool) -> None:
    """Change the parameter (and the root of a body) to the kept elements."""
    parameter = parameter_of(computation)
    place = {old: new for new, old in enumerate(kept)}
    shape = tuple_shape([parameter.shape.tuple_shapes[k] for k in kept])
    if is_body:
        old_root = computation.root
        computation.set_root(computation.add(TUPLE, shape, [old_root.operands[k] for k in kept], name=old_root.name))
        remove_if_dead(computation, old_root)
        remove_dead_instructions(computation)
    for user in list(parameter.users):
        index = int(user.attributes["index"])
        if index in place:
            computation.set_attributes(user, user.attributes.with_values(index=place[index]))
        else:
            remove_if_dead(computation, user)
    computation.set_shape(parameter, shape)


def called_elsewhere(loop: HloInstruction) -> bool:
    module = loop.parent.module
    callers = [i for i in module.instructions() if i.called and i is not loop]
    return loop.called[0] is loop.called[1] or any(c in loop.called for i in callers for c in i.called)


def remove_dead_elements(loop: HloInstruction) -> HloInstruction | Reason:
    """Drop the elements of the state that nothing depends on. Returns the new loop."""
    reason = may_be_reshaped(loop)
    if reason is not None:
        return reason
    count = len(loop.shape.tuple_shapes)
    live = live_elements(loop)
    if len(live) == count:
        return refuse("all-live", f"every element of %{loop.name} is needed")
    computation, start = loop.parent, loop.operands[0]
    kept = sorted(live)
    own_computations(loop)
    for number, called in enumerate(loop.called):
        remove_dead_instructions(called)
        _narrow(called, kept, is_body=number == 1)
    parts = [start.operands[k] if start.opcode is TUPLE else element(computation, start, k) for k in kept]
    shape = tuple_shape([loop.shape.tuple_shapes[k] for k in kept])
    made = computation.add(
        WHILE,
        shape,
        (computation.add(TUPLE, shape, parts),),
        loop.attributes.with_values(backend_config=None),
        called=loop.called,
        name=loop.name,
        metadata=loop.metadata,
    )

    def after_loop(old: int) -> HloInstruction:
        if old in live:
            return element(computation, made, kept.index(old))
        return start.operands[old] if start.opcode is TUPLE else element(computation, start, old)

    for user in list(loop.users):
        if user.opcode is GET_TUPLE_ELEMENT:
            computation.replace(user, after_loop(int(user.attributes["index"])))
            remove_if_dead(computation, user)
    if loop.users or loop.is_root:
        computation.replace(loop, computation.add(TUPLE, loop.shape, [after_loop(k) for k in range(count)], metadata=loop.metadata))
    if loop.control_predecessors:
        computation.set_control_predecessors(made, loop.control_predecessors)
        computation.set_control_predecessors(loop, ())
    for other in computation.instructions.values():
        if loop in other.control_predecessors:
            computation.set_control_predecessors(other, [made if p is loop else p for p in other.control_predecessors])
    remove_replaced(loop)
    return made


def remove_loop_that_never_runs(loop: HloInstruction) -> None:
    """Its value is its initial value."""
    computation = loop.parent
    computation.replace(loop, loop.operands[0])
    remove_if_dead(computation, loop, control_targets(computation))


def inline_loop_that_runs_once(loop: HloInstruction) -> None:
    """Its value is that of its body."""
    computation = loop.parent
    call = computation.add(CALL, loop.shape, loop.operands, called=(loop.called[1],), metadata=loop.metadata)
    computation.replace(loop, call)
    remove_if_dead(computation, loop)
    inline_call(call)


def has_no_control_edges(loop: HloInstruction) -> Reason | None:
    """A loop with control edges stays, since the edges would be lost."""
    if loop.control_predecessors or loop in control_targets(loop.parent):
        return refuse("control-dependency", f"%{loop.name} has control edges")
    return None


@register_pass("while-loop-simplifier")
@dataclasses.dataclass(frozen=True)
class WhileLoopSimplifier:
    """Loops that never run become their initial value, loops that run once their body; unused elements of the state
    go."""

    name: ClassVar[str] = "simplify-while-loops"

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
        """One loop. Returns whether anything changed."""
        found = find_induction(loop)
        effects = has_side_effect(loop)
        if not isinstance(found, Reason) and found.trip_count <= 1 and not effects:
            if context.decide("loop-removal", (has_no_control_edges,), (), loop, facts=lambda: {"trip_count": found.trip_count}) is None:
                (inline_loop_that_runs_once if found.trip_count else remove_loop_that_never_runs)(loop)
                return True
        sunk = sink_constants(loop)
        if sunk:
            context.rewrote("sink-loop-constants", loop, loop, (), {"constants": sunk})
        result = remove_dead_elements(loop)
        if isinstance(result, Reason):
            if result.code != "all-live":
                context.refused("dead-loop-elements", loop, result)
            return sunk > 0
        context.rewrote(
            "dead-loop-elements",
            loop,
            result,
            (result.id,),
            {"before": len(loop.shape.tuple_shapes), "after": len(result.shape.tuple_shapes)},
        )
        return True
