"""The blocks of a `Report`: sentences, lists, tables and code, each as text, HTML and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from xla_explorer.explorer.display.display import (
    MOST_ROWS,
    cell_text,
    code_html,
    column_text,
    is_numeric,
    pre_html,
    table_html,
    table_text,
)
from xla_explorer.explorer.display.escaping import escape, fenced, markdown_text

if TYPE_CHECKING:
    import pandas


class Block(Protocol):
    """A part of a report. A format in which it is empty leaves it out."""

    def to_text(self) -> str:
        """Return the block as plain text."""

    def to_html(self) -> str:
        """Return the block as static HTML."""

    def to_markdown(self) -> str:
        """Return the block as Markdown."""


Blocks = Iterable[Block]


class Sentence(NamedTuple):
    """A paragraph; bold: as a heading."""

    text: str
    bold: bool = False

    def to_text(self) -> str:
        """Return the sentence."""
        return self.text

    def to_html(self) -> str:
        """Return the sentence as a paragraph."""
        return f"<p><b>{escape(self.text)}</b></p>" if self.bold else f"<p>{escape(self.text)}</p>"

    def to_markdown(self) -> str:
        """Return the sentence, marked if it is bold."""
        return f"**{markdown_text(self.text)}**" if self.bold else markdown_text(self.text)


class Listing(NamedTuple):
    """A title with lines below it; numbered: as an ordered list."""

    title: str
    lines: Sequence[str]
    numbered: bool = False

    def to_text(self) -> str:
        """Return the title and the lines, indented."""
        return "\n".join([self.title, *[f"  {line}" for line in self.lines]])

    def to_html(self) -> str:
        """Return the title and the lines as a list."""
        if self.numbered:
            return f"<p><b>{escape(self.title)}</b></p><ol>{''.join([f'<li>{escape(line)}</li>' for line in self.lines])}</ol>"
        return f"<p>{'<br>'.join([f'<b>{escape(self.title)}</b>', *map(escape, self.lines)])}</p>"

    def to_markdown(self) -> str:
        """Return the title and the lines as a list."""
        mark = "1." if self.numbered else "-"
        return "\n".join(
            [
                f"**{markdown_text(self.title)}**",
                "",
                *[f"{mark} {markdown_text(line)}" for line in self.lines],
            ]
        )


class Table(NamedTuple):
    """Rows under columns.

    note: a line below. limit, printed: the most rows in HTML and in text. width: characters of a
    cell in text.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""
    limit: int = MOST_ROWS
    printed: int = MOST_ROWS
    width: int = 90

    def to_text(self) -> str:
        """Return the rows in aligned columns."""
        table = table_text(self.columns, self.rows, limit=self.printed, width=self.width)
        return "\n".join(filter(None, [self.title, table, self.note]))

    def to_html(self) -> str:
        """Return the rows as an HTML table."""
        return table_html(self.title, self.columns, self.rows, self.note, self.limit)

    def to_markdown(self) -> str:
        """Return the rows as a Markdown table."""
        marks = ["--:" if is_numeric(self.rows, k) else "---" for k in range(len(self.columns))]
        cells = [
            [markdown_text(cell_text(name)) for name in self.columns],
            *[
                [
                    markdown_text(column_text(name, value))
                    for name, value in zip(self.columns, row, strict=True)
                ]
                for row in self.rows
            ],
        ]
        lines = [f"| {' | '.join(row)} |" for row in cells]
        title = [f"**{markdown_text(self.title)}**", ""] if self.title else []
        note = ["", f"*{markdown_text(self.note)}*"] if self.note else []
        return "\n".join([*title, lines[0], f"|{'|'.join(marks)}|", *lines[1:], *note])


class Code(NamedTuple):
    """Text in a fixed-width font under a title."""

    title: str
    text: str
    language: str = "text"

    def to_text(self) -> str:
        """Return the title and the text, indented; one line follows its title."""
        if "\n" not in self.text:
            return f"{self.title}: {self.text}"
        return "\n".join([f"{self.title}:", *[f"    {line}" for line in self.text.split("\n")]])

    def to_html(self) -> str:
        """Return the text as a coloured block under its title."""
        body = (
            pre_html(self.text) if self.language == "text" else code_html(self.text, self.language)
        )
        return f'<p style="margin:10px 0 2px"><i>{escape(self.title)}</i></p>{body}'

    def to_markdown(self) -> str:
        """Return the text as a fenced block under its title."""
        return f"*{markdown_text(self.title)}*\n\n{fenced(self.text, self.language)}"


class Layout(NamedTuple):
    """A block with its own HTML (made of escaped parts), text and Markdown."""

    html: str = ""
    text: str = ""
    markdown: str = ""

    def to_text(self) -> str:
        """Return the text."""
        return self.text

    def to_html(self) -> str:
        """Return the HTML."""
        return self.html

    def to_markdown(self) -> str:
        """Return the Markdown."""
        return self.markdown


def printed(block: Block) -> Block:
    """Return a block that only the text format shows."""
    return Layout(text=block.to_text())


def drawn(block: Block) -> Block:
    """Return a block that every format but text shows."""
    return Layout(html=block.to_html(), markdown=block.to_markdown())


def frame_table(frame: pandas.DataFrame) -> Table:
    """Return the rows of a DataFrame as a table."""
    return Table(
        list(frame.columns), frame.astype(object).where(frame.notna(), None).values.tolist()
    )
