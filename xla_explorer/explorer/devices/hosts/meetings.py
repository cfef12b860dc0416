"""Meetings: the visits of several devices in one collective, on one clock."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from xla_explorer.explorer.devices.hosts.clocks import Clock
from xla_explorer.explorer.devices.hosts.job import Job, Member
from xla_explorer.explorer.devices.hosts.recorded_hosts import RecordedHost, Visit
from xla_explorer.hlo.analysis.collective_traffic import CollectiveTraffic


class Meeting:
    """One execution of a collective by one group of devices.

    Attributes
    ----------
    collective : tuple of str
        Module and name.
    kind : str
        The opcode.
    visits : dict
        Arrival and departure of each member in ps, on the clock of the first host.
    traffic : CollectiveTraffic or None
        If the module is in the profile.
    """

    def __init__(
        self,
        collective: tuple[str, str],
        kind: str,
        visits: dict[Member, tuple[int, int]],
        traffic: CollectiveTraffic | None,
    ) -> None:
        self.collective, self.kind, self.visits, self.traffic = collective, kind, visits, traffic

    @cached_property
    def order(self) -> list[Member]:
        """The members in the order of their arrival."""
        return sorted(self.visits, key=lambda member: self.visits[member][0])

    @property
    def last(self) -> Member:
        """The member that arrived last."""
        return self.order[-1]

    @property
    def skew_ps(self) -> int:
        """From the first to the last arrival."""
        return self.visits[self.last][0] - self.visits[self.order[0]][0]

    @property
    def alone_ps(self) -> int:
        """The time for which the others wait for the last member alone."""
        return self.visits[self.last][0] - self.visits[self.order[-2]][0]

    @property
    def late_host(self) -> tuple[int | None, int]:
        """The host that arrived last, and the time for which the others wait for it alone."""
        by_host: dict[int, int] = {}
        for (host, _), (arrived, _) in self.visits.items():
            by_host[host] = max(by_host.get(host, arrived), arrived)
        if len(by_host) < 2:
            return None, 0
        before, last = sorted(by_host.items(), key=lambda pair: pair[1])[-2:]
        return last[0], last[1] - before[1]

    @property
    def transfer_ps(self) -> float:
        """From the last arrival to the members' median departure."""
        left = statistics.median([left for _, left in self.visits.values()])
        return max(0.0, left - self.visits[self.last][0])

    def waited_ps(self, member: Member) -> int:
        """Return the time from a member's arrival to the last one."""
        return self.visits[self.last][0] - self.visits[member][0]

    @property
    def hosts(self) -> tuple[int, ...]:
        """The hosts of the members."""
        return tuple(sorted({host for host, _ in self.visits}))


class _Placed(NamedTuple):
    """A visit on the common clock."""

    member: Member
    visit: Visit
    arrived: int
    left: int


def meetings(job: Job, clocks: Sequence[Clock]) -> list[Meeting]:
    """Return the meetings of at least two devices, in the order of their ends."""
    found: dict[tuple[tuple[str, str], frozenset[Member]], list[Meeting]] = {}
    for collective, kind, visits in _executions(job.hosts, clocks):
        traffic = job.traffic(collective, kind)
        for group in job.groups(collective, kind):
            own = {member: times for member, times in visits.items() if member in group}
            if len(own) > 1:
                made = Meeting(collective, kind, own, traffic)
                found.setdefault((collective, group), []).append(made)
    whole = [one for row in found.values() for one in _of_all(row)]
    return sorted(whole, key=lambda one: max(left for _, left in one.visits.values()))


def _of_all(row: Sequence[Meeting]) -> Iterator[Meeting]:
    """Yield the meetings of all members; at its ends a recording lacks some."""
    most = max([len(one.visits) for one in row])
    yield from (one for one in row if len(one.visits) == most)


def _executions(
    hosts: Sequence[RecordedHost], clocks: Sequence[Clock]
) -> Iterator[tuple[tuple[str, str], str, dict[Member, tuple[int, int]]]]:
    """Yield the visits of each execution: of one run, or with the nearest ends."""
    by_collective: dict[tuple[str, str], dict[Member, list[_Placed]]] = {}
    for number, (host, clock) in enumerate(zip(hosts, clocks, strict=True)):
        for device, visits in host.visits.items():
            for one in visits:
                placed = _Placed(Member(number, device), one, one.arrived_ps + clock.offset_ps,
                                 one.left_ps + clock.offset_ps)  # fmt: skip
                row = by_collective.setdefault(one.collective, {})
                row.setdefault(placed.member, []).append(placed)
    for collective, rows in by_collective.items():
        kind = next(iter(rows.values()))[0].visit.kind
        for group in _together(list(rows.values())):
            yield collective, kind, {one.member: (one.arrived, one.left) for one in group}


def _together(rows: Sequence[Sequence[_Placed]]) -> Iterator[list[_Placed]]:
    """Yield the visits that belong together, one of each device at most."""
    first = max(rows, key=len)
    ends = [one.left for one in first]
    gaps = [b - a for a, b in pairwise(ends)]
    near = statistics.median(gaps) / 2 if gaps else float("inf")
    groups: list[dict[Any, _Placed]] = [{one.member: one} for one in first]
    for row in rows:
        if row is first:
            continue
        for one in row:
            k = bisect_left(ends, one.left)
            k = min([n for n in (k - 1, k) if 0 <= n < len(ends)],
                    key=lambda n: abs(ends[n] - one.left))  # fmt: skip
            if abs(ends[k] - one.left) <= near:
                groups[k].setdefault(one.member, one)
    yield from (list(group.values()) for group in groups)
