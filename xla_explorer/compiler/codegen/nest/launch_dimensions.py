"""Launch dimensions of kernels, with their reasoning.

Source: xla/service/gpu/launch_dimensions.cc (blocks of 128 threads for loop kernels).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

SMALL_BLOCK, LARGE_BLOCK = 128, 256


class LaunchArchitecture(Protocol):
    """The properties that launch dimensions depend on."""

    @property
    def name(self) -> str:
        """Name in the assembler's spelling."""
        ...

    @property
    def warp_size(self) -> int:
        """Threads of a warp."""
        ...

    @property
    def multiprocessors(self) -> int:
        """Number of multiprocessors."""
        ...

    @property
    def resident_threads(self) -> int:
        """Maximum resident threads of the device."""
        ...


class LaunchDimensions(NamedTuple):
    """One-dimensional grid and block of a launch.

    blocks, threads_per_block: sizes. threads: elements of work. reasoning: one sentence.
    """

    blocks: int
    threads_per_block: int
    threads: int
    reasoning: str

    def __str__(self) -> str:
        return f"grid {self.blocks} x block {self.threads_per_block}"


def counted(number: int, what: str) -> str:
    """Return a number with a noun, such as `2 blocks`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def on_multiprocessors(blocks: int, multiprocessors: int) -> str:
    """Return the numbers of blocks and multiprocessors as text."""
    return f"{counted(blocks, 'block')} on {multiprocessors} multiprocessors"


def launch_dimensions(threads: int, architecture: LaunchArchitecture) -> LaunchDimensions:
    """Return the dimensions for a kernel with one thread for each independent element.

    Fewer elements than a block: whole warps only. Enough to fill the device with the small block:
    the large one, which halves the number of blocks to schedule. Between: the small one, which
    spreads over more multiprocessors.
    """
    warp = architecture.warp_size
    threads = max(threads, 1)
    if threads <= SMALL_BLOCK:
        block = math.ceil(threads / warp) * warp
        return LaunchDimensions(
            1,
            block,
            threads,
            f"{threads} elements fit into one block of {counted(block // warp, 'warp')}",
        )
    resident = f"the {architecture.resident_threads} resident threads of {architecture.name}"
    if threads >= architecture.resident_threads:
        block = LARGE_BLOCK
        why = f"{threads} elements fill {resident}, so blocks of {block}"
    else:
        block = SMALL_BLOCK
        why = (
            f"{threads} elements leave some of {resident} idle, so blocks of {block} to spread "
            "over more multiprocessors"
        )
    blocks = math.ceil(threads / block)
    rest = blocks * block - threads
    why += f"; {counted(blocks, 'block')}" + (
        f", {rest} threads of the last one have nothing to do" if rest else ", all threads busy"
    )
    return LaunchDimensions(blocks, block, threads, why)
