"""`*.trace.json.gz`: the profile as Perfetto and Chrome read it.

It holds events with their instructions' names, and no module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.xla_profile.kernels import KernelEvent

_DEVICE: Final = re.compile(r"/device:(?P<kind>[A-Za-z]+):(?P<number>\d+)")
_PS: Final = 1_000_000  # in a microsecond


class TraceFileError(XlaExplorerError, ValueError):
    """A file that holds no trace events."""


def trace_kernels(data: bytes, filename: str) -> list[KernelEvent]:
    """Return the events that ran HLO instructions, by their starts.

    Raises
    ------
    TraceFileError
        The bytes are not JSON with a list `traceEvents`.
    """
    hint = "a *.trace.json.gz file of jax.profiler.trace is read"
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        raise TraceFileError(f"{filename} must be JSON", hint) from None
    events = given.get("traceEvents") if isinstance(given, dict) else None
    if not isinstance(events, list):
        raise TraceFileError(f"{filename} has no list traceEvents", hint)
    rows = [event for event in events if isinstance(event, dict)]
    names = {
        (row.get("pid"), row.get("tid") if row.get("name") == "thread_name" else None): str(
            _arguments(row).get("name", "")
        )
        for row in rows
        if row.get("ph") == "M"
        and row.get("name") in ("process_name", "thread_name")
        and _hashable(row)
    }
    threads: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for row in rows:
        timed = row.get("ph") == "X" and _is_number(row.get("ts")) and _is_number(row.get("dur"))
        if timed and _arguments(row).get("hlo_op") and _hashable(row):
            threads.setdefault((row.get("pid"), row.get("tid")), []).append(row)
    found = [event for thread, held in threads.items() for event in _of_thread(names, thread, held)]
    return sorted(found, key=lambda one: one.start_ps)


def _hashable(row: dict[str, Any]) -> bool:
    return isinstance(row.get("pid"), int | str) and isinstance(row.get("tid"), int | str | None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18


def _arguments(row: dict[str, Any]) -> dict[str, Any]:
    found = row.get("args")
    return found if isinstance(found, dict) else {}


def _of_thread(
    names: dict[Any, str], thread: tuple[Any, Any], rows: list[dict[str, Any]]
) -> Iterator[KernelEvent]:
    """Yield events of a thread, each with its time outside of nested events."""
    device = _DEVICE.match(names.get((thread[0], None), ""))
    name = f"{device['kind'].upper()}:{device['number']}" if device else "CPU"
    rows.sort(key=lambda row: (row["ts"], -row["dur"]))
    inside = [0.0] * len(rows)
    open_: list[int] = []
    for k, row in enumerate(rows):
        while open_ and rows[open_[-1]]["ts"] + rows[open_[-1]]["dur"] <= row["ts"]:
            open_.pop()
        if open_:
            inside[open_[-1]] += row["dur"]
        open_.append(k)
    for row, other in zip(rows, inside, strict=True):
        said = _arguments(row)
        text = str(said.get("program_id", ""))
        program = int(text) if text.isdecimal() and len(text) < 20 else None
        yield KernelEvent(
            name, names.get(thread, ""), str(said.get("hlo_module", "")), program,
            str(said["hlo_op"]).rpartition("/")[2].removeprefix("%"), str(row.get("name", "")), str(said.get("run_id", "")),
            int(row["ts"] * _PS), int(row["dur"] * _PS), int(max(row["dur"] - other, 0) * _PS),
        )  # fmt: skip
