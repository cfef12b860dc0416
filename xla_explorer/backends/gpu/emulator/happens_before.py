"""Race detection by vector clocks, for kernels with other synchronisation than block barriers.

Every warp of a block has a clock, which advances with every release (arrival at a barrier of any
kind). It also has a vector of the observed times of other warps. Arrivals and waits carry this
vector. Writes of the copy engine belong to the mbarrier that counts their bytes, and are visible
after a wait for that phase. Reads of a warpgroup's product last until the warpgroup has waited for
it. An access that is not ordered after the last one to the same cell is a race.

Lanes of one warp are ordered by `bar.warp.sync` and by any order of warps. Source: C. Flanagan, S.
Freund, "FastTrack: Efficient and Precise Dynamic Race Detection" (2009); PTX ISA, "Memory
Consistency Model", "Async proxy".
"""

from __future__ import annotations

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Batch
from xla_explorer.backends.gpu.emulator.ptx_text import UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.races import Detector
from xla_explorer.backends.gpu.emulator.scalar_types import Array

NOBODY = -1
UNFINISHED = np.int32(2**31 - 1)  # the time of a pending read
_OBJECTS = 64  # mbarriers of a block
_OBJECT_BYTES = 8


class Clocks(Detector):
    """Vector clocks of a batch's shared memory.

    known[block, warp, agent]: time up to which a warp has observed an agent; agents are warps, then
    mbarriers.
    """

    def __init__(self, batch: Batch, granule: int) -> None:
        self.granule, self.size = granule, batch.shared_size * batch.blocks
        self.warps, self.block_cells = batch.padded // WARP, batch.shared_size // granule
        agents, blocks, cells = self.warps + _OBJECTS, batch.blocks, self.size // granule
        self.known = np.zeros((blocks, self.warps, agents), np.int32)
        self.known[:, range(self.warps), range(self.warps)] = 1
        self.synchronisations = np.zeros(
            (blocks, self.warps), np.int32
        )  # number of synchronisations of a warp's lanes
        self.gathered, self.released = (
            np.zeros((blocks, _OBJECTS, agents), np.int32) for _ in range(2)
        )
        self.at_barrier = np.zeros((16, blocks, agents), np.int32)
        self.columns: dict[int, int] = {}
        self.writer, self.atomic = np.full(cells, NOBODY, np.int16), np.zeros(cells, bool)
        self.write_time, self.write_synchronisations = (
            np.zeros(cells, np.int32),
            np.zeros(cells, np.int32),
        )
        self.write_lane, self.unfenced = np.full(cells, NOBODY, np.int32), np.zeros(cells, bool)
        self.read_time = np.zeros((self.warps, cells), np.int32)

    def access(
        self, batch: Batch, pc: int, action: str, offset: Array, lanes: Array, total: int
    ) -> None:
        """Check an ordinary load or store (see `RaceDetector.access`)."""
        inside = (offset >= 0) & (offset + total <= self.size)
        if not inside.all():
            offset, lanes = offset[inside], lanes[inside]
        for k in range(max(1, total // self.granule)):
            cell = offset // self.granule + k
            block, warp = batch.block_of[lanes], batch.thread_in_block[lanes] // WARP
            self._after_writes(batch, pc, action, cell, lanes, block, warp)
            if action == "load":
                self.read_time[warp, cell] = self.known[block, warp, warp]
                continue
            self._after_reads(batch, pc, cell, lanes, block, warp)
            self._wrote(
                cell, warp, self.known[block, warp, warp], lanes, self.synchronisations[block, warp]
            )
            self.unfenced[cell] = True
            self.atomic[cell] = action == "atomic"
            if action == "store":
                clash = self.write_lane[cell] != lanes
                if clash.any():
                    self._note(
                        batch,
                        pc,
                        "race: two lanes store to one place",
                        clash,
                        lanes,
                        self.write_lane[cell],
                        cell,
                    )

    def _wrote(
        self,
        cell: Array,
        agent: Array | int,
        time: Array | int,
        lane: Array | int,
        synchronisations: Array | int,
    ) -> None:
        self.writer[cell], self.write_time[cell], self.write_lane[cell] = agent, time, lane
        self.write_synchronisations[cell] = synchronisations

    def _after_writes(
        self,
        batch: Batch,
        pc: int,
        action: str,
        cell: Array,
        lanes: Array,
        block: Array,
        warp: Array,
    ) -> None:
        writer, when = self.writer[cell], self.write_time[cell]
        seen = self.known[block, warp, np.maximum(writer, 0)]
        same = writer == warp
        hit: Array = (writer != NOBODY) & ~same & (seen < when)
        hit |= (
            same
            & (self.write_lane[cell] != lanes)
            & (self.write_synchronisations[cell] == self.synchronisations[block, warp])
        )
        if action == "atomic":
            hit &= ~self.atomic[cell]
        if hit.any():
            kind = "race: read after write" if action == "load" else "race: write after write"
            self._note(
                batch,
                pc,
                kind,
                hit,
                lanes,
                self.write_lane[cell],
                cell,
                copied=writer >= self.warps,
            )

    def _after_reads(
        self, batch: Batch, pc: int, cell: Array, lanes: Array, block: Array, warp: Array
    ) -> None:
        times = self.read_time[:, cell]
        late: Array = times > self.known[block, warp, : self.warps].T
        own = warp == np.arange(self.warps)[:, None]
        late = np.where(own, times == UNFINISHED, late)
        hit: Array = np.asarray(late.any(0))
        if hit.any():
            reader = np.argmax(late, 0)
            unfinished = bool((times[reader, np.arange(len(cell))][hit] == UNFINISHED).any())
            kind = (
                "race: write while an asynchronous operation still reads"
                if unfinished
                else "race: write after read"
            )
            self._note(batch, pc, kind, hit, lanes, block * batch.padded + reader * WARP, cell)

    def _note(
        self,
        batch: Batch,
        pc: int,
        kind: str,
        hit: Array,
        lanes: Array,
        other: Array,
        cell: Array,
        copied: Array | None = None,
    ) -> None:
        at = int(np.argmax(hit))
        byte = int(cell[at]) % self.block_cells * self.granule
        who = (
            "the copy engine"
            if copied is not None and bool(copied[at])
            else batch.thread_name(int(other[at]))
        )
        example = f"{batch.thread_name(int(lanes[at]))} and {who}, shared byte {byte}"
        batch.findings.note(kind, pc, int(np.count_nonzero(hit)), example)

    def engine_writes(
        self, batch: Batch, pc: int, lane: int, start: int, size: int, place: int | None, phase: int
    ) -> None:
        """Check a write of the copy engine on behalf of a lane, counted by an mbarrier's phase.

        start: in the batch's shared memory.
        """
        cell = np.arange(start // self.granule, -(-(start + size) // self.granule))
        block, warp = int(batch.block_of[lane]), int(batch.thread_in_block[lane]) // WARP
        lanes, blocks, warps = (np.full(len(cell), value) for value in (lane, block, warp))
        if place is not None:
            at = np.array(
                [
                    (
                        block * batch.shared_size
                        + place % (batch.shared_size // _OBJECT_BYTES) * _OBJECT_BYTES
                    )
                    // self.granule
                ]
            )
            if self.unfenced[at[0]]:
                kind = "mbarrier used by the copy engine before fence.mbarrier_init"
                self._note(batch, pc, kind, np.ones(1, bool), lanes[:1], self.write_lane[at], at)
        self._after_writes(batch, pc, "store", cell, lanes, blocks, warps)
        self._after_reads(batch, pc, cell, lanes, blocks, warps)
        agent = warp if place is None else self.warps + self._column(place, batch)
        self._wrote(
            cell,
            agent,
            phase + 1 if place is not None else int(self.known[block, warp, warp]),
            lane,
            0,
        )
        self.unfenced[cell], self.atomic[cell] = False, False

    def reads_asynchronously(
        self, batch: Batch, pc: int, cell: Array, first_lane: int, warps: int
    ) -> None:
        """Start an asynchronous read of cells by some warps; `finished` ends it."""
        block, warp = (
            int(batch.block_of[first_lane]),
            int(batch.thread_in_block[first_lane]) // WARP,
        )
        lanes, blocks, own = (np.full(len(cell), value) for value in (first_lane, block, warp))
        self._after_writes(batch, pc, "load", cell, lanes, blocks, own)
        unfenced = self.unfenced[cell]
        if unfenced.any():
            self._note(batch, pc, "written by ordinary stores, read by the asynchronous proxy without "
            "fence.proxy.async", unfenced, lanes,
                       self.write_lane[cell], cell)  # fmt: skip
        self.read_time[warp : warp + warps, cell] = UNFINISHED

    def finished(self, batch: Batch, cell: Array, first_lane: int, warps: int) -> None:
        """End an asynchronous read of cells."""
        block, warp = (
            int(batch.block_of[first_lane]),
            int(batch.thread_in_block[first_lane]) // WARP,
        )
        for one in range(warp, warp + warps):
            self.read_time[one, cell] = self.known[block, one, one]

    def fence(self, batch: Batch, lanes: Array) -> None:
        """Emulate `fence.proxy.async`: stores of these lanes become visible to the async proxy."""
        cells = np.flatnonzero(self.unfenced)
        self.unfenced[cells[np.isin(self.write_lane[cells], lanes)]] = False

    def _column(self, place: int, batch: Batch) -> int:
        offset = place % (batch.shared_size // _OBJECT_BYTES)
        found = self.columns.setdefault(offset, len(self.columns))
        if found >= _OBJECTS:
            raise UnsupportedPtxError(
                f"the emulator follows at most {_OBJECTS} mbarriers of a block"
            )
        return found

    def _objects(self, batch: Batch, index: Array) -> tuple[Array, Array]:
        places = batch.shared_size // _OBJECT_BYTES
        return index // places, np.array(
            [self._column(int(place), batch) for place in index], np.int64
        )

    def reads_object(self, batch: Batch, pc: int, where: Array, lanes: Array) -> None:
        """Check that an mbarrier is used after its initialisation."""
        block, warp = batch.block_of[lanes], batch.thread_in_block[lanes] // WARP
        cell = (block * batch.shared_size + where) // self.granule
        self._after_writes(batch, pc, "load", cell, lanes, block, warp)

    def _tick(self, block: Array, warp: Array) -> None:
        pairs = np.unique(block * self.warps + warp)
        block, warp = pairs // self.warps, pairs % self.warps
        self.known[block, warp, warp] += 1
        self.synchronisations[block, warp] += 1

    def arrive(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Release the lanes' clocks to mbarriers."""
        block, column = self._objects(batch, index)
        warp = batch.thread_in_block[lanes] // WARP
        np.maximum.at(self.gathered, (block, column), self.known[block, warp])
        self._tick(block, warp)

    def end_phase(self, batch: Batch, index: Array, phase: Array) -> None:
        """End phases of mbarriers: the gathered clocks become visible to waiting lanes."""
        block, column = self._objects(batch, index)
        self.gathered[block, column, self.warps + column] = phase + 1
        self.released[block, column] = np.maximum(
            self.released[block, column], self.gathered[block, column]
        )
        self.gathered[block, column] = 0

    def wait(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Acquire the clocks of an mbarrier's completed phase."""
        block, column = self._objects(batch, index)
        self._learn(block, batch.thread_in_block[lanes] // WARP, self.released[block, column])

    def _learn(self, block: Array, warp: Array, news: Array) -> None:
        np.maximum.at(self.known, (block, warp), news)
        self.synchronisations[block, warp] += 1

    def come(self, batch: Batch, number: int, lanes: Array) -> None:
        """Release the lanes' clocks to a numbered barrier of the block."""
        block, warp = batch.block_of[lanes], batch.thread_in_block[lanes] // WARP
        pairs = np.unique(block * self.warps + warp)
        block, warp = pairs // self.warps, pairs % self.warps
        np.maximum.at(self.at_barrier[number], block, self.known[block, warp])
        self._tick(block, warp)

    def go(self, batch: Batch, number: int, lanes: Array) -> None:
        """Acquire the clocks of a completed barrier."""
        block, warp = batch.block_of[lanes], batch.thread_in_block[lanes] // WARP
        pairs = np.unique(block * self.warps + warp)
        block, warp = pairs // self.warps, pairs % self.warps
        self._learn(block, warp, self.at_barrier[number, block])

    def done(self, number: int, blocks: Array) -> None:
        """Reset a barrier's gathered clocks."""
        self.at_barrier[number, blocks] = 0

    def synchronise_warps(self, batch: Batch, lanes: Array) -> None:
        """Synchronise the lanes of warps (`bar.warp.sync`)."""
        block, warp = batch.block_of[lanes], batch.thread_in_block[lanes] // WARP
        self.synchronisations[block, warp] += 1
