"""A file shared with the child: its current activity, readable after it has died.

The child writes before it acts. An int64 header has the program, the phase, the number of steps,
and the name of the running pass. Then instrumented code writes a row of two per step: the first
value is negative while the step runs, the second counts its finished calls.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

PHASES = (
    "idle",
    "loading",
    "parsing",
    "in the passes",
    "compiling",
    "running",
    "measuring",
    "evaluating",
)
_HEADER = 16  # of 8 bytes each, so that the rows are aligned
_NAME = slice(3, _HEADER)


class Progress(NamedTuple):
    """The last activity of the child.

    program: its number. phase: one of PHASES. running: the steps that have begun and not ended.
    calls: finished calls by step; empty if the backend does not count them. hlo_pass: the last pass
    that began, in its phase.
    """

    program: int
    phase: str
    running: tuple[int, ...]
    calls: tuple[int, ...]
    hlo_pass: str = ""


class Blackboard:
    """The child's side: writes to the mapped file."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "r+b")  # noqa: SIM115  (as long as the process)
        with contextlib.suppress(
            OSError
        ):  # both sides have it open: it needs no name, which would stay when the parent is killed
            os.unlink(path)
        self._map(1024)

    def _map(self, words: int) -> None:
        os.ftruncate(self._file.fileno(), 8 * words)
        self._words: Array = np.frombuffer(mmap.mmap(self._file.fileno(), 8 * words), np.int64)

    def begin(self, program: int, phase: str) -> None:
        """Say what comes; no step has begun."""
        self._words[:3] = program, PHASES.index(phase), 0
        self.name_pass("")

    def name_pass(self, name: str) -> None:
        """Say which pass comes."""
        room = self._words[_NAME].view(np.uint8)
        text = name.encode()[: len(room)]
        room[: len(text)] = np.frombuffer(text, np.uint8)
        room[len(text) :] = 0

    def rows(self, steps: int) -> Array:
        """Return cleared counters of the steps: int64 [steps, 2]."""
        if _HEADER + 2 * steps > len(self._words):
            header = self._words[:_HEADER].copy()
            self._map(_HEADER + 2 * steps)
            self._words[:_HEADER] = header
        rows = self._words[_HEADER : _HEADER + 2 * steps].reshape(steps, 2)
        rows[...] = 0
        self._words[2] = steps
        return rows


class BlackboardFile:
    """The parent's side: makes the file, reads it when the child has gone."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="xla-explorer-", suffix=".progress")
        self._file = os.fdopen(handle, "rb")
        self.path = Path(name)

    def read(self) -> Progress:
        """Return the last state that the child wrote."""
        self._file.seek(0)
        data = self._file.read()
        words = np.frombuffer(data[: len(data) // 8 * 8], np.int64)
        if len(words) < _HEADER:
            return Progress(-1, "loading", (), ())
        steps = int(words[2])
        rows = words[_HEADER : _HEADER + 2 * steps].reshape(-1, 2)
        running = tuple(np.flatnonzero(rows[:, 0] < 0).tolist())
        phase = PHASES[int(words[1])] if 0 <= words[1] < len(PHASES) else "loading"
        name = (
            words[_NAME].tobytes().rstrip(b"\0").decode(errors="replace")
            if phase == "in the passes"
            else ""
        )
        return Progress(int(words[0]), phase, running, tuple(rows[:, 1].tolist()), name)

    def remove(self) -> None:
        """Delete the file."""
        self._file.close()
        self.path.unlink(missing_ok=True)
