"""Loop-invariant code motion. Source: xla/service/while_loop_invariant_code_motion.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, replace_root
from xla_explorer.compiler.transforms.loops.induction import find_induction, runs_at_most_once
from xla_explorer.compiler.transforms.loops.loop_state import (
    WHILE,
    called_elsewhere,
    element,
    initial_parts,
    may_be_reshaped,
    own_computations,
    parameter_of,
    passed_on,
    replace_loop,
)
from xla_explorer.compiler.transforms.loops.while_loop_simplifier import has_no_control_edges
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.opcodes.spec import Trait
from xla_explorer.hlo.shape import Shape, tuple_shape

# Not hoisted by themselves, only together with their users.
_NOT_WORTH_IT = frozenset(
    ["bitcast", "broadcast", "iota", "reverse", "slice", "transpose", "tuple"]
)
_NEVER = frozenset(["after-all", "add-dependency", "opt-barrier", "partition-id", "replica-id"])
# Custom calls that block hoisting from their loop, and one that is never hoisted by itself.
_STOPS = frozenset(
    [
        "SPMDFullToShardShape",
        "SPMDShardShapeToFull",
        "annotate_device_placement",
        "MoveToDevice",
        "MoveToHost",
    ]
)
_SHARDING = "Sharding"
# A scalar may always grow: widening it costs nothing.
_SMALL = 64


@value_formatter(described)
def is_an_array(i: HloInstruction) -> Reason | None:
    """Require arrays, or tuples of arrays, of static size."""
    if any(any(leaf.dynamic) or not leaf.is_array for leaf in _leaves(i.shape)):
        return refuse("not-an-array", f"%{i.name} is {i.shape}")
    return None


@value_formatter(lambda i: f"{described(i)}, computations called {len(i.called)}")
def is_known_to_end(i: HloInstruction) -> Reason | None:
    """Require that every loop inside terminates: the loop around it may never run."""
    found = find_induction(i) if i.opcode is WHILE else None
    if isinstance(found, Reason):
        return refuse(
            "may-not-terminate", f"%{i.name} may not terminate: {found.message}", loop=i.name
        )
    inner = [is_known_to_end(x) for c in i.called for x in c.instructions.values() if x.called]
    return next((reason for reason in inner if reason is not None), None)


def _leaves(shape: Shape) -> list[Shape]:
    return (
        [leaf for part in shape.tuple_shapes for leaf in _leaves(part)]
        if shape.is_tuple
        else [shape]
    )


def _bytes(shape: Shape) -> int:
    return sum([leaf.byte_size for leaf in _leaves(shape) if leaf.is_array])


@dataclasses.dataclass(frozen=True)
class HoistingPolicy:
    """The values worth carrying through a loop.

    constants, reshapes: these too, by themselves. ratio: the largest ratio of a value's bytes to
    its operands' bytes; None for any size. through_cheap: a value that is not carried by itself may
    have any size, and the size of its users is compared with its operands. opcodes: only these;
    None for all but the cheap ones.
    """

    constants: bool = False
    reshapes: bool = False
    ratio: float | None = None
    through_cheap: bool = False
    opcodes: frozenset[str] | None = None

    def is_profitable(self, i: HloInstruction) -> bool:
        """Return True if the value is carried by itself."""
        name = i.opcode.name
        if self.opcodes is not None:
            return name in self.opcodes
        if name == "constant":
            return self.constants
        if name == "reshape":
            return self.reshapes
        return name not in _NOT_WORTH_IT and i.attributes.get("custom_call_target") != _SHARDING

    @value_formatter(lambda policy, i: described(i))
    def is_carried(self, i: HloInstruction) -> Reason | None:
        """Require a value worth its own element of the loop's state."""
        if self.is_profitable(i):
            return None
        return refuse(
            "carried-with-others",
            f"%{i.name} is invariant, but cheap: it is hoisted only together with its users",
        )

    def operand_bytes(self, i: HloInstruction) -> int:
        """Return the bytes of the operands.

        With `through_cheap`, an operand that is not carried by itself counts with its own operands.
        """
        count, seen, stack = 0, set(), list(i.operands)
        while stack:
            operand = stack.pop()
            if operand in seen and self.through_cheap:
                continue
            seen.add(operand)
            if (
                self.through_cheap
                and operand.operands
                and not self.is_profitable(operand)
                and operand.opcode is not GET_TUPLE_ELEMENT
            ):
                stack.extend(operand.operands)
            else:
                count += _bytes(operand.shape)
        return count

    @value_formatter(
        lambda policy, i: (
            f"bytes {_bytes(i.shape):,}, of what it is made of {policy.operand_bytes(i):,}"
        )
    )
    def does_not_grow(self, i: HloInstruction) -> Reason | None:
        """Require a value not much larger than its operands, which the loop holds anyway."""
        if (
            self.ratio is None
            or i.opcode.name == "constant"
            or (self.through_cheap and not self.is_profitable(i))
        ):
            return None
        given, made = self.operand_bytes(i), _bytes(i.shape)
        if made <= max(given * self.ratio, _SMALL):
            return None
        return refuse(
            "value-grows",
            f"%{i.name} has {made} bytes, its operands {given}",
            bytes=made,
            operands=given,
        )


