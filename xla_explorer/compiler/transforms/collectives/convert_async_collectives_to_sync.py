"""Joining of a start and its done into the synchronous collective.

Source: xla/hlo/transforms/collectives/convert_async_collectives_to_sync.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Final

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_users
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

STARTS: Final = {
    "all-reduce": "all-reduce-start",
    "all-gather": "all-gather-start",
    "collective-permute": "collective-permute-start",
}
# Free operations: they hide no latency.
_FREE = frozenset(["parameter", "constant", "get-tuple-element", "bitcast", "tuple"])


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvertAsyncCollectivesToSync:
    """Join a start and its done into the collective if the schedule has no work between them.

    always: join any pair, and pairs in modules without a schedule.
    """

    name: ClassVar[str] = "convert-async-collectives-to-sync"
    always: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Join the pairs of every scheduled computation."""
        changed = False
        for computation in list(module.computations.values()):
            if computation.schedule is None and not self.always:
                continue
            for done in [
                i
                for i in computation.post_order()
                if i.opcode.name.endswith("-done") and i.operands
            ]:
                changed |= self._join(done, context)
        return changed

    def _join(self, done: HloInstruction, context: PassContext) -> bool:
        start, computation = done.operands[0], done.parent
        schedule = computation.schedule
        if len(start.users) > 1 or start.opcode.name not in (*STARTS.values(), "async-start"):
            return False
        if schedule is not None and not self.always:
            between = schedule[schedule.index(start) + 1 : schedule.index(done)]
            if any(i.opcode.name not in _FREE for i in between):
                return False
        of = start.called[0].root if start.opcode.name == "async-start" else start
        opcode = (
            of.opcode
            if start.opcode.name == "async-start"
            else start.opcode.name.removesuffix("-start")
        )
        before = computation.module.next_instruction_id
        made = computation.add(
            opcode,
            done.shape,
            start.operands,
            of.attributes,
            called=of.called if of is not start else start.called,
            name=start.name,
        )
        context.rewrote(self.name, done, made, (made.id,))
        if schedule is not None:
            computation.set_schedule([made if s is done else s for s in schedule if s is not start])
        if start.control_predecessors:
            computation.set_control_predecessors(made, start.control_predecessors)
            computation.set_control_predecessors(start, ())
        computation.replace(done, made)
        computation.remove(done)
        _substitute_start(start, made, before)
        return True


def _substitute_start(start: HloInstruction, made: HloInstruction, before: int) -> None:
    """Move control edges of the start to the collective, and remove the start."""
    computation = start.parent
    for after in control_users(computation, start):
        computation.set_control_predecessors(
            after, [made if p is start else p for p in after.control_predecessors]
        )
    if made.metadata is None and start.metadata is not None:
        made.metadata = start.metadata
    computation.remove(start)
