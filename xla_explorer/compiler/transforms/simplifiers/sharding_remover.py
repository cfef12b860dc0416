"""Removal of sharding markers for a single device. Source: xla/service/sharding_remover.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.simplifiers.algebraic.collectives import only_marks_sharding
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ShardingRemover(OpExpanderPass):
    """Replace custom-call "Sharding" and similar ones by their operand."""

    name: ClassVar[str] = "sharding-remover"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for sharding markers that keep the shape."""
        return only_marks_sharding(i)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operand."""
        return values_of(b, i)[0]
