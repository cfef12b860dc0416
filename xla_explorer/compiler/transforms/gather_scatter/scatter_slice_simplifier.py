"""Scatters whose readers all truncate the result, into the truncated operand.

Source: xla/service/scatter_slice_simplifier.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
truncating slices of one size, stride 1     the same
elementwise operations and elements between the slice moves in front of them
scatters of several operands                the same
truncated window dimensions                 refused: a window would be cut, not left out
slices that start later, with strides       unchanged
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, tuple_shape


def _truncates(i: HloInstruction) -> bool:
    return i.opcode.name == "slice" and all(
        d.start == 0 and d.stride == 1 for d in i.attributes["slice"]
    )


def truncating_readers(i: HloInstruction) -> list[HloInstruction] | None:
    """Return the slices behind a value, past elements and elementwise readers; None for others."""
    found: list[HloInstruction] = []
    work, seen = list(i.users), set(i.users)
    if i.is_root:
        return None
    while work:
        user = work.pop()
        if _truncates(user):
            found.append(user)
            continue
        passes = user.opcode.name == "get-tuple-element" or user.opcode.elementwise
        if not passes or user.is_root:
            return None
        for reader in user.users:
            if reader not in seen:
                seen.add(reader)
                work.append(reader)
    return found


def truncated_sizes(scatter: HloInstruction) -> tuple[int, ...] | None:
    """Return the sizes that all readers keep, if only index dimensions shrink; else None."""
    slices = truncating_readers(scatter)
    sizes = {s.shape.dimensions for s in slices or ()}
    if len(sizes) != 1:
        return None
    [kept] = sizes
    whole = scatter.operands[0].shape.dimensions
    mapped = scatter.attributes.value("scatter_dims_to_operand_dims")
    inserted = scatter.attributes.value("inserted_window_dims")
    windows = [
        d
        for d in range(len(whole))
        if d not in inserted and d not in scatter.attributes.value("input_batching_dims")
    ]
    updates = scatter.operands[-1].shape.dimensions
    of = dict(zip(windows, scatter.attributes.value("update_window_dims"), strict=True))
    for d, (new, old) in enumerate(zip(kept, whole, strict=True)):
        one = d in inserted or (d in of and updates[of[d]] == 1)
        if new != old and (d not in mapped or not one):
            return None
    return kept if kept != whole else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class ScatterSliceSimplifier:
    """Slice the operand of a scatter instead of its result.

    Updates outside of the smaller operand are out of bounds, so the scatter leaves them out.
    """

    name: ClassVar[str] = "scatter-slice-simplifier"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every scatter."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if i.opcode.name == "scatter" and i.id in computation.instructions:
                    sizes = truncated_sizes(i)
                    if sizes is not None and context.decide(self.name, (), (), i) is None:
                        self._rewrite(i, sizes, context)
                        changed = True
            if changed:
                remove_dead_instructions(computation)
        return changed

    def _rewrite(
        self, scatter: HloInstruction, sizes: tuple[int, ...], context: PassContext
    ) -> None:
        computation, slices = scatter.parent, truncating_readers(scatter) or []
        before = computation.module.next_instruction_id
        count = (len(scatter.operands) - 1) // 2
        cut = attributes_of({"slice": tuple([SliceDimension(0, n, 1) for n in sizes])})
        operands = [
            computation.add("slice", x.shape.with_dimensions(sizes), (x,), cut)
            for x in scatter.operands[:count]
        ]
        shapes: list[Shape] = [x.shape for x in operands]
        made = computation.add(
            scatter.opcode,
            tuple_shape(shapes) if scatter.shape.is_tuple else shapes[0],
            [*operands, *scatter.operands[count:]],
            scatter.attributes,
            called=scatter.called,
            metadata=scatter.metadata,
        )
        context.rewrote(self.name, scatter, made, (made.id,), {"slices": len(slices)})
        copies = {scatter: made}
        for slice_ in slices:
            substitute(slice_, _sliced(slice_.operands[0], cut, copies), before)


def _sliced(
    i: HloInstruction, cut: Attributes, copies: dict[HloInstruction, HloInstruction]
) -> HloInstruction:
    """Return the value computed from the small scatter, else a slice of the value."""
    if i in copies:
        return copies[i]
    computation = i.parent
    if i.opcode.name == "get-tuple-element":
        source = copies[i.operands[0]]
        shape = source.shape.tuple_shapes[int(i.attributes["index"])]
        made = computation.add(i.opcode, shape, (source,), i.attributes, metadata=i.metadata)
    elif i.opcode.elementwise and i.operands and any(_from(o, copies) for o in i.operands):
        operands = [_sliced(o, cut, copies) for o in i.operands]
        shape = i.shape.with_dimensions(operands[0].shape.dimensions)
        made = computation.add(i.opcode, shape, operands, i.attributes, metadata=i.metadata)
    else:
        sizes = [d.limit for d in cut["slice"]]
        made = computation.add("slice", i.shape.with_dimensions(sizes), (i,), cut)
    copies[i] = made
    return made


def _from(i: HloInstruction, copies: dict[HloInstruction, HloInstruction]) -> bool:
    """Return True if the value comes from the scatter through elementwise operations."""
    if i in copies:
        return True
    passes = i.opcode.elementwise or i.opcode.name == "get-tuple-element"
    return passes and any(_from(o, copies) for o in i.operands)
