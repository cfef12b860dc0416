"""Tuples as operands and results of conditionals.

Source: xla/service/conditional_canonicalizer.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first, substitute
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


def _wrap_branch(branch: HloComputation, *, parameter: bool, result: bool) -> HloComputation:
    copy = branch.clone()
    [given] = copy.parameters()
    if parameter and not given.shape.is_tuple:
        users, shape = list(given.users), given.shape
        copy.set_shape(given, tuple_shape([shape]))
        inner = copy.add("get-tuple-element", shape, (given,), attributes_of({"index": 0}))
        for user in users:
            copy.set_operands(user, [inner if o is given else o for o in user.operands])
        if given.is_root:
            copy.set_root(inner)
    if result:
        copy.set_root(copy.add("tuple", tuple_shape([copy.root.shape]), (copy.root,)))
    return copy


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConditionalCanonicalizer:
    """Wrap the operands and the result of a conditional in tuples."""

    name: ClassVar[str] = "conditional-canonicalizer"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every conditional."""
        changed = False
        for computation in module.post_order_computations():
            for i in [i for i in computation.post_order() if i.opcode.name == "conditional"]:
                result = not i.shape.is_tuple
                wrapped = [not o.shape.is_tuple for o in i.operands[1:]]
                if not result and not any(wrapped):
                    continue
                before = module.next_instruction_id
                operands = [
                    computation.add("tuple", tuple_shape([o.shape]), (o,)) if wrap else o
                    for o, wrap in zip(i.operands[1:], wrapped, strict=True)
                ]
                branches = [
                    _wrap_branch(c, parameter=wrap, result=result)
                    for c, wrap in zip(i.called, wrapped, strict=True)
                ]
                shape = tuple_shape([i.shape]) if result else i.shape
                made = computation.add(
                    "conditional",
                    shape,
                    (i.operands[0], *operands),
                    i.attributes.with_values(sharding=None),
                    called=tuple(branches),
                    name=i.name,
                )
                new = (
                    computation.add(
                        "get-tuple-element", i.shape, (made,), attributes_of({"index": 0})
                    )
                    if result
                    else made
                )
                context.rewrote(self.name, i, made, (made.id,))
                substitute(i, new, before)
                changed = True
        if changed:
            DeadCodeElimination().run(module, context)
            order_callees_first(module)
        return changed
