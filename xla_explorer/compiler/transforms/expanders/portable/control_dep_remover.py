"""Dropping of control edges. Source: xla/service/despecializer.cc, ControlDepRemover."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class ControlDepRemover:
    """Drop control dependencies."""

    name: ClassVar[str] = "control-dep-remover"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Drop the control predecessors of every instruction."""
        changed = False
        for computation in module.computations.values():
            for i in computation.instructions.values():
                if i.control_predecessors:
                    computation.set_control_predecessors(i, ())
                    context.rewrote(self.name, i, i)
                    changed = True
        return changed
