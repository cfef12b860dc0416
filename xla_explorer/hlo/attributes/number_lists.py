"""Lists of integers in the text of attributes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

INTEGER: Final = re.compile(r"-?\d+")
LIST: Final = re.compile(r"\s*\{\s*+(?:-?\d+\s*+(?:,\s*+-?\d+\s*+)*+)?+\}\s*", re.ASCII)
LISTS: Final = re.compile(rf"\s*\{{\s*+(?:{LIST.pattern}(?:,{LIST.pattern})*+)?+\}}\s*", re.ASCII)
LIMIT: Final = 1 << 63


def as_integers(found: Iterable[str]) -> tuple[int, ...]:
    """Integers of 64 bits. ValueError for larger ones."""
    integers = tuple(map(int, found))
    if integers and not (min(integers) >= -LIMIT and max(integers) < LIMIT):
        raise ValueError(f"expects integers of 64 bits but sees {max(integers, key=abs)}")
    return integers
