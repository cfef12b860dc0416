"""The pass `slice-hoister`: only the sliced part of an elementwise result is computed.

Source: xla/hlo/transforms/simplifiers/slice_hoister.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.foundation.measured import listed
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@value_formatter(
    lambda cut, whole: f"readers of %{whole.name}: {listed([u.name for u in whole.users])}"
)
def only_the_slice_reads(cut: HloInstruction, whole: HloInstruction) -> Reason | None:
    """Require no other reader of the whole, whose parts would be computed twice."""
    if len(whole.users) > 1 or whole.is_root:
        return refuse(
            "read-elsewhere",
            f"%{whole.name} is not read by %{cut.name} alone",
            users=len(whole.users),
        )
    return None


@value_formatter(lambda cut, whole: f"{described(cut)}, {described(whole)}")
def is_static(cut: HloInstruction, whole: HloInstruction) -> Reason | None:
    """Require static sizes, so that the same part of each operand is needed."""
    dynamic = next((o for o in (cut, whole, *whole.operands) if any(o.shape.dynamic)), None)
    return (
        None if dynamic is None else refuse("dynamic-shape", f"%{dynamic.name} is {dynamic.shape}")
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class SliceHoister:
    """Rewrite slice(x + y) as slice(x) + slice(y), for binary operations and transposes.

    The operation must have no other reader.
    """

    name: ClassVar[str] = "slice-hoister"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that is not a fusion body."""
        bodies = module.fusion_computations()
        changed = False
        for computation in module.computations.values():
            if computation in bodies:
                continue
            cuts = [i for i in computation.post_order() if i.opcode.name == "slice"]
            while cuts:
                parts = self._hoist(cuts.pop(), context)
                changed |= bool(parts)
                cuts += parts
        return changed

    def _hoist(self, cut: HloInstruction, context: PassContext) -> list[HloInstruction]:
        """Return the slices that replace one further up; none if it stays."""
        whole, computation = cut.operands[0], cut.parent
        turned = whole.opcode.name == "transpose"
        if not turned and (not whole.opcode.elementwise or len(whole.operands) != 2):
            return []
        if context.decide(self.name, (is_static,), (only_the_slice_reads,), cut, whole) is not None:
            return []
        before = computation.module.next_instruction_id
        attributes, sizes = cut.attributes, cut.shape.dimensions
        if turned:
            back = [whole.attributes["dimensions"].index(d) for d in range(cut.shape.rank)]
            rows = cut.attributes["slice"]
            attributes = attributes.with_values(slice=tuple([rows[d] for d in back]), sharding=None)
            sizes = tuple([sizes[d] for d in back])
        parts = [
            computation.add(
                "slice", o.shape.with_dimensions(sizes), (o,), attributes, metadata=cut.metadata
            )
            for o in dict.fromkeys(whole.operands)
        ]
        by_operand = dict(zip(dict.fromkeys(whole.operands), parts, strict=True))
        operands = [by_operand[o] for o in whole.operands]
        made = computation.add(
            whole.opcode,
            cut.shape,
            operands,
            whole.attributes,
            called=whole.called,
            metadata=whole.metadata,
        )
        context.rewrote(
            self.name, cut, made, tuple(range(before, computation.module.next_instruction_id))
        )
        substitute(cut, made, before)
        return parts
