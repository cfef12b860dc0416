"""mbarrier objects: barriers in shared memory that count arrivals and bytes in phases.

A phase is complete after the object's number of arrivals, and after all announced bytes have been
copied. The scheduler parks threads that wait for a phase until some phase completes, so that an
endless wait is detected. Source: PTX ISA, "Parallel Synchronization and Communication Instructions:
mbarrier".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group, Lanes
from xla_explorer.backends.gpu.emulator.memory import ALL_WRITTEN, SHARED_WINDOW
from xla_explorer.backends.gpu.emulator.operands import (
    Getter,
    Names,
    address_getter,
    getter,
    setter,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import Array

Step = Callable[[Batch, Group], None]
_OBJECT = 8  # bytes
_COUNT_LIMIT, _BYTES_LIMIT = (1 << 20) - 1, (1 << 20) - 1


class MemoryBarriers:
    """The objects of a batch.

    They are indexed by place: block number times objects of a block's shared memory, plus offset /
    8. count: arrivals of a phase, 0 without an object. pending: missing arrivals of this phase.
    outstanding: announced bytes not yet copied. phase: number of completed phases. ended: of
    completed phases in total; waits are checked again when it grows.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.places = batch.shared_size // _OBJECT
        size = self.places * batch.blocks
        self.count, self.pending = np.zeros(size, np.int32), np.zeros(size, np.int32)
        self.outstanding, self.phase = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.ended = 0

    def find(
        self, pc: int, where: Array, lanes: Array, *, new: bool = False
    ) -> tuple[Array, Array]:
        """Return the objects at addresses in shared memory and the lanes with one.

        Others are faults.
        """
        where = np.broadcast_to(where, len(lanes)).astype(np.int64)
        where = np.where(where >= SHARED_WINDOW, where - SHARED_WINDOW, where)
        batch = self.batch
        wrong = (where < 0) | (where + _OBJECT > batch.shared_size)
        crooked = (where % _OBJECT != 0) & ~wrong
        for kind, hit in (("out of bounds", wrong), ("misaligned", crooked)):
            if hit.any():
                batch.fault(
                    kind,
                    pc,
                    lanes,
                    hit,
                    f"mbarrier at shared byte {int(where[int(np.argmax(hit))])}",
                )
        good = ~(wrong | crooked)
        index = np.where(good, batch.block_of[lanes] * self.places + where // _OBJECT, 0)
        if not new:
            missing = good & (self.count[index] == 0)
            if missing.any():
                at = int(where[int(np.argmax(missing))])
                batch.fault(
                    "mbarrier that was not initialised", pc, lanes, missing, f"shared byte {at}"
                )
                good &= ~missing
        if batch.clocks is not None and not new and good.any():
            batch.clocks.reads_object(batch, pc, where[good], lanes[good])
        return index[good], lanes[good]

    def update(
        self,
        pc: int,
        index: Array,
        lanes: Array,
        arrivals: Array | int,
        announced: Array | int,
        copied: Array | int,
    ) -> None:
        """Apply arrivals and bytes, and complete phases."""
        batch = self.batch
        if not len(index):
            return
        np.subtract.at(self.pending, index, arrivals)
        np.add.at(self.outstanding, index, np.asarray(announced) - np.asarray(copied))
        if batch.clocks is not None and np.any(arrivals):
            batch.clocks.arrive(batch, index, lanes)
        touched = np.unique(index)
        early = touched[self.pending[touched] < 0]
        if len(early):
            hit = np.isin(index, early)
            made = int(self.count[early[0]])
            batch.fault(
                "more arrivals than the mbarrier counts in a phase",
                pc,
                lanes,
                hit,
                f"it was initialised for {made}",
            )
            self.pending[early] = 0
        over = touched[(self.pending[touched] == 0) & (self.outstanding[touched] == 0)]
        if len(over):
            if batch.clocks is not None:
                batch.clocks.end_phase(batch, over, self.phase[over])
            self.phase[over] += 1
            self.pending[over] = self.count[over]
            self.ended += 1

    def describe(self, place: int) -> str:
        """Describe the missing arrivals and bytes of an object."""
        return (f"the mbarrier at shared byte {place % self.places * _OBJECT} in phase "
        f"{int(self.phase[place])} still waits for "
                f"{int(self.pending[place])} of {int(self.count[place])} arrivals and {int(self.outstanding[place])} bytes")  # fmt: skip


def memory_barriers(batch: Batch) -> MemoryBarriers:
    """Return the batch's objects, created on first use."""
    if batch.memory_barriers is None:
        batch.memory_barriers = MemoryBarriers(batch)
    return batch.memory_barriers


def barrier_instruction(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `mbarrier`, except for waits (see `Wait`)."""
    name = parts[1]
    if name == "init":
        return _initialise(names, pc, i)
    if name == "inval":
        where_of = address_getter(names, i.operands[0])

        def invalidate(batch: Batch, group: Group) -> None:
            lanes = batch.lanes_of(group)
            index, _ = memory_barriers(batch).find(pc, where_of(batch, group.lanes), lanes)
            memory_barriers(batch).count[index] = 0

        return invalidate
    if name == "arrive":
        return _arrive(names, pc, i, parts)
    if name in ("expect_tx", "complete_tx"):
        where_of, bytes_of = (
            address_getter(names, i.operands[0]),
            getter(names, i.operands[1], "u32"),
        )

        def transactions(batch: Batch, group: Group) -> None:
            index, lanes, amount = _with_amount(batch, group, pc, where_of, bytes_of)
            announced, copied = (amount, 0) if name == "expect_tx" else (0, amount)
            memory_barriers(batch).update(pc, index, lanes, 0, announced, copied)

        return transactions
    raise UnsupportedPtxError(
        f"PTX line {i.line}: the emulator has no {i.opcode}", "run the kernel on a device"
    )


def _with_amount(
    batch: Batch, group: Group, pc: int, where_of: Getter, amount_of: Getter
) -> tuple[Array, Array, Array]:
    lanes = batch.lanes_of(group)
    index, good = memory_barriers(batch).find(pc, where_of(batch, group.lanes), lanes)
    amount = np.broadcast_to(amount_of(batch, group.lanes), len(lanes)).astype(np.int64)
    return index, good, amount if len(good) == len(lanes) else amount[np.isin(lanes, good)]


def _initialise(names: Names, pc: int, i: PtxInstruction) -> Step:
    where_of, count_of = address_getter(names, i.operands[0]), getter(names, i.operands[1], "u32")

    def run(batch: Batch, group: Group) -> None:
        barriers, lanes = memory_barriers(batch), batch.lanes_of(group)
        where = np.broadcast_to(where_of(batch, group.lanes), len(lanes)).astype(np.int64)
        index, good = barriers.find(pc, where, lanes, new=True)
        count = np.broadcast_to(count_of(batch, group.lanes), len(lanes)).astype(np.int64)[
            np.isin(lanes, good)
        ]
        wrong = (count < 1) | (count > _COUNT_LIMIT)
        if wrong.any():
            batch.fault(
                "mbarrier for an impossible number of arrivals",
                pc,
                good,
                wrong,
                f"{int(count[int(np.argmax(wrong))])}",
            )
            count = np.clip(count, 1, _COUNT_LIMIT)
        barriers.count[index], barriers.pending[index] = count, count
        barriers.phase[index], barriers.outstanding[index] = 0, 0
        shared = batch.spaces["shared"]
        cell = batch.block_of[good] * (batch.shared_size // _OBJECT) + index % barriers.places
        shared.shadow_view(_OBJECT)[cell] = ALL_WRITTEN[_OBJECT]
        for detector in (batch.races.get("shared"),):
            if detector is not None:
                detector.access(batch, pc, "store", cell * _OBJECT, good, _OBJECT)

    return run


def _arrive(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `mbarrier.arrive`, with or without `expect_tx`.

    The returned state is the number of the phase.
    """
    if "drop" in parts or "noComplete" in parts:
        raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no {i.opcode}")
    bracketed = next(k for k, text in enumerate(i.operands) if text.startswith("["))
    put = setter(names, i.operands[0]) if bracketed and i.operands[0] != "_" else None
    where_of = address_getter(names, i.operands[bracketed])
    extra = (
        getter(names, i.operands[bracketed + 1], "u32") if len(i.operands) > bracketed + 1 else None
    )
    expects = "expect_tx" in parts

    def run(batch: Batch, group: Group) -> None:
        barriers, lanes = memory_barriers(batch), batch.lanes_of(group)
        index, good = barriers.find(pc, where_of(batch, group.lanes), lanes)
        if put is not None:
            state = np.zeros(len(lanes), np.uint64)
            state[np.isin(lanes, good)] = barriers.phase[index]
            put(batch, group, state)
        number: Array | int = 1
        if extra is not None:
            number = np.broadcast_to(extra(batch, group.lanes), len(lanes)).astype(np.int64)[
                np.isin(lanes, good)
            ]
        arrivals, announced = (1, number) if expects else (number, 0)
        if expects and np.any(np.asarray(number) > _BYTES_LIMIT):
            batch.fault(
                "more bytes than an mbarrier can count", pc, good, np.asarray(number) > _BYTES_LIMIT
            )
        barriers.update(pc, index, good, arrivals, announced, 0)

    return run


class Wait:
    """`mbarrier.try_wait` and `test_wait`, by phase parity or by the state of an arrival."""

    def __init__(self, names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> None:
        self.pc, self.by_parity = pc, "parity" in parts
        self.put = setter(names, i.operands[0])
        self.where_of = address_getter(names, i.operands[1])
        self.state_of = getter(names, i.operands[2], "u32" if self.by_parity else "u64")

    def ready(self, batch: Batch, lanes: Array) -> Array:
        """Return for each lane whether its phase is complete.

        Lanes without an object do not wait.
        """
        barriers = memory_barriers(batch)
        index, good = barriers.find(self.pc, self.where_of(batch, lanes), lanes)
        state = np.broadcast_to(self.state_of(batch, lanes), len(lanes)).astype(np.int64)
        over = np.ones(len(lanes), bool)
        found = np.isin(lanes, good) if len(good) != len(lanes) else np.ones(len(lanes), bool)
        state = state[found]
        phase = barriers.phase[index]
        over[found] = (phase & 1) != (state & 1) if self.by_parity else phase != state
        if batch.clocks is not None:
            ended = over[found]
            batch.clocks.wait(batch, index[ended], good[ended])
        return over

    def finish(self, batch: Batch, lanes: Lanes, outcome: Array) -> None:
        """Set the predicate of lanes that continue."""
        self.put(batch, Group(batch.lanes, lanes), outcome)

    def test(self, batch: Batch, group: Group) -> None:
        """Execute `test_wait`, which does not wait."""
        self.finish(batch, group.lanes, self.ready(batch, batch.lanes_of(group)))

    def stuck(self, batch: Batch, lanes: Array) -> str:
        """Describe the first lane that waits forever."""
        index, _ = memory_barriers(batch).find(self.pc, self.where_of(batch, lanes), lanes)
        where = f", {memory_barriers(batch).describe(int(index[0]))}" if len(index) else ""
        return f"{batch.thread_name(int(lanes[0]))}{where}"
