"""Stable sorts by comparing the places of equal keys.

Source: xla/hlo/transforms/expanders/stable_sort_expander.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.expanders.applying import apply_inline
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@register_pass()
@dataclasses.dataclass(frozen=True)
class StableSortExpander(OpExpanderPass):
    """Make a sort stable by an additional iota operand that breaks ties.

    An existing iota operand is used.
    """

    name: ClassVar[str] = "stable-sort-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["sort"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for stable sorts."""
        return bool(i.attributes.value("is_stable"))

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a sort with one more operand, and a tuple of the others."""
        operands = values_of(b, i)
        [along] = i.attributes["dimensions"]
        place = next(
            (
                k
                for k, o in enumerate(i.operands)
                if o.opcode.name == "iota" and o.attributes["iota_dimension"] == along
            ),
            None,
        )
        if place is None:
            place = len(operands)
            operands.append(b.iota(operands[0].shape.base.with_element_type(S32), along))
        compare = b.nested(f"{i.called[0].name}.clone")
        pairs = [(compare.parameter(x.dtype), compare.parameter(x.dtype)) for x in operands]
        flat = [x for pair in pairs[: len(i.operands)] for x in pair]
        first = apply_inline(compare, i.called[0], *flat)
        second = apply_inline(
            compare, i.called[0], *[x for pair in pairs[: len(i.operands)] for x in reversed(pair)]
        )
        compare.computation.set_root(
            compare.select(first == second, pairs[place][0] < pairs[place][1], first).instruction
        )
        made = b.sort(*operands, dimensions=[along], to_apply=compare.computation)
        if place < len(i.operands):
            return made
        parts = [made[k] for k in range(len(i.operands))]
        return b.tuple(*parts) if len(parts) > 1 else parts[0]
