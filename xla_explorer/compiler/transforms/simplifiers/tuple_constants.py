"""Replace each constant of tuple shape by a tuple of array constants.

Other passes and code generation support only array constants.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, TUPLE


def _as_instructions(computation: HloComputation, literal: Literal) -> HloInstruction:
    if not literal.shape.is_tuple:
        return computation.add_constant(literal)
    return computation.add(
        TUPLE, literal.shape, [_as_instructions(computation, part) for part in literal.parts]
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class TupleConstants:
    """Rewrite constant((1, {2, 3})) as tuple(constant(1), constant({2, 3}))."""

    name: ClassVar[str] = "tuple-constants"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        found = [i for i in module.instructions() if i.opcode is CONSTANT and i.shape.is_tuple]
        for i in found:
            first = module.next_instruction_id
            made = _as_instructions(i.parent, i.literal)
            context.rewrote(self.name, i, made, (made.id,))
            substitute(i, made, first)
        return bool(found)
