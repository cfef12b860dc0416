"""State of concurrently emulated blocks: registers, shared and local memory, findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator.memory import MAPPED, AddressSpace, GlobalMemory
from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, UnsupportedPtxError
from xla_explorer.backends.gpu.emulator.scalar_types import Array, DType
from xla_explorer.compiler.target import WARP_SIZE

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emulator.counters import KernelCounters
    from xla_explorer.backends.gpu.emulator.happens_before import Clocks
    from xla_explorer.backends.gpu.emulator.instructions.asynchronous_copies import PendingCopies
    from xla_explorer.backends.gpu.emulator.instructions.memory_barriers import MemoryBarriers
    from xla_explorer.backends.gpu.emulator.instructions.warpgroup_products import WarpgroupProducts
    from xla_explorer.backends.gpu.emulator.races import Detector

Lanes = Array | None
"""Active lanes: sorted indices, or None for all of the batch."""
WARP, WARPGROUP = WARP_SIZE, 4 * WARP_SIZE
_ZERO_REGISTERS = {
    **dict.fromkeys(("clock", "clock_hi", "smid"), np.uint32),
    **dict.fromkeys(("clock64", "globaltimer", "gridid"), np.uint64),
}  # special registers that are always zero


@dataclass(slots=True)
class Finding:
    """A fault.

    kind: `out of bounds`, `misaligned`, `uninitialised read`, `race: ...`, ... line: of the PTX
    text. text: the instruction. origin: of the line (see `PtxInstruction`). example: one thread,
    with its address. count: faulty lanes.
    """

    kind: str
    kernel: str
    line: int
    origin: int | None
    text: str
    example: str
    count: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kind} in {self.kernel}, PTX line {self.line}: {self.text}; {self.count} "
            f"times, {self.example}"
        )


class Group:
    """Lanes that execute together.

    Part of a batch gathers operands and scatters results by index.
    """

    __slots__ = ("count", "lanes")

    def __init__(self, size: int, lanes: Lanes) -> None:
        self.lanes = lanes
        self.count = size if lanes is None else len(lanes)


class Resources:
    """Resources of a kernel.

    shared_bytes: per block. local_bytes: per thread. register_types: dtype of each register slot.
    """

    __slots__ = ("instructions", "kernel_name", "local_bytes", "register_types", "shared_bytes")

    def __init__(self, kernel_name: str, instructions: list[PtxInstruction]) -> None:
        self.kernel_name, self.instructions = kernel_name, instructions
        self.shared_bytes = self.local_bytes = 0
        self.register_types: list[DType] = []


@dataclass(slots=True)
class Findings:
    """Findings by kind and line."""

    resources: Resources
    by_place: dict[tuple[str, int], Finding] = field(default_factory=dict)

    def note(self, kind: str, pc: int, count: int, example: str = "") -> None:
        """Count a fault; the first example of a place is kept."""
        i = self.resources.instructions[min(max(pc, 0), len(self.resources.instructions) - 1)]
        found = self.by_place.get((kind, i.line))
        if found is None:
            found = Finding(kind, self.resources.kernel_name, i.line, i.origin, i.text, example)
            self.by_place[kind, i.line] = found
        found.count += count


class BlockRange(NamedTuple):
    """Blocks `first` .. `first + blocks` of a launch.

    grid, block: dimensions of the launch. dynamic_shared: bytes of shared memory of a block.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    first: int
    blocks: int
    dynamic_shared: int = 0


