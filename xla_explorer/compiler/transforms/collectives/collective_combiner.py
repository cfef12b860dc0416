"""Combining of small collectives into one with several operands.

Source: xla/hlo/transforms/collectives/collective_combiner_utils.h, all_reduce_combiner.cc,
all_gather_combiner.cc, reduce_scatter_combiner.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
equal groups, channels, reducers, types     the same
thresholds in bytes and in operands         the same
control dependencies, dependent collectives never combined, as in XLA
regions between domains                     not combined across them, as in XLA
combine_by_dim of all-gathers               the same; without it, operands are bitcast so that the
                                            most frequent dimension is gathered
combine_different_dtypes of all-gathers     the same
combine_while_loops                         without it, bodies of loops are left alone, as in XLA
metadata                                    of the first collective, as in XLA
several operands already                    left alone; XLA too
duplicate operands of permutes              hole (xla_enable_enzyme_comms_opt)
==========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.hlo.analysis.reachability import depends_on
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, tuple_shape


@dataclasses.dataclass(frozen=True)
class CollectiveCombiner:
    """Combine independent collectives of one kind that differ only in their operands.

    combine_threshold_in_bytes, combine_threshold_count: most bytes and operands of one combined
    collective.
    """

    name: ClassVar[str] = ""
    opcode: ClassVar[str] = ""
    combine_threshold_in_bytes: int = 30 << 20
    combine_threshold_count: int = 256

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Combine groups in every computation."""
        return self.combine(module, context, lambda i: True, self.combine_threshold_in_bytes)

    def skipped(self, module: HloModule) -> set[HloComputation]:
        """Return the computations that are left alone."""
        return set()

    def combine(
        self,
        module: HloModule,
        context: PassContext,
        chosen: Callable[[HloInstruction], bool],
        most_bytes: int,
    ) -> bool:
        """Combine the chosen collectives up to a size; return True if anything changed."""
        changed = False
        skipped = self.skipped(module)
        for computation in list(module.computations.values()):
            while computation not in skipped and self._combine_one(
                computation, context, chosen, most_bytes
            ):
                changed = True
        return changed

    def key(self, i: HloInstruction, keys: StructuralKeys) -> Any:
        """Return a value that is equal for collectives that may become one."""
        channel = "channel_id" in i.attributes
        return (
            i.attributes.with_values(channel_id=None, sharding=None),
            tuple([keys.of(c) for c in i.called]),
            channel,
            i.operands[0].shape.element_type,
        )

    def _combine_one(
        self,
        computation: HloComputation,
        context: PassContext,
        chosen: Callable[[HloInstruction], bool],
        most_bytes: int,
    ) -> bool:
        keys = StructuralKeys(layout_sensitive=True)
        regions = domain_regions(computation)
        groups: dict[Any, list[HloInstruction]] = {}
        for i in computation.post_order():
            alone = len(i.operands) == 1 and not i.control_predecessors
            if i.opcode.name == self.opcode and alone and chosen(i):
                groups.setdefault((regions.get(i), self.key(i, keys)), []).append(i)
        for found in groups.values():
            taken: list[HloInstruction] = []
            size = 0
            for i in found:
                bytes_ = i.shape.byte_size
                fits = size + bytes_ <= most_bytes and len(taken) < self.combine_threshold_count
                if fits and not any(depends_on(i, other) for other in taken):
                    taken.append(i)
                    size += bytes_
            if len(taken) > 1:
                self._combine(taken, context)
                return True
        return False

    def _combine(self, taken: list[HloInstruction], context: PassContext) -> None:
        first, computation = taken[0], taken[0].parent
        before = computation.module.next_instruction_id
        attributes, orders = self.aligned(taken)
        shapes = [permuted(i.shape, order) for i, order in zip(taken, orders, strict=True)]
        operands = [
            _bitcast(i.operands[0], permuted(i.operands[0].shape, order))
            for i, order in zip(taken, orders, strict=True)
        ]
        made = computation.add(
            first.opcode,
            tuple_shape(shapes),
            operands,
            attributes.with_values(sharding=None),
            called=first.called,
            metadata=first.metadata,
        )
        for i in taken:  # the combined collective has the causes of each
            created = (made.id,) if i is first else ()
            context.rewrote(self.name, i, made, created, {"combined": len(taken)})
        for k, i in enumerate(taken):
            part = computation.add(
                "get-tuple-element", shapes[k], (made,), attributes_of({"index": k})
            )
            substitute(i, _bitcast(part, i.shape), before)

    def aligned(
        self, taken: list[HloInstruction]
    ) -> tuple[Attributes, list[tuple[int, ...] | None]]:
        """Return the attributes of the combined collective, and an order of dimensions for each."""
        return taken[0].attributes, [None] * len(taken)


def permuted(shape: Shape, order: tuple[int, ...] | None) -> Shape:
    """Return the shape with its dimensions in another order, and the same bytes."""
    if order is None:
        return shape
    moved = shape.with_dimensions([shape.dimensions[d] for d in order])
    return moved.with_layout(tuple([order.index(d) for d in shape.layout.minor_to_major]))


def _bitcast(i: HloInstruction, shape: Shape) -> HloInstruction:
    return i if i.shape is shape else i.parent.add("bitcast", shape, (i,))


def domain_regions(computation: HloComputation) -> dict[HloInstruction, frozenset[str]]:
    """Return the exits of the domains around each instruction; empty without domains."""
    if not any(i.opcode.name == "domain" for i in computation.instructions.values()):
        return {}
    found: dict[HloInstruction, frozenset[str]] = {}
    for start in computation.instructions.values():
        if start in found or start.opcode.name == "domain":
            continue
        region, exits, work = {start}, set(), [start]
        while work:
            i = work.pop()
            exits |= {str(u.attributes) for u in i.users if u.opcode.name == "domain"}
            for other in (*i.operands, *i.users):
                if other not in region and other.opcode.name != "domain":
                    region.add(other)
                    work.append(other)
        found.update(dict.fromkeys(region, frozenset(exits)))
    return found


@dataclasses.dataclass(frozen=True)
class LoopAwareCombiner(CollectiveCombiner):
    """A combiner that may leave loops alone.

    combine_while_loops: also combine in bodies of loops.
    """

    combine_while_loops: bool = True

    def skipped(self, module: HloModule) -> set[HloComputation]:
        """Return the bodies of loops, without combine_while_loops."""
        if self.combine_while_loops:
            return set()
        return {i.called[1] for i in module.instructions() if i.opcode.name == "while"}
