"""Records of what the partitioner decided, with the alternatives and their costs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True)
class Alternative:
    """One way that was possible.

    Attributes
    ----------
    name : str
        Such as `all-to-all, slice` or `contracting`.
    sent : float
        Bytes that one device sends.
    peak : int
        The most bytes of one value that a device holds on this way.
    flops : int
        Operations of one device, if the ways differ in them.
    refusal : str
        Why the way is closed, or "".
    """

    name: str
    sent: float
    peak: int = 0
    flops: int = 0
    refusal: str = ""


@dataclass(frozen=True)
class PartitionChoice:
    """A decision about one instruction of the global program.

    Attributes
    ----------
    instruction : HloInstruction
        Of the global program.
    kind : str
        reshard, dot-strategy, gather-method, scatter-method, halo, ...
    chosen : str
        Name of the chosen alternative.
    alternatives : tuple of Alternative
        The ways that were compared, the chosen one included.
    notes : tuple of str
        Such as the shardings between which a value is moved.
    """

    instruction: HloInstruction
    kind: str
    chosen: str
    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return the choice as plain data, for the journal."""
        return {
            "choice": self.kind,
            "chosen": self.chosen,
            "alternatives": [dataclasses.asdict(one) for one in self.alternatives],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class WrittenFor:
    """The cause of the collectives that the partitioner writes.

    Attributes
    ----------
    instruction : HloInstruction or None
        The operation of the global program that is partitioned.
    choice : PartitionChoice or None
        The decision about it, if there was one.
    value : HloInstruction or None
        Of a reshard, the instruction whose value is moved; None if the operation computes it.
    source, target : Tiling or None
        Of a reshard, the sharding before and after it.
    """

    instruction: HloInstruction | None = None
    choice: PartitionChoice | None = None
    value: HloInstruction | None = None
    source: Tiling | None = None
    target: Tiling | None = None
