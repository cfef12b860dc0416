"""Stepping through a launch warp by warp, one instruction at a time, with all lanes' registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, WARPGROUP, Finding, Findings
from xla_explorer.backends.gpu.emulator.kernel_code import BasicBlock
from xla_explorer.backends.gpu.emulator.launch import (
    Argument,
    EmulatedKernel,
    LaunchOptions,
    three_dimensions,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction
from xla_explorer.backends.gpu.emulator.scalar_types import Array
from xla_explorer.backends.gpu.emulator.scheduler import (
    STOPS,
    Barriers,
    Parked,
    Pending,
    Watch,
    choose,
    join,
    raise_readable,
    stop,
    ways,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import limits

_WARPS = WARPGROUP // WARP


class WarpStepper:
    """Stepper of some blocks of a launch, one warp instruction at a time.

    `step()` runs the next instruction of a warp and returns it. An instruction of a warpgroup
    (`wgmma`) waits for its four warps, and is one step of all of them. first_block, blocks: the
    emulated blocks of the grid. dynamic_shared: bytes of shared memory of the launch.
    """

    def __init__(
        self,
        kernel: EmulatedKernel,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Argument],
        first_block: int = 0,
        blocks: int = 1,
        dynamic_shared: int = 0,
    ) -> None:
        self.kernel = kernel
        self._findings = Findings(kernel.code.resources)
        options = LaunchOptions()
        parameters = kernel.parameters(arguments)
        sizes = three_dimensions(grid), three_dimensions(block)
        self.batch = kernel.batch(
            *sizes, first_block, blocks, parameters, self._findings, options, dynamic_shared
        )
        start = self.batch.all_lanes if self.batch.start is None else self.batch.start
        self.warps = self.batch.lanes // WARP
        self._pending: list[Pending] = [
            {0: start[start // WARP == warp]} for warp in range(self.warps)
        ]
        self._inside: list[tuple[int, Array, int] | None] = [None] * self.warps
        self._barriers, self._parked = Barriers(self.batch), Parked(self.batch)
        self._over = False

    @property
    def findings(self) -> list[Finding]:
        """Faults so far."""
        return list(self._findings.by_place.values())

    @property
    def runnable(self) -> list[int]:
        """Warps that can run their next instruction; the others wait or have ended."""
        return [warp for warp in range(self.warps) if self._together(warp)]

    def waits_for(self, warp: int) -> str:
        """Describe the wait of a blocked warp, with the PTX line; empty for any other warp."""
        code = self.kernel.code.kernel.instructions
        places = [
            (f"at barrier {number}", pc - 1, parts)
            for (number, pc), parts in self._barriers.places.items()
        ]
        places += [
            ("for the phase of an mbarrier", pc, parts)
            for pc, (_, parts) in self._parked.waits.items()
        ]
        places += [
            ("for the rest of its warpgroup", pc - 1, [lanes])
            for pc, lanes in self._parked.warps.items()
        ]
        if warp not in self.runnable and (following := self.next(warp)) is not None:
            return f"for the rest of its warpgroup, PTX line {following.line}"
        for what, pc, parts in [] if warp in self.runnable else places:
            if any((lanes // WARP == warp).any() for lanes in parts):
                return f"{what}, PTX line {code[pc].line}"
        return ""

    def active(self, warp: int) -> Array:
        """Return a (32,) mask of the lanes of a warp's next instruction."""
        inside = self._inside[warp]
        lanes = (
            inside[1]
            if inside is not None
            else self._pending[warp][self._chosen(warp)]
            if self._pending[warp]
            else None
        )
        mask = np.zeros(WARP, bool)
        if lanes is not None:
            mask[lanes % WARP] = True
        return mask

    def next(self, warp: int) -> PtxInstruction | None:
        """Return the instruction that `step(warp)` would run."""
        if self._inside[warp] is None and not self._pending[warp]:
            return None
        number = self._number(warp)
        code = self.kernel.code.kernel.instructions
        return code[number] if number < len(code) else None

    def register(self, warp: int, name: str) -> Array:
        """Return (32,) values of a register in its last written type.

        KeyError for unknown names.
        """
        slot = self.kernel.code.names.slots[name]
        value = self.batch.registers[slot]
        if value is None:
            value = np.zeros(1, self.kernel.code.names.types[slot])
        return np.broadcast_to(value, self.batch.lanes)[warp * WARP : warp * WARP + WARP].copy()

    def registers(self, warp: int) -> dict[str, Array]:
        """Return every written register: name -> (32,) values."""
        slots = self.kernel.code.names.slots
        return {
            name: self.register(warp, name)
            for name, slot in slots.items()
            if self.batch.registers[slot] is not None
        }

    def to_frame(self, warp: int) -> Any:
        """Return a DataFrame with a row per lane, a column per register, and the active lanes."""
        import pandas

        frame = pandas.DataFrame(self.registers(warp))
        frame.insert(0, "active", self.active(warp))
        frame.index.name = "lane"
        return frame

    def step(self, warp: int | None = None) -> PtxInstruction | None:
        """Run the next instruction of a warp (None: the first that can run) and return it.

        None if no warp can continue: all have ended, or wait forever, which is a finding.
        XlaExplorerError if the warp waits, has ended, or does not exist.
        """
        able = self.runnable
        if warp is not None and warp not in able:
            place = self.waits_for(warp) if 0 <= warp < self.warps else ""
            why = (
                f"waits {place}"
                if place
                else "has ended"
                if 0 <= warp < self.warps
                else f"does not exist, there are {self.warps}"
            )
            raise XlaExplorerError(f"warp {warp} {why}", f"warps that can go on: {able}")
        if not able:
            if not self._over:
                self._over = True
                self._barriers.note_stuck()
                self._parked.note_stuck()
                for one in range(self.warps):
                    if self.next(one) is not None:
                        self._findings.note(
                            "warpgroup instruction that a warp never reaches",
                            self._number(one),
                            WARP,
                        )
            return None
        if warp is None:
            warp = able[0]
        together = self._together(warp)
        for one in together:
            if self._inside[one] is None:
                pc = self._chosen(one)
                lanes = self._pending[one].pop(pc)
                assert lanes is not None
                self._inside[one] = (pc, lanes, 0)
        number = self._number(warp)
        with np.errstate(all="ignore"):
            self._advance(together)
        code = self.kernel.code.kernel.instructions
        return code[number] if number < len(code) else None

    def run_to_line(self, line: int, warp: int) -> PtxInstruction | None:
        """Step a warp until its next instruction is on a PTX line; other warps only if it waits.

        Returns that instruction, or None at the end. EmulatorLimitError if neither is reached.
        """
        watch = Watch(self.batch, limits.emulated_instructions)
        while self.runnable:
            following = self.next(warp)
            if following is not None and following.line == line:
                return following
            watch.count(1, self._number(warp) if following is not None else 0)
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
        return (
            block.numbers[position]
            if position < len(block.numbers)
            else max(block.end - 1, block.start)
        )

    def _together(self, warp: int) -> list[int]:
        """Return the warps that run a warp's next instruction together.

        None if it waits or has ended.
        """
        following = self.next(warp)
        if following is None:
            return [warp] if self._inside[warp] is not None or self._pending[warp] else []
        if not following.opcode.startswith("wgmma.") or following.opcode.startswith("wgmma.fence"):
            return [warp]
        first = warp - warp % _WARPS
        group = [
            one
            for one in range(first, first + _WARPS)
            if self.next(one) is following and self.active(one).all()
        ]
        return group if len(group) == _WARPS else []

    def _advance(self, warps: list[int]) -> None:
        insides = [
            inside for inside in (self._inside[warp] for warp in warps) if inside is not None
        ]
        pc, _, position = insides[0]
        block = self.kernel.code.blocks[pc]
        if position < len(block.steps):
            try:
                block.steps[position](
                    self.batch, self.batch.group(np.concatenate([lanes for _, lanes, _ in insides]))
                )
            except Exception as problem:
                raise_readable(self.batch, block.numbers[position], problem)
            position += 1
        for warp, (_, lanes, before) in zip(warps, insides, strict=True):
            if before < position and (position < len(block.steps) or block.kind != "fall"):
                self._inside[warp] = (pc, lanes, position)
            else:
                self._leave(warp, block, lanes)

    def _leave(self, warp: int, block: BasicBlock, lanes: Array) -> None:
        """Handle the end of a basic block of a warp."""
        self._inside[warp] = None
        for after, woken in self._parked.woken():
            self._resume(after, woken)
        if block.kind in STOPS:
            for after, released in stop(self.batch, block, lanes, self._barriers, self._parked):
                self._resume(after, released)
            return
        for after, some in ways(self.batch, block, self.batch.group(lanes)):
            assert some is not None
            join(self._pending[warp], after, some, -1)

    def _resume(self, after: int, lanes: Array) -> None:
        """Continue lanes of any warps at an instruction."""
        for one in np.unique(lanes // WARP):
            join(self._pending[int(one)], after, lanes[lanes // WARP == one], -1)
