"""A simulated step of one device: kernels in order, collectives beside them, exposed time.

A collective starts as soon as its operands are ready and its class of links is free. The device
computes the first ready kernel in program order; if none is ready, it waits, and the wait is
exposed time of the collective that ends it. Collectives on one class of links run one after
another (parallel_collective_overlap_limit 1 in XLA's latency_hiding_scheduler.h).

A computation with a schedule and asynchronous pairs runs in its order instead: a start begins the
transfer, a done waits for it, and a collective without a pair stops the device until it ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from xla_explorer.compiler.costs.links import Machine
from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.device_work import waits, work_of
from xla_explorer.compiler.transforms.loops.induction import InductionVariable, find_induction
from xla_explorer.hlo.analysis.backend_config import known_trip_count
from xla_explorer.hlo.analysis.collective_traffic import CollectiveTraffic, traffic_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

COMPUTE = "compute"


@dataclass(frozen=True, eq=False)
class Slot:
    """The time of one instruction in a step.

    Attributes
    ----------
    instruction : HloInstruction
        Of the program of one device.
    lane : str
        `compute` or a class of links.
    start_us, us : float
        Of one execution; `start_us` counts from the start of its computation.
    exposed_us : float
        The time in which the device waits for it.
    trips : int
        Executions in a step; those of loops with an unknown count are counted once.
    trips_known : bool
        False inside a loop whose trip count is unknown.
    """

    instruction: HloInstruction
    lane: str
    start_us: float
    us: float
    exposed_us: float = 0.0
    trips: int = 1
    trips_known: bool = True

    @property
    def total_us(self) -> float:
        """The time of all executions."""
        return self.us * self.trips


@dataclass(frozen=True)
class StepSchedule:
    """A simulated step.

    Attributes
    ----------
    us, compute_us : float
        The step, and the time in which the device computes.
    slots : tuple of Slot
        In order of start, those of loops after the loop.
    """

    us: float
    compute_us: float
    slots: tuple[Slot, ...]

    @property
    def exposed_us(self) -> float:
        """The time in which the device waits for collectives."""
        return sum([slot.exposed_us * slot.trips for slot in self.slots])


def link_of(topology: Topology, traffic: CollectiveTraffic) -> str:
    """Return the class of the slowest link that a collective uses."""
    names = [topology.link(group) for group in traffic.groups]
    outer = topology.machine.outer.name
    return outer if outer in names else names[0] if names else topology.machine.inner.name


def collective_us(topology: Topology, traffic: CollectiveTraffic) -> float:
    """Return the time of a collective, with its launch."""
    if traffic.pairs:
        found = topology.permute_time(traffic.size, traffic.pairs)
    else:
        found = topology.time(traffic.kind, traffic.size, traffic.groups)
    return found.us + topology.machine.launch_us if found.us else 0.0


def trip_count(loop: HloInstruction) -> int | None:
    """Return how often the body of a loop runs, or None."""
    known = known_trip_count(loop)
    if known is not None:
        return known
    found = find_induction(loop)
    return found.trip_count if isinstance(found, InductionVariable) else None


def step_schedule(computation: HloComputation, topology: Topology, devices: int) -> StepSchedule:
    """Simulate a step of a program of one device; while loops count their trips."""
    return _Simulation(topology, devices).run(computation)


@dataclass
class _Lanes:
    """When each lane is free."""

    free: dict[str, float] = field(default_factory=dict)

    def take(self, lane: str, ready: float, us: float) -> float:
        """Return the start of work that is ready at some time."""
        start = max(ready, self.free.get(lane, 0.0))
        self.free[lane] = start + us
        return start


class _Simulation:
    def __init__(self, topology: Topology, devices: int) -> None:
        self.topology, self.devices = topology, devices
        self.machine: Machine = topology.machine

    def run(self, computation: HloComputation) -> StepSchedule:
        """Simulate one execution of a computation."""
        run = _Run(self, computation)
        run.simulate()
        inner = [slot for found in run.inner.values() for slot in found.slots]
        slots = tuple(sorted(run.slots, key=lambda slot: slot.start_us))
        compute = sum([slot.us for slot in slots if slot.lane == COMPUTE])
        hidden = sum([found.us - found.compute_us for found in run.inner.values()])
        return StepSchedule(run.end, compute - hidden, (*slots, *inner))

    def called(self, i: HloInstruction) -> StepSchedule | None:
        """Return the step of the computations that an instruction runs, with all its trips."""
        name = i.opcode.name
        if name == "while":
            trips = trip_count(i)
            return _repeated(self.run(i.called[1]), trips)
        if name == "conditional":
            return max([self.run(branch) for branch in i.called], key=lambda one: one.us)
        return self.run(i.called[0]) if name == "call" else None


def _repeated(one: StepSchedule, trips: int | None) -> StepSchedule:
    count = 1 if trips is None else trips
    slots = [
        replace(slot, trips=slot.trips * count, trips_known=slot.trips_known and trips is not None)
        for slot in one.slots
    ]
    return StepSchedule(one.us * count, one.compute_us * count, tuple(slots))


class _Run:
    """The state of the simulation of one computation."""

    def __init__(self, simulation: _Simulation, computation: HloComputation) -> None:
        self.simulation, self.computation = simulation, computation
        self.order = list(computation.sequence())
        self.place = {i: k for k, i in enumerate(self.order)}
        self.inner: dict[HloInstruction, StepSchedule] = {}
        self.done: dict[HloInstruction, float] = {}
        self.lanes = _Lanes()
        self.slots: list[Slot] = []
        self.exposed: dict[HloInstruction, float] = {}
        self.end = self.clock = 0.0
        self.left = {i: len(set(i.operands)) for i in self.order}
        self.ready: list[tuple[float, int]] = []
        self.now: list[int] = []

    def simulate(self) -> None:
        """Run every instruction, then add the exposed times to the slots."""
        if self.computation.schedule is not None and any(map(waits, self.order)):
            self._run_in_order()
        for i in self.order:
            if not self.left[i]:
                heapq.heappush(self.ready, (0.0, self.place[i]))
        while self.ready or self.now:
            self._start_what_is_ready()
            if self.now:
                self._compute(self.order[heapq.heappop(self.now)])
            elif self.ready:
                self._wait(self.clock, self.ready[0][0])
                self.clock = self.ready[0][0]
        if self.end > self.clock:
            self._wait(self.clock, self.end)
        self.slots = [
            replace(slot, exposed_us=self.exposed.get(slot.instruction, 0.0)) for slot in self.slots
        ]

    def _run_in_order(self) -> None:
        """Run every instruction in the order of the schedule."""
        for i in self.order:
            if self._beside(self.place[i]):
                end = self._collective(i, self.clock)
                self.done[i] = end
                if i.opcode.name.endswith("-start"):
                    continue
                self._stop_until(end)
            elif waits(i):
                self._stop_until(max([self.done[o] for o in i.operands]))
            else:
                us = self._us(i)
                if us:
                    self.slots.append(Slot(i, COMPUTE, self.clock, us))
                self.clock += us
            self.done[i] = self.clock
        self.end, self.order = self.clock, []

    def _stop_until(self, end: float) -> None:
        """Let the device wait for the end of a collective."""
        if end > self.clock:
            self._wait(self.clock, end)
            self.clock = end

    def _start_what_is_ready(self) -> None:
        """Start ready collectives, and queue ready kernels in program order."""
        while self.ready and (self.ready[0][0] <= self.clock or self._beside(self.ready[0][1])):
            when, number = heapq.heappop(self.ready)
            if self._beside(number):
                i = self.order[number]
                self._finish(i, self._collective(i, when))
            else:
                heapq.heappush(self.now, number)

    def _compute(self, i: HloInstruction) -> None:
        us = self._us(i)
        if us:
            self.slots.append(Slot(i, COMPUTE, self.clock, us))
        self.clock += us
        self._finish(i, self.clock)

    def _finish(self, i: HloInstruction, at: float) -> None:
        """Note the end of an instruction; users without further operands become ready."""
        self.done[i] = at
        self.end = max(self.end, at)
        for user in dict.fromkeys(i.users):
            self.left[user] -= 1
            if not self.left[user]:
                when = max([self.done[o] for o in user.operands])
                heapq.heappush(self.ready, (when, self.place[user]))

    def _beside(self, number: int) -> bool:
        """Return True for a collective, which the device does not compute."""
        return traffic_of(self.order[number], self.simulation.devices) is not None

    def _us(self, i: HloInstruction) -> float:
        inner = self.simulation.called(i)
        if inner is not None:
            self.inner[i] = inner
            return inner.us
        return work_of(i).us(self.simulation.machine)

    def _collective(self, i: HloInstruction, ready: float) -> float:
        traffic = traffic_of(i, self.simulation.devices)
        assert traffic is not None
        topology = self.simulation.topology
        us, lane = collective_us(topology, traffic), link_of(topology, traffic)
        start = self.lanes.take(lane, ready, us)
        self.slots.append(Slot(i, lane, start, us))
        return start + us

    def _wait(self, start: float, end: float) -> None:
        """Count a wait as exposed time of the collectives that run in it, the last one first."""
        left = end
        for slot in sorted(self.slots, key=lambda one: -(one.start_us + one.us)):
            if slot.lane == COMPUTE or left <= start:
                continue
            stop = min(slot.start_us + slot.us, left)
            if stop <= start:
                continue
            begin = max(slot.start_us, start)
            if begin < stop:
                old = self.exposed.get(slot.instruction, 0.0)
                self.exposed[slot.instruction] = old + left - begin
                left = begin


def hiding_work(collective: HloInstruction, machine: Machine) -> tuple[float, Sequence[str]]:
    """Return the time of kernels that neither need a collective nor feed it, and the largest ones.

    This work could run beside it.
    """
    before, after = (
        _reached(collective, lambda i: i.operands),
        _reached(collective, lambda i: list(i.users)),
    )
    free = [
        (work_of(i).us(machine), i.name)
        for i in collective.parent.instructions.values()
        if i not in before and i not in after and i is not collective
    ]
    largest = sorted([one for one in free if one[0]], reverse=True)
    return sum([us for us, _ in free]), [f"%{name}" for _, name in largest[:3]]


def _reached(
    i: HloInstruction, step: Callable[[HloInstruction], Sequence[HloInstruction]]
) -> set[HloInstruction]:
    found: set[HloInstruction] = set()
    pending = list(step(i))
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += step(one)
    return found
