"""The live ranges of XLA's buffer assignment, read from their text.

Source: xla/hlo/utils/hlo_live_range.cc (HloLiveRange::ToString).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MOMENT = re.compile(r"\s+(\d+):(\S+?)\s*$")
_RANGE = re.compile(r"\s+(\S+?)(\{[\d,]*\}):(\d+)-(\d+)\s*$")
_PEAK = re.compile(r"\s+Live ranges at (\d+) \(peak\):")
_ALIVE = re.compile(r"\s+(\S+?)(\{[\d,]*\}): (\d+) bytes")


class LiveRange(NamedTuple):
    """A value and its live range, in moments of the schedule."""

    instruction: str
    shape_index: str
    start: int
    end: int


class LiveRanges(NamedTuple):
    """The live ranges of a buffer assignment in XLA's dump.

    schedule: the instruction's name at each position of the schedule. peak: the position at which
    most bytes are live. alive: (instruction, shape index, bytes) of the values live at the peak.
    """

    schedule: list[str]
    ranges: list[LiveRange]
    peak: int | None
    alive: list[tuple[str, str, int]]


def parse_live_ranges(text: str) -> LiveRanges:
    """Return the live ranges that XLA writes with its buffer assignment.

    Lists are empty if the text lacks them.
    """
    found = LiveRanges([], [], None, [])
    for line in text.splitlines():
        if peak := _PEAK.match(line):
            found = found._replace(peak=int(peak[1]))
        elif line.strip().startswith("Stack trace breakdown"):
            break
        elif found.peak is not None:
            if alive := _ALIVE.match(line):
                found.alive.append((alive[1], alive[2], int(alive[3])))
        elif one := _RANGE.match(line):
            found.ranges.append(LiveRange(one[1], one[2], int(one[3]), int(one[4])))
        elif (moment := _MOMENT.match(line)) and int(moment[1]) == len(found.schedule):
            found.schedule.append(moment[2])
    return found
