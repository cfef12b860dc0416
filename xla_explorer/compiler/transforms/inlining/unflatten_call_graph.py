"""Merging of equal callees. Source: xla/hlo/transforms/simplifiers/unflatten_call_graph.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class UnflattenCallGraph:
    """Merge equal computations of calls: the inverse of flatten-call-graph for `call`."""

    name: ClassVar[str] = "unflatten-call-graph"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Merge, callees first, so that callers of merged computations become equal too."""
        changed = False
        first: dict[int, HloComputation] = {}
        for computation in module.post_order_computations():
            for i in [i for i in computation.post_order() if i.opcode.name == "call"]:
                called = i.called[0]
                known = self._known(first, called)
                if known is not called:
                    computation.set_called(i, (known,))
                    changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed

    @staticmethod
    def _known(first: dict[int, HloComputation], called: HloComputation) -> HloComputation:
        keys = StructuralKeys(layout_sensitive=True)
        found = next((c for c in first.values() if keys.of(c) == keys.of(called)), called)
        first.setdefault(found.id, found)
        return found
