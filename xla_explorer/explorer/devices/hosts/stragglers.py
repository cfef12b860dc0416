"""Late devices: how late, who waits for them, and what they did before the collective."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from xla_explorer.explorer.devices.hosts.job import Job, Member
from xla_explorer.explorer.devices.hosts.meetings import Meeting
from xla_explorer.explorer.devices.hosts.recorded_hosts import RecordedHost

_PS = 1e6
NO_KERNEL = "no kernel"


class DeviceLateness(NamedTuple):
    """One device of a job.

    Attributes
    ----------
    host, device : str
        Where it is.
    meetings : int
        The collectives that it took part in.
    arrived_last : int
        Of these, in which it arrived last.
    late_us : float
        The median of its arrivals after the median member's; negative if it comes early.
    held_up_us : float
        In all: the time for which others waited for this device alone.
    waited_us : float
        In all: the time that it waited for others.
    busy_us : float
        In all: with a kernel other than these collectives.
    because : str
        What took longer before collectives than on the median device: a kernel, or no kernel.
    because_us : float
        How much longer: of an execution of the kernel, or between two collectives.
    """

    host: str
    device: str
    meetings: int
    arrived_last: int
    late_us: float
    held_up_us: float
    waited_us: float
    busy_us: float
    because: str
    because_us: float


def lateness(job: Job, meetings: Sequence[Meeting]) -> list[DeviceLateness]:
    """Return a row for each device; the one that holds up others most comes first."""
    before = {member: _work(job.hosts[member.host], member.device) for member in job.members}
    rows = [_row(job.hosts, member, meetings, before) for member in job.members]
    return sorted(rows, key=lambda row: -row.held_up_us)


class _Work(NamedTuple):
    """The work between collectives: time and executions by kernel; `NO_KERNEL` is the rest."""

    times: dict[str, float]
    executions: dict[str, int]
    busy_us: float


def _work(host: RecordedHost, device: str) -> _Work:
    spans = [(one.arrived_ps, one.left_ps) for one in host.visits[device]]
    times: dict[str, float] = defaultdict(float)
    executions: dict[str, int] = Counter()
    busy = 0.0
    for event in host.devices[device]:
        if host.is_collective(event):
            continue
        busy += event.self_ps / _PS
        if spans and spans[0][1] <= event.start_ps < spans[-1][0]:
            name = f"%{event.op}" if event.op else event.event
            times[name] += event.self_ps / _PS
            executions[name] += 1
    between = sum([b[0] - a[1] for a, b in pairwise(spans)]) / _PS
    times[NO_KERNEL] = between - sum(times.values())
    executions[NO_KERNEL] = max(len(spans) - 1, 1)
    return _Work(times, executions, busy)


def _row(
    hosts: Sequence[RecordedHost],
    member: Member,
    meetings: Sequence[Meeting],
    work: dict[Member, _Work],
) -> DeviceLateness:
    own = [one for one in meetings if member in one.visits]
    late = [
        one.visits[member][0] - statistics.median([arrived for arrived, _ in one.visits.values()])
        for one in own
    ]
    last = [one for one in own if one.last == member]
    because, longer = _because(member, work)
    return DeviceLateness(
        hosts[member.host].name,
        member.device,
        len(own),
        len(last),
        statistics.median(late) / _PS if late else 0.0,
        sum([one.alone_ps for one in last]) / _PS,
        sum([one.waited_ps(member) for one in own]) / _PS,
        work[member].busy_us,
        because,
        longer,
    )


def _because(member: Member, work: dict[Member, _Work]) -> tuple[str, float]:
    """Return what takes longer on a device than on the median of the others, and by how much.

    The one with the most time in all counts; recordings may hold other numbers of executions.
    """
    own = work[member]
    longer: dict[str, float] = {}
    for name, time in own.times.items():
        means = [
            one.times[name] / one.executions[name]
            for other, one in work.items()
            if other != member and name in one.times
        ]
        if means:
            longer[name] = time - statistics.median(means) * own.executions[name]
    name, most = max(longer.items(), key=lambda pair: pair[1], default=("", 0.0))
    return (name, most / own.executions[name]) if most > 0 else ("", 0.0)
