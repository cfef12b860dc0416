"""Data races: two threads at one place of memory, one of them writing, with nothing that orders them.

Accesses are ordered when one thread made both, when their block passed a barrier between them, or when one warp made both
with `bar.warp.sync` between. Nothing orders two blocks of a launch. The emulator runs threads in lock-step, so a kernel without
its barriers still computes the right values here: only this shows that they are missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Batch
from xla_explorer.backends.gpu.emulator.scalar_types import Array

NOBODY, SEVERAL, ATOMIC = -1, -2, -3


class _LastAccess:
    """Who touched each cell last: thread (or NOBODY, SEVERAL, ATOMIC), its block (or SEVERAL), and the epochs of block and warp."""

    __slots__ = ("block", "epoch", "thread", "warp_epoch")

    def __init__(self, cells: int) -> None:
        self.thread, self.block = np.full(cells, NOBODY), np.full(cells, NOBODY)
        self.epoch, self.warp_epoch = np.full(cells, -1), np.zeros(cells, np.int64)

    def unordered(
        self, cell: Array, thread: Array, block: Array, epoch: Array, warp_epoch: Array | None
    ) -> Array:
        """Where nothing orders the last access before one by these threads."""
        who = self.thread[cell]
        hit: Array = (
            (who != thread)
            & (who != NOBODY)
            & ((self.block[cell] != block) | (self.epoch[cell] == epoch))
        )
        if warp_epoch is not None and hit.any():
            hit &= ~(
                (who // WARP == thread // WARP) & (who >= 0) & (self.warp_epoch[cell] < warp_epoch)
            )
        return hit

    def record(
        self, cell: Array, thread: Array | int, block: Array, epoch: Array, warp_epoch: Array | None
    ) -> None:
        """These threads are the last now."""
        self.thread[cell], self.block[cell], self.epoch[cell] = thread, block, epoch
        if warp_epoch is not None:
            self.warp_epoch[cell] = warp_epoch


class Detector(Protocol):
    """Told of every access to a space, notes the races."""

    def access(
        self, batch: Batch, pc: int, action: str, offset: Array, lanes: Array, total: int
    ) -> None:
        """An access of `total` bytes at each lane's offset in the space. action: load, store or atomic."""
        ...


class RaceDetector(Detector):
    """The last writer and readers of each cell of a space. granule: bytes of a cell, the narrowest access of the kernel.

    Of shared memory there is one for each batch, of global memory one for the launch.
    """

    def __init__(self, space: str, size: int, granule: int) -> None:
        self.space, self.granule, self.size = space, granule, size
        cells = -(-size // granule) + 16
        self.writes, self.reads = _LastAccess(cells), _LastAccess(cells)

    def access(
        self, batch: Batch, pc: int, action: str, offset: Array, lanes: Array, total: int
    ) -> None:
        """Record an access of `total` bytes at each lane's offset in the space, and note the races it makes."""
        inside = (offset >= 0) & (offset + total <= self.size)
        if not inside.all():
            offset, lanes = offset[inside], lanes[inside]
        first_cell = offset // self.granule
        thread = lanes + batch.first * batch.padded
        for k in range(max(1, total // self.granule)):
            cell = first_cell + k
            for kind, hit, other in self._conflicts(batch, action, cell, lanes, thread):
                at = int(np.argmax(hit))
                place = int(offset[at]) + k * self.granule
                in_shared = f"shared byte {place % max(batch.shared_size, 1)}"
                where = in_shared if self.space == "shared" else batch.memory.describe_offset(place)
                example = f"{batch.thread_name(int(lanes[at]))} and {_name(batch, int(other[at]))}, {where}"
                batch.findings.note(kind, pc, int(np.count_nonzero(hit)), example)

    def _conflicts(
        self, batch: Batch, action: str, cell: Array, lanes: Array, thread: Array
    ) -> Iterator[tuple[str, Array, Array]]:
        block = batch.block_of[lanes]
        epoch = batch.epoch[block]
        block = block + batch.first
        warp_epoch = None if batch.warp_epoch is None else batch.warp_epoch[lanes // WARP]
        at = (cell, thread, block, epoch, warp_epoch)
        after_write = self.writes.unordered(*at)
        writer = self.writes.thread[cell]
        if action == "atomic":
            after_write &= writer != ATOMIC
        if after_write.any():
            kind = "race: read after write" if action == "load" else "race: write after write"
            yield (
                (kind if self.space == "shared" else f"{kind} in global memory"),
                after_write,
                writer,
            )
        if action == "load":
            self._record_reads(*at)
            return
        after_read = self.reads.unordered(*at)
        if after_read.any():
            kind = "race: write after read"
            yield (
                (kind if self.space == "shared" else f"{kind} in global memory"),
                after_read,
                self.reads.thread[cell],
            )
        if action == "atomic":
            self.writes.record(cell, ATOMIC, block, epoch, warp_epoch)
            return
        self.writes.record(*at)
        last = self.writes.thread[cell]
        clash = last != thread
        if clash.any():
            yield "race: two lanes store to one place", clash, last

    def _record_reads(
        self, cell: Array, thread: Array, block: Array, epoch: Array, warp_epoch: Array | None
    ) -> None:
        """Readers add up while nothing orders them: several threads, several blocks."""
        reads = self.reads
        joined = reads.unordered(cell, thread, block, epoch, None)
        blocks = np.where(
            (reads.block[cell] != block) & (reads.block[cell] != NOBODY), SEVERAL, block
        )
        who = np.where(joined, SEVERAL, thread)
        reads.record(cell, who, blocks, epoch, warp_epoch)
        # Lanes of this very instruction that read one cell: the last one stands there now.
        crowd = (reads.thread[cell] != who) & ~joined
        if crowd.any():
            mixed = reads.block[cell[crowd]] != blocks[crowd]
            reads.thread[cell[crowd]] = SEVERAL
            reads.block[cell[crowd][mixed]] = SEVERAL


def _name(batch: Batch, number: int) -> str:
    special = {NOBODY: "nobody", SEVERAL: "several threads", ATOMIC: "an atomic"}.get(number)
    return special or f"block {number // batch.padded} thread {number % batch.padded}"
