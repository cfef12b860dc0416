"""Reshapes and transposes move below elementwise operations, where they may meet others.

Source: xla/hlo/transforms/simplifiers/reshape_mover.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar
from xla_explorer.compiler.rewriting.patterns import BROADCAST
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.shape import Shape

RESHAPE = opcode("reshape")
TRANSPOSE = opcode("transpose")


def _is_rearrangement(i: HloInstruction) -> bool:
    return i.opcode is RESHAPE or i.opcode is TRANSPOSE


def _is_trivial(i: HloInstruction) -> bool:
    """Rearranging it costs nothing: the broadcast of a scalar."""
    return i.opcode is BROADCAST and i.operands[0].shape.is_scalar


def _equivalent(a: HloInstruction, b: HloInstruction) -> bool:
    return (
        a.opcode is b.opcode
        and a.operands[0].shape.dimensions == b.operands[0].shape.dimensions
        and a.attributes is b.attributes
    )


def _rearrangement(i: HloInstruction) -> HloInstruction | None:
    """The rearrangement that all operands of an elementwise operation share (besides trivial ones), None when there
    is none."""
    if not i.opcode.elementwise or i.called or not i.operands or any(i.shape.dynamic):
        return None
    found: HloInstruction | None = None
    for operand in i.operands:
        if _is_rearrangement(operand):
            if found is None:
                found = operand
            elif not _equivalent(found, operand):
                return None
        elif not _is_trivial(operand):
            return None
    return found


def other_users(operand: HloInstruction, candidates: dict[HloInstruction, HloInstruction]) -> Reason | None:
    """The rearrangement is dead after the move, because every user moves too."""
    for user in operand.users:
        if user not in candidates:
            return refuse(
                "rearrangement-stays", f"%{operand.name} is also read by %{user.name}, so the move would only add work"
            )
    return refuse("rearrangement-stays", f"%{operand.name} is the result") if operand.is_root else None


def move_rearrangements(computation: HloComputation, context: PassContext) -> int:
    """One sweep. Returns the number of operations moved above their rearrangement."""
    candidates: dict[HloInstruction, HloInstruction] = {}
    for i in computation.post_order():
        if i.opcode.elementwise and (found := _rearrangement(i)) is not None:
            candidates[i] = found
    pruned = True
    while pruned and candidates:
        pruned = False
        for i in list(candidates):
            for operand in i.operands:
                if _is_rearrangement(operand) and (reason := other_users(operand, candidates)) is not None:
                    context.refused("move-rearrangement", i, reason)
                    del candidates[i]
                    pruned = True
                    break
    if not candidates:
        return 0
    targets = control_targets(computation)
    moved = 0
    for i, rearrangement in candidates.items():
        if i in targets or i.control_predecessors or not context.may_rewrite("move-rearrangement"):
            continue
        before: Shape = rearrangement.operands[0].shape
        operands = []
        for operand in i.operands:
            if _is_rearrangement(operand):
                operands.append(operand.operands[0])
            else:
                operands.append(
                    broadcast_scalar(
                        computation, operand.operands[0], before.with_element_type(operand.shape.element_type)
                    )
                )
        first = computation.module.next_instruction_id
        inner = computation.add(
            i.opcode, before.with_element_type(i.shape.element_type), operands, i.attributes, metadata=i.metadata
        )
        outer = computation.add(
            rearrangement.opcode, i.shape, (inner,), rearrangement.attributes, metadata=rearrangement.metadata
        )
        computation.replace(i, outer)
        context.rewrote("move-rearrangement", i, outer, range(first, computation.module.next_instruction_id))
        remove_if_dead(computation, i, targets)
        moved += 1
    return moved


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReshapeMover:
    """op(reshape(a), reshape(b)) becomes reshape(op(a, b)), likewise for equal transposes; scalars are broadcast
    anew."""

    name: ClassVar[str] = "reshape-mover"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Move in every computation that is no fusion body, until nothing moves."""
        changed = False
        bodies = module.fusion_computations()
        for computation in list(module.computations.values()):
            if computation in bodies:
                continue
            while move_rearrangements(computation, context):
                changed = True
        return changed
