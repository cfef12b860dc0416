"""The pass `stream-assignment`: the stream of each instruction, and the waits between streams.

Everything runs in order on stream 0, except the work between a start and its done. That work gets
its own stream, which waits for stream 0 at the start, and for which stream 0 waits at the done.
Streams are reused as soon as the schedule is past the done. Written as `operation_queue_id` and
`wait_on_operation_queues` into `backend_config`, as in XLA. Sources:
xla/service/gpu/execution_stream_assignment.cc,
xla/service/gpu/transforms/stream_attribute_annotator.cc.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.scheduling.async_pairs import AsyncPair, async_pairs
from xla_explorer.foundation.measured import listed
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_FREE = frozenset({"parameter", "constant", "get-tuple-element", "tuple", "bitcast", "after-all"})


@register_pass("stream-attribute-annotator")
@dataclasses.dataclass(frozen=True)
class StreamAssignment:
    """Number streams: 0 for the program, then computations, copies, collectives, transfers.

    computations, copies, collectives, transfers: number of streams of each kind.
    """

    name: ClassVar[str] = "stream-assignment"
    computations: int = 3
    copies: int = 1
    collectives: int = 1
    transfers: int = 1

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Annotate starts and dones in every computation that control flow runs."""
        kinds = (
            ("computation", self.computations),
            ("copy", self.copies),
            ("collective", self.collectives),
            ("transfer", self.transfers),
        )
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
    """Return the stream that runs an instruction, by default 0."""
    return int(json_config(i).get("operation_queue_id", 0))


def waits_for(i: HloInstruction) -> tuple[int, ...]:
    """Return the streams that its stream waits for before it runs."""
    return tuple([int(number) for number in json_config(i).get("wait_on_operation_queues", ())])


def _assign(computation: HloComputation, streams: dict[str, range], context: PassContext) -> bool:
    pairs = {pair.start: pair for pair in async_pairs(computation)}
    order = list(computation.sequence())
    place = {i: number for number, i in enumerate(order)}
    busy_until: dict[int, AsyncPair] = {}
    changed = False
    for start in [i for i in order if i in pairs]:
        pair = pairs[start]
        free = [
            s
            for s in streams[pair.kind]
            if s not in busy_until or place[busy_until[s].done] < place[start]
        ]

        between = order[place[start] + 1 : place[pair.done]]
        window = StreamWindow(
            pair,
            tuple(free),
            tuple([busy_until[s].start for s in streams[pair.kind] if s not in free]),
            tuple(between),
        )
        reason = context.decide(
            "stream-assignment",
            LEGALITY,
            PROFITABILITY,
            start,
            pair.done,
            candidate=window,
            facts=window.facts,
        )
        if reason is None:
            stream = free[0]
            busy_until[stream] = pair
            changed |= _annotate(start, stream, (0,))
            changed |= _annotate(pair.done, 0, (stream,))
    return changed


class StreamWindow(NamedTuple):
    """An asynchronous pair.

    free: free streams of its kind; busy: pairs that occupy the others; between: instructions
    between start and done.
    """

    pair: AsyncPair
    free: tuple[int, ...]
    busy: tuple[HloInstruction, ...]
    between: tuple[HloInstruction, ...]

    def facts(self) -> dict[str, Any]:
        """Return the numbers of the decision."""
        return {
            "stream": self.free[0] if self.free else 0,
            "instructions_between": len(self.between),
        }


@value_formatter(
    lambda window: (
        f"%{window.pair.start.parent.name} is "
        f"{'' if window.pair.start.parent.schedule is not None else 'not '}scheduled"
    )
)
def has_a_schedule(window: StreamWindow) -> Reason | None:
    """Require an order of execution in the computation."""
    computation = window.pair.start.parent
    return (
        refuse("no-schedule", f"%{computation.name} has no schedule")
        if computation.schedule is None
        else None
    )


@value_formatter(
    lambda window: f"free streams {len(window.free)} of {len(window.free) + len(window.busy)}"
)
def stream_is_free(window: StreamWindow) -> Reason | None:
    """Require a free stream of its kind."""
    if window.free:
        return None
    kind, busy = window.pair.kind, listed([i.name for i in window.busy])
    message = (
        f"the streams for a {kind} are busy with {busy}"
        if window.busy
        else f"the target has no stream for a {kind}"
    )
    return refuse("no-free-stream", message, streams=len(window.busy))


@value_formatter(
    lambda window: (
        f"work between {len([i for i in window.between if i.opcode.name not in _FREE])} "
        "instructions"
    )
)
def has_work_between(window: StreamWindow) -> Reason | None:
    """Require an instruction that takes time between start and done."""
    if all(i.opcode.name in _FREE for i in window.between):
        return refuse(
            "nothing-in-between",
            f"%{window.pair.done.name} follows %{window.pair.start.name} at once",
        )
    return None


LEGALITY = (has_a_schedule, stream_is_free)
PROFITABILITY = (has_work_between,)


def _annotate(i: HloInstruction, stream: int, waits: tuple[int, ...]) -> bool:
    """Add the streams to `backend_config`; return True if that changed it."""
    config = {
        **json_config(i),
        "operation_queue_id": str(stream),
        "wait_on_operation_queues": [str(s) for s in waits],
    }
    text = json.dumps(config, separators=(",", ":"))
    if i.attributes.get("backend_config") == text:
        return False
    i.parent.set_attributes(i, i.attributes.with_values(backend_config=text))
    return True
