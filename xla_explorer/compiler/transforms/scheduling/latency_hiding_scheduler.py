"""The pass `latency-hiding-scheduler`: overlap other work with asynchronous operations.

List scheduling from the end of the program backwards. A done is placed as late as its readers
allow, which opens a window. Independent work fills the window. The start closes it after the
estimated latency, and earlier only if no other work is left. While no window is open, readers of a
done are placed first. Of several instructions the one at the end of the longest chain (latencies
included) is first. Runs before copy insertion, which keeps the order.
Source: xla/service/latency_hiding_scheduler.cc.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.scheduling.async_pairs import (
    AsyncPair,
    DurationModel,
    async_pairs,
)
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import (
    ensure_schedule,
    order_that_saves_copies,
)
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class Window(NamedTuple):
    """An asynchronous pair, its latency, and the work scheduled inside it, in nanoseconds."""

    pair: AsyncPair
    latency: float
    work: float


@value_formatter(
    lambda window: f"work between {window.work / 1e3:.4g} us, latency {window.latency / 1e3:.4g} us"
)
def work_overlaps(window: Window) -> Reason | None:
    """Require some work between start and done."""
    if window.work > 0:
        return None
    start, done = window.pair.start, window.pair.done
    return refuse(
        "nothing-to-overlap",
        f"no work that %{start.name} does not wait for can run before %{done.name}",
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class LatencyHidingScheduler:
    """Schedule a module with asynchronous work; others are left to `memory-scheduler`.

    overlap_limit: asynchronous operations of one kind at a time. memory_limit: live bytes above
    which memory takes priority over latency (0: none).
    """

    name: ClassVar[str] = "latency-hiding-scheduler"
    kinds: ClassVar[tuple[str, ...]] = ("latency-hiding", "execution-order")
    overlap_limit: int = 2
    memory_limit: int = 0

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Schedule every computation that control flow runs."""
        computations = sequential_computations(module)
        if not any(async_pairs(c) for c in computations):
            return False
        durations = DurationModel(context)
        changed = False
        for computation in computations:
            pairs = async_pairs(computation)
            if not pairs:
                changed |= ensure_schedule(computation, context)
                continue
            order = self._schedule(computation, pairs, durations, context)
            if computation.schedule is None or list(computation.schedule) != order:
                computation.set_schedule(order)
                changed = True
        return changed

    def _schedule(
        self,
        computation: HloComputation,
        pairs: list[AsyncPair],
        durations: DurationModel,
        context: PassContext,
    ) -> list[HloInstruction]:
        order = BackwardList(
            computation, pairs, durations, self.overlap_limit, self.memory_limit
        ).order()
        hidden = work_between(order, pairs, durations)
        refused = set()
        for pair in pairs:
            time = durations.pair(pair)
            window = Window(pair, time, hidden[pair])
            facts: dict[str, Any] = {
                "latency_microseconds": time / 1e3,
                "hidden_microseconds": min(time, hidden[pair]) / 1e3,
                "work_between_microseconds": hidden[pair] / 1e3,
                "kind": pair.kind,
            }
            reason = context.decide(
                "latency-hiding",
                (),
                (work_overlaps,),
                pair.start,
                pair.done,
                candidate=window,
                facts=facts.copy,
            )
            if reason is not None and reason.code != "nothing-to-overlap":
                refused.add(pair)
        if refused:
            order = BackwardList(
                computation, pairs, durations, self.overlap_limit, self.memory_limit, refused
            ).order()
        return order


def work_between(
    order: list[HloInstruction], pairs: list[AsyncPair], durations: DurationModel
) -> dict[AsyncPair, float]:
    """Return the nanoseconds of work that an order places between start and done of each pair."""
    elapsed, at = {}, 0.0
    for i in order:
        elapsed[i] = at
        at += durations.instruction(i)
    return {pair: elapsed[pair.done] - elapsed[pair.start] for pair in pairs}


