"""Dead code elimination, including unused loop state. Source: xla/service/hlo_module_dce.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.loops.while_loop_simplifier import remove_dead_elements
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class HloModuleDCE:
    """Remove dead instructions, and elements of loop states that nothing needs."""

    name: ClassVar[str] = "hlo-module-dce"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit loops first, then instructions that became dead."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                made = remove_dead_elements(loop) if loop.id in computation.instructions else None
                if isinstance(made, HloInstruction):
                    context.rewrote(self.name, loop, made, (made.id,))
                    changed = True
        return DeadCodeElimination().run(module, context) or changed
