"""Source lines that tracing repeats many times: unrolled Python loops, which compile slowly."""

from __future__ import annotations

from collections import Counter
from statistics import median_high
from typing import Final, NamedTuple

from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule

_MANY: Final = 8
_SHARE: Final = 0.05  # of the program's instructions, below which a line does not matter
_MOST: Final = 5


class RepeatedLine(NamedTuple):
    """A line of the user's file.

    times: how often it was traced. instructions: the number that it made. share: their share of the
    program's instructions.
    """

    line: str
    times: int
    instructions: int
    share: float


def repeated_lines(module: HloModule, most: int | None = _MOST) -> list[RepeatedLine]:
    """Return the lines that were traced many times and make up much of a program.

    An expression makes the same operations each time that it is traced. The times are therefore the
    median count of a line's operations, by opcode, name and position in the line. The largest come
    first.
    """
    places, whole = SourceLines(module), 0
    operations: dict[str, Counter[tuple[str, str, int]]] = {}
    for i in module.instructions():
        whole += 1
        line = places.metadata_place(i.metadata)
        found = parse_metadata(i.metadata)
        if (
            line and found.op_name and i.opcode.name != "parameter"
        ):  # constants and broadcasts, which are shared, have no name
            operations.setdefault(line, Counter())[
                i.opcode.name, found.op_name, found.stack_frame_id
            ] += 1
    rows = []
    for line, counts in operations.items():
        times, made = median_high(counts.values()), counts.total()
        if times >= _MANY and (most is None or made >= _SHARE * whole):
            rows.append(RepeatedLine(line, times, made, made / whole))
    return sorted(rows, key=lambda row: -row.instructions)[:most]
