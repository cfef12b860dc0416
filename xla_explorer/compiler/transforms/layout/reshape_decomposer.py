"""The pass `reshape-decomposer`: bitcasts for reshapes, with copies if bytes move.

Source: xla/hlo/transforms/expanders/reshape_decomposer.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
a reshape that moves no byte                 a bitcast
an operand in another layout                 a copy and a bitcast
a result in another layout                   a bitcast and a copy
both                                         a copy, a bitcast and a copy
redundant bitcasts                           left by XLA; removed here (merge_bitcasts)
dynamic and tiled shapes                     unchanged here; XLA refuses dynamic ones
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.simplifiers.algebraic.layouts import (
    no_byte_is_moved,
    reshape_groups,
)
from xla_explorer.foundation.reason import Reason, named, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import Layout, layout
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.shape import Shape

BITCAST = opcode("bitcast")
RESHAPE = opcode("reshape")


def why_not_decomposed(i: HloInstruction) -> Reason | None:
    """Return None if copies and a bitcast can replace a reshape, else the reason."""
    for side in (i, i.operands[0]):
        if True in side.shape.dynamic:
            return refuse(
                "dynamic-dimension", f"%{side.name} has a dynamic dimension: {side.shape}"
            )
        if "T(" in side.shape.layout.properties:
            return refuse("layout-differs", f"%{side.name} is tiled: {side.shape}")
    if i.shape.layout.properties != i.operands[0].shape.layout.properties:
        return refuse(
            "layout-differs", f"%{i.name} is {i.shape}, %{i.operands[0].name} {i.operands[0].shape}"
        )
    return None


def why_not_bitcast(i: HloInstruction) -> Reason | None:
    """Return None if a reshape keeps the order of its operand's bytes, else the reason."""
    return why_not_decomposed(i) or no_byte_is_moved(i, i.operands[0])


_shapes = value_formatter(lambda i: f"{i.operands[0].shape.text} to {i.shape.text}")
bytes_keep_their_order = _shapes(named("bytes-keep-their-order", why_not_bitcast))


def aligned_layout(source: Shape, target: Shape) -> Layout | None:
    """Return the layout of `target` in which a reshape from `source` moves no byte, or None."""
    groups = reshape_groups(source, target)
    place = {d: number for number, (before, _) in enumerate(groups) for d in before}
    order: list[int] = []
    left = [d for d in source.layout.minor_to_major if source.dimensions[d] != 1]
    while left:
        before, after = groups[place[left[0]]]
        if left[: len(before)] != before[::-1]:
            return None
        del left[: len(before)]
        order += after[::-1]
    ones = [d for d in reversed(range(target.rank)) if target.dimensions[d] == 1]
    return layout((*order, *ones), target.layout.properties)


def decompose(i: HloInstruction, context: PassContext) -> bool:
    """Copy operand, result or both to a layout in which the reshape is a bitcast."""
    computation, source, before = i.parent, i.operands[0], i.parent.module.next_instruction_id

    def copied(x: HloInstruction, shape: Shape) -> HloInstruction:
        return computation.add("copy", shape, (x,), metadata=i.metadata)

    if (found := aligned_layout(i.shape, source.shape)) is not None:
        made = computation.add(
            BITCAST,
            i.shape,
            (copied(source, source.shape.with_layout(found)),),
            metadata=i.metadata,
        )
    elif (found := aligned_layout(source.shape, i.shape)) is not None:
        made = copied(
            computation.add(BITCAST, i.shape.with_layout(found), (source,), metadata=i.metadata),
            i.shape,
        )
    else:
        plain = [
            s.with_layout(layout(tuple(reversed(range(s.rank))), s.layout.properties))
            for s in (source.shape, i.shape)
        ]
        made = copied(
            computation.add(BITCAST, plain[1], (copied(source, plain[0]),), metadata=i.metadata),
            i.shape,
        )
    context.rewrote(
        "decompose-reshape", i, made, tuple(range(before, computation.module.next_instruction_id))
    )
    computation.replace(i, made)
    computation.remove(i)
    return True


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReshapeDecomposer:
    """Replace reshapes by bitcasts and copies, and remove redundant bitcasts.

    Runs after layout-assignment. Redundant are a bitcast that changes nothing, and a bitcast of a
    bitcast. merge_bitcasts: False leaves redundant bitcasts to the simplifier, as XLA does.
    """

    name: ClassVar[str] = "reshape-decomposer"
    kinds: ClassVar[tuple[str, ...]] = ("reshape-is-bitcast",)
    merge_bitcasts: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        changed = False
        for computation in module.computations.values():
            for i in list(computation.post_order()):
                redundant = i.opcode is BITCAST and self.merge_bitcasts
                if i.opcode is not RESHAPE and not redundant:
                    continue
                if (
                    i.opcode is RESHAPE
                    and context.decide("reshape-is-bitcast", (bytes_keep_their_order,), (), i)
                    is not None
                ):
                    changed |= (
                        why_not_decomposed(i) is None
                        and i.shape.element_count > 0
                        and decompose(i, context)
                    )
                    continue
                source = i.operands[0]
                while (
                    self.merge_bitcasts
                    and source.opcode is BITCAST
                    and source.shape.base is source.shape
                ):
                    source = source.operands[0]
                if source.shape is i.shape and self.merge_bitcasts:
                    computation.replace(i, source)
                    computation.remove(i)
                elif i.opcode is RESHAPE:
                    bitcast = computation.add(
                        BITCAST, i.shape, (source,), name=i.name, metadata=i.metadata
                    )
                    bitcast.line = i.line
                    computation.replace(i, bitcast)
                    computation.remove(i)
                elif source is not i.operands[0]:
                    computation.replace_operand(i, 0, source)
                else:
                    continue
                changed = True
            for i in reversed(list(computation.post_order()) if self.merge_bitcasts else []):
                if i.opcode is BITCAST and not i.users and i is not computation.root:
                    computation.remove(i)
                    changed = True
        return changed
