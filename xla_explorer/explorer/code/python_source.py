"""The user's own Python lines that a module came from, where its metadata names a file that is on this machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from xla_explorer.explorer.display import CodePane, TextLine

if TYPE_CHECKING:
    from xla_explorer.explorer.sessions.source_lines import SourceLines
    from xla_explorer.hlo.module import HloModule

LARGEST = 2_000_000
AROUND = 4
"""Lines shown before and after those that are named."""


def python_pane(module: HloModule, source_lines: SourceLines) -> CodePane | None:
    """The lines around those that instructions come from, of the file that most of them name; None where there is no such file.

    Only Python files are read, and only the name of the file is shown, never its folder.
    """
    places: dict[str, dict[int, list[int]]] = {}
    for i in module.instructions():
        file, _, line = source_lines.metadata_place(i.metadata).rpartition(":")
        if file.endswith(".py") and line.isdigit():
            places.setdefault(file, {}).setdefault(int(line), []).append(i.id)
    counts = Counter({file: sum([len(ids) for ids in lines.values()]) for file, lines in places.items()})
    for file, _ in counts.most_common():
        text = _read(file)
        if text is not None:
            return _pane(file, text, places[file], len(places) - 1)
    return None


def _read(file: str) -> list[str] | None:
    path = Path(file)
    try:
        if not path.is_absolute() or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return None


def _pane(file: str, text: list[str], places: dict[int, list[int]], others: int) -> CodePane:
    shown = sorted({k for line in places for k in range(line - AROUND, line + AROUND + 1) if 1 <= k <= len(text)})
    rows: list[TextLine] = []
    last = 0
    for number in shown:
        if number > last + 1:
            rows.append(TextLine(f"# line {number}"))
        ids = places.get(number, [])
        rows.append(TextLine(text[number - 1], ids[-1] if ids else None, tuple(ids[:-1])))
        last = number
    note = f"{others} more files are named by the metadata" if others else ""
    return CodePane("source", rows, Path(file).name, note)
