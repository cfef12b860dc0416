"""Layouts: the order of an array's dimensions in memory. Interned: equal layouts are one object.

Source: xla/layout.h. `minor_to_major[0]` is the dimension that varies fastest. The text after the
colon (`T(8,128)`, `S(5)`, `E(4)` ...) is stored in `properties`.
"""

from __future__ import annotations

import re
from typing import Any


class Layout:
    """minor_to_major and the textual properties; made by `layout(...)`."""

    __slots__ = ("is_default", "minor_to_major", "properties", "text")

    minor_to_major: tuple[int, ...]
    properties: str
    text: str
    is_default: bool

    @property
    def memory_space(self) -> int:
        """The number n of `S(n)`; 0 is the default memory."""
        found = re.search(r"S\((\d+)\)", self.properties)
        return int(found.group(1)) if found else 0

    def __repr__(self) -> str:
        return self.text or "{}"

    def __reduce__(self) -> tuple[Any, ...]:
        return layout, (self.minor_to_major, self.properties)


_LAYOUTS: dict[tuple[tuple[int, ...], str], Layout] = {}


def layout(minor_to_major: tuple[int, ...], properties: str = "") -> Layout:
    """Return the interned Layout with this order and these properties."""
    key = (minor_to_major, properties)
    found = _LAYOUTS.get(key)
    if found is None:
        found = _LAYOUTS[key] = Layout()
        found.minor_to_major = minor_to_major
        found.properties = properties
        found.is_default = not properties and minor_to_major == tuple(
            range(len(minor_to_major) - 1, -1, -1)
        )
        body = ",".join(map(str, minor_to_major)) + (f":{properties}" if properties else "")
        found.text = "{" + body + "}" if body else ""
    return found


def default_layout(rank: int) -> Layout:
    """Return the row-major layout: the last dimension varies fastest."""
    return layout(tuple(range(rank - 1, -1, -1)))
