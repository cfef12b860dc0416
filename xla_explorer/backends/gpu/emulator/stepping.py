"""A launch stepped warp by warp and instruction by instruction, with the registers of every lane to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Finding, Findings
from xla_explorer.backends.gpu.emulator.launch import Argument, EmulatedKernel, LaunchOptions, three_dimensions
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction
from xla_explorer.backends.gpu.emulator.scalar_types import Array
from xla_explorer.backends.gpu.emulator.scheduler import STOPS, Barriers, Parked, Pending, choose, join, stop, ways
from xla_explorer.foundation.diagnostic import XlaExplorerError


class WarpStepper:
    """Runs some blocks of a launch one warp instruction at a time. `step()` runs the next one of a warp and returns it.

    first_block, blocks: which blocks of the grid are there; others do not run.
    """

    def __init__(
        self,
        kernel: EmulatedKernel,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Argument],
        first_block: int = 0,
        blocks: int = 1,
    ) -> None:
        self.kernel = kernel
        self._findings = Findings(kernel.code.resources)
        options = LaunchOptions()
        parameters = kernel.parameters(arguments)
        self.batch = kernel.batch(
            three_dimensions(grid), three_dimensions(block), first_block, blocks, parameters, self._findings, options
        )
        start = self.batch.all_lanes if self.batch.start is None else self.batch.start
        self.warps = self.batch.lanes // WARP
        self._pending: list[Pending] = [{0: start[start // WARP == warp]} for warp in range(self.warps)]
        self._inside: list[tuple[int, Array, int] | None] = [None] * self.warps
        self._barriers, self._parked = Barriers(self.batch), Parked(self.batch)

    # -- looking -------------------------------------------------------------------------------------------------------
    @property
    def findings(self) -> list[Finding]:
        """Faults so far."""
        return list(self._findings.by_place.values())

    @property
    def runnable(self) -> list[int]:
        """Warps that have a next instruction; the others wait at a barrier or have ended."""
        return [warp for warp in range(self.warps) if self._inside[warp] is not None or self._pending[warp]]

    def active(self, warp: int) -> Array:
        """(32,) bool: the lanes that the next instruction of a warp runs for."""
        inside = self._inside[warp]
        lanes = inside[1] if inside is not None else self._pending[warp][self._chosen(warp)] if self._pending[warp] else None
        mask = np.zeros(WARP, bool)
        if lanes is not None:
            mask[lanes % WARP] = True
        return mask

    def next(self, warp: int) -> PtxInstruction | None:
        """The instruction that `step(warp)` would run."""
        if self._inside[warp] is None and not self._pending[warp]:
            return None
        number = self._number(warp)
        code = self.kernel.code.kernel.instructions
        return code[number] if number < len(code) else None

    def register(self, warp: int, name: str) -> Array:
        """(32,) values of a register, as unsigned bits or what last wrote it. KeyError for unknown names."""
        slot = self.kernel.code.names.slots[name]
        value = self.batch.registers[slot]
        if value is None:
            value = np.zeros(1, self.kernel.code.names.types[slot])
        return np.broadcast_to(value, self.batch.lanes)[warp * WARP : warp * WARP + WARP].copy()

    def registers(self, warp: int) -> dict[str, Array]:
        """Every register that has been written: name -> (32,) values."""
        slots = self.kernel.code.names.slots
        return {name: self.register(warp, name) for name, slot in slots.items() if self.batch.registers[slot] is not None}

    def to_frame(self, warp: int) -> Any:
        """A row per lane, a column per register, and whether the lane is active."""
        import pandas

        frame = pandas.DataFrame(self.registers(warp))
        frame.insert(0, "active", self.active(warp))
        frame.index.name = "lane"
        return frame

    # -- moving --------------------------------------------------------------------------------------------------------
    def step(self, warp: int | None = None) -> PtxInstruction | None:
        """Run the next instruction of a warp (None: the first that can) and return it; None when all warps have ended.

        XlaExplorerError when the warp waits at a barrier or has ended.
        """
        able = self.runnable
        if not able:
            return None
        if warp is None:
            warp = able[0]
        elif warp not in able:
            raise XlaExplorerError(f"warp {warp} waits at a barrier or has ended", f"warps that can go on: {able}")
        if self._inside[warp] is None:
            pc = self._chosen(warp)
            lanes = self._pending[warp].pop(pc)
            assert lanes is not None
            self._inside[warp] = (pc, lanes, 0)
        number = self._number(warp)
        with np.errstate(all="ignore"):
            self._advance(warp)
        code = self.kernel.code.kernel.instructions
        return code[number] if number < len(code) else None

    def run_to_line(self, line: int, warp: int) -> PtxInstruction | None:
        """Step a warp until its next instruction is on a PTX line, others only while it waits; that instruction, or None at the end."""
        while self.runnable:
            following = self.next(warp)
            if following is not None and following.line == line:
                return following
            self.step(warp if warp in self.runnable else None)
        return None

    def _chosen(self, warp: int) -> int:
        return choose(self._pending[warp], self.kernel.code.blocks)

    def _number(self, warp: int) -> int:
        inside = self._inside[warp]
        if inside is None:
            block, position = self.kernel.code.blocks[self._chosen(warp)], 0
        else:
            block, position = self.kernel.code.blocks[inside[0]], inside[2]
        return block.numbers[position] if position < len(block.numbers) else max(block.end - 1, block.start)

    def _advance(self, warp: int) -> None:
        inside = self._inside[warp]
        assert inside is not None
        pc, lanes, position = inside
        block = self.kernel.code.blocks[pc]
        group = self.batch.group(lanes)
        if position < len(block.steps):
            block.steps[position](self.batch, group)
            position += 1
            if position < len(block.steps) or block.kind != "fall":
                self._inside[warp] = (pc, lanes, position)
                return
        self._inside[warp] = None
        for after, woken in self._parked.woken():
            self._resume(after, woken)
        if block.kind in STOPS:
            for after, released in stop(self.batch, block, lanes, self._barriers, self._parked):
                self._resume(after, released)
            return
        for after, some in ways(self.batch, block, group):
            assert some is not None
            join(self._pending[warp], after, some, -1)

    def _resume(self, after: int, lanes: Array) -> None:
        """Lanes of any warps go on at an instruction."""
        for one in np.unique(lanes // WARP):
            join(self._pending[int(one)], after, lanes[lanes // WARP == one], -1)
