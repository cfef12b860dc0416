"""Products with a reversed, padded or broadcast factor: the same movement of the other factor."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import DotDimensions
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import paddings
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes.values import PaddingDimension
from xla_explorer.hlo.instruction import HloInstruction


class Mirrored(NamedTuple):
    """A dot whose operand `source` is moved by a reverse, pad or broadcast.

    side: 0 for the left operand. pairs: contracted dimension of the source -> of the other side.
    moved: the contracted dimensions that the instruction changes. rest: True if the instruction
    changes others too. saved: see `gain`.
    """

    side: int
    pairs: dict[int, int]
    moved: tuple[int, ...]
    rest: bool
    saved: float


def _changed_dimensions(i: HloInstruction) -> list[int]:
    """Return the dimensions of the result that a reverse, pad or broadcast makes."""
    if i.opcode.name == "reverse":
        return list(i.attributes.value("dimensions"))
    if i.opcode.name == "pad":
        return [d for d, p in enumerate(paddings(i)) if p != PaddingDimension(0, 0, 0)]
    kept = i.attributes.value("dimensions")
    return [d for d in range(i.shape.rank) if d not in kept]


def _may_mirror(source: HloInstruction, moved: tuple[int, ...]) -> bool:
    if source.opcode.name != "pad":
        return bool(moved)
    chosen = [paddings(source)[d] for d in moved]
    return (
        bool(chosen)
        and uniform_value(source.operands[1]) == 0
        and all(p.low >= 0 and p.high >= 0 for p in chosen)
    )


def mirrored_operand(i: HloInstruction) -> Mirrored | Reason:
    """Return the operand whose movement can be mirrored on the other side, or why there is none."""
    numbers = DotDimensions(i)
    names = [o.opcode.name for o in i.operands]
    side = next((k for k in (0, 1) if names[k] in ("reverse", "pad", "broadcast")), None)
    if side is None:
        return refuse("nothing-to-mirror", f"no operand of %{i.name} is reversed or padded")
    source, other = i.operands[side], i.operands[1 - side]
    ends = (numbers.lhs_contracting, numbers.rhs_contracting)
    pairs = dict(zip(ends[side], ends[1 - side], strict=True))
    changed = _changed_dimensions(source)
    moved = tuple([d for d in changed if d in pairs])
    if not _may_mirror(source, moved):
        return refuse("nothing-to-mirror", f"%{source.name} moves no contracted dimension")
    rest = len(changed) > len(moved)
    if source.opcode.name == "reverse":
        saved = source.shape.element_count / max(other.shape.element_count, 1)
    elif source.opcode.name == "pad":
        inner = source.operands[0].shape.dimensions
        saved = math.prod([source.shape.dimensions[d] / max(inner[d], 1) for d in moved])
    else:
        saved = float(math.prod([source.shape.dimensions[d] for d in moved]))
        rest = rest or source.operands[0].shape.dimensions != tuple(
            [n for d, n in enumerate(source.shape.dimensions) if d not in moved]
        )
    halved = rest and source.opcode.name != "reverse"
    return Mirrored(side, pairs, moved, rest, saved / 2 if halved else saved)
