"""The devices of a job, and the groups in which they meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xla_explorer.explorer.devices.hosts.recorded_hosts import RecordedHost
from xla_explorer.hlo.analysis.collective_traffic import CollectiveTraffic, traffic_of


class Member(NamedTuple):
    """A device: the number of its host, and its name there."""

    host: int
    device: str


class Job:
    """The hosts of a job.

    Groups are those of the module, whose device numbers are taken in the order of hosts and their
    devices. If no profile has the module, or it states another number of devices, all devices are
    one group.

    Attributes
    ----------
    hosts : list of RecordedHost
        In the order given.
    members : list of Member
        All devices, by their numbers.
    """

    def __init__(self, hosts: Sequence[RecordedHost]) -> None:
        self.hosts = list(hosts)
        self.members = [Member(k, name) for k, host in enumerate(hosts) for name in host.devices]
        self._known: dict[tuple[str, str, str], CollectiveTraffic | None] = {}

    def traffic(self, collective: tuple[str, str], kind: str) -> CollectiveTraffic | None:
        """Return the traffic of a collective; None without its module."""
        key = (*collective, kind)
        if key not in self._known:
            module, name = collective
            names = (name, name.replace(kind, f"{kind}-start", 1))
            found = [host.instruction(module, one) for host in self.hosts for one in names]
            i = next(filter(None, found), None)
            self._known[key] = None if i is None else traffic_of(i, len(self.members))
        return self._known[key]

    def groups(self, collective: tuple[str, str], kind: str) -> list[frozenset[Member]]:
        """Return the groups of devices that meet in a collective."""
        traffic = self.traffic(collective, kind)
        everyone = [frozenset(self.members)]
        if traffic is None:
            return everyone
        listed = sorted([number for group in traffic.groups for number in group])
        if listed != list(range(len(self.members))):
            return everyone
        return [frozenset([self.members[number] for number in group]) for group in traffic.groups]

    def partners(
        self, collective: tuple[str, str], kind: str, hosts: tuple[int, int]
    ) -> Iterator[tuple[str, str]]:
        """Yield pairs of devices of two hosts that meet in a collective."""
        for group in self.groups(collective, kind):
            left, right = [
                [m.device for m in self.members if m in group and m.host == host] for host in hosts
            ]
            if left and right:
                yield left[0], right[0]
