"""Reshapes and transposes moved below elementwise operations, next to others.

Source: xla/hlo/transforms/simplifiers/reshape_mover.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import reshape, transpose
from xla_explorer.compiler.rewriting.patterns import BROADCAST
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.reshaping import (
    unmodified_dimensions,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, OpcodeSpec, opcode

RESHAPE = opcode("reshape")
TRANSPOSE = opcode("transpose")
COPY = opcode("copy")


def _is_rearrangement(i: HloInstruction) -> bool:
    return i.opcode is RESHAPE or i.opcode is TRANSPOSE


def _is_elementwise(row: OpcodeSpec) -> bool:
    return row.elementwise or row is COPY


def _equivalent(a: HloInstruction, b: HloInstruction) -> bool:
    return (
        a.opcode is b.opcode
        and a.operands[0].shape.dimensions == b.operands[0].shape.dimensions
        and a.shape.dimensions == b.shape.dimensions
        and (
            a.opcode is RESHAPE
            or a.attributes.value("dimensions") == b.attributes.value("dimensions")
        )
    )


def rearranges_trivially(
    i: HloInstruction, rearrangement: HloInstruction, *, vectors_are_cheap: bool
) -> bool:
    """Return True if algsimp and constant folding remove the cost of rearranging `i` back.

    True for constants and for broadcasts that stay broadcasts; vectors_are_cheap: those of vectors
    under a reshape too.
    """
    source = rearrangement.operands[0].shape
    if rearrangement.opcode is RESHAPE:
        if rearrangement.shape.dimensions == source.dimensions:
            return True
    elif list(rearrangement.attributes.value("dimensions")) == list(range(source.rank)):
        return True
    if i.opcode is CONSTANT:
        return True
    if i.opcode is not BROADCAST:
        return False
    mapped = i.attributes.value("dimensions")
    if list(mapped) != sorted(mapped):
        return False
    if rearrangement.opcode is TRANSPOSE:
        permutation = rearrangement.attributes.value("dimensions")
        moved = [permutation[d] for d in mapped]
        return moved == sorted(moved)
    narrow = i.operands[0].shape
    if narrow.is_scalar:
        return True
    return vectors_are_cheap and (
        sum([size != 1 for size in narrow.dimensions]) <= 1
        or set(mapped)
        <= set(unmodified_dimensions(rearrangement.shape.dimensions, source.dimensions).keys())
    )


def shared_rearrangement(
    i: HloInstruction, *, vectors_are_cheap: bool = False
) -> HloInstruction | None:
    """Return the rearrangement that all nontrivial operands of an operation share, or None."""
    if not _is_elementwise(i.opcode) or i.called or any(i.shape.dynamic):
        return None
    found: HloInstruction | None = None
    for operand in i.operands:
        if _is_rearrangement(operand) and not rearranges_trivially(
            operand.operands[0], operand, vectors_are_cheap=vectors_are_cheap
        ):
            found = operand
            break
    if found is None:
        return None
    for operand in i.operands:
        if operand.shape.dimensions != i.shape.dimensions or not (
            (_is_rearrangement(operand) and _equivalent(operand, found))
            or rearranges_trivially(operand, found, vectors_are_cheap=vectors_are_cheap)
        ):
            return None
    return found


def other_users(
    operand: HloInstruction, candidates: dict[HloInstruction, HloInstruction]
) -> Reason | None:
    """Require that every user moves too, so that the rearrangement is dead afterwards."""
    for user in operand.users:
        if user not in candidates:
            return refuse(
                "rearrangement-stays",
                f"%{operand.name} is also read by %{user.name}, so the move would only add work",
            )
    return (
        refuse("rearrangement-stays", f"%{operand.name} is the result") if operand.is_root else None
    )


def rearranged_back(
    computation: HloComputation, operand: HloInstruction, rearrangement: HloInstruction
) -> HloInstruction:
    """Return the operand before the rearrangement; algsimp cancels two transposes."""
    before = rearrangement.operands[0].shape.with_element_type(operand.shape.element_type)
    if rearrangement.opcode is RESHAPE:
        return (
            operand.operands[0]
            if operand.opcode is RESHAPE
            else reshape(computation, operand, before)
        )
    permutation = rearrangement.attributes.value("dimensions")
    return transpose(
        computation, operand, tuple([permutation.index(d) for d in range(len(permutation))]), before
    )


def move_rearrangements(
    computation: HloComputation, context: PassContext, *, vectors_are_cheap: bool = False
) -> int:
    """Run one sweep; return the number of operations moved above their rearrangement."""
    candidates: dict[HloInstruction, HloInstruction] = {}
    for i in computation.post_order():
        if (
            _is_elementwise(i.opcode)
            and (found := shared_rearrangement(i, vectors_are_cheap=vectors_are_cheap)) is not None
        ):
            candidates[i] = found
    pruned = True
    while pruned and candidates:
        pruned = False
        for i in list(candidates):
            for operand in i.operands:
                if (
                    _is_rearrangement(operand)
                    and (reason := other_users(operand, candidates)) is not None
                ):
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
        first = computation.module.next_instruction_id
        operands = [rearranged_back(computation, operand, rearrangement) for operand in i.operands]
        before = rearrangement.operands[0].shape.with_element_type(i.shape.element_type)
        # The sharding refers to the dimensions after the rearrangement.
        sharding = i.attributes.get("sharding")
        attributes = i.attributes if sharding is None else i.attributes.with_values(sharding=None)
        inner = computation.add(i.opcode, before, operands, attributes, metadata=i.metadata)
        attributes = rearrangement.attributes.with_values(sharding=sharding)
        outer = computation.add(
            rearrangement.opcode, i.shape, (inner,), attributes, metadata=i.metadata
        )
        computation.replace(i, outer)
        context.rewrote(
            "move-rearrangement", i, outer, range(first, computation.module.next_instruction_id)
        )
        remove_if_dead(computation, i, targets)
        moved += 1
    return moved


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReshapeMover:
    """Rewrite op(reshape(a), reshape(b)) as reshape(op(a, b)), likewise for equal transposes.

    Other operands are rearranged if this is cheap. One sweep, as in XLA: the pipeline repeats it,
    with the algebraic simplifier between. reshape_of_1d_broadcast_is_cheap: broadcasts of vectors
    count as cheap under a reshape.
    """

    name: ClassVar[str] = "reshape-mover"
    reshape_of_1d_broadcast_is_cheap: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Move in every computation that is not a fusion body."""
        bodies = module.fusion_computations()
        return (
            sum(
                [
                    move_rearrangements(
                        c, context, vectors_are_cheap=self.reshape_of_1d_broadcast_is_cheap
                    )
                    for c in list(module.computations.values())
                    if c not in bodies
                ]
            )
            > 0
        )
