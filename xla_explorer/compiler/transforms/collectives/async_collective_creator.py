"""Splitting of collectives into start and done.

Source: xla/hlo/transforms/collectives/async_collective_creator.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.convert_async_collectives_to_sync import STARTS
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class AsyncCollectiveCreator:
    """Split collectives into a start and a done, so that other work may overlap.

    convert_all_reduce, convert_all_gather, convert_collective_permute: the kinds to split.
    """

    name: ClassVar[str] = "async-collective-creator"
    convert_all_reduce: bool = True
    convert_all_gather: bool = True
    convert_collective_permute: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Split every collective of the selected kinds."""
        wanted = {
            "all-reduce": self.convert_all_reduce,
            "all-gather": self.convert_all_gather,
            "collective-permute": self.convert_collective_permute,
        }
        changed = False
        for computation in list(module.computations.values()):
            for i in [i for i in computation.post_order() if wanted.get(i.opcode.name)]:
                given = (
                    i.operands[0].shape
                    if len(i.operands) == 1
                    else tuple_shape([o.shape for o in i.operands])
                )
                shape = i.shape if i.opcode.name == "all-reduce" else tuple_shape([given, i.shape])
                schedule, before = computation.schedule, module.next_instruction_id
                start = computation.add(
                    STARTS[i.opcode.name],
                    shape,
                    i.operands,
                    i.attributes,
                    called=i.called,
                    name=f"{i.name}-start",
                    metadata=i.metadata,
                )
                done = computation.add(
                    f"{i.opcode.name}-done", i.shape, (start,), name=f"{i.name}-done"
                )
                context.rewrote(self.name, i, done, (start.id, done.id))
                if schedule is not None:
                    computation.set_schedule(
                        [x for s in schedule for x in ((start, done) if s is i else (s,))]
                    )
                substitute(i, done, before)
                changed = True
        return changed