class BackwardList:
    """One backward list scheduling. at_once: pairs whose done follows the start directly."""

    def __init__(
        self,
        computation: HloComputation,
        pairs: list[AsyncPair],
        durations: DurationModel,
        overlap_limit: int,
        memory_limit: int,
        at_once: set[AsyncPair] | frozenset[AsyncPair] = frozenset(),
    ) -> None:
        self.computation, self.overlap_limit, self.memory_limit = (
            computation,
            overlap_limit,
            memory_limit,
        )
        sequence = computation.post_order()
        self.place = {i: number for number, i in enumerate(sequence)}
        self.busy = {i: durations.instruction(i) for i in sequence}
        self.of_start = {pair.start: pair for pair in pairs}
        self.of_done = {pair.done: pair for pair in pairs}
        self.latency = {pair: 0.0 if pair in at_once else durations.pair(pair) for pair in pairs}
        self.at_once = at_once
        self.before: dict[HloInstruction, set[HloInstruction]] = {
            i: {*i.operands, *i.control_predecessors} for i in sequence
        }
        # Ordering readers of a buffer before the instruction that overwrites it saves copies; a
        # control edge may contradict.
        if not any(i.control_predecessors for i in sequence):
            for first, then in order_that_saves_copies(computation):
                self.before[then].add(first)
        self.after: dict[HloInstruction, int] = dict.fromkeys(sequence, 0)
        for earlier in self.before.values():
            for i in earlier:
                self.after[i] += 1
        self.depth = self._depths(sequence)
        # Asynchronous operations in front of each instruction, along one path.
        self.waits: dict[HloInstruction, int] = {}
        for i in sequence:
            inner = max([self.waits[o] for o in i.operands], default=0)
            self.waits[i] = inner + (i in self.of_done)

    def _depths(self, sequence: list[HloInstruction]) -> Mapping[HloInstruction, float]:
        """Return the critical path to the end of each instruction, through operands alone."""
        depth: dict[HloInstruction, float] = {}
        for i in sequence:
            pair = self.of_done.get(i)
            depth[i] = (
                max([depth[o] for o in i.operands], default=0.0)
                + self.busy[i]
                + (self.latency[pair] if pair is not None else 0.0)
            )
        return depth

    def order(self) -> list[HloInstruction]:
        """Return the order of execution."""
        reverse: list[HloInstruction] = []
        now = 0.0
        may_start_at: dict[HloInstruction, float] = {}
        overlapping: dict[str, int] = {}
        alive: set[HloInstruction] = set()
        alive_bytes = 0
        ready = [i for i, waiting in self.after.items() if waiting == 0]
        while ready:
            pressed = bool(self.memory_limit) and alive_bytes > self.memory_limit
            i = min(
                ready, key=lambda c: self._rank(c, now, may_start_at, overlapping, alive, pressed)
            )
            ready.remove(i)
            reverse.append(i)
            now = max(now, may_start_at.get(i, 0.0)) + self.busy[i]
            if i in self.of_done:
                pair = self.of_done[i]
                overlapping[pair.kind] = overlapping.get(pair.kind, 0) + 1
                may_start_at[pair.start] = now + self.latency[pair]
            elif i in self.of_start:
                overlapping[self.of_start[i].kind] -= 1
            alive_bytes += self._growth(i, alive)
            alive.discard(i)
            alive.update(i.operands)
            for earlier in self.before[i]:
                self.after[earlier] -= 1
                if self.after[earlier] == 0:
                    ready.append(earlier)
        return reverse[::-1]

    def _rank(
        self,
        i: HloInstruction,
        now: float,
        may_start_at: Mapping[HloInstruction, float],
        overlapping: Mapping[str, int],
        alive: set[HloInstruction],
        pressed: bool,
    ) -> tuple[float, ...]:
        """Return the priority: the smallest is placed first, that is, runs last."""
        start, done = self.of_start.get(i), self.of_done.get(i)
        if start is not None and start in self.at_once:
            return (-1.0,)
        early = max(0.0, may_start_at.get(i, 0.0) - now)  # a start whose done would wait
        crowded = done is not None and overlapping.get(done.kind, 0) >= self.overlap_limit
        opens = done is not None and not crowded
        memory = float(self._growth(i, alive)) if pressed else 0.0
        closes = start is not None and not early
        idle = not any(overlapping.values())  # no window is open: the next done opens one
        return (
            float(crowded),
            early,
            memory,
            0.0 if opens or closes else 1.0,
            -float(self.waits[i]) if idle else 0.0,
            -self.depth[i],
            -float(self.place[i]),
        )

    def _growth(self, i: HloInstruction, alive: set[HloInstruction]) -> int:
        """Return the bytes that become live, going backwards, if it is placed.

        They are its operands that no later instruction reads, less its result.
        """
        grown = sum([o.shape.byte_size for o in set(i.operands) if o not in alive])
        return grown - (i.shape.byte_size if i in alive else 0)
