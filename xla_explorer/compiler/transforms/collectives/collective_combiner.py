"""Combining of small collectives into one with several operands.

Source: xla/hlo/transforms/collectives/collective_combiner_utils.h, all_reduce_combiner.cc,
all_gather_combiner.cc, reduce_scatter_combiner.cc.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.hlo.analysis.reachability import depends_on
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


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
        changed = False
        for computation in list(module.computations.values()):
            while self._combine_one(computation, context):
                changed = True
        return changed

    def _key(self, i: HloInstruction, keys: StructuralKeys) -> Any:
        channel = "channel_id" in i.attributes
        return (
            i.attributes.with_values(channel_id=None, sharding=None),
            tuple([keys.of(c) for c in i.called]),
            channel,
            i.operands[0].shape.element_type,
        )

    def _combine_one(self, computation: HloComputation, context: PassContext) -> bool:
        keys = StructuralKeys(layout_sensitive=True)
        groups: dict[Any, list[HloInstruction]] = {}
        for i in computation.post_order():
            if i.opcode.name == self.opcode and len(i.operands) == 1 and not i.control_predecessors:
                groups.setdefault(self._key(i, keys), []).append(i)
        for found in groups.values():
            taken: list[HloInstruction] = []
            size = 0
            for i in found:
                bytes_ = i.shape.byte_size
                fits = (
                    size + bytes_ <= self.combine_threshold_in_bytes
                    and len(taken) < self.combine_threshold_count
                )
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
        shape = tuple_shape([i.shape for i in taken])
        made = computation.add(
            first.opcode,
            shape,
            [i.operands[0] for i in taken],
            first.attributes.with_values(sharding=None),
            called=first.called,
        )
        for i in taken:  # the combined collective has the causes of each
            created = (made.id,) if i is first else ()
            context.rewrote(self.name, i, made, created, {"combined": len(taken)})
        for k, i in enumerate(taken):
            substitute(
                i,
                computation.add("get-tuple-element", i.shape, (made,), attributes_of({"index": k})),
                before,
            )


def _declare(name: str, opcode: str, *others: str) -> type[CollectiveCombiner]:
    fields = {
        "name": name,
        "opcode": opcode,
        "__doc__": f"Combines {opcode}.",
        "__module__": __name__,
        "__annotations__": {},
    }
    made = type(name.title().replace("-", ""), (CollectiveCombiner,), fields)
    return register_pass(*others)(dataclasses.dataclass(frozen=True)(made))


PASSES = [
    _declare("all-reduce-combiner", "all-reduce", "cpu-all-reduce-combiner"),
    _declare("all-gather-combiner", "all-gather"),
    _declare("reduce-scatter-combiner", "reduce-scatter"),
    _declare("collective-permute-combiner", "collective-permute"),
]
