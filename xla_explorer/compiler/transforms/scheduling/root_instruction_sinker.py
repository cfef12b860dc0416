"""Roots at the end of the schedule of loop bodies.

Source: xla/service/root_instruction_sinker.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
a tuple root                                 moved to the end if it is not there
another root of a tuple shape                a tuple of its elements becomes the root
a root that is no tuple                      a copy becomes the root
bodies of while loops of a scheduled module  the same; other computations unchanged
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.loops.loop_state import element
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class RootInstructionSinker:
    """Let the root be the last step of each loop body."""

    name: ClassVar[str] = "root-instruction-sinker"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit the bodies of all loops."""
        changed = False
        bodies = [i.called[1] for i in module.instructions() if i.opcode.name == "while"]
        for body in dict.fromkeys(bodies):
            schedule = body.schedule
            if schedule is None or schedule[-1] is body.root:
                continue
            if context.decide(self.name, (), (), body.root) is None:
                context.rewrote(self.name, body.root, body.root)
                _sink(body)
                changed = True
        return changed


def _sink(body: HloComputation) -> None:
    """Make the root the last step, by a new root if others read it."""
    root, schedule = body.root, list(body.schedule or ())
    if not root.users:
        body.set_schedule([*[i for i in schedule if i is not root], root])
        return
    if not root.shape.is_tuple:
        made = body.add("copy", root.shape, (root,))
        body.set_root(made)
        body.set_schedule([*schedule, made])
        return
    parts = (
        list(root.operands)
        if root.opcode.name == "tuple"
        else [element(body, root, k) for k in range(len(root.shape.tuple_shapes))]
    )
    made = body.add("tuple", root.shape, parts)
    body.set_root(made)
    new = [p for p in parts if p not in schedule]
    body.set_schedule([*schedule, *new, made])
