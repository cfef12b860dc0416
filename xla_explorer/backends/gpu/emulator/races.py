"""Data races: unordered accesses of two threads to one place of memory, at least one a write.

Accesses are ordered if one thread made both, if their block passed a barrier between them, or if
one warp made both with `bar.warp.sync` between. Two blocks of a launch are unordered. The emulator
runs threads in lock-step, so a kernel without its barriers computes correct values here; only race
detection finds the missing barriers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Batch
from xla_explorer.backends.gpu.emulator.scalar_types import Array

NOBODY, SEVERAL, ATOMIC = -1, -2, -3


class _LastAccess:
    """The last access of each cell: thread (or NOBODY, SEVERAL, ATOMIC), block and epochs.

    The block may be SEVERAL. Epochs are of block and warp.
    """

    __slots__ = ("block", "epoch", "thread", "warp_epoch")

    def __init__(self, cells: int) -> None:
        self.thread, self.block = np.full(cells, NOBODY), np.full(cells, NOBODY)
        self.epoch, self.warp_epoch = np.full(cells, -1), np.zeros(cells, np.int64)

    def unordered(
        self, cell: Array, thread: Array, block: Array, epoch: Array, warp_epoch: Array | None
    ) -> Array:
        """Return a mask of cells whose last access is unordered with one by these threads."""
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
        """Record these threads as the last ones."""
        self.thread[cell], self.block[cell], self.epoch[cell] = thread, block, epoch
        if warp_epoch is not None:
            self.warp_epoch[cell] = warp_epoch


class Detector(Protocol):
    """Detector of races from every access to a space."""

    def access(
        self, batch: Batch, pc: int, action: str, offset: Array, lanes: Array, total: int
    ) -> None:
        """Check an access of `total` bytes at each lane's offset in the space.

        action: load, store or atomic.
        """
        ...


class RaceDetector(Detector):
    """The last writer and readers of each cell of a space.

    granule: bytes of a cell, the narrowest access of the kernel. There is one detector of shared
    memory for each batch, one of global memory for the launch.
    """

    def __init__(self, space: str, size: int, granule: int) -> None:
        self.space, self.granule, self.size = space, granule, size
        cells = -(-size // granule) + 16
        self.writes, self.reads = _LastAccess(cells), _LastAccess(cells)

    def access(
        self, batch: Batch, pc: int, action: str, offset: Array, lanes: Array, total: int
    ) -> None:
        """Record an access of `total` bytes at each lane's offset in the space, and its races."""
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
                example = (
                    f"{batch.thread_name(int(lanes[at]))} and {_name(batch, int(other[at]))}, "
                    f"{where}"
                )
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
        """Accumulate unordered readers: several threads, several blocks."""
        reads = self.reads
        joined = reads.unordered(cell, thread, block, epoch, None)
        blocks = np.where(
            (reads.block[cell] != block) & (reads.block[cell] != NOBODY), SEVERAL, block
        )
        who = np.where(joined, SEVERAL, thread)
        reads.record(cell, who, blocks, epoch, warp_epoch)
        # Lanes of this instruction that read the same cell: the last one is recorded at this point.
        crowd = (reads.thread[cell] != who) & ~joined
        if crowd.any():
            mixed = reads.block[cell[crowd]] != blocks[crowd]
            reads.thread[cell[crowd]] = SEVERAL
            reads.block[cell[crowd][mixed]] = SEVERAL


def _name(batch: Batch, number: int) -> str:
    special = {NOBODY: "nobody", SEVERAL: "several threads", ATOMIC: "an atomic"}.get(number)
    return special or f"block {number // batch.padded} thread {number % batch.padded}"
