"""A value of the global program and one device's part of it."""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


@dataclass(frozen=True, eq=False)
class ShardedValue:
    """An array of the global program, as the instruction that computes one device's part.

    Attributes
    ----------
    local : HloInstruction
        Of the partitioned program; elements beyond the global size are undefined.
    shape : Shape
        The global shape.
    tiling : Tiling
        The axes that split each dimension.
    """

    local: HloInstruction
    shape: Shape
    tiling: Tiling

    @property
    def dims(self) -> tuple[int, ...]:
        """Global sizes."""
        return self.shape.dimensions


# A tuple of the global program is a list of its elements' values.
Value = ShardedValue | list["Value"]
