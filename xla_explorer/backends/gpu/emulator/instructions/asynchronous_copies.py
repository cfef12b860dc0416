"""`cp.async`: copies of 4 to 16 bytes a lane from global to shared memory, in groups with waits.

The bytes are copied at once, but reading them before the copying lane has waited for their group is
a fault. Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group
from xla_explorer.backends.gpu.emulator.instructions.memory_instructions import MemoryInstruction
from xla_explorer.backends.gpu.emulator.memory import ALL_WRITTEN
from xla_explorer.backends.gpu.emulator.operands import Names, address_getter, getter
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import DTYPES, Array

Step = Callable[[Batch, Group], None]
_WORD = 4


class _Record(NamedTuple):
    """Copies started by one instruction.

    group: number of each lane's group. offset: in the batch's shared memory.
    """

    pc: int
    lanes: Array
    group: Array
    offset: Array
    size: int


class PendingCopies:
    """Pending copies of a batch's lanes.

    committed: groups of each lane. on_the_way: by word of shared memory.
    """

    def __init__(self, batch: Batch) -> None:
        self.committed = np.zeros(batch.lanes, np.int32)
        self.on_the_way = np.zeros(batch.shared_size * batch.blocks // _WORD, bool)
        self.records: list[_Record] = []

    def start(self, record: _Record) -> None:
        """Start copies."""
        self.records.append(record)
        for k in range(record.size // _WORD):
            self.on_the_way[record.offset // _WORD + k] = True

    def wait(self, batch: Batch, lanes: Array, pending: int) -> None:
        """Wait for all but the lanes' newest groups."""
        limit = np.full(batch.lanes, -1, np.int64)
        limit[lanes] = self.committed[lanes] - pending
        left: list[_Record] = []
        for record in self.records:
            done = record.group < limit[record.lanes]
            if not done.any():
                left.append(record)
                continue
            self._finish(
                batch,
                record._replace(
                    lanes=record.lanes[done], group=record.group[done], offset=record.offset[done]
                ),
            )
            if not done.all():
                rest = ~done
                left.append(
                    record._replace(
                        lanes=record.lanes[rest],
                        group=record.group[rest],
                        offset=record.offset[rest],
                    )
                )
        self.records = left

    def _finish(self, batch: Batch, record: _Record) -> None:
        for k in range(record.size // _WORD):
            self.on_the_way[record.offset // _WORD + k] = False
        detector = batch.races.get("shared")
        # The bytes may arrive any time until now: a barrier since the start has not published them.
        if detector is not None:
            detector.access(batch, record.pc, "store", record.offset, record.lanes, record.size)

    def check(self, batch: Batch, pc: int, offset: Array, lanes: Array, size: int) -> None:
        """Record reads of bytes whose copy is pending."""
        if not self.records:
            return
        inside = (offset >= 0) & (offset + size <= _WORD * len(self.on_the_way))
        hit = np.zeros(len(lanes), bool)
        for k in range(-(-size // _WORD)):
            hit |= self.on_the_way[np.where(inside, offset, 0) // _WORD + k] & inside
        if hit.any():
            at = int(offset[int(np.argmax(hit))]) % max(batch.shared_size, 1)
            batch.fault(
                "read of a copy that was not waited for (cp.async.wait_group)",
                pc,
                lanes,
                hit,
                f"shared byte {at}",
            )


def asynchronous_copy(
    names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]
) -> Step | None:
    """Return the step of `cp.async`, except for its bulk forms."""
    if "mbarrier" in parts:
        raise UnsupportedPtxError(
            f"PTX line {i.line}: the emulator has no {i.opcode}",
            "groups and their waits are emulated",
        )
    if parts[2] == "commit_group":

        def commit(batch: Batch, group: Group) -> None:
            _copies(batch).committed[batch.lanes_of(group)] += 1

        return commit
    if parts[2] in ("wait_group", "wait_all"):
        pending = (
            int(i.operands[0], 0) if i.operands else -1
        )  # wait_all: also copies without a group
        return lambda batch, group: _copies(batch).wait(batch, batch.lanes_of(group), pending)
    size = int(i.operands[2], 0)
    target = MemoryInstruction(pc, ("shared",), address_getter(names, i.operands[0]), _WORD, size)
    origin = MemoryInstruction(pc, ("global",), address_getter(names, i.operands[1]), _WORD, size)
    bytes_read = getter(names, i.operands[3], "u32") if len(i.operands) > 3 else None
    kind = DTYPES["b32"]

    def copy(batch: Batch, group: Group) -> None:
        memory, offset, bad = origin.resolve(batch, group, "load")
        shared, place, bad_place = target.resolve(batch, group, "store")
        keep = np.ones(group.count, bool)
        for wrong in (bad, bad_place):
            if wrong is not None:
                keep &= ~wrong
        offset = np.broadcast_to(offset, group.count)
        limit = np.broadcast_to(
            np.uint32(size) if bytes_read is None else bytes_read(batch, group.lanes), group.count
        )
        for k in range(size // _WORD):
            value = np.where(_WORD * k < limit, memory.view(kind)[(offset >> 2) + k], np.uint32(0))
            index = (place[keep] >> 2) + k
            shared.view(kind)[index] = value[keep]
            shared.shadow_view(_WORD)[index] = ALL_WRITTEN[_WORD]
        lanes = batch.lanes_of(group)[keep]
        _copies(batch).start(_Record(pc, lanes, _copies(batch).committed[lanes], place[keep], size))

    return copy


def _copies(batch: Batch) -> PendingCopies:
    if batch.copies is None:
        batch.copies = PendingCopies(batch)
    return batch.copies
