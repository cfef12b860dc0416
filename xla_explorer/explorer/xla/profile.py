"""Profiles of XLA's profiler, joined to instructions and source lines of their modules."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Table, frame_table
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.measures.profiling import spread
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.tables.kernel import RECORDED_COLUMNS, Kernel
from xla_explorer.explorer.xla.places import NOWHERE, PlacedModule, SourcePlace
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.frontends.xla_profile import (
    KernelEvent,
    ProfileError,
    RecordedProfile,
    StepEvent,
    is_copy,
    with_runs,
)
from xla_explorer.frontends.xla_profile import read_profile as read_recorded
from xla_explorer.hlo.analysis.cost import Cost, instruction_cost
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

_GROUP_COLUMNS = ["total_us", "share", "kernels", "n"]
_RUN_COLUMNS = [
    "module",
    "program",
    "run",
    "device",
    "start_us",
    "wall_us",
    "busy_us",
    "idle_us",
    "kernels",
]
_MOST_SHOWN = 12
NOT_JOINED = "(not joined)"
COPIES = "(copies of the device)"


class _Joined(NamedTuple):
    """A recorded event with its instruction; None if no module of the profile has its name."""

    event: KernelEvent
    instruction: HloInstruction | None
    place: SourcePlace


class XlaProfile(Report):
    """A recorded profile of XLA programs: kernel times by instruction and source line.

    Times of a kernel exclude kernels that ran inside of it (a while loop without its body). `share`
    is of all kernels, each by its median run. Rows without an instruction in the profile's modules
    are under `(not joined)`; nothing is left out.

    Parameters
    ----------
    name
        Of the recording, for messages.
    events
        The kernel executions, by start.
    module_of
        The module of a name and a program's number, or None.
    session
        The compile that ran, if it was made here.
    steps
        The steps that the program marked.
    """

    def __init__(
        self,
        name: str,
        events: Sequence[KernelEvent],
        module_of: Callable[[str, int | None], HloModule | None],
        session: Compilation | None = None,
        steps: Sequence[StepEvent] = (),
    ) -> None:
        if not events:
            hint = (
                "record while the program runs: with jax.profiler.trace(folder): "
                "f(x).block_until_ready()"
            )
            raise ProfileError(f"{name} holds no event that ran an HLO instruction", hint)
        self.name, self.session = name, session
        self._events, self._module_of, self._steps = with_runs(events, module_of), module_of, steps
        self._shares: dict[int, float] = {}  # by event
        self.device_us = sum(event.self_ps for event in events) / 1e6
        self.joined_share = self._share_of(lambda one: one.instruction is not None)
        self.lines_share = self._share_of(lambda one: bool(one.place.line))

    # -- joining -----------------------------------------------------------------------------------
    @cached_property
    def _joined(self) -> list[_Joined]:
        programs: dict[tuple[str, int | None], PlacedModule | None] = {}
        found: dict[tuple[str, int | None, str], tuple[HloInstruction | None, SourcePlace]] = {}
        rows = []
        for event in self._events:
            program, key = (event.module, event.program), (event.module, event.program, event.op)
            if key not in found:
                if program not in programs:
                    module = self._module_of(*program)
                    programs[program] = PlacedModule(module) if module is not None else None
                placed = programs[program]
                found[key] = placed.find(event.op) if placed is not None else (None, NOWHERE)
            rows.append(_Joined(event, *found[key]))
        return rows

    def _share_of(self, holds: Callable[[_Joined], bool]) -> float:
        whole = sum(one.event.self_ps for one in self._joined)
        return (
            sum(one.event.self_ps for one in self._joined if holds(one)) / whole if whole else 0.0
        )

    # -- tables ------------------------------------------------------------------------------------
    def kernels(self) -> pandas.DataFrame:
        """Return a row for each kernel of each device, the longest first.

        Returns
        -------
        pandas.DataFrame
            n: executions. median_us, iqr_us: of one execution. per_run_us: all executions of one
            run of the module, the median over runs. total_us: of the recording. share: of all
            kernels, each by its median run, so that one long run changes no rank. bytes, flops: of
            one execution, as XLA's cost model estimates them; GB/s: bytes over the median. line:
            the user's; library: the line of an installed package that it called.
        """
        rows = [row.cells(RECORDED_COLUMNS) for row, _ in self.kernel_rows]
        return wide_frame(rows, RECORDED_COLUMNS)

    @cached_property
    def kernel_rows(self) -> list[tuple[Kernel, HloInstruction | None]]:
        """The rows of `kernels()`, each with its instruction."""
        groups: dict[tuple[str, str, int | None, str], list[_Joined]] = {}
        for one in self._joined:
            groups.setdefault(
                (
                    one.event.device,
                    one.event.module,
                    one.event.program,
                    one.event.op or one.event.event,
                ),
                [],
            ).append(one)
        rows = [
            self._kernel_row(name, device, module, found)
            for (device, module, _, name), found in groups.items()
        ]
        # By the median run: one long run of a loaded machine would put others first.
        typical = [
            (row.per_run_us or 0.0) * len({one.event.run for one in found})
            for row, found in zip(rows, groups.values(), strict=True)
        ]
        whole = sum(typical) or 1.0
        shared = []
        for row, us, found in zip(rows, typical, groups.values(), strict=True):
            shared.append((row._replace(share=us / whole), found[0].instruction))
            self._shares.update({id(one): us / whole / len(found) for one in found})
        return sorted(shared, key=lambda row: -(row[0].share or 0.0))

    def _kernel_row(self, name: str, device: str, module: str, found: list[_Joined]) -> Kernel:
        i, place = found[0].instruction, found[0].place
        times = [one.event.self_ps / 1e6 for one in found]
        of_runs: dict[Any, float] = {}
        for one, us in zip(found, times, strict=True):
            of_runs[one.event.run] = of_runs.get(one.event.run, 0.0) + us
        cost = instruction_cost(i) if i is not None else Cost()
        row = Kernel(
            f"%{name}" if found[0].event.op else name,
            i.opcode.name if i is not None else "",
            device=device,
            module=module,
            per_run_us=statistics.median(of_runs.values()),
            total_us=sum(times),
            bytes=int(cost.bytes_accessed),
            flops=int(cost.flops + cost.transcendentals),
            line=place.line,
            library=place.library,
            scope=place.scope,
        )
        return row.measured(*spread(times), len(found))

    def by_line(self) -> pandas.DataFrame:
        """Return device time by the user's source line, the longest first.

        It is the innermost line outside of installed packages, if one is known.
        """
        return self._grouped("line", lambda one: one.place.line)

    def by_scope(self) -> pandas.DataFrame:
        """Return device time by name scope, the longest first.

        The scope is the path of `op_name` without its last part.
        """
        return self._grouped("scope", lambda one: one.place.scope)

    def by_opcode(self) -> pandas.DataFrame:
        """Return device time by opcode, the longest first."""
        return self._grouped(
            "opcode", lambda one: one.instruction.opcode.name if one.instruction is not None else ""
        )

    def _grouped(self, column: str, key: Callable[[_Joined], str]) -> pandas.DataFrame:
        groups: dict[str, list[_Joined]] = {}
        for one in self._joined:
            nameless = (
                f"(no {column})"
                if one.instruction is not None
                else COPIES
                if is_copy(one.event)
                else NOT_JOINED
            )
            groups.setdefault(key(one) or nameless, []).append(one)
        rows: list[dict[str, Any]] = []
        _ = self.kernel_rows  # fills in the shares
        for name, found in groups.items():
            share = sum(self._shares[id(one)] for one in found)
            total = sum(one.event.self_ps for one in found) / 1e6
            names = {(one.event.device, one.event.module, one.event.op) for one in found}
            rows.append(
                {
                    column: name,
                    "total_us": total,
                    "share": share,
                    "kernels": len(names),
                    "n": len(found),
                }
            )
        rows.sort(key=lambda row: -row["share"])
        return wide_frame(rows, [column, *_GROUP_COLUMNS])

    def runs(self) -> pandas.DataFrame:
        """Return a row for each run of each module on each device.

        Returns
        -------
        pandas.DataFrame
            wall_us: from the first kernel's start to the last one's end. busy_us: of that, with a
            kernel running; idle_us: without one (launching, waiting, copies). start_us: since the
            recording's first kernel.
        """
        groups: dict[tuple[Any, ...], list[KernelEvent]] = {}
        for event in self._events:
            groups.setdefault((event.module, event.program, event.run, event.device), []).append(
                event
            )
        first = self._events[0].start_ps
        rows: list[dict[str, Any]] = [
            dict(zip(_RUN_COLUMNS, (*key, *_span(events, first), len(events)), strict=True))
            for key, events in groups.items()
        ]
        rows.sort(key=lambda row: row["start_us"])
        return wide_frame(rows, _RUN_COLUMNS)

    def steps(self) -> pandas.DataFrame:
        """Return a row for each step that the program marked, by start.

        `jax.profiler.StepTraceAnnotation` marks steps.

        Returns
        -------
        pandas.DataFrame
            wall_us: of the step on the host. busy_us: of that, with a kernel running; idle_us: the
            host's own time, launches and waiting. kernels: how many began in it.
        """
        rows = []
        for step in self._steps:
            end = step.start_ps + step.duration_ps
            inside = [event for event in self._events if step.start_ps <= event.start_ps < end]
            busy = _span(inside, step.start_ps)[2] if inside else 0.0
            wall = step.duration_ps / 1e6
            rows.append((step.number, step.name, wall, busy, max(wall - busy, 0.0), len(inside)))
        return wide_frame(rows, ["step", "name", "wall_us", "busy_us", "idle_us", "kernels"])

    def not_joined(self) -> pandas.DataFrame:
        """Return the kernels whose names no module of the profile has, with their share of time."""
        frame = self.kernels()
        return frame[frame["opcode"] == ""].reset_index(drop=True)

    def module(self, name: str | None = None) -> HloModule:
        """Return the optimised module of a program in the profile.

        Parameters
        ----------
        name
            Of the module; by default the one with most time.

        Returns
        -------
        HloModule
            As XLA compiled it.

        Raises
        ------
        ProfileError
            The profile holds no module of that name.
        """
        ran: dict[tuple[str, int | None], int] = {}
        for event in self._events:
            ran[event.module, event.program] = (
                ran.get((event.module, event.program), 0) + event.self_ps
            )
        for module, number in sorted(ran, key=lambda key: -ran[key]):
            if (
                name in (None, module, module.removeprefix("jit_"))
                and (found := self._module_of(module, number)) is not None
            ):
                return found
        known = ", ".join(sorted({module for module, _ in ran if module})) or "no module"
        raise ProfileError(
            f"no module {name or ''} is known to the profile".replace("  ", " "),
            f"choose from: {known}",
        )

    # -- shown -------------------------------------------------------------------------------------
    def headline(self) -> str:
        """Return programs, runs, device time, and the joined share."""
        runs = self.runs()
        modules = list(dict.fromkeys(row.module for row, _ in self.kernel_rows if row.module))
        names = ", ".join(modules[:3]) + (
            f" and {len(modules) - 3} more" if len(modules) > 3 else ""
        )
        return (
            f"profile of {names or 'device work'}: {len(runs)} runs, "
            f"{microseconds(self.device_us)} of device time, "
            f"{self.joined_share:.1%} joined to instructions, {self.lines_share:.1%} to source "
            "lines"
        )

    def blocks(self) -> Blocks:
        """Yield the longest kernels and lines."""
        shown = ["kernel", "opcode", "n", "median_us", "per_run_us", "share", "line"]
        yield _first(self.kernels()[shown], "kernels")
        yield _first(self.by_line(), "source lines")

    def records(self) -> Table:
        """Return all kernels."""
        return frame_table(self.kernels())


def _first(frame: pandas.DataFrame, what: str) -> Table:
    note = (
        f"{len(frame)} {what}, the {_MOST_SHOWN} longest are shown"
        if len(frame) > _MOST_SHOWN
        else ""
    )
    return frame_table(frame.head(_MOST_SHOWN))._replace(title=what, note=note)


def _span(events: Iterable[KernelEvent], first: int) -> tuple[float, float, float, float]:
    """Return (start, wall, busy, idle) in microseconds.

    busy is the union of the events, which may overlap on several threads.
    """
    spans = sorted((event.start_ps, event.start_ps + event.duration_ps) for event in events)
    busy, start, end = 0, spans[0][0], spans[0][0]
    for begin, stop in spans:
        busy += max(stop - max(begin, end), 0)
        end = max(end, stop)
    return (start - first) / 1e6, (end - start) / 1e6, busy / 1e6, (end - start - busy) / 1e6


@explains_arguments
def read_profile(path: str | os.PathLike[str]) -> XlaProfile:
    """Read a profile of XLA's profiler, joined to instructions and source lines.

    Parameters
    ----------
    path
        An `*.xplane.pb` file (also gzipped), a `*.trace.json.gz` (times without source lines), or a
        folder that `jax.profiler.trace`, TensorFlow's or PyTorch/XLA's profiler wrote; of several
        recordings the latest is taken.

    Returns
    -------
    XlaProfile
        Kernels, source lines, scopes and runs as DataFrames.

    Raises
    ------
    ProfileError
        There is no profile, or nothing in it ran HLO.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> try:
    ...     xe.xla.read_profile("nothing.xplane.pb")
    ... except xe.xla.ProfileError as problem:
    ...     print(problem.hint)
    give the path of an *.xplane.pb file
    """
    try:
        recorded = read_recorded(path)
        module_of = partial(_module_of_program, recorded)
        return XlaProfile(recorded.paths[0].name, recorded.kernels, module_of, steps=recorded.steps)
    except ProfileError:
        raise
    except XlaExplorerError as problem:  # planes, events and modules are decoded at their first use
        raise ProfileError(
            f"{os.path.basename(os.fspath(path))}: {problem.message}", problem.hint
        ) from problem


def single_module(module: HloModule, name: str, number: int | None) -> HloModule:
    """Return the module of every program in a profile of one module."""
    return module


def _module_of_program(
    recorded: RecordedProfile, name: str, number: int | None
) -> HloModule | None:
    program = recorded.program(name, number)
    return program.module if program is not None else None
