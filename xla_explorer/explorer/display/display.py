"""Values as text and static HTML, limited in size, with a note about what was cut."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

from xla_explorer.explorer.display.escaping import escape, fenced
from xla_explorer.explorer.display.highlighting import highlighted
from xla_explorer.explorer.display.quantities import percent
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.visible_text import cleaned, cleaned_text

MOST_LINES = 400
MOST_ROWS = 200
_CELL = 'style="text-align:left;padding:1px 8px;vertical-align:top"'
_NUMBER = 'style="text-align:right;padding:1px 8px;vertical-align:top"'


class CodeText(str):
    """A code text: a `str` whose display is limited in length.

    Attributes
    ----------
    language : str
        The language for colours, such as `hlo`, `llvm` or `diff`.
    whole : str
        The call that prints all of it.
    """

    language: str
    whole: str

    def __new__(cls, text: str, language: str = "text", whole: str = "print(...)") -> CodeText:
        """Return the text with its language and the call that prints all of it."""
        made = super().__new__(cls, text)
        made.language, made.whole = language, whole
        return made

    def _capped(self) -> tuple[str, str]:
        lines = self.split("\n")
        if len(lines) <= MOST_LINES:
            return str(self), ""
        return "\n".join(
            lines[:MOST_LINES]
        ), f"{len(lines) - MOST_LINES} of {len(lines)} lines cut; all: print({self.whole})"

    @cleaned
    def __repr__(self) -> str:
        shown, note = self._capped()
        return f"{shown}\n... {note}" if note else shown

    def to_text(self) -> str:
        """Return the displayed text, as `repr` does."""
        return repr(self)

    def to_html(self) -> str:
        """Return the text coloured, in a block that scrolls, with a note about what was cut."""
        shown, note = self._capped()
        html = diff_html(shown) if self.language == "diff" else code_html(shown, self.language)
        return html + (f"<p><i>{escape(note)}</i></p>" if note else "")

    def to_markdown(self) -> str:
        """Return all of the text as a code block."""
        return fenced(self, self.language)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.to_html()}


class Svg:
    """An SVG picture with a plain text form."""

    def __init__(self, svg: str, plain: str) -> None:
        self.svg, self.plain = svg, plain

    def save(self, path: Any) -> None:
        """Write the SVG to a file."""
        write_file(path, self.svg)

    @cleaned
    def __repr__(self) -> str:
        return self.plain

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {
            "text/plain": self.plain,
            "image/svg+xml": self.svg,
            "text/html": image_html(self.svg, self.plain),
        }


def image_html(svg: str, alt: str) -> str:
    """Return an SVG as an image of a page.

    JupyterLab shows it in untrusted notebooks too, but no plain SVG.
    """
    data = base64.b64encode(svg.encode("utf-8", "replace")).decode()
    return (
        f'<img alt="{escape(alt)}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
    )


_BLOCK = (
    "<pre "
    'style="font-family:ui-monospace,monospace;font-size:12px;line-height:1.35;white-space:pre;overflow:auto;max-height:520px;'
    'text-align:left">'
)


def pre_html(text: str) -> str:
    """Return text as a scrollable block."""
    return f"{_BLOCK}{escape(text)}</pre>"


def code_html(text: str, language: str) -> str:
    """Return code as a scrollable block, coloured if its language is known."""
    return f"{_BLOCK}{highlighted(text, language)}</pre>"


def diff_html(text: str) -> str:
    """Return a unified diff: marks in the first column carry the meaning, colours repeat it."""
    lines = []
    for line in text.split("\n"):
        colour = {"+": "#00815e", "-": "#c45100", "@": "#858585"}.get(line[:1])
        lines.append(
            f'<span style="color:{colour}">{escape(line)}</span>' if colour else escape(line)
        )
    return _BLOCK + "\n".join(lines) + "</pre>"


class Marked(NamedTuple):
    """A cell that is already HTML, made of escaped parts."""

    html: str
    style: str = _CELL


def number_cell(text: str) -> Marked:
    """Return a right-aligned cell of a number with its unit."""
    return Marked(escape(text), _NUMBER)


def table_html(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    note: str = "",
    limit: int = MOST_ROWS,
) -> str:
    """Return a table of plain values or `Marked` cells, with a note about what was cut."""
    head = "".join([f"<th {_CELL}>{escape(name)}</th>" for name in columns])
    body = "".join(
        [
            "<tr>"
            + "".join([_cell(name, value) for name, value in zip(columns, row, strict=True)])
            + "</tr>"
            for row in rows[:limit]
        ]
    )
    notes = [note] if note else []
    if len(rows) > limit:
        notes.append(f"{len(rows) - limit} of {len(rows)} rows cut")
    tail = f"<p><i>{escape('; '.join(notes))}</i></p>" if notes else ""
    caption = f"<p><b>{escape(title)}</b></p>" if title else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'{caption}<div style="overflow-x:auto">{table}</div>{tail}'


def _cell(column: str, value: Any) -> str:
    if isinstance(value, Marked):
        return f"<td {value.style}>{value.html}</td>"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"<td {_NUMBER if number else _CELL}>{escape(column_text(column, value))}</td>"


def is_share(column: str) -> bool:
    """Return True if a column has shares of a whole, from 0 to 1, shown as percent."""
    return column == "share" or column.endswith("_share")


def column_text(column: str, value: Any) -> str:
    """Return one value of a column as text, shares as percent."""
    if is_share(column) and isinstance(value, Real) and not isinstance(value, bool):
        return percent(float(value))
    return cell_text(value)


def cell_text(value: Any) -> str:
    """Return one value of a table as text.

    Thousands are separated, floats have four digits, from ten thousand on none after the point.
    None and NaN are a dash.
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{int(value):,}"
    if isinstance(value, float):
        if value.is_integer() and abs(value) >= 100:
            return f"{int(value):,}"
        return f"{value:,.0f}" if abs(value) >= 9999.5 else f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join([f"{key}={cell_text(item)}" for key, item in value.items()])
    if isinstance(value, tuple | list):
        return ", ".join(map(cell_text, value))
    return str(value)


def table_text(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], limit: int = MOST_ROWS, width: int = 90
) -> str:
    """Return the rows in aligned columns of plain text."""
    cells = [
        [_short(column_text(name, value), width) for name, value in zip(columns, row, strict=True)]
        for row in rows[:limit]
    ]
    numeric = [is_numeric(rows[:limit], k) for k in range(len(columns))]
    widths = [max([len(name), *[len(row[k]) for row in cells]]) for k, name in enumerate(columns)]

    def line(values: Sequence[str]) -> str:
        parts = [
            v.rjust(w) if n else v.ljust(w) for v, w, n in zip(values, widths, numeric, strict=True)
        ]
        return "  ".join(parts).rstrip()

    out = [line(columns), *[line(row) for row in cells]]
    if len(rows) > limit:
        out.append(f"... {len(rows) - limit} of {len(rows)} rows cut")
    return "\n".join(out)


def is_numeric(rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Return True if a column has numbers only; such a column is right-aligned."""
    cells = [row[column] for row in rows]
    return bool(cells) and all(
        cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
        for cell in cells
    )


def _short(text: str, width: int) -> str:
    text = cleaned_text(" ".join(text.split()))
    return text if len(text) <= width else text[: width - 1] + "…"
