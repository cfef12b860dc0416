"""The machine's numbers: sizes of its memories and what each unit does in a cycle."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """scratchpad_bytes: what the vector and matrix units read and write. accumulator_bytes: what the matrix unit adds into, two tiles.

    array_size: rows and columns of the systolic array; it does array_size ** 2 multiply-adds a cycle. lanes: 32-bit elements a cycle of the
    vector unit. dma_bytes: of one queue a cycle, for contiguous bytes; every separate run costs a cycle at least. dma_latency:
    cycles before the first byte. dma_queues: how many copies are under way at once.
    """

    scratchpad_bytes: int = 1 << 20
    accumulator_bytes: int = 1 << 17
    array_size: int = 32
    lanes: int = 128
    dma_bytes: int = 64
    dma_latency: int = 64
    dma_queues: int = 3
    clock_ghz: float = 1.0

    @property
    def tile(self) -> int:
        """Rows and columns of the largest tile of the matrix unit: half the accumulators, so that one is stored while the other fills."""
        return 128


NPU = Architecture()
