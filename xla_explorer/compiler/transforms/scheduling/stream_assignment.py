"""The pass `stream-assignment`: which stream of an asynchronous device runs what, and who waits for whom.

Everything runs in order on stream 0 but what stands between a start and its done: that goes to a stream of its own, which waits for stream
0 when it starts, and for which stream 0 waits when it is done. Streams are used again as soon as the schedule is past the done. Written as
`operation_queue_id` and `wait_on_operation_queues` into `backend_config`, where XLA has them. Sources:
xla/service/gpu/execution_stream_assignment.cc, xla/service/gpu/transforms/stream_attribute_annotator.cc.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.scheduling.async_pairs import AsyncPair, async_pairs
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_FREE = frozenset({"parameter", "constant", "get-tuple-element", "tuple", "bitcast", "after-all"})


@register_pass("stream-attribute-annotator")
@dataclasses.dataclass(frozen=True)
class StreamAssignment:
    """Numbers streams: 0 runs the program, then those of computations, of copies, of collectives, of transfers.

    computations, copies, collectives, transfers: how many streams there are for each kind.
    """

    name: ClassVar[str] = "stream-assignment"
    computations: int = 3
    copies: int = 1
    collectives: int = 1
    transfers: int = 1

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Annotate starts and dones in every computation that control flow runs."""
        kinds = (("computation", self.computations), ("copy", self.copies), ("collective", self.collectives), ("transfer", self.transfers))
        streams: dict[str, range] = {}
        first = 1
        for kind, count in kinds:
            streams[kind] = range(first, first + count)
            first += count
        changed = False
        for computation in sequential_computations(module):
            changed |= _assign(computation, streams, context)
        return changed


def stream_of(i: HloInstruction) -> int:
    """The stream that runs an instruction: 0 where nothing is said."""
    return int(json_config(i).get("operation_queue_id", 0))


def waits_for(i: HloInstruction) -> tuple[int, ...]:
    """The streams that its stream waits for before it runs."""
    return tuple([int(number) for number in json_config(i).get("wait_on_operation_queues", ())])


def _assign(computation: HloComputation, streams: dict[str, range], context: PassContext) -> bool:
    pairs = {pair.start: pair for pair in async_pairs(computation)}
    order = list(computation.sequence())
    place = {i: number for number, i in enumerate(order)}
    busy_until: dict[int, AsyncPair] = {}
    changed = False
    for start in [i for i in order if i in pairs]:
        pair = pairs[start]
        free = [s for s in streams[pair.kind] if s not in busy_until or place[busy_until[s].done] < place[start]]

        def has_a_schedule(start: HloInstruction, done: HloInstruction) -> Reason | None:
            if computation.schedule is None:
                return refuse("no-schedule", f"%{computation.name} has no schedule")
            return None

        def stream_is_free(start: HloInstruction, done: HloInstruction, free: list[int] = free, pair: AsyncPair = pair) -> Reason | None:
            if free:
                return None
            busy = ", ".join([f"%{busy_until[s].start.name}" for s in streams[pair.kind]])
            message = f"the streams for a {pair.kind} are busy with {busy}" if busy else f"there is no stream for a {pair.kind}"
            return refuse("no-free-stream", message, streams=len(streams[pair.kind]))

        def work_lies_between(start: HloInstruction, done: HloInstruction) -> Reason | None:
            if all(i.opcode.name in _FREE for i in order[place[start] + 1 : place[done]]):
                return refuse("nothing-in-between", f"%{done.name} follows %{start.name} at once")
            return None

        def facts(free: list[int] = free, start: HloInstruction = start, done: HloInstruction = pair.done) -> dict[str, Any]:
            return {"stream": free[0] if free else 0, "instructions_between": place[done] - place[start] - 1}

        reason = context.decide(
            "stream-assignment", (has_a_schedule, stream_is_free), (work_lies_between,), pair.start, pair.done, facts=facts
        )
        if reason is None:
            stream = free[0]
            busy_until[stream] = pair
            changed |= _annotate(start, stream, (0,))
            changed |= _annotate(pair.done, 0, (stream,))
    return changed


def _annotate(i: HloInstruction, stream: int, waits: tuple[int, ...]) -> bool:
    """Say it in `backend_config`, beside what is there. Whether that was new."""
    config = {**json_config(i), "operation_queue_id": str(stream), "wait_on_operation_queues": [str(s) for s in waits]}
    text = json.dumps(config, separators=(",", ":"))
    if i.attributes.get("backend_config") == text:
        return False
    i.parent.set_attributes(i, i.attributes.with_values(backend_config=text))
    return True
