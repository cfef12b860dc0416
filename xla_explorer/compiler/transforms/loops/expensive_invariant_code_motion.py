"""Hoisting of expensive loop-invariant instructions, at the cost of memory.

Source: xla/service/while_loop_expensive_invariant_code_motion.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.compiler.transforms.loops.invariant_code_motion import HoistingPolicy, hoist
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopExpensiveInvariantCodeMotion:
    """Move expensive loop-invariant instructions out of loops, whatever the size of their results.

    Dots, convolutions, reductions and the like are expensive. opcodes: the selected ones.
    """

    name: ClassVar[str] = "while-loop-expensive-invariant-code-motion"
    opcodes: tuple[str, ...] = (
        "dot",
        "convolution",
        "reduce",
        "reduce-window",
        "sort",
        "fft",
        "cholesky",
        "triangular-solve",
        "gather",
    )

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, inner ones first."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                made = hoist(loop, context, HoistingPolicy(opcodes=frozenset(self.opcodes)))
                if made is not None:
                    context.rewrote(self.name, loop, made, (made.id,))
                    changed = True
        if changed:
            order_callees_first(module)
        return changed
