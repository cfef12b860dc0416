"""Merging of equal all-gathers. Source: xla/service/all_gather_cse.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.gather_dimensions import same_exchange
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherCse:
    """Gather once what several all-gathers bring, whatever their channels."""

    name: ClassVar[str] = "all-gather-cse"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        changed = False
        for computation in list(module.computations.values()):
            changed |= merge_equal(computation, "all-gather", self.name, context)
        return changed


def merge_equal(computation: HloComputation, opcode: str, name: str, context: PassContext) -> bool:
    """Keep the first of the collectives that exchange the same operands alike."""
    changed, kept = False, list[HloInstruction]()
    for i in [i for i in computation.post_order() if i.opcode.name == opcode]:
        earlier = next(
            (
                k
                for k in kept
                if k.operands == i.operands and k.shape is i.shape and same_exchange(k, i)
            ),
            None,
        )
        if earlier is None or i.control_predecessors:
            kept.append(i)
            continue
        before = computation.module.next_instruction_id
        context.rewrote(name, i, earlier, ())
        substitute(i, earlier, before)
        changed = True
    return changed
