"""Counters per PTX line: instructions, divergence, sectors of global memory, bank conflicts.

A request is one memory instruction of one warp. A sector is 32 bytes; coalesced four-byte accesses
need 4 sectors a request, the minimum. A bank conflict of n means n passes instead of one; constant
memory needs one pass for each distinct word of a warp. Source: CUDA C++ Best Practices Guide,
"Coalesced Access to Global Memory", "Shared Memory and Memory Banks", "Constant Memory". Caches are
not modelled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Batch, Group
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction
from xla_explorer.backends.gpu.emulator.scalar_types import Array

_ABSENT = np.int64(1) << 62
_SECTOR, _BANK = 32, 4
COLUMNS = (
    "kernel",
    "line",
    "instruction",
    "opcode",
    "warp_instructions",
    "thread_instructions",
    "active",
    "divergent_branches",
    "requests",
    "sectors",
    "sectors_per_request",
    "sector_use",
    "bank_conflict",
    "same_address",
    "bulk_bytes",
)


class KernelCounters:
    """Counters of one kernel, summed over its launches."""

    def __init__(self, kernel: str, instructions: list[PtxInstruction]) -> None:
        self.kernel, self.instructions = kernel, instructions
        self.launches = 0
        count = len(instructions) + 1
        self._blocks: dict[int, list[int]] = {}
        self.branches, self.divergent = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.requests, self.sectors, self.useful_bytes = (
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
        )
        self.passes, self.least_passes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.same_address, self.bulk_bytes = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def block(self, batch: Batch, start: int, end: int, group: Group) -> None:
        """Count a group's execution of the instructions start .. end."""
        entry = self._blocks.get(start)
        if entry is None:
            entry = self._blocks[start] = [end, 0, 0]
        entry[1] += _warps(batch, group)
        entry[2] += group.count

    def branch(self, batch: Batch, pc: int, truth: Array, group: Group) -> None:
        """Count a group's branch, which diverges if `truth` is mixed within a warp."""
        self.branches[pc] += _warps(batch, group)
        if len(truth) == 1:
            return
        warp = batch.lanes_of(group) // WARP
        starts = np.flatnonzero(np.r_[True, warp[1:] != warp[:-1]])
        taken = np.add.reduceat(truth.astype(np.int64), starts)
        size = np.diff(np.r_[starts, len(warp)])
        self.divergent[pc] += int(np.count_nonzero((taken != 0) & (taken != size)))

    def memory(
        self, batch: Batch, pc: int, space: str, action: str, where: Array, group: Group, total: int
    ) -> None:
        """Count a group's access of `total` bytes a lane (one address if it is uniform)."""
        if space == "local":
            return
        self.useful_bytes[pc] += group.count * total
        if len(where) == 1:
            warps = _warps(batch, group)
            self.requests[pc] += warps
            if space == "global":
                self.sectors[pc] += warps * -(-total // _SECTOR)
            else:
                self.passes[pc] += warps
                self.least_passes[pc] += warps
            if action == "atomic":
                self.same_address[pc] += group.count - warps
            return
        rows = _rows_by_warp(where, group)
        self.requests[pc] += len(rows)
        if space == "global":
            self.sectors[pc] += _distinct_in_rows(_sectors_of(rows, total))
        elif space == "const":
            self.passes[pc] += _distinct_in_rows(np.where(rows >= _ABSENT, _ABSENT, rows // _BANK))
            self.least_passes[pc] += len(rows)
        else:
            self._banks(pc, rows, total)
        if action == "atomic":
            self.same_address[pc] += group.count - _distinct_in_rows(rows)

    def bulk(self, pc: int, size: int, rows: int) -> None:
        """Count a copy of `size` bytes of global memory by the copy engine, in `rows` rows."""
        self.requests[pc] += 1
        self.useful_bytes[pc] += size
        self.sectors[pc] += rows * -(-(size // max(rows, 1)) // _SECTOR)
        self.bulk_bytes[pc] += size

    def _banks(self, pc: int, rows: Array, total: int) -> None:
        """Count passes over the banks: different words in one bank are serialised.

        8- and 16-byte accesses are served by half and quarter warps.
        """
        words = np.where(rows >= _ABSENT, _ABSENT, rows // _BANK)
        if total > _BANK:
            count = total // _BANK
            spread = words[:, :, None] + np.where(words[:, :, None] >= _ABSENT, 0, np.arange(count))
            words = spread.reshape(-1, WARP)
        words = np.sort(words, axis=1)
        present = words < _ABSENT
        new = present.copy()
        new[:, 1:] &= words[:, 1:] != words[:, :-1]
        slots = np.arange(len(words))[:, None] * WARP + words % WARP
        deepest = np.bincount(slots[new], minlength=words.size).reshape(-1, WARP).max(axis=1)
        self.passes[pc] += int(deepest.sum())
        self.least_passes[pc] += int(np.count_nonzero(deepest))

    def _executed(self) -> tuple[Array, Array]:
        warps, lanes = (
            np.zeros(len(self.instructions), np.int64),
            np.zeros(len(self.instructions), np.int64),
        )
        for start, (end, warp_count, lane_count) in self._blocks.items():
            warps[start:end] += warp_count
            lanes[start:end] += lane_count
        return warps, lanes

    @property
    def thread_instructions(self) -> int:
        """Executed instructions, counted once per thread."""
        return int(self._executed()[1].sum())

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per executed PTX instruction, by `COLUMNS`.

        Inapplicable columns are None.
        """
        warps, lanes = self._executed()
        rows = []
        for pc, i in enumerate(self.instructions):
            if not warps[pc]:
                continue
            requests, sectors, least = (
                int(self.requests[pc]),
                int(self.sectors[pc]),
                int(self.least_passes[pc]),
            )
            values = (
                self.kernel,
                i.line,
                i.origin,
                i.opcode,
                int(warps[pc]),
                int(lanes[pc]),
                float(lanes[pc] / (WARP * warps[pc])),
                int(self.divergent[pc]) if self.branches[pc] else None,
                requests or None,
                sectors or None,
                sectors / requests if sectors else None,
                float(self.useful_bytes[pc]) / (_SECTOR * sectors) if sectors else None,
                float(self.passes[pc]) / least if least else None,
                int(self.same_address[pc]) if i.opcode.startswith(("atom", "red.")) else None,
                int(self.bulk_bytes[pc]) or None,
            )
            rows.append(dict(zip(COLUMNS, values, strict=True)))
        return rows

    def to_frame(self) -> Any:
        """Return the rows as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=list(COLUMNS))


def _warps(batch: Batch, group: Group) -> int:
    """Return the number of warps with a lane in the group."""
    if group.lanes is None:
        return batch.lanes // WARP
    warp = group.lanes // WARP
    return int(np.count_nonzero(warp[1:] != warp[:-1])) + 1


def _rows_by_warp(where: Array, group: Group) -> Array:
    """Return (warps, 32) addresses, _ABSENT for inactive lanes."""
    if group.lanes is None:
        return where.reshape(-1, WARP)
    warp = group.lanes // WARP
    row = np.cumsum(np.r_[0, warp[1:] != warp[:-1]])
    rows = np.full((int(row[-1]) + 1, WARP), _ABSENT)
    rows[row, group.lanes % WARP] = where
    return rows


def _sectors_of(rows: Array, total: int) -> Array:
    """Return sector numbers, several per lane for accesses wider than a sector."""
    sectors = np.where(rows >= _ABSENT, _ABSENT, rows // _SECTOR)
    if total <= _SECTOR:
        return sectors
    count = -(-total // _SECTOR)
    spread = sectors[:, :, None] + np.where(sectors[:, :, None] >= _ABSENT, 0, np.arange(count))
    return spread.reshape(len(rows), -1)


def _distinct_in_rows(rows: Array) -> int:
    """Return the sum of distinct values in each row, without _ABSENT."""
    step = rows[:, 1:] - rows[:, :-1]
    if (step < 0).any():
        rows = np.sort(rows, axis=1)
        step = rows[:, 1:] - rows[:, :-1]
    return int(np.count_nonzero(step)) + len(rows) - int(np.count_nonzero(rows[:, -1] >= _ABSENT))
