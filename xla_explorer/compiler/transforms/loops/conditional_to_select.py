"""Selects for conditionals in mapped and reducing functions.

Source: xla/service/conditional_to_select.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.loops.conditional_simplifier import (
    has_no_control_edges,
    replace_by_select,
    two_branches,
    without_side_effects,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConditionalToSelect:
    """Replace conditionals by selects in computations applied inside kernels.

    Such computations cannot have control flow.
    """

    name: ClassVar[str] = "conditional-to-select"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every conditional in computations applied inside kernels."""
        sequential = set(sequential_computations(module))
        changed = False
        for computation in module.post_order_computations():
            if computation in sequential:
                continue
            for i in [i for i in computation.post_order() if i.opcode.name == "conditional"]:
                if (
                    context.decide(
                        self.name, (has_no_control_edges, two_branches, without_side_effects), (), i
                    )
                    is None
                ):
                    replace_by_select(i)
                    changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed
