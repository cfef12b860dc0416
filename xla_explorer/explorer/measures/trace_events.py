"""Chrome traces of compiles and profiles, and frames from the traces of other profilers.

Source: the Trace Event Format (chrome://tracing, Perfetto), and the arguments of events by XProf
and `jax.profiler` (`hlo_op`, `hlo_module`, `hlo_category`, `bytes_accessed`, `model_flops`,
`source`).
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM
from xla_explorer.explorer.measures.profiling import profile, spread
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.tables.kernel import TIMELINE_COLUMNS, Kernel
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import FileReadError, read_file
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

_PROGRAM_TRACK, _KERNEL_TRACK = 0, 1  # of process 0, the run
_COMPILE = 1  # the process of the compile


class TraceFileError(XlaExplorerError, ValueError):
    """A file without a trace, or a trace without the requested events."""


# -- out -------------------------------------------------------------------------------------------
def timeline(session: Compilation, path: str | Path | None = None) -> dict[str, Any]:
    """See `Session.timeline`."""
    runs = session.result is not None and session.result.executable is not None
    if session.last_profile is None and runs:
        profile(session, (), 20)
    events = _compile_events(session)
    if session.last_profile is not None:
        events += _profile_events(
            session.last_profile, f"{session.source.name} on {session.backend}"
        )
    return _written(events, path)


def _compile_events(session: Compilation) -> list[dict[str, Any]]:
    """Return the phases of the compile and its passes, each one after the other."""
    events = [
        _named("process_name", f"compiling {session.source.name} for {session.backend}", _COMPILE)
    ]
    passes = [
        (p.name, p.seconds, {"step": p.number, "pipeline": p.pipeline, "changed": p.changed})
        for p in session.passes[1:]
    ]
    phases: list[tuple[str, float, dict[str, Any]]] = [
        (name, seconds, {}) for name, seconds in session.seconds.items()
    ]
    for track, (title, parts) in enumerate((("phases", phases), ("passes", passes))):
        events.append(_named("thread_name", title, track, _COMPILE))
        clock = 0.0
        for name, seconds, arguments in parts:
            events.append(_complete(name, track, clock, seconds * 1e6, arguments, _COMPILE))
            clock += seconds * 1e6
    return events


def _profile_events(frame: pandas.DataFrame, name: str) -> list[dict[str, Any]]:
    """Return the kernels of one run in order, each as long as its median.

    The whole program has a track of its own.
    """
    missing = [
        column for column in ("kernel", "median_us") if column not in getattr(frame, "columns", ())
    ]
    if missing:
        raise XlaExplorerError(
            f"no profile: {', '.join(missing)} missing",
            "give a session, or the frame of session.profile()",
        )
    events = [_named("process_name", name, 0)]
    events += [
        _named("thread_name", title, track)
        for title, track in (("program", _PROGRAM_TRACK), ("kernels (medians)", _KERNEL_TRACK))
    ]
    clock = 0.0
    for row in frame.to_dict("records"):
        length = float(row["median_us"])
        if not length >= 0:  # NaN: it did not run
            continue
        arguments = {
            str(key): value
            for key, value in row.items()
            if key not in ("kernel", "median_us") and _is_given(value)
        }
        if row["kernel"] == WHOLE_PROGRAM:
            events.append(_complete(WHOLE_PROGRAM, _PROGRAM_TRACK, 0.0, length, arguments))
        else:
            arguments["hlo_op"] = str(row["kernel"]).lstrip("%")
            events.append(_complete(str(row["kernel"]), _KERNEL_TRACK, clock, length, arguments))
            clock += length
    return events


def _written(events: list[dict[str, Any]], path: str | Path | None) -> dict[str, Any]:
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    if path is not None:
        text = json.dumps(trace, default=str).encode()
        write_file(path, gzip.compress(text) if str(path).endswith(".gz") else text)
    return trace


def _complete(
    name: str, track: int, start: float, length: float, arguments: dict[str, Any], process: int = 0
) -> dict[str, Any]:
    return {
        "name": name,
        "ph": "X",
        "pid": process,
        "tid": track,
        "ts": start,
        "dur": length,
        "args": arguments,
    }


def _named(what: str, name: str, track: int, process: int = 0) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": track, "args": {"name": name}}


def _is_given(value: Any) -> bool:
    """Return True if a value is neither empty nor None nor NaN."""
    return value is not None and value != "" and value == value


# -- in --------------------------------------------------------------------------------------------
class _Event(NamedTuple):
    name: str
    track: str
    length_us: float
    arguments: dict[str, Any]


@explains_arguments
def read_timeline(
    path: str | Path, module: Any = None, *, everything: bool = False
) -> pandas.DataFrame:
    """Read a trace as a tidy frame with a row for each kernel and track.

    Columns are those of `session.profile()`, then `module` and `total_us`.

    Parameters
    ----------
    path : str or path
        A trace in JSON (`.json`, `.json.gz`) of XProf, `jax.profiler`, Perfetto or
        `session.timeline`, or a folder of `jax.profiler.trace`, whose latest trace is read.
    module : HloModule or session, optional
        Instructions of the same names fill in opcode, bytes, flops, line and instruction.
    everything : bool, default False
        Read all events that have a length, not only those that name an HLO operation.

    Returns
    -------
    pandas.DataFrame
        The rows.

    Raises
    ------
    TraceFileError
        The file does not exist, holds no trace, or has no events of HLO.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> events = xe.compile(text).timeline("run.json.gz")
    >>> len(xe.read_timeline("run.json.gz")) > 0
    True
    """
    path = _file_of(Path(path))
    events = [e for e in _events(_content(path), path) if everything or "hlo_op" in e.arguments]
    if not events:
        raise TraceFileError(
            f"{path} holds no event that names an HLO operation",
            "everything=True shows all events; was the program traced while it ran?",
        )
    grouped: dict[tuple[str, str, str], list[_Event]] = {}
    for event in events:
        name = str(event.arguments.get("hlo_op") or event.name)
        grouped.setdefault(
            (str(event.arguments.get("hlo_module", "")), event.track, name), []
        ).append(event)
    known = _instructions(module)
    rows = [_row(key, found, known) for key, found in grouped.items()]
    rows.sort(key=lambda row: -(row.total_us or 0.0))
    return wide_frame([row.cells(TIMELINE_COLUMNS) for row in rows], TIMELINE_COLUMNS)


def _file_of(path: Path) -> Path:
    if path.is_dir():
        found = sorted(path.rglob("*.trace.json.gz")) or sorted(path.rglob("*trace.json*"))
        if not found:
            raise TraceFileError(
                f"{path} holds no trace in JSON",
                "jax.profiler.trace(folder, create_perfetto_trace=True) writes one",
            )
        return found[-1]
    return path


def _content(path: Path) -> Any:
    try:
        return json.loads(read_file(path, hint="give the path of a trace in JSON"))
    except FileReadError as problem:
        raise TraceFileError(problem.message, problem.hint) from None
    except (ValueError, RecursionError) as problem:
        raise TraceFileError(
            f"{path} is not JSON: {problem}",
            "export the trace as JSON; xe.xla.read_profile reads *.xplane.pb",
        ) from None


def _events(content: Any, path: Path) -> Iterator[_Event]:
    """Complete events, and those that a beginning and an end make."""
    events = content.get("traceEvents") if isinstance(content, dict) else content
    if not isinstance(events, list):
        raise TraceFileError(
            f"{path} has no list traceEvents", "pass a file in the Trace Event Format"
        )
    events = [_checked(e, number, path) for number, e in enumerate(events) if isinstance(e, dict)]
    names = {
        (e["name"], e.get("pid"), e.get("tid") if e["name"] == "thread_name" else None): str(
            e.get("args", {}).get("name", "")
        )
        for e in events
        if e.get("ph") == "M" and e.get("name") in ("process_name", "thread_name")
    }
    open_: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for e in events:
        phase, place = e.get("ph"), (e.get("pid"), e.get("tid"))
        if phase == "B":
            open_.setdefault(place, []).append(e)
            continue
        if phase == "E" and open_.get(place):
            begun = open_[place].pop()
            e = {
                **begun,
                "dur": float(e.get("ts", 0)) - float(begun.get("ts", 0)),
                "args": {**begun.get("args", {}), **e.get("args", {})},
            }
        elif phase != "X":
            continue
        process, thread = (
            names.get(("process_name", place[0], None), ""),
            names.get(("thread_name", *place), ""),
        )
        track = "/".join([part for part in (process, thread) if part]) or f"{place[0]}/{place[1]}"
        yield _Event(
            str(e.get("name", "")),
            track,
            float(e.get("dur", 0)),
            e["args"] if isinstance(e.get("args"), dict) else {},
        )


_LARGEST = 10**15  # microseconds: 31 years
_SCALARS = (str, int, float, type(None))
_NUMBERS = (int, float)
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "name": (_SCALARS, "a text"), "ph": (_SCALARS, "a text"), "pid": (_SCALARS, "a number or a text"),
    "tid": (_SCALARS, "a number or a text"),
    "ts": (_NUMBERS, "a number"), "dur": (_NUMBERS, "a number"), "args": ((dict, type(None)), "an object"),
}  # fmt: skip


def _checked(event: dict[str, Any], number: int, path: Path) -> dict[str, Any]:
    """Return the event with an object as `args`.

    TraceFileError for a field of another type than the format allows, and for numbers that are NaN,
    infinite or not below `_LARGEST`.
    """
    for field, (types, meaning) in _TYPES.items():
        value = event.get(field, 0 if types is _NUMBERS else None)
        large = isinstance(value, _NUMBERS) and not abs(value) < _LARGEST
        if not isinstance(value, types) or (types is _NUMBERS and large):
            message = (
                f"{path}: {field} of event {number} must be {meaning}, got {json.dumps(value)[:40]}"
            )
            raise TraceFileError(message, "pass a file in the Trace Event Format")
    return {**event, "args": event.get("args") or {}}


def _instructions(module: Any) -> dict[str, Any]:
    module = getattr(module, "module", module)
    return {i.name: i for i in module.instructions()} if isinstance(module, HloModule) else {}


def _number(value: Any) -> float | None:
    """Return a finite number; None for what a stranger's file has in its place."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _row(key: tuple[str, str, str], found: list[_Event], known: dict[str, Any]) -> Kernel:
    module, track, name = key
    arguments: dict[str, Any] = {}
    for event in found:
        arguments.update(event.arguments)
    samples = [event.length_us for event in found]
    i = known.get(name)
    cost = instruction_cost(i) if i is not None else None
    moved = _number(arguments.get("bytes_accessed", arguments.get("bytes"))) or (
        cost.bytes_accessed if cost is not None else None
    )
    flops = _number(arguments.get("model_flops", arguments.get("flops"))) or (
        cost.flops + cost.transcendentals if cost is not None else None
    )
    line = str(arguments.get("source") or arguments.get("line") or "")
    if i is not None and not line and i.op_metadata.source_line:
        line = f"{i.op_metadata.source_file}:{i.op_metadata.source_line}"
    kind = arguments.get("opcode") or arguments.get("hlo_category") or ""
    row = Kernel(
        f"%{name}" if "hlo_op" in arguments else name,
        i.opcode.name if i is not None else str(kind),
        runs_on=track,
        cycles=_number(arguments.get("cycles")),
        bytes=moved if moved is None else int(moved),
        flops=flops if flops is None else int(flops),
        line=line,
        instruction=i.id if i is not None else None,
        module=module,
        total_us=sum(samples),
    )
    return row.measured(*spread(samples), len(samples))
