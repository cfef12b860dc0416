"""Kernels ready to run, and their launches in batches of blocks."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import WARP, Batch, BlockRange, Finding, Findings
from xla_explorer.backends.gpu.emulator.counters import KernelCounters
from xla_explorer.backends.gpu.emulator.happens_before import Clocks
from xla_explorer.backends.gpu.emulator.kernel_code import KernelCode
from xla_explorer.backends.gpu.emulator.map_bytes import encode
from xla_explorer.backends.gpu.emulator.memory import GlobalMemory
from xla_explorer.backends.gpu.emulator.ptx_text import PtxKernel, PtxModule
from xla_explorer.backends.gpu.emulator.races import RaceDetector
from xla_explorer.backends.gpu.emulator.scalar_types import Array
from xla_explorer.backends.gpu.emulator.scheduler import run
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap
from xla_explorer.foundation.diagnostic import XlaExplorerError

Argument = int | float | PlacedTensorMap
_LOCAL_BYTES = 1 << 26


class LaunchError(XlaExplorerError):
    """Invalid launch dimensions or arguments."""


class LaunchOptions(NamedTuple):
    """Options of a launch.

    checks: bounds, alignment, uninitialised reads, masks. races: in shared memory. global_races: in
    global memory too, at 12 to 48 bytes for each byte of it. counters: add to the kernel's
    counters. batch_threads: emulated together; 2^13 to 2^16 are equally fast, more exceed the
    cache. watched_batches: batches of a launch with counters and race detection; None: all.
    instructions: limit of a batch, None: of `xe.options`.
    """

    checks: bool = True
    races: bool = True
    global_races: bool = False
    counters: bool = False
    batch_threads: int = 1 << 14
    watched_batches: int | None = None
    instructions: int | None = None


class LaunchResult(NamedTuple):
    """Result of a launch. findings: faults, in the order found. batches: of blocks."""

    findings: list[Finding]
    batches: int


def _give_back(device: GlobalMemory, addresses: list[int]) -> None:
    for address in addresses:
        device.release(address)


class EmulatedKernel:
    """A kernel of a module, ready to run on a device's memory.

    The memory of its variables is freed with the object. counters: of its launches with `counters`
    on.
    """

    def __init__(self, module: PtxModule, kernel: PtxKernel, device: GlobalMemory) -> None:
        self.device = device
        self.code = KernelCode(module, kernel, device)
        self.counters = KernelCounters(kernel.name, kernel.instructions)
        weakref.finalize(self, _give_back, device, self.code.statics).atexit = False

    @property
    def name(self) -> str:
        """Name of the PTX entry."""
        return self.code.kernel.name

    def parameters(self, arguments: Sequence[Argument]) -> Array:
        """Return the parameter block of arguments: addresses, numbers and tensor maps, in order."""
        kernel = self.code.kernel
        if len(arguments) != len(kernel.parameters):
            raise LaunchError(
                f"kernel {kernel.name} takes {len(kernel.parameters)} arguments, got "
                f"{len(arguments)}"
            )
        block = np.zeros(-(-max(kernel.parameter_bytes, 1) // 16) * 16, np.uint8)
        for (offset, size), value in zip(kernel.parameters.values(), arguments, strict=True):
            if isinstance(value, PlacedTensorMap):
                block[offset : offset + size] = np.frombuffer(encode(value), np.uint8)
                continue
            kind = f"f{size}" if isinstance(value, float) else f"u{size}"
            made = value if isinstance(value, float) else value & ((1 << 8 * size) - 1)
            block[offset : offset + size] = np.array([made], kind).view(np.uint8)
        return block

    def batch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        first: int,
        blocks: int,
        parameters: Array,
        findings: Findings,
        options: LaunchOptions,
        dynamic_shared: int = 0,
    ) -> Batch:
        """Return some blocks of a launch, at their first instruction."""
        made = Batch(
            self.code.resources,
            BlockRange(grid, block, first, blocks, dynamic_shared),
            self.device,
            parameters,
            findings,
            checks=options.checks,
        )
        if options.races and made.shared_size and self.code.warps_part:
            made.clocks = made.races["shared"] = Clocks(made, self.code.granules["shared"])
        elif options.races and made.shared_size:
            made.races["shared"] = RaceDetector(
                "shared", made.shared_size * blocks, self.code.granules["shared"]
            )
        if options.counters:
            made.counters = self.counters
        return made

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Argument],
        options: LaunchOptions | None = None,
        dynamic_shared: int = 0,
    ) -> LaunchResult:
        """Run the kernel; LaunchError for invalid dimensions.

        arguments: addresses in the device's memory, numbers, tensor maps.
        """
        options = options or LaunchOptions()
        whole_grid, whole_block = three_dimensions(grid), three_dimensions(block)
        threads = whole_block[0] * whole_block[1] * whole_block[2]
        limit = self.code.kernel.threads or 1024
        if not 0 < threads <= limit:
            raise LaunchError(
                f"kernel {self.name} was launched with blocks of {threads} threads, it allows 1 "
                f"to {limit}"
            )
        parameters = self.parameters(arguments)
        blocks = whole_grid[0] * whole_grid[1] * whole_grid[2]
        padded = -(-threads // WARP) * WARP
        together = options.batch_threads
        if self.code.resources.local_bytes:
            together = min(together, _LOCAL_BYTES // self.code.resources.local_bytes)
        step = max(1, together // padded)
        findings = Findings(self.code.resources)
        watched = options.watched_batches
        in_global = None
        if options.global_races:
            in_global = RaceDetector(
                "global", len(self.device.space.octets), self.code.granules["global"]
            )
        self.counters.launches += options.counters
        with np.errstate(all="ignore"):
            for number, first in enumerate(range(0, blocks, step)):
                if watched is not None and number >= watched:
                    options, in_global = options._replace(races=False, counters=False), None
                count = min(step, blocks - first)
                batch = self.batch(
                    whole_grid,
                    whole_block,
                    first,
                    count,
                    parameters,
                    findings,
                    options,
                    dynamic_shared,
                )
                if in_global is not None:
                    batch.races["global"] = in_global
                run(batch, self.code.blocks, options.instructions)
        return LaunchResult(list(findings.by_place.values()), -(-blocks // step))


def three_dimensions(size: int | Sequence[int]) -> tuple[int, int, int]:
    """Return a grid or block size in three dimensions, with 1 by default."""
    given = (size,) if isinstance(size, int) else tuple(size)
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z
