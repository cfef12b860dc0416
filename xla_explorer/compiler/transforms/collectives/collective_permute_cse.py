"""Merging of collective-permutes: of one array, and of an array and its slices.

Source: xla/service/gpu/transforms/collectives/collective_permute_cse.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.all_gather_cse import merge_equal
from xla_explorer.compiler.transforms.collectives.gather_dimensions import same_exchange
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_OPCODE = "collective-permute"


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectivePermuteCse:
    """Send once: a permuted slice is a slice of the array that is permuted, too."""

    name: ClassVar[str] = "collective-permute-cse"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        changed = False
        for computation in list(module.computations.values()):
            changed |= merge_equal(computation, _OPCODE, self.name, context)
            changed |= self._slices(computation, context)
        return changed

    def _slices(self, computation: HloComputation, context: PassContext) -> bool:
        changed = False
        permutes = [i for i in computation.post_order() if i.opcode.name == _OPCODE]
        for small in permutes:
            cut = small.operands[0]
            if len(small.operands) != 1 or cut.opcode.name != "slice":
                continue
            whole = next((p for p in permutes if _sends_whole(p, small, cut)), None)
            if whole is None or small.control_predecessors:
                continue
            before = computation.module.next_instruction_id
            made = computation.add(
                "slice", small.shape, (whole,), cut.attributes, metadata=small.metadata
            )
            context.rewrote(self.name, small, made, (made.id,))
            substitute(small, made, before)
            changed = True
        return changed


def _sends_whole(p: HloInstruction, small: HloInstruction, cut: HloInstruction) -> bool:
    return (
        p is not small
        and p.id in p.parent.instructions
        and len(p.operands) == 1
        and p.operands[0] is cut.operands[0]
        and same_exchange(p, small)
    )
