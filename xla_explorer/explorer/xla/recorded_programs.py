"""Folders of XLA's dumps, profiles, or both: programs by time."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.xla_dump import DumpedModule, DumpError, DumpFolder
from xla_explorer.frontends.xla_dump.main_program import read_module
from xla_explorer.frontends.xla_profile import ProfileError, RecordedProfile, read_profile
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import PrintOptions, module_text

_SHOWN: Final = 40
_MOST_READ: Final = 64  # modules of one name, which are distinguished by their computation
Program = tuple[str, int | None]
"""The name and number of a program in a profile."""
_ALIKE: Final = PrintOptions.fingerprint.but(header=False)


class ModuleRow(NamedTuple):
    """A module of the folder.

    key: in addresses. time_us: device time, None if no profile has it. runs: recorded.
    passes: HLO texts in the dump.
    """

    key: str
    name: str
    time_us: float | None
    runs: int
    passes: int


class NothingRecordedError(XlaExplorerError, LookupError):
    """A folder that holds neither a dump nor a profile."""


class RecordedPrograms(Report):
    """The modules of a folder, the longest first.

    Only names and a profile's events are read before a module is opened.

    Parameters
    ----------
    path
        A folder that `--xla_dump_to` or a profiler wrote, one that holds both, or an `*.xplane.pb`
        file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = Path(path).resolve().name
        self._dump = _dump(Path(path))
        self._profile = _profile(Path(path))
        if self._dump is None and self._profile is None:
            hint = (
                "give a folder of XLA_FLAGS=--xla_dump_to=FOLDER, or one that jax.profiler.trace "
                "wrote"
            )
            raise NothingRecordedError(f"{self.name} holds no XLA dump and no profile", hint)

    @cached_property
    def rows(self) -> list[ModuleRow]:
        """A row per module, by time, then by size of the dump."""
        modules = {f"dump-{one.number}": one for one in self._dump or ()}
        rows = [self._row(key, one.name, one.hlo_files) for key, one in modules.items()]
        rows += [
            self._row(key, name, 0)
            for key, (name, _) in self._program_of.items()
            if key not in modules
        ]
        return sorted(rows, key=lambda row: (-(row.time_us or 0.0), -row.passes, row.name))

    @cached_property
    def _times(self) -> dict[Program, dict[Any, float]]:
        """The microseconds in kernels of each recorded run, by program."""
        times: dict[Program, dict[Any, float]] = {}
        for event in self._profile.kernels if self._profile is not None else ():
            runs = times.setdefault((event.module, event.program), {})
            runs[event.run] = runs.get(event.run, 0.0) + event.self_ps / 1e6
        return times

    @cached_property
    def _program_of(self) -> dict[str, Program]:
        """The program of the profile by the key of its module; without a dump it has an own key."""
        found = self._joined([*self._times])
        joined = set(found.values())
        for name, number in self._times:
            if (name, number) not in joined:
                found[f"profile-{number if number is not None else ''}-{name}"] = name, number
        return found

    def _row(self, key: str, name: str, passes: int) -> ModuleRow:
        times = self.run_times(key)
        return ModuleRow(key, name, sum(times) if times else None, len(times), passes)

    def _joined(self, ran: list[Program]) -> dict[str, Program]:
        """Return the program of the profile for each dumped module, by the module's key.

        Modules are matched by name. If several share the name, their texts are compared.
        """
        dumped: dict[str, list[DumpedModule]] = {}
        for module in self._dump or ():
            dumped.setdefault(module.name, []).append(module)
        programs: dict[str, list[Program]] = {}
        for program in ran:
            programs.setdefault(program[0], []).append(program)
        found: dict[str, Program] = {}
        for name, candidates in programs.items():
            modules = dumped.get(name, [])
            if len(modules) == len(candidates) == 1:
                found[f"dump-{modules[0].number}"] = candidates[0]
            elif modules:
                found.update(self._equal(modules[:_MOST_READ], candidates[:_MOST_READ]))
        return found

    def _equal(self, modules: list[DumpedModule], candidates: list[Program]) -> dict[str, Program]:
        """Match modules and programs of one name by their text.

        Equal texts are matched by number, which XLA gives to both.
        """
        assert self._profile is not None
        prints: dict[str, list[DumpedModule]] = {}
        for module in modules:
            if module.after is not None:
                prints.setdefault(_fingerprint(read_module(module.after)), []).append(module)
        found: dict[str, Program] = {}
        for candidate in candidates:
            program = self._profile.program(*candidate)
            if program is not None and program.module is not None:
                equal = prints.get(_fingerprint(program.module), [])
                chosen = next(
                    (one for one in equal if one.number == candidate[1]),
                    equal[0] if equal else None,
                )
                if chosen is not None:
                    equal.remove(chosen)
                    found[f"dump-{chosen.number}"] = candidate
        return found

    def before(self, key: str) -> Path:
        """Return the file of a dumped module as XLA got it, or the first that the dump has."""
        if self._dump is None or not key.startswith("dump-"):
            raise NothingRecordedError(
                f"{self.name} has no dump of {key}", "record the script with XLA's dumps"
            )
        module = self._dump.module(int(key.removeprefix("dump-")))
        return module.before or module.passes[0].path

    def run_times(self, key: str) -> list[float]:
        """Return the microseconds in kernels of each recorded run of a module."""
        program = self._program_of.get(key)
        return list(self._times[program].values()) if program is not None else []

    def headline(self) -> str:
        """Return the number of modules and their source."""
        found = [
            word
            for word, there in (("a dump", self._dump), ("a profile", self._profile))
            if there is not None
        ]
        return f"{self.name}: {len(self.rows)} modules of {' and '.join(found)}"

    def blocks(self) -> Blocks:
        """Yield the longest modules."""
        note = f"{len(self.rows) - _SHOWN} more" if len(self.rows) > _SHOWN else ""
        yield Table(ModuleRow._fields, self.rows[:_SHOWN], note=note)

    def records(self) -> Table:
        """Return a row per module."""
        return Table(ModuleRow._fields, self.rows)


def _fingerprint(module: HloModule) -> str:
    """Return a hash that is equal for modules of equal computations, whatever their names."""
    return hashlib.sha256(module_text(module, _ALIKE).encode()).hexdigest()


def _dump(path: Path) -> DumpFolder | None:
    """Return the dump in a folder or in one of its subfolders."""
    if path.is_dir():
        for folder in [path, *sorted(one for one in path.iterdir() if one.is_dir())]:
            try:
                return DumpFolder(folder)
            except DumpError:
                continue
    return None


def _profile(path: Path) -> RecordedProfile | None:
    try:
        return read_profile(path)
    except ProfileError:
        if path.is_dir():
            return None
        raise
