"""`Reply`: an answer that fits a budget, as text and as JSON with a version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from xla_explorer.explorer.asking.budget import Budget
from xla_explorer.explorer.asking.links import row_link
from xla_explorer.explorer.asking.question import Question
from xla_explorer.explorer.display.blocks import Blocks, Layout, Sentence, Table
from xla_explorer.explorer.display.plain_data import SCHEMA, named_data
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.tables import NOUNS, column

_SHORTEST = 24
"""Characters of a text cell that are kept in the tightest budget."""
_ROOM_FOR_KEYS = 160
_MINOR = 7
"""The rank of columns that an answer leaves out if its budget has no room for all."""


class Reply(Report):
    """An answer of the registry.

    Attributes
    ----------
    call : str
        The call as a user writes it.
    value : Any
        What the method returned.
    columns, rows : list
        Of a table, the most important rows first; None for a text.
    left_out : list of str
        Columns that the budget has no room for.
    lines : list of str
        Of a text; None for a table.
    total : int
        Rows or lines of the whole answer.
    start : int
        The first row or line that is shown.
    link : str
        The place in a saved page that shows the first row; empty without a page.
    more : str
        The call that shows the rest; empty if nothing was cut.
    """

    def __init__(
        self,
        question: Question,
        args: Mapping[str, Any],
        value: Any,
        start: int = 0,
        stop: int | None = None,
        budget: Budget = Budget(),  # noqa: B008  # a tuple
        page: str = "",
    ) -> None:
        self.call, self.value, self.start = question.text(args), value, start
        self._question = question
        self._head = value.headline() if isinstance(value, Report) else ""
        self._note = str(getattr(value, "attrs", {}).get("note", ""))
        self.left_out: list[str] = []
        self.columns: list[str] | None = None
        self.rows: list[list[Any]] | None = None
        self.lines: list[str] | None = None
        if hasattr(value, "columns") or (isinstance(value, Report) and question.noun):
            self._read_table(value.to_frame())
        else:
            self.lines = _lines(value)
        everything: Sequence[Any] = self.rows if self.rows is not None else self.lines or []
        self.total = len(everything)
        wanted = everything[start:stop]
        if budget.rows is not None:
            wanted = wanted[: max(1, budget.rows)]
        self.link = ""
        if page and self.rows is not None and self.columns is not None and wanted:
            self.link = row_link(page, dict(zip(self.columns, wanted[0], strict=True)))
        self._cut(list(wanted), budget.room)

    def _read_table(self, frame: Any) -> None:
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        noun = NOUNS.get(self._question.noun)
        if noun is not None:
            records = noun.ordered(records)
        self.columns = [str(name) for name in frame.columns]
        self.rows = [[named_data(row[name]) for name in frame.columns] for row in records]

    def _cut(self, wanted: list[Any], room: int | None) -> None:
        """Keep the first rows or lines that fit, at least one, with its texts cut if need be."""
        if room is not None:
            wanted = [_rounded(one) for one in wanted]
            self._head, self._note = (
                _cut_text(self._head, room // 4),
                _cut_text(self._note, room // 4),
            )
            if self.columns is not None and _size(wanted) > room - _size(self._frame()):
                wanted = self._without_minor_columns(wanted)
            wanted = _fitting(wanted, room - _size(self._frame()) - _ROOM_FOR_KEYS, room // 16)
        if self.rows is not None:
            self.rows = wanted
        else:
            self.lines = wanted
        end = self.start + len(wanted)
        self.more = f"{self.call}[{end}:]" if end < self.total else ""

    def _without_minor_columns(self, rows: list[list[Any]]) -> list[list[Any]]:
        """Return the rows without columns that are empty or of least importance."""
        columns = self.columns or []
        kept = [
            k
            for k, name in enumerate(columns)
            if column(name).rank < _MINOR and any(row[k] not in (None, "", []) for row in rows)
        ]
        self.left_out = [name for k, name in enumerate(columns) if k not in kept]
        self.columns = [columns[k] for k in kept]
        return [[row[k] for k in kept] for row in rows]

    def _frame(self) -> dict[str, Any]:
        """Return the JSON without rows and lines."""
        found: dict[str, Any] = {"schema": SCHEMA, "call": self.call}
        if self._head:
            found["headline"] = self._head
        if self.link:
            found["link"] = self.link
        if self._note:
            found["note"] = self._note
        if self.columns is not None:
            found["columns"] = self.columns
        if self.left_out:
            found["left_out"] = self.left_out
        return found

    def headline(self) -> str:
        """Return the headline of a report, or an empty text."""
        return self._head

    @property
    def cut(self) -> str:
        """A sentence on omitted rows, with the call that shows them; empty if there are none."""
        if not self.more:
            return ""
        shown = len(self.rows if self.rows is not None else self.lines or [])
        kind = "rows" if self.rows is not None else "lines"
        return f"{kind} {self.start}..{self.start + shown - 1} of {self.total}; more: {self.more}"

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON data: schema, call, then columns and rows, or lines.

        `total` counts all rows; `more` is the call of the next ones, if any are left.
        """
        found = self._frame()
        if self.rows is not None:
            found["rows"] = self.rows
        else:
            found["lines"] = self.lines
        found["total"] = self.total
        if self.more:
            found["more"] = self.more
        return found

    def blocks(self) -> Blocks:
        """Yield the rows or lines, and what was cut."""
        if self.rows is not None and self.columns is not None:
            yield Table(self.columns, self.rows, note=self._note)
        else:
            text = "\n".join(self.lines or [])
            yield Layout(text=text, html="", markdown=text)
        if self.left_out:
            yield Sentence(f"(columns left out: {', '.join(self.left_out)})")
        if self.link:
            yield Sentence(self.link)
        if self.cut:
            yield Sentence(f"({self.cut})")

    def to_text(self) -> str:
        """Return the answer as text."""
        if self.lines is None:
            return super().to_text()
        return "\n".join([*self.lines, *([f"({self.cut})"] if self.cut else [])])

    def records(self) -> Table:
        """Return the rows, or the lines as a column."""
        if self.rows is not None and self.columns is not None:
            return Table(self.columns, self.rows)
        return Table(["text"], [[line] for line in self.lines or []])


def _lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split("\n")
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    if isinstance(value, Report):
        return value.to_text().split("\n")
    if hasattr(value, "overrides") and hasattr(value, "compare"):  # a session of an override
        return [*value.overrides().to_text().split("\n"), *value.compare().to_text().split("\n")]
    return str(value).split("\n")


def _size(value: Any) -> int:
    return len(json.dumps(value, default=str))


def _rounded(row: Any) -> Any:
    """Return a row with six digits of its numbers."""
    if not isinstance(row, list):
        return row
    return [float(f"{cell:.6g}") if isinstance(cell, float) else cell for cell in row]


def _fitting(wanted: Sequence[Any], room: int, cell: int) -> list[Any]:
    """Return the first rows or lines that fit, at least one; longer cells than `cell` are cut."""
    kept: list[Any] = []
    for one in wanted:
        short = _short_cells(one, max(_SHORTEST, cell))
        size = _size(short) + 2
        if size > room and kept:
            break
        if size > room:
            short = _short_cells(one, _SHORTEST)
        room -= size
        kept.append(short)
    return kept


def _short_cells(row: Any, most: int) -> Any:
    if isinstance(row, str):
        return _cut_text(row, most * 4)
    return [
        _cut_text(value, most)
        if isinstance(value, str)
        else value
        if len(json.dumps(value, default=str)) <= most
        else _cut_text(json.dumps(value, default=str), most)
        for value in row
    ]


def _cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(1, most - 1)] + "…"
