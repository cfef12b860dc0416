"""A constant for each of its readers.

Shardings are then propagated from one reader to its constant only. Source:
xla/hlo/transforms/hlo_constant_splitter.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
constants and iotas with several readers       a copy for each reader but the first
split_expressions: broadcasts, and elementwise copied with what they read, if they depend on
operations on constants without side effect    constants alone
`mpmd` regions and manual shardings            hole: every reader gets its copy
one reader                                     unchanged
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CONSTANT = frozenset(["constant", "iota"])


def constant_expressions(
    computation: HloComputation, *, split_expressions: bool
) -> set[HloInstruction]:
    """Return the instructions that depend on constants alone."""
    found: set[HloInstruction] = set()
    for i in computation.post_order():
        name = i.opcode.name
        if name in _CONSTANT:
            found.add(i)
        elif split_expressions and i.operands and not i.opcode.side_effect:
            derived = i.opcode.elementwise or name == "broadcast"
            if derived and all(o in found for o in i.operands):
                found.add(i)
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class HloConstantSplitter:
    """Copy constants so that each has one reader.

    split_expressions: copy expressions of constants too.
    """

    name: ClassVar[str] = "hlo-constant-splitter"
    split_expressions: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit readers in every computation."""
        changed = False
        for computation in list(module.computations.values()):
            found = constant_expressions(computation, split_expressions=self.split_expressions)
            shared = {i for i in found if len(i.users) > 1}
            taken: set[HloInstruction] = set()
            made = 0
            for user in list(computation.post_order()):
                if user in found:
                    continue
                for number, operand in enumerate(user.operands):
                    if operand not in found or not _shares(operand, shared):
                        continue
                    if operand not in taken:
                        taken |= _below(operand)
                        continue
                    copy = _copy(operand, {})
                    context.rewrote(self.name, operand, copy, (copy.id,))
                    computation.replace_operand(user, number, copy)
                    made += 1
            if made:
                remove_dead_instructions(computation)
            changed |= made > 0
        return changed


def _below(i: HloInstruction) -> set[HloInstruction]:
    found = {i}
    for operand in i.operands:
        found |= _below(operand)
    return found


def _shares(i: HloInstruction, shared: set[HloInstruction]) -> bool:
    return bool(_below(i) & shared)


def _copy(i: HloInstruction, made: dict[HloInstruction, HloInstruction]) -> HloInstruction:
    if i not in made:
        operands = [_copy(o, made) for o in i.operands]
        made[i] = i.parent.add(
            i.opcode, i.shape, operands, i.attributes, payload=i.payload, metadata=i.metadata
        )
    return made[i]
