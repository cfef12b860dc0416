"""Loops with several copies of their bodies, so that collectives of two iterations overlap.

Source: xla/backends/gpu/transforms/double_buffer_loop_unrolling.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
loops with a known trip count above 1, nested   the same, inner loops first
ones included
strategy double_buffer: two iterations a step,  the same; the peeled one stands before the loop
an odd count peeled
strategy full_unroll: all iterations in a step  the same
strategy auto: double_buffer for bodies with    the same
collectives, else nothing
control edges and called computations           copied
channels of collectives                         each copy gets its own
the trip count and the step of the counter in   updated
the backend config
_xla_send_recv_validation of permutes           hole: copied as it is
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.hlo.analysis.backend_config import json_config, known_trip_count
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_OWN_CALLEES = frozenset(["while", "conditional", "call", "async-start", "fusion"])
_COLLECTIVES = (
    "all-reduce",
    "all-gather",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "reduce-scatter",
    "ragged-all-to-all",
    "send",
    "recv",
)


def communicates(computation: HloComputation) -> bool:
    """Return True if a body exchanges values with other devices."""
    return any(
        i.opcode.name.startswith(_COLLECTIVES)
        or (i.opcode.name == "async-start" and communicates(i.called[0]))
        for i in computation.instructions.values()
    )


def copy_iteration(
    body: HloComputation, target: HloComputation, state: HloInstruction, channels: dict[int, int]
) -> HloInstruction:
    """Add one iteration of a body to a computation, starting from a state; return the next state.

    channels: the new channel of each old one.
    """
    copies: dict[HloInstruction, HloInstruction] = {}
    for i in list(body.post_order()):
        if i.opcode.name == "parameter":
            copies[i] = state
            continue
        attributes = i.attributes
        channel = attributes.get("channel_id")
        if channel:
            attributes = attributes.with_values(channel_id=channels.setdefault(channel, channel))
        own = i.opcode.name in _OWN_CALLEES
        made = target.add(
            i.opcode,
            i.shape,
            [copies[o] for o in i.operands],
            attributes,
            called=tuple([c.clone() for c in i.called]) if own else i.called,
            payload=i.payload,
            name=i.name,
            metadata=i.metadata,
        )
        copies[i] = made
        before = [copies[p] for p in i.control_predecessors if p.opcode.name != "parameter"]
        if before:
            target.set_control_predecessors(made, before)
    return copies[body.root]


class _Channels:
    """Channels that no instruction of the module uses."""

    def __init__(self, module: HloModule) -> None:
        used = [int(i.attributes.get("channel_id") or 0) for i in module.instructions()]
        self._next = max(used, default=0) + 1

    def fresh_for(self, body: HloComputation) -> dict[int, int]:
        """Return a new channel for each one of a body."""
        found = sorted(
            {
                int(i.attributes["channel_id"])
                for i in body.instructions.values()
                if i.attributes.get("channel_id")
            }
        )
        made = {old: self._next + k for k, old in enumerate(found)}
        self._next += len(found)
        return made


@register_pass()
@dataclasses.dataclass(frozen=True)
class LoopDoubleBufferTransformer:
    """Run several iterations in one step of a loop.

    unroll_strategy: `double_buffer`, `full_unroll` or `auto`.
    """

    name: ClassVar[str] = "loop-double-buffer-transformer"
    unroll_strategy: str = "double_buffer"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Unroll the loops of every computation, inner ones first."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                trips = known_trip_count(loop)
                wanted = self.unroll_strategy != "auto" or communicates(loop.called[1])
                if (
                    trips is not None
                    and trips > 1
                    and wanted
                    and loop.shape.is_tuple
                    and context.decide(self.name, (), (), loop) is None
                ):
                    context.rewrote(self.name, loop, loop, (), {"trip_count": trips})
                    self._unroll(loop, trips)
                    changed = True
        if changed:
            order_callees_first(module)
        return changed

    def _unroll(self, loop: HloInstruction, trips: int) -> None:
        channels = _Channels(loop.parent.module)
        if self.unroll_strategy == "full_unroll":
            _repeat(loop, trips, channels)
            _set_count(loop, 1, trips)
            return
        if trips % 2:
            body, parent = loop.called[1], loop.parent
            start = copy_iteration(body, parent, loop.operands[0], channels.fresh_for(body))
            parent.set_operands(loop, (start,))
        _repeat(loop, 2, channels)
        _set_count(loop, trips // 2, 2)


def _repeat(loop: HloInstruction, times: int, channels: _Channels) -> None:
    """Run the body of a loop several times in one step."""
    body = loop.called[1]
    single = body.clone(f"{body.name}.iteration")
    for _ in range(times - 1):
        made = copy_iteration(single, body, body.root, channels.fresh_for(single))
        body.set_root(made)
    body.module.remove_computation(single)


def _set_count(loop: HloInstruction, trips: int, times: int) -> None:
    """Write the new trip count, and the longer step of the counter, to the backend config."""
    config: dict[str, Any] = json_config(loop)
    config["known_trip_count"] = {"n": str(trips)}
    step = config.get("known_init_step")
    if isinstance(step, dict) and "step" in step:
        config["known_init_step"] = {**step, "step": str(int(step["step"]) * times)}
    text = json.dumps(config, separators=(",", ":"))
    loop.parent.set_attributes(loop, loop.attributes.with_values(backend_config=text))
