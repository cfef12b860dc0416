"""The machine's numbers: sizes of its memories and rates of its units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """Sizes and rates of the accelerator.

    scratchpad_bytes: memory that the vector and matrix units read and write. accumulator_bytes:
    memory of the matrix unit's accumulators, two tiles. array_size: rows and columns of the
    systolic array, which does array_size ** 2 multiply-adds a cycle. lanes: 32-bit elements a cycle
    of the vector unit. dma_bytes: of one queue a cycle, for contiguous bytes; every separate run
    costs a cycle at least. dma_latency: cycles before the first byte. dma_queues: the number of
    concurrent copies.
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
        """Rows and columns of the largest tile of the matrix unit: half the accumulators.

        One half is stored while the other fills.
        """
        return 128

    def transfer_cycles(
        self,
        sizes: Sequence[int],
        to_step: Sequence[int],
        from_step: Sequence[int] | None,
        item: int,
    ) -> int:
        """Return the cycles of one DMA descriptor: the latency, then its contiguous runs.

        A run whose source repeats one element (steps of zero) is written at full speed. from_step:
        None for a fill. item: bytes an element.
        """
        run, repeats, dense = 1, True, True
        total = math.prod(sizes)
        for size, to, source in reversed(
            list(zip(sizes, to_step, from_step or (0,) * len(sizes), strict=True))
        ):
            repeats = repeats and (source == 0 or size == 1)
            dense = dense and (source == run or size == 1)
            if (to != run and size != 1) or not (repeats or dense):
                break
            run *= size
        return self.dma_latency + (total // max(run, 1)) * -(-run * item // self.dma_bytes)


NPU = Architecture()
