"""Sums of collective sums become the collective sum of a sum.

Source: xla/service/all_reduce_reassociate.cc and reduce_scatter_reassociate.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_KINDS = {"add": "add", "multiply": "multiply", "minimum": "minimum", "maximum": "maximum", "and": "and", "or": "or"}


def reduction_kind(i: HloInstruction) -> str | None:
    """The opcode that the collective's reducer applies to its two parameters, None for others."""
    root = i.called[0].root if i.called else i
    plain = len(root.operands) == 2 and {o.opcode.name for o in root.operands} == {"parameter"} and root.operands[0] is not root.operands[1]
    return _KINDS.get(root.opcode.name) if plain else None


class CollectiveReassociation:
    """opcode: of the collective."""

    name: ClassVar[str]
    opcode: ClassVar[str]

    def run(self, module: HloModule, context: PassContext) -> bool:
        """op(collective(x), collective(y)) wherever op is what the collective computes."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if i.opcode.name in _KINDS and len(i.operands) == 2 and i.id in computation.instructions:
                    changed |= self._reassociate(i, context)
        return changed

    def _reassociate(self, i: HloInstruction, context: PassContext) -> bool:
        a, b = i.operands
        if a is b or any(x.opcode.name != self.opcode or len(x.operands) != 1 or len(x.users) != 1 or x.is_root for x in (a, b)):
            return False
        if any(reduction_kind(x) != i.opcode.name or x.control_predecessors for x in (a, b)):
            return False
        same = a.operands[0].shape is b.operands[0].shape
        ours, theirs = [x.attributes.with_values(channel_id=None, sharding=None, frontend_attributes=None) for x in (a, b)]
        channels = ["channel_id" in x.attributes for x in (a, b)]
        if not same or ours is not theirs or channels[0] != channels[1]:
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        inner = computation.add(i.opcode, a.operands[0].shape, (a.operands[0], b.operands[0]), name=i.name)
        made = computation.add(a.opcode, a.shape, (inner,), a.attributes, called=a.called, name=a.name)
        context.rewrote(self.name, i, made, (inner.id, made.id))
        substitute(i, made, before)
        return True


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceReassociate(CollectiveReassociation):
    """add(all-reduce(x), all-reduce(y)) becomes all-reduce(add(x, y))."""

    name: ClassVar[str] = "all-reduce-reassociate"
    opcode: ClassVar[str] = "all-reduce"


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceScatterReassociate(CollectiveReassociation):
    """add(reduce-scatter(x), reduce-scatter(y)) becomes reduce-scatter(add(x, y))."""

    name: ClassVar[str] = "reduce-scatter-reassociate"
    opcode: ClassVar[str] = "reduce-scatter"