def invariant_instructions(
    loop: HloInstruction, context: PassContext, policy: HoistingPolicy
) -> tuple[list[HloInstruction], list[HloInstruction]]:
    """Return all invariant instructions of the body in order, and those worth carrying."""
    body = loop.called[1]
    unchanged, targets = passed_on(body), control_targets(body)
    legality = (
        (is_an_array, is_known_to_end)
        if isinstance(find_induction(loop), Reason)
        else (is_an_array,)
    )
    invariant: dict[HloInstruction, None] = {}
    wanted = []
    for i in body.post_order():
        name = i.opcode.name
        if i.opcode is PARAMETER or i is body.root or i.control_predecessors or i in targets:
            continue
        if i.opcode is GET_TUPLE_ELEMENT and i.operands[0].opcode is PARAMETER:
            if i.attributes["index"] in unchanged and i.shape.is_array:
                invariant[i] = None
            continue
        if (
            name in _NEVER
            or Trait.NON_DETERMINISTIC in i.opcode.traits
            or i.opcode.asynchronous
            or has_side_effect(i)
        ):
            continue
        if not all(o in invariant for o in i.operands):
            continue
        reason = context.decide(
            "loop-hoisting", legality, (policy.is_carried, policy.does_not_grow), i
        )
        if reason is None:
            invariant[i] = None
            wanted.append(i)
        elif reason.code == "carried-with-others" and policy.does_not_grow(i) is None:
            invariant[i] = None
    return list(invariant), wanted


def may_be_hoisted_from(loop: HloInstruction) -> Reason | None:
    """Require a body and frontend attributes that allow hoisting."""
    if "_xla_disable_loop_instr_hoisting" in (loop.attributes.get("frontend_attributes") or ""):
        return refuse("frontend-forbids", f"%{loop.name} forbids hoisting by a frontend attribute")
    for i in loop.called[1].instructions.values():
        if i.opcode.name == "domain" or i.attributes.get("custom_call_target") in _STOPS:
            return refuse(
                "not-movable", f"%{i.name} in the body forbids hoisting", instruction=i.name
            )
    return None


def hoist(
    loop: HloInstruction, context: PassContext, policy: HoistingPolicy
) -> HloInstruction | None:
    """Compute invariant values before the loop and carry them through it.

    Returns the new loop, or None if nothing moved.
    """
    for check in (may_be_reshaped, has_no_control_edges, may_be_hoisted_from):
        if (reason := check(loop)) is not None:
            context.refused("loop-hoisting", loop, reason)
            return None
    if runs_at_most_once(loop):
        return None
    if not passed_on(loop.called[1]) and not policy.constants:
        return None
    _, wanted = invariant_instructions(loop, context, policy)
    if not wanted:
        return None
    if called_elsewhere(loop):
        own_computations(loop)
        _, wanted = invariant_instructions(loop, context, policy)
    body, computation, parts = loop.called[1], loop.parent, initial_parts(loop)
    carried = _copied_before(loop, wanted, parts)
    count = len(parts)
    shape = tuple_shape([*loop.shape.tuple_shapes, *[i.shape for i in wanted]])
    for called in loop.called:
        called.set_shape(parameter_of(called), shape)
    parameter, old_root = parameter_of(body), body.root
    read = [element(body, parameter, count + k) for k in range(len(wanted))]
    for i, reader in zip(wanted, read, strict=True):
        body.replace(i, reader)
    replace_root(body, body.add(TUPLE, shape, [*old_root.operands, *read], name=old_root.name))
    remove_dead_instructions(body)
    return replace_loop(
        loop, [*parts, *carried], lambda made, k: element(computation, made, k), same_numbers=True
    )


def _copied_before(
    loop: HloInstruction, wanted: list[HloInstruction], parts: list[HloInstruction]
) -> list[HloInstruction]:
    """Copy invariant instructions and their operands before the loop and return the copies.

    parts: initial values of the state.
    """
    copies: dict[HloInstruction, HloInstruction] = {}
    stack = list(reversed(wanted))
    while stack:
        current = stack[-1]
        read = current.opcode is GET_TUPLE_ELEMENT and current.operands[0].opcode is PARAMETER
        missing = [] if read else [o for o in current.operands if o not in copies]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if current in copies:
            continue
        if read:
            copies[current] = parts[int(current.attributes["index"])]
        else:
            copies[current] = loop.parent.add(
                current.opcode,
                current.shape,
                [copies[o] for o in current.operands],
                current.attributes,
                called=current.called,
                payload=current.payload,
                name=current.name,
                metadata=current.metadata,
            )
    return [copies[i] for i in wanted]


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopInvariantCodeMotion:
    """Move loop-invariant instructions out of `while` bodies.

    hoist_constants, hoist_reshapes: hoist these by themselves, too. hoist_size_inflation_ratio: the
    largest ratio of a value's bytes to its operands' bytes (up to 64 bytes always); None for any
    size. look_through_cheap: broadcasts and similar values, which are never carried by themselves,
    may have any size, and their users are compared with their operands.
    """

    name: ClassVar[str] = "while-loop-invariant-code-motion"
    kinds: ClassVar[tuple[str, ...]] = ("loop-hoisting",)
    hoist_constants: bool = False
    hoist_reshapes: bool = False
    hoist_size_inflation_ratio: float | None = None
    look_through_cheap: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Hoist out of every loop, inner ones first, so that a value may leave several loops."""
        changed = False
        policy = HoistingPolicy(
            self.hoist_constants,
            self.hoist_reshapes,
            self.hoist_size_inflation_ratio,
            self.look_through_cheap,
        )
        for computation in module.post_order_computations():
            for loop in [i for i in computation.instructions.values() if i.opcode is WHILE]:
                made = hoist(loop, context, policy)
                if made is not None:
                    context.rewrote(
                        "loop-hoisting",
                        loop,
                        made,
                        (made.id,),
                        {"values": len(made.shape.tuple_shapes) - len(loop.shape.tuple_shapes)},
                    )
                    changed = True
        if changed:
            order = module.post_order_computations()
            rest = [c for c in module.computations.values() if c not in set(order)]
            module.computations = {c.name: c for c in [*rest, *order]}
        return changed
