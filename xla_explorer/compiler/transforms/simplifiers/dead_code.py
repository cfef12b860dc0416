"""Dead code elimination. Source: xla/hlo/transforms/simplifiers/hlo_dce.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import FUSION, GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.shape import tuple_shape

REMOVE = "remove-dead"


def remove_dead_instructions(
    computation: HloComputation, context: PassContext | None = None
) -> int:
    """Remove instructions without effect that the root does not reach; return their number."""
    root = computation.root
    dead = [
        i
        for i in computation.instructions.values()
        if not i.users and i is not root and i.opcode is not PARAMETER
    ]
    if not dead:
        return 0
    targets = control_targets(computation)
    removed = 0
    for i in dead:
        if i.id in computation.instructions and (context is None or context.may_rewrite(REMOVE)):
            gone = remove_if_dead(computation, i, targets)
            if gone and context is not None:
                context.rewrote(REMOVE, i, None, facts={"instructions": gone})
            removed += gone
    return removed


def remove_dead_fusion_parameters(computation: HloComputation) -> int:
    """Drop operands of fusions that their bodies do not read; return their number."""
    dropped = 0
    for fusion in list(computation.instructions.values()):
        if fusion.opcode is not FUSION or fusion.control_predecessors:
            continue
        body = fusion.called[0]
        parameters = body.parameters()
        kept = [p for p in parameters if p.users or p is body.root]
        if len(kept) == len(parameters) or "output_to_operand_aliasing" in fusion.attributes:
            continue
        operands = [fusion.operands[int(p.payload)] for p in kept]
        for parameter in parameters:
            if parameter not in kept:
                body.remove(parameter)
        for number, parameter in enumerate(kept):
            if parameter.payload != number:
                body.set_payload(parameter, number)
        computation.set_operands(fusion, operands)
        dropped += len(parameters) - len(kept)
    return dropped


def remove_dead_fusion_results(computation: HloComputation) -> int:
    """Drop unused results of multi-output fusions; return their number."""
    dropped = 0
    for fusion in list(computation.instructions.values()):
        if (
            fusion.opcode is not FUSION
            or not fusion.shape.is_tuple
            or fusion is computation.root
            or fusion.control_predecessors
        ):
            continue
        body = fusion.called[0]
        if (
            body.root.opcode is not TUPLE
            or not all(u.opcode is GET_TUPLE_ELEMENT for u in fusion.users)
            or not fusion.users
        ):
            continue
        used = sorted({int(u.attributes["index"]) for u in fusion.users})
        old_root = body.root
        if (
            len(used) == len(old_root.operands)
            or "output_to_operand_aliasing" in fusion.attributes
            or fusion in control_targets(computation)
        ):
            continue
        dropped += len(old_root.operands) - len(used)
        if len(used) == 1:
            body.set_root(old_root.operands[used[0]])
            shape = body.root.shape
        else:
            shape = tuple_shape([old_root.operands[k].shape for k in used])
            body.set_root(body.add(TUPLE, shape, [old_root.operands[k] for k in used]))
        body.remove(old_root)
        remove_dead_instructions(body)
        computation.set_shape(fusion, shape)
        for user in list(fusion.users):
            if len(used) == 1:
                computation.replace(user, fusion)
                computation.remove(user)
            else:
                computation.set_attributes(
                    user,
                    user.attributes.with_values(index=used.index(int(user.attributes["index"]))),
                )
    return dropped


def remove_unreachable_computations(module: HloModule) -> int:
    """Remove computations that the entry does not reach through calls; return their number."""
    live = set(module.post_order_computations())
    gone = [c for c in module.computations.values() if c not in live]
    for computation in gone:
        module.remove_computation(computation)
    return len(gone)


@register_pass()
@dataclasses.dataclass(frozen=True)
class DeadCodeElimination:
    """Remove dead instructions, unread operands of fusions, and unreachable computations."""

    name: ClassVar[str] = "dce"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Remove dead code, callers first, so that code used only by a dead call is removed too."""
        removed = 0
        for computation in reversed(list(module.computations.values())):
            removed += remove_dead_instructions(computation, context)
        for computation in reversed(list(module.computations.values())):
            if any(i.opcode is FUSION for i in computation.instructions.values()):
                dropped = remove_dead_fusion_results(computation) + remove_dead_fusion_parameters(
                    computation
                )
                removed += dropped + (remove_dead_instructions(computation) if dropped else 0)
        return removed + remove_unreachable_computations(module) > 0
