"""The plan of a product by tensor cores: tiles, warps, split-K."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.dots.split_k import SplitK
from xla_explorer.compiler.codegen.nest.launch_dimensions import on_multiprocessors
from xla_explorer.compiler.target import WARP_SIZE

DEPTH = 32  # units of 16 bits of the reduced dimension in a tile


class TensorCorePlan(NamedTuple):
    """Plan of a tensor-core product.

    kind: of the elements, tf32 for f32. rows, columns: of a tile of the result. warps: along rows,
    along columns. split_k: of the reduced dimension. estimated_us: device time.
    """

    kind: str
    rows: int
    columns: int
    warps: tuple[int, int]
    split_k: SplitK
    blocks: int
    estimated_us: float

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of the result per block."""
        return self.rows, self.columns

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return math.prod(self.warps) * WARP_SIZE

    def tiles_of(self, multiprocessors: int) -> str:
        """Return a description of the tiles."""
        return (
            f"{self.blocks // self.split_k.slices} tiles of {self.rows} x {self.columns}, "
            f"{self.warps[0]} x {self.warps[1]} warps each, reduced {DEPTH} at a time"
            f"{self.split_k.sentence}; {on_multiprocessors(self.blocks, multiprocessors)}"
        )
