"""A recorded profile: its events, its programs with their modules, and its files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import FileReadError, read_file
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.protobuf import ProtoError
from xla_explorer.frontends.xla_profile.chrome_trace import TraceFileError, trace_kernels
from xla_explorer.frontends.xla_profile.kernels import KernelEvent, kernel_events
from xla_explorer.frontends.xla_profile.space import EventKind, Space, read_space
from xla_explorer.frontends.xla_profile.steps import StepEvent, step_events
from xla_explorer.hlo.module import HloModule

_ENDINGS: Final = (".xplane.pb", ".xplane.pb.gz")
_TRACE_ENDINGS: Final = (".trace.json", ".trace.json.gz")
PROFILE_ENDINGS: Final = (*_ENDINGS, *_TRACE_ENDINGS)
_METADATA_PLANE: Final = "/host:metadata"
_PROTO_STATS: Final = ("Hlo Proto", "hlo_proto")
_PROGRAM: Final = re.compile(r"(?P<name>.+?)(?:\((?P<number>\d{1,19})\))?")


class ProfileError(XlaExplorerError, ValueError):
    """A file or folder that holds no profile."""


class ProfiledProgram:
    """An executable in the profile.

    name: of its module. number: `program_id` of its events. module: read on first use.
    """

    def __init__(self, kind: EventKind) -> None:
        found = _PROGRAM.fullmatch(kind.name)
        self.name = found["name"] if found else kind.name
        given = kind.stats.get("program_id")
        self.number: int | None = (
            int(given)
            if isinstance(given, int)
            else int(found["number"])
            if found and found["number"]
            else None
        )
        self._proto: bytes = next(
            (
                bytes(kind.stats[name])
                for name in _PROTO_STATS
                if isinstance(kind.stats.get(name), bytes)
            ),
            b"",
        )

    def __repr__(self) -> str:
        return f"<ProfiledProgram {self.name} {self.number}>"

    @cached_property
    def module(self) -> HloModule | None:
        """The optimised module; None if the profile has only its name."""
        return (
            read_hlo_proto(self._proto, f"the profile's {self.name}").module
            if self._proto
            else None
        )


class RecordedProfile:
    """The `*.xplane.pb` files of one recording, one a host, or traces, which hold no programs.

    Attributes
    ----------
    paths
        The files.
    programs
        The executables whose modules the profile holds.
    """

    def __init__(
        self, paths: tuple[Path, ...], spaces: tuple[Space, ...], traced: Sequence[KernelEvent] = ()
    ) -> None:
        self.paths, self.spaces, self._traced = paths, spaces, traced
        kinds = [
            kind
            for space in spaces
            for plane in space.planes
            if plane.name == _METADATA_PLANE
            for kind in plane.kinds.values()
        ]
        self.programs = [ProfiledProgram(kind) for kind in kinds]

    def __repr__(self) -> str:
        return f"<RecordedProfile {self.paths[0].name}: {len(self.programs)} programs>"

    @cached_property
    def kernels(self) -> list[KernelEvent]:
        """Events that ran HLO instructions, and unnamed device work, by their starts."""
        return [*self._traced, *[event for space in self.spaces for event in kernel_events(space)]]

    @cached_property
    def steps(self) -> list[StepEvent]:
        """The steps that the program marked."""
        return [step for space in self.spaces for step in step_events(space)]

    def program(self, module: str, number: int | None) -> ProfiledProgram | None:
        """Return the executable of an event: by number and name, by number, or by a unique name."""
        numbered = [one for one in self.programs if number is not None and one.number == number]
        named = (
            [one for one in numbered if one.name == module]
            or numbered
            or [one for one in self.programs if one.name == module]
        )
        return named[0] if len(named) == 1 or (named and numbered) else None

    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the machine from the planes: versions, device types, clock rates."""
        found: dict[str, Any] = {}
        for space in self.spaces:
            for plane in space.planes:
                found.update(
                    {
                        name: value
                        for name, value in plane.stats.items()
                        if name and not isinstance(value, bytes)
                    }
                )
        return found


def read_profile(path: str | os.PathLike[str]) -> RecordedProfile:
    """Read a profile.

    Parameters
    ----------
    path
        An `*.xplane.pb` file (also gzipped), a `*.trace.json.gz` file, or a folder: of one
        recording, or with `plugins/profile/...`, whose latest recording is read. Traces of a folder
        are read if it has nothing else.

    Returns
    -------
    RecordedProfile
        Events and programs; each is decoded on access.

    Raises
    ------
    ProfileError
        There is no such file, the folder holds no profile, or the file is not one.
    """
    files = _files(Path(path))
    spaces: list[Space] = []
    traced: list[KernelEvent] = []
    for file in files:
        try:
            data = read_file(file, hint="give the path of an *.xplane.pb file")
            if file.name.endswith(_TRACE_ENDINGS):
                traced += trace_kernels(data, file.name)
            else:
                spaces.append(read_space(data, file.name))
        except (FileReadError, ProtoError, TraceFileError) as problem:
            raise ProfileError(
                problem.message.replace(str(file), file.name), problem.hint
            ) from None
    return RecordedProfile(files, tuple(spaces), traced)


def _files(path: Path) -> tuple[Path, ...]:
    if not path.is_dir():
        return (path,)
    found = [file for file in path.rglob("*.xplane.pb*") if file.name.endswith(_ENDINGS)]
    found = found or [
        file for file in path.rglob("*.trace.json*") if file.name.endswith(_TRACE_ENDINGS)
    ]
    if not found:
        raise ProfileError(
            f"{path} holds no *.xplane.pb file",
            "record one with jax.profiler.trace(folder) around the program",
        )
    latest = max(found, key=lambda file: (file.parent.name, file.stat().st_mtime)).parent
    return tuple(sorted(file for file in found if file.parent == latest))
