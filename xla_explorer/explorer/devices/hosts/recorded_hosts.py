"""Recorded profiles by host and device, and the visits of each device in collectives."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from xla_explorer.frontends.xla_profile import (
    PROFILE_ENDINGS,
    KernelEvent,
    ProfileError,
    RecordedProfile,
    kernel_events,
    read_profile,
    with_runs,
)
from xla_explorer.hlo.analysis.collective_traffic import collective_kind
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_NAMED: Final = re.compile(
    r"(?P<kind>ragged-all-to-all|all-reduce|all-gather|reduce-scatter|all-to-all"
    r"|collective-permute|collective-broadcast)(?P<phase>-start|-done)?(?P<number>[.\d]*)"
)


class Visit(NamedTuple):
    """A visit of one device in a collective.

    collective: module and name, without `-start`. number: which visit of its run. arrived_ps,
    left_ps: by the clock of the host.
    """

    collective: tuple[str, str]
    kind: str
    run: Any
    number: int
    arrived_ps: int
    left_ps: int


class RecordedHost:
    """The events of one host.

    Attributes
    ----------
    name : str
        As its profile states it; with a number if several hosts have it.
    path : Path
        The file.
    began_ps : int or None
        The start of the recording since 1970, by the host's clock.
    devices : dict of str to list of KernelEvent
        The kernels of each device, by their starts.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        began_ps: int | None,
        events: Sequence[KernelEvent],
        recorded: RecordedProfile,
    ) -> None:
        self.name, self.path, self.began_ps = name, path, began_ps
        self._recorded = recorded
        self._named: dict[str, dict[str, HloInstruction]] = {}
        self.devices: dict[str, list[KernelEvent]] = {}
        for event in with_runs(events, self._module):
            self.devices.setdefault(_device(event), []).append(event)
        self.devices = dict(sorted(self.devices.items(), key=lambda pair: _order(pair[0])))

    def _module(self, name: str, number: int | None) -> HloModule | None:
        program = self._recorded.program(name, number)
        return None if program is None else program.module

    def instruction(self, module: str, name: str) -> HloInstruction | None:
        """Return an instruction of a module of the profile, or None."""
        if module not in self._named:
            found = self._module(module, None)
            self._named[module] = {} if found is None else {i.name: i for i in found.instructions()}
        return self._named[module].get(name)

    @cached_property
    def visits(self) -> dict[str, list[Visit]]:
        """The visits in collectives of each device, in order."""
        return {device: list(self._visits_of(events)) for device, events in self.devices.items()}

    def _visits_of(self, events: Sequence[KernelEvent]) -> Iterator[Visit]:
        """Yield the visits of a device; a start and its done are one visit."""
        seen: Counter[tuple[str, str, Any]] = Counter()
        started: dict[tuple[str, str, Any], tuple[KernelEvent, str]] = {}
        for event in events:
            named = self._collective(event)
            if named is None:
                continue
            kind, phase, name = named
            key = (event.module, name, event.run)
            if phase == "-start" and self._has_done(event):
                started[key] = event, kind
                continue
            first = started.pop(key, (event, kind))[0]
            yield Visit((event.module, name), kind, event.run, seen[key], first.start_ps,
                        event.start_ps + event.duration_ps)  # fmt: skip
            seen[key] += 1

    def is_collective(self, event: KernelEvent) -> bool:
        """Return True if an event is a visit in a collective, or a part of one."""
        return self._collective(event) is not None

    def _collective(self, event: KernelEvent) -> tuple[str, str, str] | None:
        """Return kind, `-start` or `-done`, and the common name of a collective's event."""
        found = _NAMED.fullmatch(event.op)
        if found is not None:
            return found["kind"], found["phase"] or "", found["kind"] + found["number"]
        i = self.instruction(event.module, event.op) if event.op else None
        kind = "" if i is None else collective_kind(i)
        return (kind, "", event.op) if kind else None

    @cached_property
    def _dones(self) -> set[tuple[str, str]]:
        return {
            (event.module, event.op)
            for events in self.devices.values()
            for event in events
            if "-done" in event.op
        }

    def _has_done(self, event: KernelEvent) -> bool:
        return (event.module, event.op.replace("-start", "-done")) in self._dones


def _device(event: KernelEvent) -> str:
    return event.device if event.ordinal is None else f"{event.device}:{event.ordinal}"


def _order(device: str) -> tuple[str, int]:
    kind, _, number = device.partition(":")
    return kind, int(number) if number.isdecimal() else 0


def _recordings(path: Path) -> list[Path]:
    """Return the folders of hosts in a folder, or the path itself."""
    if not path.is_dir() or (path / "plugins").is_dir():
        return [path]
    folders = [
        child
        for child in sorted(path.iterdir())
        if child.is_dir() and any(f.name.endswith(PROFILE_ENDINGS) for f in child.rglob("*"))
    ]
    return folders if len(folders) > 1 else [path]


def read_hosts(paths: Sequence[str | os.PathLike[str]]) -> list[RecordedHost]:
    """Return the hosts of files and folders, in their order.

    ProfileError for a path without a profile, or if nothing in it ran HLO.
    """
    found: list[tuple[str, Path, int | None, list[KernelEvent], RecordedProfile]] = []
    for path in [one for given in paths for one in _recordings(Path(given))]:
        recorded = read_profile(path)
        if not recorded.spaces:
            stem = recorded.paths[0].name.partition(".")[0]
            found.append((stem, recorded.paths[0], None, recorded.kernels, recorded))
        for file, space in zip(recorded.paths, recorded.spaces, strict=False):
            name = space.hosts[0] if space.hosts else file.name.partition(".")[0]
            began: int | None = None
            for plane in space.planes:
                stated = plane.stats.get("profile_start_time")
                began = int(stated) * 1000 if isinstance(stated, int) else began
            found.append((name, file, began, kernel_events(space), recorded))
    names = Counter([name for name, *_ in found])
    hosts = []
    for k, (name, file, began, events, recorded) in enumerate(found):
        if not events:
            raise ProfileError(
                f"{file.name} holds no event that ran an HLO instruction",
                "record on every host while the program runs, with jax.profiler.trace(folder)",
            )
        hosts.append(RecordedHost(name if names[name] == 1 else f"{name}#{k}", file, began,
                                  events, recorded))  # fmt: skip
    return hosts
