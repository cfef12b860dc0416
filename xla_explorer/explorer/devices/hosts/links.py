"""Links between hosts: how long the pairs of collective-permutes take."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.devices.hosts.job import Job
from xla_explorer.explorer.devices.hosts.meetings import Meeting

_PS = 1e6


class LinkRow(NamedTuple):
    """The pairs of one collective-permute from one host to one host.

    Attributes
    ----------
    collective : str
        Its name with %.
    source, target : str
        The hosts; equal for links inside of a host.
    pairs, n : int
        Pairs of devices, and executions of all of them.
    transfer_us : float
        The median time from the arrival of both devices until the target leaves.
    gb_per_s : float or None
        The bytes of a device by this time.
    slower : float
        The time by that of the median link of its kind: inside of hosts, or between them.
    """

    collective: str
    source: str
    target: str
    pairs: int
    n: int
    transfer_us: float
    gb_per_s: float | None
    slower: float


def links(job: Job, meetings: Sequence[Meeting]) -> list[LinkRow]:
    """Return a row for each direction between two hosts, the slowest first."""
    times: dict[tuple[tuple[str, str], int, int], list[float]] = {}
    pairs: dict[tuple[tuple[str, str], int, int], set[tuple[int, int]]] = {}
    sizes: dict[tuple[str, str], float] = {}
    for meeting in meetings:
        for pair in meeting.traffic.pairs if meeting.traffic is not None else ():
            if pair[0] == pair[1] or max(pair) >= len(job.members):
                continue
            sender, receiver = [job.members[number] for number in pair]
            if sender not in meeting.visits or receiver not in meeting.visits:
                continue
            begin = max(meeting.visits[sender][0], meeting.visits[receiver][0])
            key = (meeting.collective, sender.host, receiver.host)
            times.setdefault(key, []).append(max(meeting.visits[receiver][1] - begin, 0) / _PS)
            pairs.setdefault(key, set()).add(pair)
            sizes[meeting.collective] = meeting.traffic.sent if meeting.traffic else 0.0
    medians = {key: statistics.median(found) for key, found in times.items()}
    rows = []
    for key, us in medians.items():
        collective, source, target = key
        alike = [
            other_us
            for (other, a, b), other_us in medians.items()
            if other == collective and (a == b) == (source == target)
        ]
        rows.append(
            LinkRow(
                f"%{collective[1]}",
                job.hosts[source].name,
                job.hosts[target].name,
                len(pairs[key]),
                len(times[key]),
                us,
                sizes[collective] / us / 1e3 if us else None,
                us / max(statistics.median_low(alike), 1e-3),
            )
        )
    return sorted(rows, key=lambda row: -row.slower)
