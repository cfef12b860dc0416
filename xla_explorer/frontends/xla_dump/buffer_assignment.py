"""XLA's buffer assignment, read from its text.

Source: xla/service/buffer_assignment.cc (BufferAssignment::ToString).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ALLOCATION = re.compile(r"allocation (\d+): size (\d+)(?:, (.*?))?:?$")
# A carried value of a loop is `(phi)`.
_VALUE = re.compile(
    r"\s*value: <\d+ (\S+?)(\{[\d,]*\})?(?: \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\): (.*)$"
)


class DumpedSlice(NamedTuple):
    """A value in an allocation.

    allocation: its number. role: of the allocation in XLA (`parameter 0`, `preallocated-temp` ...).
    shape_index: the index in a tuple. Sizes and offsets are in bytes.
    """

    allocation: int
    allocation_size: int
    role: str
    instruction: str
    shape_index: str
    size: int
    offset: int
    shape: str


def parse_buffer_assignment(text: str) -> list[DumpedSlice]:
    """Return every value of every allocation, in the order of the text."""
    found: list[DumpedSlice] = []
    number, size, role = -1, 0, ""
    for line in text.splitlines():
        head = _ALLOCATION.match(line)
        if head:
            number, size, role = int(head[1]), int(head[2]), head[3] or ""
            continue
        value = _VALUE.match(line)
        if value and number >= 0:
            found.append(
                DumpedSlice(
                    number,
                    size,
                    role,
                    value[1],
                    value[2] or "",
                    int(value[3]),
                    int(value[4]),
                    value[5],
                )
            )
    return found
