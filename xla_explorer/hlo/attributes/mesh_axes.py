"""Parts of the axes of a device mesh: `'y':(2)4` is the part of `y` from 2 to 8."""

from __future__ import annotations

from collections.abc import Iterable


def part_problem(
    name: str, size: int, first: int, last: int, used: Iterable[tuple[int, int]]
) -> str:
    """Return the conflict of a part of an axis with the parts in use; empty if there is none."""
    if first < 1 or (last <= first and (first, last) != (1, size)) or size % last:
        return f"axis '{name}' of size {size} has no such part"
    for one, other in used:
        (_, end), (begin, _) = sorted([(one, other), (first, last)])
        if begin < end or begin % end or (one, other) == (first, last):
            return f"axis '{name}' is in use twice"
    return ""
