"""Collectives split into start and done, and joined again.

Source: xla/hlo/transforms/collectives/async_collective_creator.cc and convert_async_collectives_to_sync.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_users, substitute
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape

_STARTS = {"all-reduce": "all-reduce-start", "all-gather": "all-gather-start", "collective-permute": "collective-permute-start"}


@register_pass()
@dataclasses.dataclass(frozen=True)
class AsyncCollectiveCreator:
    """Collectives become a start and a done, between which a machine may do other work.

    convert_all_reduce, convert_all_gather, convert_collective_permute: which.
    """

    name: ClassVar[str] = "async-collective-creator"
    convert_all_reduce: bool = True
    convert_all_gather: bool = True
    convert_collective_permute: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Every collective of those kinds."""
        wanted = {
            "all-reduce": self.convert_all_reduce,
            "all-gather": self.convert_all_gather,
            "collective-permute": self.convert_collective_permute,
        }
        changed = False
        for computation in list(module.computations.values()):
            for i in [i for i in computation.post_order() if wanted.get(i.opcode.name)]:
                given = i.operands[0].shape if len(i.operands) == 1 else tuple_shape([o.shape for o in i.operands])
                shape = i.shape if i.opcode.name == "all-reduce" else tuple_shape([given, i.shape])
                schedule, before = computation.schedule, module.next_instruction_id
                start = computation.add(
                    _STARTS[i.opcode.name], shape, i.operands, i.attributes, called=i.called, name=f"{i.name}-start", metadata=i.metadata
                )
                done = computation.add(f"{i.opcode.name}-done", i.shape, (start,), name=f"{i.name}-done")
                context.rewrote(self.name, i, done, (start.id, done.id))
                if schedule is not None:
                    computation.set_schedule([x for s in schedule for x in ((start, done) if s is i else (s,))])
                substitute(i, done, before)
                changed = True
        return changed


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvertAsyncCollectivesToSync:
    """A start whose done follows without anything between them in the schedule becomes the collective.

    always: wherever the done stands (and in modules without a schedule).
    """

    name: ClassVar[str] = "convert-async-collectives-to-sync"
    always: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Every pair."""
        changed = False
        for computation in list(module.computations.values()):
            if computation.schedule is None and not self.always:
                continue
            for done in [i for i in computation.post_order() if i.opcode.name.endswith("-done") and i.operands]:
                changed |= self._join(done, context)
        return changed

    def _join(self, done: HloInstruction, context: PassContext) -> bool:
        start, computation = done.operands[0], done.parent
        schedule = computation.schedule
        if len(start.users) > 1 or start.opcode.name not in (*_STARTS.values(), "async-start"):
            return False
        if schedule is not None and not self.always:
            between = schedule[schedule.index(start) + 1 : schedule.index(done)]
            if any(i.opcode.name not in _FREE for i in between):
                return False
        of = start.called[0].root if start.opcode.name == "async-start" else start
        opcode = of.opcode if start.opcode.name == "async-start" else start.opcode.name.removesuffix("-start")
        before = computation.module.next_instruction_id
        made = computation.add(
            opcode, done.shape, start.operands, of.attributes, called=of.called if of is not start else start.called, name=start.name
        )
        context.rewrote(self.name, done, made, (made.id,))
        if schedule is not None:
            computation.set_schedule([made if s is done else s for s in schedule if s is not start])
        if start.control_predecessors:
            computation.set_control_predecessors(made, start.control_predecessors)
            computation.set_control_predecessors(start, ())
        computation.replace(done, made)
        computation.remove(done)
        substitute_start(start, made, before)
        return True


_FREE = frozenset(["parameter", "constant", "get-tuple-element", "bitcast", "tuple"])


def substitute_start(start: HloInstruction, made: HloInstruction, before: int) -> None:
    """Control edges of the start go over to the collective, and the start goes."""
    computation = start.parent
    for after in control_users(computation, start):
        computation.set_control_predecessors(after, [made if p is start else p for p in after.control_predecessors])
    if made.metadata is None and start.metadata is not None:
        made.metadata = start.metadata
    computation.remove(start)
