"""`xe.xla.join_profiles`: profiles of several hosts on one clock: stragglers, slow links."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from xla_explorer.explorer.devices.hosts.clocks import Clock, aligned
from xla_explorer.explorer.devices.hosts.job import Job, Member
from xla_explorer.explorer.devices.hosts.lanes import JoinedJob, page_of
from xla_explorer.explorer.devices.hosts.links import LinkRow, links
from xla_explorer.explorer.devices.hosts.meetings import Meeting, meetings
from xla_explorer.explorer.devices.hosts.recorded_hosts import RecordedHost, read_hosts
from xla_explorer.explorer.devices.hosts.stragglers import NO_KERNEL, DeviceLateness, lateness
from xla_explorer.explorer.display.blocks import Blocks, Listing, Table
from xla_explorer.explorer.display.quantities import microseconds, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.xla_profile import ProfileError

_PS = 1e6
_SLOW = 2.0  # times the median of the other groups of a collective
_OFTEN = 0.5  # of the meetings in which a straggler is last
_MUCH = 0.05  # of the time of all collectives that a straggler costs


class HostRow(NamedTuple):
    """One host.

    Attributes
    ----------
    host, file : str
        As the profile states it, and its file.
    devices, collectives : int
        Devices, and their visits in collectives.
    offset_us : float
        Added to its times, so that they are on the first host's clock.
    spread_us : float
        The standard deviation of the differences behind the offset.
    matched : int
        Common collectives by whose ends the clock was aligned; 0: by the wall clock.
    shift : int
        Visits that the recording began later than that of the first host.
    arrived_last : int
        Collectives in which this host arrived last.
    held_up_us : float
        In all: the time for which other hosts waited for this one alone.
    """

    host: str
    file: str
    devices: int
    collectives: int
    offset_us: float
    spread_us: float
    matched: int
    shift: int
    arrived_last: int
    held_up_us: float


class GroupRow(NamedTuple):
    """One collective among one group of devices.

    Attributes
    ----------
    module, collective, opcode : str
        The program, the collective with %, its opcode.
    hosts : str
        The hosts of the group.
    devices, n : int
        Devices of the group, and executions.
    skew_us : float
        The median time from the first to the last arrival.
    transfer_us : float
        The median time from the last arrival to the members' departure.
    waited_us : float
        In all: the time that members waited for the last one.
    straggler : str
        The device that arrived last most often, and how often.
    sent_bytes : float or None
        Bytes that a device sends, by rings; None without the module.
    gb_per_s : float or None
        These bytes by the median transfer time.
    slower : float
        The transfer time by that of the median group of this collective.
    """

    module: str
    collective: str
    opcode: str
    hosts: str
    devices: int
    n: int
    skew_us: float
    transfer_us: float
    waited_us: float
    straggler: str
    sent_bytes: float | None
    gb_per_s: float | None
    slower: float


class JoinedProfiles(Report):
    """Profiles of several hosts on the clock of the first.

    A collective cannot end before its last member arrives: the skew of arrivals is time that the
    others wait, the rest is transfer.

    Attributes
    ----------
    hosts : list of HostRow
        The hosts and their clocks.
    collectives : list of GroupRow
        Each collective of each group, the one with the most waiting first.
    devices : list of DeviceLateness
        Each device, the one that holds up others most first.
    links : list of LinkRow
        Of collective-permutes: each direction between two hosts, the slowest first.
    """

    def __init__(self, hosts: Sequence[RecordedHost]) -> None:
        self._job = Job(hosts)
        self._clocks = aligned(self._job)
        self._meetings = meetings(self._job, self._clocks)
        if not self._meetings:
            raise ProfileError(
                "the profiles have no collective of several devices in common",
                "give one profile of each host, recorded over the same steps",
            )
        self.hosts = self._host_rows()
        self.collectives = self._group_rows()
        self.devices = lateness(self._job, self._meetings)
        self.links = links(self._job, self._meetings)

    @property
    def recorded(self) -> list[RecordedHost]:
        """The events of each host, on its own clock."""
        return self._job.hosts

    @property
    def clocks(self) -> list[Clock]:
        """The clock of each host."""
        return self._clocks

    @property
    def meetings(self) -> list[Meeting]:
        """Each execution of a collective by one group, in the order of their ends."""
        return self._meetings

    def _host_rows(self) -> list[HostRow]:
        late: dict[int, list[int]] = {}
        for one in self.meetings:
            last, lead = one.late_host
            if last is not None:
                late.setdefault(last, []).append(lead)
        return [
            HostRow(
                host.name, host.path.name, len(host.devices),
                sum(map(len, host.visits.values())), clock.offset_ps / _PS, clock.spread_ps / _PS,
                clock.matched, clock.shift, len(late.get(k, ())), sum(late.get(k, ())) / _PS,
            )
            for k, (host, clock) in enumerate(zip(self.recorded, self.clocks, strict=True))
        ]  # fmt: skip

    def _group_rows(self) -> list[GroupRow]:
        groups: dict[tuple[tuple[str, str], frozenset[Member]], list[Meeting]] = {}
        for one in self.meetings:
            groups.setdefault((one.collective, frozenset(one.visits)), []).append(one)
        medians = {key: _transfer(found) for key, found in groups.items()}
        rows = []
        for key, found in groups.items():
            others = [us for other, us in medians.items() if other[0] == key[0]]
            slower = medians[key] / max(statistics.median_low(others), 1e-3)
            rows.append(self._group(found, medians[key], slower))
        return sorted(rows, key=lambda row: -row.waited_us)

    def _group(self, found: Sequence[Meeting], transfer: float, slower: float) -> GroupRow:
        one = found[0]
        (last, times), *_ = Counter([each.last for each in found]).most_common(1)
        sent = None if one.traffic is None else one.traffic.sent
        return GroupRow(
            one.collective[0],
            f"%{one.collective[1]}",
            one.kind,
            ", ".join([self.recorded[k].name for k in one.hosts]),
            len(one.visits),
            len(found),
            statistics.median([each.skew_ps for each in found]) / _PS,
            transfer,
            sum([each.waited_ps(member) for each in found for member in each.visits]) / _PS,
            f"{self.named(last)} in {times} of {len(found)}",
            sent,
            None if sent is None or not transfer else sent / transfer / 1e3,
            slower,
        )

    def named(self, member: Member) -> str:
        """Return host and device of a member."""
        return f"{self.recorded[member[0]].name} {member[1]}"

    # -- what it means -----------------------------------------------------------------------------
    def findings(self) -> list[str]:
        """Return a sentence for each late host and device, slow group and doubtful clock."""
        whole = sum([one.skew_ps + one.transfer_ps for one in self.meetings]) / _PS
        found = [
            *self._late_hosts(whole), *self._late_devices(whole), *self._slow_groups(),
            *self._doubts(),
        ]  # fmt: skip
        return found or ["no device is late often, and no group is slow"]

    def _late_hosts(self, whole: float) -> list[str]:
        found = []
        for row in self.hosts:
            if row.held_up_us <= _MUCH * whole:
                continue
            own = [one for one in self.devices if one.host == row.host]
            most = max(own, key=lambda one: one.because_us)
            found.append(
                f"{row.host} is late: last in {row.arrived_last} of {len(self.meetings)} collectives, other"
                f" hosts wait {microseconds(row.held_up_us)} for it alone{_because(most)}"
            )
        return found

    def _late_devices(self, whole: float) -> list[str]:
        return [
            f"{row.host} {row.device} is a straggler: last in {row.arrived_last} of {row.meetings}"
            f" collectives, the others wait {microseconds(row.held_up_us)} for it alone"
            f"{_because(row)}"
            for row in self.devices
            # Without a cause, the device was itself held up in the collective before.
            if row.held_up_us > _MUCH * whole
            and row.arrived_last >= _OFTEN * row.meetings
            and row.because
        ]

    def _slow_groups(self) -> list[str]:
        return [
            f"{row.collective} is slow between {row.hosts}: {microseconds(row.transfer_us)} after"
            f" the last arrival, {row.slower:.1f} times the median group"
            for row in self.collectives
            if row.slower >= _SLOW
        ] + [
            f"the link from {row.source} to {row.target} is slow: {row.collective} takes"
            f" {microseconds(row.transfer_us)}, {row.slower:.1f} times the median link"
            for row in self.links
            if row.slower >= _SLOW
        ]

    def _doubts(self) -> list[str]:
        said = []
        for row in self.hosts[1:]:
            if not row.matched:
                said.append(f"{row.host} has no collective in common with {self.hosts[0].host}:"
                            " its wall clock counts")  # fmt: skip
            elif row.spread_us > min([one.skew_us for one in self.collectives]):
                said.append(f"the clock of {row.host} is known to {microseconds(row.spread_us)}:"
                            " smaller skews mean nothing")  # fmt: skip
        return said

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a page: the findings, a lane a device around the largest skew, and the tables.

        Parameters
        ----------
        path
            Of the HTML file.
        """
        target = Path(path)
        tables = [block.to_html() for block in list(self.blocks())[1:]]
        page = page_of(
            JoinedJob(
                self._job, self._clocks, self._meetings, self.headline(), self.findings(), tables
            )
        )
        target.write_text(page, encoding="utf-8")
        return target

    def headline(self) -> str:
        """Return hosts, devices, and the waiting."""
        waited = sum([row.waited_us for row in self.collectives])
        transfer = sum([one.transfer_ps * len(one.visits) for one in self.meetings]) / _PS
        return (
            f"{number_of(len(self.hosts), 'host')}, {number_of(len(self.devices), 'device')}:"
            f" {number_of(len(self.meetings), 'collective')} in common; devices wait"
            f" {microseconds(waited)} for late ones and {microseconds(transfer)} for transfers"
        )

    def blocks(self) -> Blocks:
        """Yield findings, hosts, collectives and devices."""
        yield Listing("what stands out", self.findings())
        yield Table(HostRow._fields, self.hosts, "hosts and clocks")
        yield Table(GroupRow._fields, self.collectives, "collectives")
        yield Table(DeviceLateness._fields, self.devices, "devices")
        if self.links:
            yield Table(LinkRow._fields, self.links, "links of collective-permutes")


