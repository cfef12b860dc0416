"""Merging of equal computations.

Source: xla/hlo/transforms/simplifiers/hlo_computation_deduplicator.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule


@register_pass("computation-deduplicator")
@dataclasses.dataclass(frozen=True)
class ComputationDeduplicator:
    """Merge equal computations, except large ones and those that call others.

    most_instructions: the size of the largest compared computation.
    """

    name: ClassVar[str] = "computation-deduplicator-pass"
    most_instructions: int = 128

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Merge, callees first."""
        keys = StructuralKeys(layout_sensitive=True)
        first: dict[int, HloComputation] = {}
        instead: dict[HloComputation, HloComputation] = {}
        for computation in module.post_order_computations():
            plain = not any(
                i.called or i.opcode.side_effect for i in computation.instructions.values()
            )
            if (
                computation is not module.entry
                and plain
                and len(computation.instructions) <= self.most_instructions
            ):
                known = first.setdefault(keys.of(computation), computation)
                if known is not computation:
                    instead[computation] = known
        for i in list(module.instructions()):
            if any(c in instead for c in i.called):
                i.parent.set_called(i, tuple([instead.get(c, c) for c in i.called]))
        for computation in instead:
            module.remove_computation(computation)
        return bool(instead)
