"""The clocks of hosts, aligned by the ends of collectives in which all of them take part.

The members of a collective leave it together, except for a ring's last steps; hosts' clocks differ
by milliseconds. So the median difference of the ends is the difference of two clocks. The devices
of a collective-permute leave at other times: its ends count only if there is nothing else.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from xla_explorer.explorer.devices.hosts.job import Job
from xla_explorer.explorer.devices.hosts.recorded_hosts import Visit

_MOST_SHIFT: Final = 50  # visits by which one recording may begin later than another
_LEAST_PAIRS: Final = 2
_TO_DEVIATION: Final = 1.4826  # from a median absolute deviation to a standard deviation
_TIE: Final = 1.25
"""Shifts whose differences spread less than this many times the least are equally good."""
_US: Final = 1_000_000


class Clock(NamedTuple):
    """The clock of a host beside that of the first.

    offset_ps: is added to its times. spread_ps: of the differences, as a standard deviation; the
    offset is not known better. matched: collectives by whose ends it was found, 0 for none. shift:
    visits that this recording began later; 0 with numbered runs.
    """

    offset_ps: int
    spread_ps: float
    matched: int
    shift: int


def aligned(job: Job) -> list[Clock]:
    """Return the clock of each host. Without common collectives, the hosts' own clocks count."""
    first = job.hosts[0]
    clocks = [Clock(0, 0.0, 0, 0)]
    for number, host in enumerate(job.hosts[1:], 1):
        stated = (first.began_ps, host.began_ps)
        start = 0 if None in stated else (stated[0] or 0) - (stated[1] or 0)
        pairs = _common_ends(job, number)
        found = _by_runs(pairs) or _by_order(pairs, -start)
        clocks.append(found or Clock(-start, 0.0, 0, 0))
    return clocks


_Ends = list[tuple[list[Visit], list[Visit]]]
"""For each collective in which two hosts meet, the visits of a device of each."""


def _common_ends(job: Job, number: int) -> _Ends:
    found: dict[bool, _Ends] = {True: [], False: []}
    kinds = {
        one.collective: one.kind
        for host in (job.hosts[0], job.hosts[number])
        for visits in host.visits.values()
        for one in visits
    }
    for collective, kind in sorted(kinds.items()):
        pair = next(job.partners(collective, kind, (0, number)), None)
        if pair is not None:
            visits = [
                [one for one in job.hosts[host].visits[device] if one.collective == collective]
                for host, device in zip((0, number), pair, strict=True)
            ]
            if visits[0] and visits[1]:
                found[kind == "collective-permute"].append((visits[0], visits[1]))
    return found[False] or found[True]


def _by_runs(pairs: _Ends) -> Clock | None:
    """Return the clock if both hosts number their runs alike, else None."""
    differences, most = [], 0
    for left, right in pairs:
        ends = {(one.run, one.number): one.left_ps for one in left if _is_numbered(one)}
        both = [one for one in right if (one.run, one.number) in ends]
        differences += [ends[one.run, one.number] - one.left_ps for one in both]
        most += min(len(left), len(right))
    if len(differences) < _LEAST_PAIRS or 2 * len(differences) < most:
        return None
    return _clock(differences, 0)


def _is_numbered(visit: Visit) -> bool:
    """Return True if the number of a run can be that of the job: hosts count small ones anew."""
    return isinstance(visit.run, int) and visit.run > _MOST_SHIFT


def _clock(differences: Sequence[int], shift: int) -> Clock:
    offset = statistics.median(differences)
    spread = statistics.median([abs(one - offset) for one in differences])
    return Clock(round(offset), _TO_DEVIATION * spread, len(differences), shift)


def _by_order(pairs: _Ends, start: int) -> Clock | None:
    """Return the clock by the order of visits; the recordings may begin at different visits.

    Of shifts with equally small spreads, as of regular steps, the one nearest to the hosts' own
    clocks counts.
    """
    tried = list(_shifted(pairs))
    if not tried:
        return None
    most = max([one.matched for one in tried])
    enough = [one for one in tried if 2 * one.matched >= most]
    least = min([one.spread_ps for one in enough])
    good = [one for one in enough if one.spread_ps <= max(_TIE * least, least + _US)]
    return min(good, key=lambda one: (abs(one.offset_ps - start), -one.matched))


def _shifted(pairs: _Ends) -> Iterator[Clock]:
    longest = max([max(len(left), len(right)) for left, right in pairs], default=0)
    most = min(_MOST_SHIFT, longest - 1)
    least = min(_LEAST_PAIRS, sum([len(right) for _, right in pairs]))
    for shift in sorted(range(-most, most + 1), key=abs):
        differences = [
            left[k + shift].left_ps - visit.left_ps
            for left, right in pairs
            for k, visit in enumerate(right)
            if 0 <= k + shift < len(left)
        ]
        if len(differences) >= max(least, 1):
            yield _clock(differences, shift)