class Batch:
    """Some blocks of a launch.

    A register holds one entry while it is uniform, else one per lane.
    """

    def __init__(
        self,
        resources: Resources,
        launched: BlockRange,
        memory: GlobalMemory,
        parameters: Array,
        findings: Findings,
        *,
        checks: bool,
    ) -> None:
        grid, block, first, blocks, dynamic_shared = launched
        threads = block[0] * block[1] * block[2]
        self.padded = -(-threads // WARP) * WARP
        self.grid, self.block, self.threads = grid, block, threads
        self.first, self.blocks, self.lanes = first, blocks, blocks * self.padded
        self.memory, self.parameters, self.findings, self.checks = (
            memory,
            parameters,
            findings,
            checks,
        )
        self.counters: KernelCounters | None = None
        self.races: dict[str, Detector] = {}
        self.clocks: Clocks | None = None
        self.memory_barriers: MemoryBarriers | None = None
        self.copies: PendingCopies | None = None
        self.products: WarpgroupProducts | None = None
        self.in_flight: dict[
            int, tuple[int, Array]
        ] = {}  # register slot -> instruction, and the warpgroups whose product is pending
        lane = np.arange(self.lanes)
        self.all_lanes = lane
        self.block_of = lane // self.padded
        self.thread_in_block = lane - self.block_of * self.padded
        self.lane_in_warp = lane & (WARP - 1)
        self.warp_start = lane - self.lane_in_warp
        self.start: Lanes = (
            None if self.padded == threads else np.flatnonzero(self.thread_in_block < threads)
        )
        self.epoch = np.zeros(blocks, np.int64)
        self.warp_epoch: Array | None = None
        self.shared_size = -(-(resources.shared_bytes + dynamic_shared) // 16) * 16
        self.dynamic_shared = dynamic_shared
        self.local_size = -(-resources.local_bytes // 16) * 16
        self.shared_base = self.block_of * self.shared_size
        self.local_base = lane * self.local_size
        self.spaces = {
            "global": memory.space,
            "shared": AddressSpace(self.shared_size * blocks, MAPPED),
            "local": AddressSpace(self.local_size * self.lanes, MAPPED),
        }
        self.registers: list[Array | None] = [None] * len(resources.register_types)
        self._specials: dict[str, Array] = {}
        self._last_group = Group(self.lanes, None)

    def group(self, lanes: Lanes) -> Group:
        """Return the group of lanes, the same object for the same lanes."""
        if self._last_group.lanes is not lanes:
            self._last_group = Group(self.lanes, lanes)
        return self._last_group

    def lanes_of(self, group: Group) -> Array:
        """Return the group's lanes as indices."""
        return self.all_lanes if group.lanes is None else group.lanes

    def special(self, name: str) -> Array:
        """Return the value of a special register such as `%tid.x`."""
        found = self._specials.get(name)
        if found is None:
            found = self._specials[name] = self._make_special(name)
        return found

    def _make_special(self, name: str) -> Array:
        base, _, axis = name[1:].partition(".")
        at = "xyz".find(axis) if axis else 0
        uniform = {
            "ntid": self.block[at],
            "nctaid": self.grid[at],
            "nwarpid": self.padded // WARP,
            "nsmid": 1,
            "dynamic_smem_size": self.dynamic_shared,
        }
        if base in uniform:
            return np.array([uniform[base]], np.uint32)
        if base in ("tid", "ctaid"):
            return self._position(base, at)
        if base == "laneid":
            return self.lane_in_warp.astype(np.uint32)
        if base == "warpid":
            return (self.thread_in_block // WARP).astype(np.uint32)
        if base.startswith("lanemask_"):
            own = np.uint32(1) << self.lane_in_warp.astype(np.uint32)
            below = own - np.uint32(1)
            return {"eq": own, "lt": below, "le": below | own, "gt": ~(below | own), "ge": ~below}[
                base[9:]
            ]
        if base in _ZERO_REGISTERS:
            return np.zeros(1, _ZERO_REGISTERS[base])
        raise UnsupportedPtxError(
            f"the emulator has no special register {name}", "run the kernel on a device"
        )

    def _position(self, base: str, axis: int) -> Array:
        """Return the coordinate of each lane's thread (`tid`) or block (`ctaid`)."""
        size = self.block if base == "tid" else self.grid
        if size[axis] == 1:
            return np.zeros(1, np.uint32)
        number = self.thread_in_block if base == "tid" else self.block_of + self.first
        stride = (1, size[0], size[0] * size[1])[axis]
        return (number // stride % size[axis]).astype(np.uint32)

    def touch_in_flight(self, slot: int, lanes: Lanes) -> None:
        """Record a fault if lanes read a product's register before their warpgroup's wait."""
        pc, groups = self.in_flight[slot]
        who = self.all_lanes if lanes is None else lanes
        early = groups[who // WARPGROUP]
        if early.any():
            self.fault("result of a product read before wgmma.wait_group", pc, who, early)

    def thread_name(self, lane: int) -> str:
        """Return `block 3 thread 17`."""
        return (
            f"block {int(self.block_of[lane]) + self.first} thread "
            f"{int(self.thread_in_block[lane])}"
        )

    def fault(
        self,
        kind: str,
        pc: int,
        lanes: Lanes,
        hit: Array,
        detail: str = "",
        where: Array | None = None,
    ) -> None:
        """Record a fault of the lanes whose `hit` is set.

        hit: one entry, or one for each of `lanes`. where: their addresses in global memory.
        """
        position = int(np.argmax(hit))
        lane = position if lanes is None else int(lanes[position])
        example = self.thread_name(lane) + (f": {detail}" if detail else "")
        if where is not None:
            example += f" at {self.memory.describe(int(where[position if len(where) > 1 else 0]))}"
        count = int(np.count_nonzero(hit))
        if len(hit) == 1:
            count = self.lanes if lanes is None else len(lanes)
        self.findings.note(kind, pc, count, example)

    def pass_warp_barrier(self, group: Group) -> None:
        """Emulate `bar.warp.sync`.

        Earlier accesses of the warp's lanes are ordered before later ones.
        """
        if self.clocks is not None:
            self.clocks.synchronise_warps(self, self.lanes_of(group))
        if self.warp_epoch is None:
            self.warp_epoch = np.zeros(self.lanes // WARP, np.int64)
        self.warp_epoch[np.unique(self.lanes_of(group) // WARP)] += 1
