"""The user's Python lines as a pane: a section per file, the user's before installed packages'."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import NamedTuple

from xla_explorer.explorer.display import CodePane, TextLine
from xla_explorer.explorer.sessions.source_lines import (
    SourceLines,
    in_library,
    shown_file,
    users_frame,
)
from xla_explorer.hlo.module import HloModule

LARGEST = 2_000_000
AROUND = 4
"""Lines shown before and after those that are named."""
MOST_FILES = 20


class _File(NamedTuple):
    """The lines of a file.

    ids: of the instructions by their line. named: lines of all stack frames.
    """

    ids: dict[int, list[int]]
    named: set[int]

    @property
    def weight(self) -> int:
        return sum([len(ids) for ids in self.ids.values()])


def python_pane(module: HloModule, source_lines: SourceLines) -> CodePane | None:
    """Return the lines around stack frames, a section per file; None if no file is readable.

    An instruction belongs to the user's line, and to a package's line if a package made it. Only
    names of files are shown, and folders inside of packages.
    """
    files: dict[str, _File] = {}
    for i in module.instructions():
        frames = [frame for frame in source_lines.frames(i.metadata) if frame[0].endswith(".py")]
        for file, line in frames:
            files.setdefault(file, _File({}, set())).named.add(line)
        for file, line in dict.fromkeys([users_frame(frames), frames[0]]) if frames else ():
            files[file].ids.setdefault(line, []).append(i.id)
    order = sorted(files, key=lambda file: (in_library(file), -files[file].weight))
    texts = {file: text for file in order[:MOST_FILES] if (text := _read(file)) is not None}
    if not texts:
        return None
    absent = len(files) - len(texts)
    note = f"{absent} more files are named by the metadata" if absent else ""
    titles = {file: _title(file) for file in texts}
    rows: list[TextLine] = []
    sections: list[tuple[int, str]] = []
    for file, text in texts.items():
        if len(texts) > 1:
            sections.append((len(rows), titles[file]))
            rows.append(TextLine(f"# {titles[file]}", number=0))
        rows += _lines_around(text, files[file])
    first, *others = titles.values()
    return CodePane(
        "source",
        rows,
        f"{first} and {len(others)} more" if others else first,
        note,
        sections=tuple(sections),
    )


def _title(file: str) -> str:
    tail = re.split(r"(?:site|dist)-packages[/\\]", file)[-1]
    return tail if tail != file else Path(shown_file(file)).name


def _read(file: str) -> list[str] | None:
    path = Path(file)
    try:
        if path.is_absolute() and path.is_file():
            return (
                path.read_text(encoding="utf-8", errors="replace").split("\n")
                if path.stat().st_size <= LARGEST
                else None
            )
    except OSError:
        return None
    return [line.rstrip("\n") for line in linecache.getlines(file)] or None  # a cell of a notebook


def _lines_around(text: list[str], file: _File) -> list[TextLine]:
    shown = sorted(
        {
            k
            for line in file.named
            for k in range(line - AROUND, line + AROUND + 1)
            if 1 <= k <= len(text)
        }
    )
    rows: list[TextLine] = []
    last = 0
    for number in shown:
        if number > last + 1:
            rows.append(TextLine("…", number=0))
        ids = file.ids.get(number, [])
        rows.append(TextLine(text[number - 1], ids[-1] if ids else None, tuple(ids[:-1]), number))
        last = number
    return rows
