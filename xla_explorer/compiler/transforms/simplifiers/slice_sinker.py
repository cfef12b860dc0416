"""Slices of an operation for operations on matching slices. Source: xla/service/slice_sinker.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def _sliced(i: HloInstruction) -> bool:
    return bool(i.operands) and all(o.opcode.name == "slice" for o in i.operands)


@register_pass()
@dataclasses.dataclass(frozen=True)
class SliceSinker:
    """Merge op(slice(x), slice(y)) on several slices of x and y into slices of op(x, y).

    Together they must cover at least one whole operand, so that no work is added.
    """

    name: ClassVar[str] = "slice-sinker"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit elementwise operations of every computation, operands first."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if i.id in computation.instructions and i.opcode.elementwise and _sliced(i):
                    changed |= self._sink(i, context)
        return changed

    def _sink(self, i: HloInstruction, context: PassContext) -> bool:
        computation, first = i.parent, i.operands[0]
        sources = [o.operands[0] for o in i.operands]
        if any(s.shape.dimensions != sources[0].shape.dimensions for s in sources):
            return False
        peers = [
            u
            for o in sources[0].users
            for u in o.users
            if u.opcode is i.opcode
            and u.attributes is i.attributes
            and u.shape.element_type is i.shape.element_type
            and _sliced(u)
            and [o.operands[0] for o in u.operands] == sources
            and len({o.attributes["slice"] for o in u.operands}) == 1
        ]
        peers = list(dict.fromkeys(peers))
        if (
            i not in peers
            or len(peers) < 2
            or sum([p.shape.element_count for p in peers]) < sources[0].shape.element_count
        ):
            return False
        whole_shape = i.shape.base.with_dimensions(first.operands[0].shape.dimensions)
        before = computation.module.next_instruction_id
        whole = computation.add(
            i.opcode,
            whole_shape,
            sources,
            i.attributes.with_values(sharding=None),
            name=i.name,
            called=i.called,
        )
        context.rewrote(self.name, i, whole, (whole.id,), {"peers": len(peers)})
        for peer in peers:
            attributes = peer.operands[0].attributes
            substitute(peer, computation.add("slice", peer.shape, (whole,), attributes), before)
        return True
