"""The collectives of one device: called from native code, they meet the other devices.

Short collectives are done by the last device to arrive, while the others wait. In long ones each
member does its share, and all meet again before any of them goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.cpu.devices.combining import Combine, combine_by
from xla_explorer.backends.cpu.devices.shares import COMBINING, SHARES, Member, Work, whole_work
from xla_explorer.compiler.codegen.program_records import BufferSlice, EvaluatorStep, HostProgram
from xla_explorer.hlo.evaluator import EvaluationError, Evaluator
from xla_explorer.hlo.evaluator.devices.groups import channel_of, group_of, permutation_pairs
from xla_explorer.hlo.evaluator.devices.world import Device
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
ViewOf = Callable[[BufferSlice, Shape], Array]
# Bytes of operands in a group from which each member does its share. A second rendezvous takes
# about 0.1 ms, in which one core combines about 1 MB.
SHARED_WORK_BYTES: Final = 2 << 20


class Meeting(NamedTuple):
    """The times of one visit of a collective, in ns of `perf_counter_ns`.

    step: number of the step. ready: when the last member arrived.
    """

    step: int
    arrived: int
    ready: int
    left: int


class Prepared(NamedTuple):
    """The unchanging parts of a collective on one device."""

    step: EvaluatorStep
    group: tuple[int, ...]
    place: Any
    description: str
    combiners: tuple[Combine, ...]
    bytes_: int


class Exchanges:
    """The collectives of one device in one run.

    view: the memory of a place as an array. prepared: the unchanging parts of each collective on
    this device, kept for later runs. meetings: the times of each visit, if recorded.
    """

    def __init__(
        self,
        program: HostProgram,
        device: Device,
        evaluator: Evaluator,
        view: ViewOf,
        prepared: dict[int, Prepared],
    ) -> None:
        self._program, self._device, self._evaluator = program, device, evaluator
        self._view = view
        self._prepared = prepared
        self.meetings: list[Meeting] | None = None

    def run(self, number: int) -> bool:
        """Do the collective of a step; False if only the evaluator can."""
        step = self._program.evaluator_steps[number]
        name = step.instruction.opcode.name
        arrived = time.perf_counter_ns()
        if name in SHARES:
            ready = self._collective(number, step)
        elif name == "collective-permute" and not step.instruction.attributes.value("slice_sizes"):
            ready = self._permute(step)
        else:
            return False
        if self.meetings is not None:
            self.meetings.append(Meeting(number, arrived, ready, time.perf_counter_ns()))
        return True

    def _collective(self, number: int, step: EvaluatorStep) -> int:
        prepared = self._prepared.get(number)
        if prepared is None:
            prepared = self._prepared[number] = self._prepare(step)
        own = self._member(step)
        group, i, device = prepared.group, step.instruction, self._device
        if len(group) == 1:
            whole_work(Work(i, [own], prepared.combiners))
            return time.perf_counter_ns()
        is_shared = prepared.bytes_ * len(group) >= SHARED_WORK_BYTES

        def together(arrived: dict[int, Member]) -> tuple[int, Work]:
            ready = time.perf_counter_ns()
            work = Work(i, _alike(i, [arrived[n] for n in group]), prepared.combiners)
            if not is_shared:
                whole_work(work)
            return ready, work

        world, place = device.world, prepared.place
        ready: int
        ready, work = world.meet(device, place, own, group, prepared.description, together)
        if is_shared:
            # Combiners of this device: an evaluator serves one thread.
            work = work._replace(combiners=prepared.combiners)
            SHARES[i.opcode.name](work, group.index(device.number), len(group))
            world.meet(
                device, ("end", place), None, group, prepared.description, lambda arrived: None
            )
        return ready

    def _prepare(self, step: EvaluatorStep) -> Prepared:
        i, device = step.instruction, self._device
        group = group_of(i, device)
        _check_devices_exist(i, group, device)
        if device.number not in group:
            raise EvaluationError(
                f"%{i.name} runs on {device!r}, which is not in its group {group}"
            )
        combiners: list[Combine] = []
        if i.opcode.name in COMBINING:
            combiners = [
                combine_by(i.called[0], o.shape.element_type, self._evaluator) for o in i.operands
            ]
        size = sum([o.shape.byte_size for o in i.operands])
        described = f"%{i.name} ({i.opcode.name})"
        return Prepared(step, group, _place(i, group), described, tuple(combiners), size)

    def _member(self, step: EvaluatorStep) -> Member:
        i, view = step.instruction, self._view
        shapes = [leaf for _, leaf in i.shape.leaves() if leaf.is_array]
        operands = [
            view(places[0], o.shape) for o, places in zip(i.operands, step.operands, strict=True)
        ]
        results = [view(place, s) for place, s in zip(step.results, shapes, strict=True)]
        return Member(tuple(operands), tuple(results))

    def _permute(self, step: EvaluatorStep) -> int:
        """Give a copy of the operands to the target, and wait for the own source's."""
        i, device = step.instruction, self._device
        pairs = permutation_pairs(i, device)
        count = len(device.world.devices)
        own = self._member(step)
        sources = [source for source, target in pairs if target == device.number]
        if len(sources) > 1:
            raise EvaluationError(
                f"%{i.name}: {device!r} is the target of several sources {sources}"
            )
        received: Sequence[Array] | None = None
        if sources == [device.number]:
            received = own.operands
        elif any(device.number in pair for pair in pairs):
            _check_devices_exist(i, sources, device)
            taking_part = sorted({n for pair in pairs for n in pair if n < count})
            copies = tuple([x.copy() for x in own.operands])
            described = f"%{i.name} ({i.opcode.name})"
            brought = device.world.exchange(
                device, _place(i, tuple(taking_part)), copies, sources, len(taking_part), described
            )
            received = brought[sources[0]] if sources else None
        ready = time.perf_counter_ns()
        for k, result in enumerate(own.results):
            result[...] = 0 if received is None else received[k]
        return ready


def _place(i: HloInstruction, group: tuple[int, ...]) -> Any:
    """Return the key of a rendezvous: collectives of one kind and channel meet."""
    channel = channel_of(i)
    kind = i.opcode.name
    return (kind, "channel", channel, group) if channel else (kind, "instruction", i.id, group)


def _alike(i: HloInstruction, members: list[Member]) -> list[Member]:
    """Return the members; an error if their operands differ in shape."""
    shapes = {tuple([(x.shape, x.dtype) for x in m.operands + m.results]) for m in members}
    if len(shapes) > 1:
        raise EvaluationError(
            f"%{i.name} ({i.opcode.name}) meets arrays of other shapes on the devices of its group",
            "every device of a group must run the same collectives in the same order",
        )
    return members


def _check_devices_exist(i: HloInstruction, numbers: Sequence[int], device: Device) -> None:
    world = device.world
    beyond = [n for n in numbers if not 0 <= n < len(world.devices)]
    if beyond:
        raise EvaluationError(
            f"%{i.name} names device {beyond[0]}, but there are {len(world.devices)} "
            f"({world.replicas} replicas x {world.partitions} partitions)",
            "run it on more replicas or partitions",
        )
