"""Sinking of cheap initial values into loop bodies, where they fuse with their readers.

Source: xla/service/while_loop_fusible_sinking.cc.

============================================  ================================================
handled by XLA                                here
============================================  ================================================
invariant state from elementwise operations,  the same: the body computes it from the operands of
reshapes and transposes of broadcasts, iotas  the broadcasts, which become state
and scalar constants
more than 100 instructions, random numbers    unchanged, as in XLA
readers in the body that slice or gather      unchanged, as in XLA
readers of the element after the loop         read the initial value, as in XLA
a body or condition with several callers      unchanged, as in XLA
broadcast constants whose element the body    the same with `sink_broadcast_of_constant`: an
overwrites by an elementwise operation        AllocateBuffer starts them, a select in the body
                                              chooses the constant in the first iteration
loops without a known positive trip count,    the broadcasts stay, as in XLA
induction variables by other than add and
subtract, a condition that reads the element,
shardings
============================================  ================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar
from xla_explorer.compiler.rewriting.removal import remove_if_dead, replace_root
from xla_explorer.compiler.transforms.loops.induction import find_induction
from xla_explorer.compiler.transforms.loops.loop_state import (
    WHILE,
    called_elsewhere,
    element,
    parameter_of,
    passed_on,
    read_only_by_elements,
    readers_of,
    replace_loop,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import TUPLE
from xla_explorer.hlo.primitive_type import PRED
from xla_explorer.hlo.shape import array_shape, tuple_shape

_MOST = 100  # instructions of one sunk expression, as in XLA
_SLICED = frozenset(["dynamic-slice", "gather", "slice"])


def expands(i: HloInstruction) -> bool:
    """Return True for a broadcast, an iota or a scalar constant."""
    name = i.opcode.name
    return name in ("broadcast", "iota") or (name == "constant" and i.shape.is_scalar)


def cheap_expression(value: HloInstruction) -> list[HloInstruction] | None:
    """Return the instructions down to what expands, operands first, or None if one is not cheap."""
    found: dict[HloInstruction, None] = {}
    work = [(value, False)]
    while work:
        i, done = work.pop()
        if done:
            found[i] = None
        elif i not in found:
            fuses = i.opcode.elementwise or i.opcode.name in ("reshape", "transpose")
            if not expands(i) and (not fuses or not i.operands or i.opcode.name.startswith("rng")):
                return None
            if len(work) > _MOST or not i.shape.is_array:
                return None
            work.append((i, True))
            if not expands(i):
                work += [(o, False) for o in i.operands]
    return list(found) if len(found) <= _MOST else None


def may_sink_into(loop: HloInstruction) -> Reason | None:
    """Require state that is built as a tuple and read by elements, in computations of its own."""
    if called_elsewhere(loop):
        return refuse("shared-body", f"%{loop.name} shares its computations with another call")
    if loop.operands[0].opcode is not TUPLE or loop.called[1].root.opcode is not TUPLE:
        return refuse("state-not-tuple", f"%{loop.name} does not build its state as a tuple")
    if not all(read_only_by_elements(parameter_of(c)) for c in loop.called):
        return refuse("state-read-whole", f"%{loop.name} reads its state as a whole")
    return None


def _with_state(loop: HloInstruction, values: list[HloInstruction]) -> HloInstruction:
    """Append invariant elements to the state; return the new loop."""
    condition, body = loop.called
    shape = tuple_shape([*loop.shape.tuple_shapes, *[v.shape for v in values]])
    for called in (condition, body):
        called.set_shape(parameter_of(called), shape)
    first = len(loop.shape.tuple_shapes)
    added = [element(body, parameter_of(body), first + k) for k in range(len(values))]
    root = body.root
    replace_root(body, body.add(TUPLE, shape, [*root.operands, *added], name=root.name))
    parts = [*loop.operands[0].operands, *values]
    return replace_loop(
        loop, parts, lambda made, k: element(made.parent, made, k), same_numbers=True
    )


def _copy_into(
    body: HloComputation, expression: list[HloInstruction], given: dict[HloInstruction, int]
) -> HloInstruction:
    """Add the expression to the body; operands of broadcasts are elements of the state."""
    made: dict[HloInstruction, HloInstruction] = {}
    for i in expression:
        operands = [
            made[o] if o in made else element(body, parameter_of(body), given[o])
            for o in i.operands
        ]
        made[i] = (
            body.add_constant(i.literal)
            if i.opcode.name == "constant"
            else body.add(
                i.opcode, i.shape, operands, i.attributes, called=i.called, metadata=i.metadata
            )
        )
    return made[expression[-1]]


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopFusibleSinking:
    """Compute invariant state that costs little where the body reads it.

    sink_broadcast_of_constant: also write broadcast constants in the first iteration only.
    """

    name: ClassVar[str] = "while-loop-fusible-sinking"
    sink_broadcast_of_constant: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, those of callers first."""
        changed = False
        for computation in reversed(module.post_order_computations()):
            for loop in [i for i in computation.post_order() if i.opcode is WHILE]:
                if context.decide(self.name, (may_sink_into,), (), loop) is not None:
                    continue
                current, sunk = self._sink(loop, context)
                changed |= sunk
                if self.sink_broadcast_of_constant:
                    changed |= self._sink_constants(current, context)
        return changed

    def _sink(self, loop: HloInstruction, context: PassContext) -> tuple[HloInstruction, bool]:
        changed = False
        for k in sorted(passed_on(loop.called[1])):
            body, value = loop.called[1], loop.operands[0].operands[k]
            readers = [r for r in readers_of(body, k) if any(u is not body.root for u in r.users)]
            expression = cheap_expression(value)
            if expression is None or not readers:
                continue
            if any(u.opcode.name in _SLICED for r in readers for u in r.users):
                continue
            inside = set(expression)
            values = [o for i in expression for o in i.operands if o not in inside]
            values = list(dict.fromkeys(values))
            first = len(loop.shape.tuple_shapes)
            given = {o: first + n for n, o in enumerate(values)}
            if values:
                loop = _with_state(loop, values)
                body = loop.called[1]
            made = _copy_into(body, expression, given)
            context.rewrote(self.name, value, made, (made.id,))
            for reader in readers_of(body, k):
                for user in [u for u in reader.users if u is not body.root]:
                    operands = [made if o is reader else o for o in user.operands]
                    body.set_operands(user, operands)
            changed = True
        return loop, changed

    def _sink_constants(self, loop: HloInstruction, context: PassContext) -> bool:
        found = self._overwritten(loop)
        variable = find_induction(loop)
        if not found or isinstance(variable, Reason) or variable.trip_count <= 0:
            return False
        counter = variable.element
        body = loop.called[1]
        if counter < 0 or body.root.operands[counter].opcode.name not in ("add", "subtract"):
            return False
        if len(readers_of(body, counter)) != 1:
            return False
        first = len(loop.shape.tuple_shapes)
        buffers = {}
        for k in found:
            start = loop.operands[0].operands[k]
            buffers[k] = loop.parent.add(
                "custom-call",
                start.shape,
                (),
                attributes_of({"custom_call_target": '"AllocateBuffer"'}),
            )
        old = loop.operands[0]
        constants = {k: old.operands[k] for k in found}
        state = loop.parent.add(
            TUPLE, old.shape, [buffers.get(k, o) for k, o in enumerate(old.operands)]
        )
        loop.parent.set_operands(loop, (state,))
        loop = _with_state(loop, [old.operands[counter]])
        body = loop.called[1]
        number = readers_of(body, counter)[0]
        start = element(body, parameter_of(body), first)
        is_first = body.add(
            "compare", array_shape(PRED, ()), (number, start), attributes_of({"direction": "EQ"})
        )
        for k, constant in constants.items():
            reader = readers_of(body, k)[0]
            users = list(reader.users)
            shape = reader.shape
            value = broadcast_scalar(body, body.add_constant(constant.operands[0].literal), shape)
            choice = broadcast_scalar(body, is_first, shape) if shape.rank else is_first
            chosen = body.add("select", shape, (choice, value, reader))
            for user in users:
                body.set_operands(user, [chosen if o is reader else o for o in user.operands])
            context.rewrote(self.name, constant, chosen, (chosen.id,))
        remove_if_dead(loop.parent, old)
        return True

    def _overwritten(self, loop: HloInstruction) -> list[int]:
        """Return elements that start as a broadcast constant, and that the body overwrites."""
        condition, body = loop.called
        if loop.attributes.get("sharding") is not None or len(loop.operands[0].users) != 1:
            return []
        found = []
        for k, start in enumerate(loop.operands[0].operands):
            if start.opcode.name != "broadcast" or start.operands[0].opcode.name != "constant":
                continue
            value = body.root.operands[k]
            written = value.opcode.elementwise and value.opcode.name != "clamp" and value.operands
            unread = not readers_of(condition, k) and len(readers_of(body, k)) == 1
            if written and unread and start.operands[0].shape.is_scalar:
                found.append(k)
        return found
