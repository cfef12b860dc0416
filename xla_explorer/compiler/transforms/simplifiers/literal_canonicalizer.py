"""Shared literals of equal large constants. Source: xla/hlo/transforms/literal_canonicalizer.cc."""

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
    """Share the literals of equal constants; the instructions stay separate.

    minimum_size_bytes: the smallest size of a shared literal.
    """

    name: ClassVar[str] = "literal-canonicalizer"
    minimum_size_bytes: int = 1024

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every constant."""
        changed = False
        shared: dict[Any, Literal] = {}
        for i in list(module.instructions()):
            if i.opcode.name == "constant" and i.shape.byte_size >= self.minimum_size_bytes:
                literal = shared.setdefault((i.shape, i.literal.key), i.literal)
                if literal is not i.literal:
                    i.parent.set_payload(i, literal)
                    changed = True
        return changed
