"""Removal of unused operands of sorts.

Source: xla/hlo/transforms/simplifiers/sort_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first, substitute
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


@register_pass("sort-simplifier")
@dataclasses.dataclass(frozen=True)
class SortSimplifier:
    """Drop sort operands whose result is unused and that the comparator does not read."""

    name: ClassVar[str] = "simplify-sorts"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every sort."""
        changed = False
        for computation in list(module.computations.values()):
            for sort in [
                i for i in computation.post_order() if i.opcode.name == "sort" and i.shape.is_tuple
            ]:
                changed |= self._shrink(sort, context)
        if changed:
            order_callees_first(module)
        return changed

    def _shrink(self, sort: HloInstruction, context: PassContext) -> bool:
        computation = sort.parent
        if sort.is_root or not all(u.opcode.name == "get-tuple-element" for u in sort.users):
            return False
        taken = {int(u.attributes["index"]) for u in sort.users}
        parameters = sort.called[0].parameters()
        compared = {p.parameter_number // 2 for p in parameters if p.users or p.is_root}
        kept = [k for k in range(len(sort.operands)) if k in taken or k in compared]
        if len(kept) == len(sort.operands) or not kept:
            return False
        comparator = sort.called[0].clone()
        for parameter in comparator.parameters():
            number = parameter.parameter_number
            if number // 2 in kept:
                comparator.set_payload(parameter, 2 * kept.index(number // 2) + number % 2)
            else:
                comparator.remove(parameter)
        operands = [sort.operands[k] for k in kept]
        shape = (
            operands[0].shape
            if len(kept) == 1
            else tuple_shape([sort.shape.tuple_shapes[k] for k in kept])
        )
        before = computation.module.next_instruction_id
        made = computation.add(
            "sort",
            shape,
            operands,
            sort.attributes.with_values(sharding=None),
            called=(comparator,),
            name=sort.name,
        )
        for user in list(sort.users):
            place = kept.index(int(user.attributes["index"]))
            part = (
                made
                if len(kept) == 1
                else computation.add(
                    "get-tuple-element",
                    shape.tuple_shapes[place],
                    (made,),
                    attributes_of({"index": place}),
                )
            )
            substitute(user, part, before)
        context.rewrote(self.name, made, made, (made.id,), {"operands": len(kept)})
        return True
