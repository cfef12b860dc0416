"""Reducers that find the largest or smallest value and where it is (argmax, argmin): which they are.

Of equal values the lower index wins, so the order of combination does not matter but for two things: the first NaN
wins over later ones, and of a zero and a negative zero the value (not the index) is the later one.
"""

from __future__ import annotations

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


def finds_extreme_and_index(computation: HloComputation) -> bool:
    """Whether a reducer over (value, index) pairs is argmax or argmin: `select(a > c or a != a, a, c)` and
    `select(a > c or a != a or (a == c and b < d), b, d)`; integers need no `a != a`."""
    parameters = computation.parameters()
    root = computation.root
    if len(parameters) != 4 or root.opcode.name != "tuple" or len(root.operands) != 2:
        return False
    a, b, c, d = parameters
    value, index = root.operands
    if not (_is(value, "select") and _is(index, "select")) or not b.shape.element_type.is_integer:
        return False
    if value.operands[1:] != (a, c) or index.operands[1:] != (b, d):
        return False
    first, second = value.operands[0], index.operands[0]
    if not _prefers(first, a, c) or not _is(second, "or"):
        return False
    for better, tie in (second.operands, second.operands[::-1]):
        if _prefers(better, a, c) and _is(tie, "and"):
            for equal, lower in (tie.operands, tie.operands[::-1]):
                if (
                    _compares(equal, a, c, ("EQ",))
                    and _compares(lower, b, d, ("LT",))
                    and _direction(better) == _direction(first)
                ):
                    return True
    return False


def _is(i: HloInstruction, name: str) -> bool:
    return i.opcode.name == name


def _compares(i: HloInstruction, a: HloInstruction, b: HloInstruction, directions: tuple[str, ...]) -> bool:
    return (
        _is(i, "compare")
        and i.operands == (a, b)
        and i.attribute("direction") in directions
        and i.attributes.get("type") != "TOTALORDER"
    )


def _prefers(i: HloInstruction, a: HloInstruction, c: HloInstruction) -> bool:
    if a.shape.element_type.is_integer:
        return _compares(i, a, c, ("GT", "LT"))
    if not a.shape.element_type.is_float or not _is(i, "or"):
        return False
    return any(
        _compares(x, a, c, ("GT", "LT")) and _compares(y, a, a, ("NE",)) for x, y in (i.operands, i.operands[::-1])
    )


def _direction(i: HloInstruction) -> str:
    """GT or LT of what `_prefers` accepted."""
    parts = i.operands if _is(i, "or") else (i,)
    return next(str(x.attribute("direction")) for x in parts if x.attribute("direction") != "NE")
