"""Pairs of start and done as the synchronous collective.

Source: xla/hlo/transforms/collectives/async_collective_replacer.cc.

=====================================  =======================================================
handled by XLA                         here
=====================================  =======================================================
all-reduce, all-gather, permute pairs  the same, each by its option
async-start of any other collective    the same, each by its option
control edges at the pair              moved to the collective
pairs with updates between             unchanged
=====================================  =======================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_users
from xla_explorer.compiler.transforms.collectives.asynchronous.gpu_convert_async_collectives_to_sync import (
    start_of,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def collective_of(start: HloInstruction) -> HloInstruction:
    """Return the instruction with the attributes of the started collective."""
    return start.called[0].root if start.opcode.name == "async-start" else start


@register_pass()
@dataclasses.dataclass(frozen=True)
class AsyncCollectiveReplacer:
    """Join the pairs of the chosen collectives."""

    name: ClassVar[str] = "async-collective-replacer"
    convert_all_reduce: bool = False
    convert_all_gather: bool = False
    convert_collective_broadcast: bool = False
    convert_collective_permute: bool = False
    convert_all_to_all: bool = False
    convert_reduce_scatter: bool = False
    convert_ragged_all_to_all: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every done."""
        changed = False
        for computation in list(module.computations.values()):
            for done in list(computation.post_order()):
                start = start_of(done)
                if start is None or len(start.users) != 1:
                    continue
                opcode = collective_of(start).opcode.name.removesuffix("-start")
                if getattr(self, f"convert_{opcode.replace('-', '_')}") and (
                    context.decide(self.name, (), (), start, done) is None
                ):
                    context.rewrote(self.name, done, _join(start, done, opcode))
                    changed = True
        return changed


def _join(start: HloInstruction, done: HloInstruction, opcode: str) -> HloInstruction:
    """Replace the pair by the collective, and return it."""
    computation, of = done.parent, collective_of(start)
    made = computation.add(
        opcode,
        done.shape,
        start.operands,
        of.attributes,
        called=of.called,
        name=start.name,
        metadata=start.metadata,
    )
    before = dict.fromkeys([*start.control_predecessors, *done.control_predecessors])
    before.pop(start, None)
    computation.set_control_predecessors(made, before)
    for old in (start, done):
        for after in control_users(computation, old):
            kept = [made if p is old else p for p in after.control_predecessors]
            computation.set_control_predecessors(after, dict.fromkeys(kept))
        computation.set_control_predecessors(old, ())
    computation.set_control_predecessors(made, [p for p in before if p not in (start, done)])
    if computation.schedule is not None:
        order = [made if s is done else s for s in computation.schedule if s is not start]
        computation.set_schedule(order)
    computation.replace(done, made)
    computation.remove(done)
    computation.remove(start)
    return made
