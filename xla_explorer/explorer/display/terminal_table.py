"""Tables that fit a terminal: columns chosen by importance and width, cells cut to what is left."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Any, Final

from xla_explorer.explorer.display.display import column_text, is_numeric
from xla_explorer.explorer.tables.columns import column
from xla_explorer.foundation.visible_text import cleaned_text

MOST_LINES: Final = 20
"""Rows of a table, and lines of a report, at a prompt; `print` shows all lines of a report."""
_NARROWEST: Final = {True: 22, False: 12}
"""Characters that a column of texts has at least if its cells are longer, by whether its rank is 0.
"""
_EMPTY_RANK: Final = 20
_MOSTLY_EMPTY: Final = 4
_GAP: Final = 2
_NAME: Final = re.compile(r"%[\w.-]+\Z")
_PLACE: Final = re.compile(r"\S+:\d+\Z")


def terminal_width() -> int:
    """Return the columns of the terminal; 80 if the output is none."""
    return shutil.get_terminal_size((80, 24)).columns


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, longer ones continued below with a deeper indent."""
    found: list[str] = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        found += textwrap.wrap(
            line,
            max(width, 20),
            subsequent_indent=indent,
            drop_whitespace=False,
            break_on_hyphens=False,
        ) or [""]
    return [line.rstrip() for line in found]


def terminal_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    index: Sequence[Any] | None = None,
    width: int | None = None,
    most: int = MOST_LINES,
) -> str:
    """Return rows as text of a width, with the most important columns that fit.

    Notes below it count the rows and name the columns that are left out. index: labels of the rows.
    """
    width = width or terminal_width()
    shown = list(rows[:most])
    cells = [
        [_one_line(column_text(name, value)) for name, value in zip(columns, row, strict=True)]
        for row in shown
    ]
    labels = [str(one) for one in index[:most]] if index is not None else []
    margin = max([len(one) for one in labels], default=0)
    room = width - (margin + _GAP if labels else 0)
    chosen = _chosen(columns, shown, cells, room)
    numeric = {k: is_numeric(shown, k) for k in chosen}

    def line(label: str, values: dict[int, str]) -> str:
        parts = [
            values[k].rjust(size) if numeric[k] else values[k].ljust(size)
            for k, size in chosen.items()
        ]
        head = [label.ljust(margin)] if labels else []
        return (" " * _GAP).join([*head, *parts]).rstrip()

    out = [line("", {k: cut_text(columns[k], size) for k, size in chosen.items()})]
    for number, row in enumerate(cells):
        label = labels[number] if labels else ""
        out.append(line(label, {k: cut_text(row[k], size) for k, size in chosen.items()}))
    if len(rows) > most:
        out.append(f"... {len(rows) - most} of {len(rows)} rows more")
    left = [name for k, name in enumerate(columns) if k not in chosen]
    if left:
        out += wrapped(f"... columns more: {', '.join(left)}", width)
    return "\n".join(out)


def _chosen(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], cells: Sequence[Sequence[str]], room: int
) -> dict[int, int]:
    """Return the columns that fit, in their order, each with its width."""
    natural = [max([len(name), *[len(row[k]) for row in cells]]) for k, name in enumerate(columns)]
    ranks = [
        _rank(name, [row[k] for row in rows], name == "code" and "verdict" in columns)
        for k, name in enumerate(columns)
    ]
    least = [
        size if is_numeric(rows, k) else min(size, max(_NARROWEST[ranks[k] == 0], len(columns[k])))
        for k, size in enumerate(natural)
    ]
    chosen: dict[int, int] = {}
    for k in sorted(range(len(columns)), key=lambda k: (ranks[k], k)):
        if not chosen or sum(chosen.values()) + _GAP * len(chosen) + least[k] <= room:
            chosen[k] = least[k]
    spare = room - sum(chosen.values()) - _GAP * (len(chosen) - 1)
    for k in sorted(chosen, key=lambda k: (ranks[k], k)):
        more = max(0, min(spare, natural[k] - chosen[k]))
        chosen[k] += more
        spare -= more
    return dict(sorted(chosen.items()))


def _rank(name: str, values: Sequence[Any], is_wanted: bool) -> int:
    """Return the rank of a column; one that is empty, or mostly empty, stands behind others.

    is_wanted: its few values matter, as the codes of refusals among decisions.
    """
    empty = len([value for value in values if _is_empty(value)])
    if values and empty == len(values):
        return _EMPTY_RANK
    behind = 2 * empty > len(values) and not is_wanted
    return column(name).rank + (_MOSTLY_EMPTY if behind else 0)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or value in ("", [], ())


def _one_line(text: str) -> str:
    return str(cleaned_text(" ".join(text.split())))


def cut_text(text: str, width: int) -> str:
    """Return a text of at most a width; names are cut in the middle, source lines in front."""
    if len(text) <= width:
        return text
    if _PLACE.match(text) and width > 1:
        return "…" + text[1 - width :]
    if _NAME.match(text) and width > 4:
        tail = (width - 1) // 2
        return f"{text[: width - 1 - tail]}…{text[-tail:]}"
    return text[: max(width - 1, 0)] + "…"