def _because(row: DeviceLateness) -> str:
    if not row.because:
        return ""
    longer = microseconds(row.because_us)
    if row.because == NO_KERNEL:
        return f"; before each, no kernel runs for {longer} more than elsewhere: its host is late"
    return f"; before each, {row.because} takes {longer} more than elsewhere"


def _transfer(found: Sequence[Meeting]) -> float:
    return statistics.median([one.transfer_ps for one in found]) / _PS


def join_profiles(*paths: str | os.PathLike[str]) -> JoinedProfiles:
    """Join XLA's profiles of several hosts of one job: clocks, stragglers, slow links.

    Clocks are aligned by the ends of collectives in which the hosts take part together.

    Parameters
    ----------
    *paths
        An `*.xplane.pb` file or a folder of `jax.profiler.trace` for each host, or one folder that
        holds the files or folders of all hosts.

    Returns
    -------
    JoinedProfiles
        A report with tables; `save` writes it as a page.

    Raises
    ------
    ProfileError
        A path holds no profile, or the profiles have no collective in common.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> try:
    ...     xe.xla.join_profiles()
    ... except xe.xla.ProfileError as problem:
    ...     print(problem.hint)
    give an *.xplane.pb file or a folder for each host
    """
    if not paths:
        raise ProfileError(
            "profiles of several hosts must be given",
            "give an *.xplane.pb file or a folder for each host",
        )
    try:
        return JoinedProfiles(read_hosts(paths))
    except ProfileError:
        raise
    except XlaExplorerError as problem:  # planes and events are decoded at their first use
        raise ProfileError(problem.message, problem.hint) from problem
