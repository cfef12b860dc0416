"""Reshapes moved to the side of a collective where they hold fewer bytes.

Source: xla/hlo/transforms/collectives/collective_transformation_reorderer.cc.

===========================================  ==================================================
handled by XLA                               here
===========================================  ==================================================
reshapes behind an all-gather, one reader    moved in front, if the gathered dimension and the
each                                         number of elements before it stay
reshapes in front of an all-reduce with one  moved behind, unless the layout is constrained
reader
a root all-reduce                            unchanged
other moves (transpose, bitcast)             not handled by either
===========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from math import prod
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


def kept_dimension(before: Shape, dimension: int, after: Shape) -> int | None:
    """Return the dimension of a reshape's result that is `dimension` of its operand, or None."""
    rows, found, at = prod(before.dimensions[:dimension]), 1, 0
    while at < after.rank and found < rows:
        found *= after.dimensions[at]
        at += 1
    same = (
        found == rows and at < after.rank and after.dimensions[at] == before.dimensions[dimension]
    )
    return at if same else None


def _with_size(shape: Shape, dimension: int, size: int) -> Shape:
    sizes = list(shape.dimensions)
    sizes[dimension] = size
    return shape.with_dimensions(sizes)


def reshapes_behind(gather: HloInstruction) -> list[tuple[HloInstruction, int]]:
    """Return the reshapes that may move in front, each with the gathered dimension behind it."""
    found = []
    i, [dimension] = gather, gather.attributes["dimensions"]
    while len(i.users) == 1:
        [user] = i.users
        kept = (
            kept_dimension(i.shape, dimension, user.shape)
            if user.opcode.name == "reshape"
            else None
        )
        if kept is None:
            break
        found.append((user, kept))
        i, dimension = user, kept
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectiveTransformationReorderer:
    """Reshape the operand of an all-gather and the result of an all-reduce."""

    name: ClassVar[str] = "collective-transformation-reorderer"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every all-gather, then every all-reduce, with one operand."""
        changed = False
        for opcode, rewrite in (("all-gather", self._gather), ("all-reduce", self._reduce)):
            for computation in list(module.computations.values()):
                for i in list(computation.post_order()):
                    if i.opcode.name == opcode and len(i.operands) == 1:
                        changed |= rewrite(i, context)
        if changed:
            DeadCodeElimination().run(module, context)
        return changed

    def _gather(self, i: HloInstruction, context: PassContext) -> bool:
        reshapes = reshapes_behind(i)
        if not reshapes or context.decide(self.name, (), (), i) is not None:
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        [along] = i.attributes["dimensions"]
        size = i.shape.dimensions[along]
        value = i.operands[0]
        part = value.shape.dimensions[along]
        for reshape, along in reshapes:
            value = computation.add("reshape", _with_size(reshape.shape, along, part), (value,))
        made = computation.add(
            i.opcode,
            _with_size(value.shape, along, size),
            (value,),
            i.attributes.with_values(dimensions=(along,), sharding=None),
            metadata=i.metadata,
        )
        context.rewrote(self.name, i, made, (made.id,), {"reshapes": len(reshapes)})
        substitute(reshapes[-1][0], made, before)
        return True

    def _reduce(self, i: HloInstruction, context: PassContext) -> bool:
        if len(i.users) != 1 or i.is_root or i.attributes.get("constrain_layout"):
            return False
        reshapes = []
        value = i.operands[0]
        while value.opcode.name == "reshape" and len(value.users) == 1:
            reshapes.append(value)
            value = value.operands[0]
        if not reshapes or context.decide(self.name, (), (), i) is not None:
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        attributes = i.attributes.with_values(sharding=None)
        made = computation.add(
            i.opcode, value.shape, (value,), attributes, called=i.called, metadata=i.metadata
        )
        context.rewrote(self.name, i, made, (made.id,), {"reshapes": len(reshapes)})
        for reshape in reversed(reshapes):
            made = computation.add("reshape", reshape.shape, (made,))
        substitute(i, made, before)
        return True
