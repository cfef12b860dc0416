"""Equal large constants share one literal. Source: xla/hlo/transforms/literal_canonicalizer.cc."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class LiteralCanonicalizer:
    """Constants stay apart, but what they hold is held once.

    minimum_size_bytes: of a literal that is looked at.
    """

    name: ClassVar[str] = "literal-canonicalizer"
    minimum_size_bytes: int = 1024

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Every constant."""
        changed = False
        shared: dict[Any, Literal] = {}
        for i in list(module.instructions()):
            if i.opcode.name == "constant" and i.shape.byte_size >= self.minimum_size_bytes:
                literal = shared.setdefault((i.shape, i.literal.key), i.literal)
                if literal is not i.literal:
                    i.parent.set_payload(i, literal)
                    changed = True
        return changed
