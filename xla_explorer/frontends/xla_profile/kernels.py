"""Events of a profile that ran HLO instructions: device, duration, module and run of each.

Three kinds of planes have three forms of names. XLA:CPU's thunks have `hlo_op`, `hlo_module`,
`program_id` and `run_id`. CUDA's and ROCm's kernels on their streams have `hlo_op` and
`hlo_module`. A TPU's line `XLA Ops` has the instruction in the event's name, and `XLA Modules` has
the running module. Source: xla/tsl/profiler/utils/xplane_schema.h (names of planes, lines and
statistics).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from xla_explorer.frontends.xla_profile.space import Event, Line, Plane, Space

_DEVICE: Final = re.compile(r"/device:(?P<kind>[A-Za-z]+):(?P<number>\d+)")
_TPU_OPERATIONS: Final = ("XLA Ops", "Async XLA Ops")
# Lines that a viewer derives from a GPU's streams: their events are counted already.
_DERIVED: Final = frozenset((
    "XLA Modules", "XLA Ops", "XLA TraceMe", "Steps", "Framework Name Scope", "Framework Ops", "Source code", "Launch Stats",
    "TensorFlow Ops", "TensorFlow Name Scope",
))  # fmt: skip
_MODULE_RUN: Final = re.compile(r"(?P<name>.+?)\((?P<program>\d{1,19})\)")
_INSTRUCTION: Final = re.compile(r"%?(?P<name>[\w.\-]+)")
_COPY: Final = re.compile(r"mem(?:cpy|set)", re.IGNORECASE)


class KernelEvent(NamedTuple):
    """One execution of an HLO instruction.

    device: `CPU`, `GPU:0`, `TPU:3`. line: the thread or stream. module: its name, without a number.
    program: the number of the executable, None if the profile lacks it. op: the instruction's name;
    empty for device work without one (a copy, a library's kernel). event: the name of that work.
    run: the execution of the module, None if the profile lacks it. self_ps: the duration without
    nested events on the same line. ordinal: of a CPU's virtual device, its number in the whole job.
    """

    device: str
    line: str
    module: str
    program: int | None
    op: str
    event: str
    run: Any
    start_ps: int
    duration_ps: int
    self_ps: int
    ordinal: int | None = None


def kernel_events(space: Space) -> list[KernelEvent]:
    """Return all kernel events of a profile, in the order of their starts."""
    found: list[KernelEvent] = []
    for plane in space.planes:
        device = _DEVICE.match(plane.name)
        if device is None:
            if plane.name.startswith("/host:CPU"):
                found += [one for line in plane.lines() for one in _host_events(line)]
        elif device["kind"].upper() == "TPU":
            found += _tpu_events(plane, f"TPU:{device['number']}")
        else:
            name = f"{device['kind'].upper()}:{device['number']}"
            found += [
                one
                for line in plane.lines()
                if line.name not in _DERIVED
                for one in _stream_events(line, name)
            ]
    return sorted(found, key=lambda one: one.start_ps)


def _self_times(events: list[Event]) -> Iterator[tuple[Event, int]]:
    """Yield events with their time outside of nested events, which come from one thread."""
    inside = dict.fromkeys(range(len(events)), 0)
    order = sorted(range(len(events)), key=lambda k: (events[k].start_ps, -events[k].duration_ps))
    open_: list[int] = []
    for k in order:
        while (
            open_
            and events[open_[-1]].start_ps + events[open_[-1]].duration_ps <= events[k].start_ps
        ):
            open_.pop()
        if open_:
            inside[open_[-1]] += events[k].duration_ps
        open_.append(k)
    for k in order:
        yield events[k], max(events[k].duration_ps - inside[k], 0)


def _number(value: Any) -> int | None:
    return (
        int(value)
        if isinstance(value, int)
        or (isinstance(value, str) and value.isdecimal() and len(value) < 20)
        else None
    )


def _host_events(line: Line) -> Iterator[KernelEvent]:
    for event, own in _self_times([event for event in line.events() if event.stat("hlo_op")]):
        yield _named_event("CPU", line, event, own)


def _stream_events(line: Line, device: str) -> Iterator[KernelEvent]:
    for event in line.events():
        yield _named_event(device, line, event, event.duration_ps)


def _named_event(device: str, line: Line, event: Event, own: int) -> KernelEvent:
    """Return an event that carries the names of its instruction and module."""
    module, program = str(event.stat("hlo_module") or ""), _number(event.stat("program_id"))
    found = _MODULE_RUN.fullmatch(module)
    if found:
        module, program = found["name"], program if program is not None else int(found["program"])
    # Nested instructions (`while/fusion.3`) follow each other; the innermost ran.
    op = str(event.stat("hlo_op") or "").rpartition("/")[2].removeprefix("%")
    run = event.stat("run_id")
    return KernelEvent(
        device,
        line.name,
        module,
        program,
        op,
        event.kind.name,
        run,
        event.start_ps,
        event.duration_ps,
        own,
        _number(event.stat("device_ordinal")),
    )


def _tpu_events(plane: Plane, device: str) -> Iterator[KernelEvent]:
    lines = plane.lines()
    runs = _module_runs(line for line in lines if line.name == "XLA Modules")
    starts = [start for start, *_ in runs]
    for line in lines:
        if line.name not in _TPU_OPERATIONS:
            continue
        for event, own in _self_times(list(line.events())):
            place = bisect_right(starts, event.start_ps) - 1
            known = place >= 0 and event.start_ps < runs[place][1]
            module, program, run = (
                runs[place][2:] if known else ("", _number(event.stat("program_id")), None)
            )
            name = _INSTRUCTION.match(event.kind.display_name or event.kind.name)
            op = name["name"] if name else ""
            yield KernelEvent(
                device,
                line.name,
                module,
                program,
                op,
                event.kind.name,
                run,
                event.start_ps,
                event.duration_ps,
                own,
            )


def _module_runs(lines: Iterable[Line]) -> list[tuple[int, int, str, int | None, Any]]:
    """Return (start, end, module, program, run) of each execution of a module, in order."""
    found = []
    for line in lines:
        for number, event in enumerate(line.events()):
            name = _MODULE_RUN.fullmatch(event.kind.name)
            module, program = (
                (name["name"], int(name["program"]))
                if name
                else (event.kind.name, _number(event.stat("program_id")))
            )
            run = event.stat("run_id")
            found.append(
                (
                    event.start_ps,
                    event.start_ps + event.duration_ps,
                    module,
                    program,
                    number if run is None else run,
                )
            )
    return sorted(found, key=lambda one: one[:2])


def is_copy(event: KernelEvent) -> bool:
    """Return True if a device moved or filled memory outside of any HLO instruction."""
    return not event.op and _COPY.search(event.event) is not None
