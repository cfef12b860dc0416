"""Merging of dots that share an operand.

Source: xla/hlo/transforms/simplifiers/dot_merger.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
a shared lhs, or a shared rhs               the same
equal numbers, precisions and types         required
equal layouts of the other operand and of   required
the result
one free dimension of the other operand     required
control edges at a dot                      refused
dots that depend on each other              refused
the size limit                              max_size_to_merge
can_merge of the backend                    every pair
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import builder_at, own_attributes
from xla_explorer.compiler.rewriting.removal import control_targets, substitute
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def _same_but_for(side: int, a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if two dots differ only in free dimensions of the other side's operand."""
    if (
        a.operands[side] is not b.operands[side]
        or a.attributes is not b.attributes
        or a.shape.element_type is not b.shape.element_type
    ):
        return False
    x, y = a.operands[1 - side].shape, b.operands[1 - side].shape
    return (
        x.element_type is y.element_type
        and x.rank == y.rank
        and x.layout is y.layout
        and a.shape.layout is b.shape.layout
        and len(_free(a, 1 - side)) == 1
    )


def _free(dot: HloInstruction, side: int) -> list[int]:
    name = ("lhs", "rhs")[side]
    used = (
        *dot.attributes.value(f"{name}_batch_dims"),
        *dot.attributes.value(f"{name}_contracting_dims"),
    )
    return [d for d in range(dot.operands[side].shape.rank) if d not in used]


def _reaches(start: HloInstruction, target: HloInstruction) -> bool:
    seen, stack = {start}, [start]
    while stack:
        for user in stack.pop().users:
            if user is target:
                return True
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return False


def _bytes_of_smaller(a: HloInstruction, b: HloInstruction) -> int:
    return min([sum([x.shape.byte_size for x in (i, *i.operands)]) for i in (a, b)])


def small_enough(limit: int) -> Predicate:
    """Return the check that one of two dots is too small to use the machine alone."""

    @value_formatter(lambda a, b: at_most("bytes of the smaller", _bytes_of_smaller(a, b), limit))
    def operands_within_limit(a: HloInstruction, b: HloInstruction) -> Reason | None:
        size = _bytes_of_smaller(a, b)
        return (
            refuse(
                "dots-too-large",
                f"%{a.name} and %{b.name} move {size} bytes or more each",
                bytes=size,
            )
            if size > limit
            else None
        )

    return operands_within_limit


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotMerger:
    """dot(a, b) and dot(a, c) become slices of dot(a, concatenate(b, c)).

    max_size_to_merge: bytes that the smaller dot may read and write.
    """

    name: ClassVar[str] = "dot-merger"
    max_size_to_merge: int = 32 << 20

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Merge pairs in every computation, until none is left."""
        changed = False
        for computation in list(module.computations.values()):
            while self._merge_one(computation, context):
                changed = True
        return changed

    def _merge_one(self, computation: HloComputation, context: PassContext) -> bool:
        targets = control_targets(computation)
        dots = [
            i
            for i in computation.post_order()
            if i.opcode.name == "dot" and not i.control_predecessors and i not in targets
        ]
        for number, a in enumerate(dots):
            for b in dots[number + 1 :]:
                side = next((s for s in (0, 1) if _same_but_for(s, a, b)), None)
                if side is None or _reaches(a, b) or _reaches(b, a):
                    continue
                if (
                    context.decide(self.name, (), (small_enough(self.max_size_to_merge),), a, b)
                    is None
                ):
                    self._merge(a, b, side)
                    return True
        return False

    @staticmethod
    def _merge(a: HloInstruction, b: HloInstruction, shared: int) -> None:
        build, before = builder_at(a.parent), a.parent.module.next_instruction_id
        [along] = _free(a, 1 - shared)
        both = build.concatenate(
            *[HloValue(build, i.operands[1 - shared]) for i in (a, b)], dimensions=[along]
        )
        operands = (
            (HloValue(build, a.operands[0]), both)
            if shared == 0
            else (both, HloValue(build, a.operands[1]))
        )
        place = len(a.attributes.value("lhs_batch_dims")) + (len(_free(a, 0)) if shared == 0 else 0)
        sizes = [
            n + (b.shape.dimensions[place] if d == place else 0)
            for d, n in enumerate(a.shape.dimensions)
        ]
        dot = build.dot(*operands, shape=a.shape.base.with_dimensions(sizes), **own_attributes(a))
        cut = a.shape.dimensions[place]
        for i, (start, stop) in ((a, (0, cut)), (b, (cut, sizes[place]))):
            part = build.slice(
                dot,
                slice=[(start, stop, 1) if d == place else (0, n, 1) for d, n in enumerate(sizes)],
            )
            substitute(i, part.instruction, before)
