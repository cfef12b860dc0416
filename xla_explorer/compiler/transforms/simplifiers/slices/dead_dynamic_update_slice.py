"""Dynamic-update-slices of a region that no reader sees.

Source: xla/hlo/transforms/simplifiers/dead_dynamic_update_slice_elimination.cc.

============================================  ================================================
handled by XLA                                here
============================================  ================================================
constant start indices, clamped               the same
readers: static slices, further updates with  the same: the region must not meet a slice; an
constant starts                               update that covers it ends the search
other readers, or the root                    the update stays
dynamic-slices with constant starts           treated as slices
============================================  ================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Region: TypeAlias = list[tuple[int, int]]  # first and end of each dimension


def _placed(
    starts: Sequence[HloInstruction], sizes: Sequence[int], whole: Sequence[int]
) -> Region | None:
    """Return the region at constant starts, clamped into the array; None for other starts."""
    found = []
    for start, size, most in zip(starts, sizes, whole, strict=True):
        value = as_integer(start)
        if value is None:
            return None
        first = min(max(value, 0), most - size)
        found.append((first, first + size))
    return found


def written_region(update: HloInstruction) -> Region | None:
    """Return the region that a dynamic-update-slice writes, or None."""
    whole, part, *starts = update.operands
    return _placed(starts, part.shape.dimensions, whole.shape.dimensions)


def read_region(reader: HloInstruction) -> Region | None:
    """Return the region that a slice reads, strides ignored, or None."""
    if reader.opcode.name == "slice":
        return [(d.start, d.limit) for d in reader.attributes["slice"]]
    if reader.opcode.name == "dynamic-slice":
        x, *starts = reader.operands
        return _placed(starts, reader.shape.dimensions, x.shape.dimensions)
    return None


def _meet(a: Region, b: Region) -> bool:
    return all(x < w and y < z for (x, z), (y, w) in zip(a, b, strict=True))


def _inside(a: Region, b: Region) -> bool:
    return all(y <= x and z <= w for (x, z), (y, w) in zip(a, b, strict=True))


def is_dead(update: HloInstruction) -> bool:
    """Return True if no reader sees what the update writes."""
    region = written_region(update)
    if region is None:
        return False
    work = [update]
    while work:
        i = work.pop()
        if i.is_root:
            return False
        for user in i.users:
            if user.opcode.name == "dynamic-update-slice" and i not in user.operands[1:]:
                over = written_region(user)
                if over is None or not _inside(region, over):
                    work.append(user)
                continue
            seen = read_region(user) if user.operands[0] is i else None
            if seen is None or _meet(seen, region):
                return False
    return True


@register_pass()
@dataclasses.dataclass(frozen=True)
class DeadDynamicUpdateSliceElimination:
    """Replace an update that nobody reads by the array that it updates."""

    name: ClassVar[str] = "dead-dus-elimination"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit updates in every computation, later ones first."""
        changed = False
        for computation in list(module.computations.values()):
            for i in reversed(list(computation.post_order())):
                if (
                    i.id in computation.instructions
                    and i.opcode.name == "dynamic-update-slice"
                    and is_dead(i)
                    and context.decide(self.name, (), (), i) is None
                ):
                    context.rewrote(self.name, i, i.operands[0])
                    substitute(i, i.operands[0])
                    changed = True
        return changed
