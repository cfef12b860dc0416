"""The base of all results: a subclass has fields and `blocks()`; every format derives from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.blocks import Block, Blocks, Sentence, Table
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.display.plain_data import named_data, with_schema
from xla_explorer.explorer.display.terminal_table import (
    MOST_LINES,
    terminal_table,
    terminal_width,
    wrapped,
)
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.foundation.visible_text import cleaned

if TYPE_CHECKING:
    import pandas


@explains_methods
class Report:
    """A result that shows itself as text, HTML, Markdown, JSON and a DataFrame.

    A subclass has fields and `blocks()`. It may have a `headline()`, and `records()` if
    `to_frame()` differs from its first table. `repr` shows the first lines, fitted to the terminal;
    `print` shows all.

    Examples
    --------
    >>> from xla_explorer.explorer.display.blocks import Table
    >>> class Sizes(Report):
    ...     def __init__(self, sizes):
    ...         self.sizes = sizes
    ...     def blocks(self):
    ...         yield Table(["name", "bytes"], list(self.sizes.items()), title="sizes")
    >>> Sizes({"x": 16})
    sizes
    name  bytes
    x        16
    >>> Sizes({"x": 16}).to_json()
    {'schema': 1, 'sizes': {'x': 16}}
    """

    __slots__ = ()

    def headline(self) -> str:
        """Return the result in one line, or an empty text."""
        return ""

    def blocks(self) -> Blocks:
        """Return the displayed blocks, from top to bottom."""
        raise NotImplementedError

    def _prompt_blocks(self) -> Blocks:
        """Return the blocks at a prompt, from top to bottom."""
        return self.blocks()

    def records(self) -> Table:
        """Return the rows of `to_frame()`: the first table, else the public fields as one row."""
        fields = self._fields_by_name()
        one_row = Table(list(fields), [tuple(fields.values())])
        return next((block for block in self.blocks() if isinstance(block, Table)), one_row)

    def _fields_by_name(self) -> dict[str, Any]:
        found = getattr(self, "__dict__", {})
        return {
            name: value
            for name, value in found.items()
            if not name.startswith("_") and _is_data(value)
        }

    def _shown(self) -> list[Block]:
        head = self.headline()
        return [Sentence(head, bold=True), *self.blocks()] if head else list(self.blocks())

    def to_text(self) -> str:
        """Return the report as text, with a blank line after each table."""
        texts = [(block.to_text(), isinstance(block, Table)) for block in self._shown()]
        return "\n".join([text + "\n" * is_table for text, is_table in texts if text]).rstrip("\n")

    def to_terminal(self, width: int | None = None, most: int = MOST_LINES) -> str:
        """Return the first lines of the report, its tables with the columns that fit.

        Parameters
        ----------
        width : int, optional
            The columns of the terminal; by default those of this one, or 80.
        most : int
            The most lines; a note counts the others.
        """
        width, head, lines = width or terminal_width(), self.headline(), list[str]()
        for block in self._prompt_blocks():
            if isinstance(block, Table):
                table = terminal_table(block.columns, block.rows, width=width, most=most)
                for text in filter(None, (block.title, table, block.note)):
                    lines += wrapped(text, width) if text is not table else text.split("\n")
            elif text := block.to_text():
                lines += wrapped(text, width)
        if not lines:
            return f"<{head}>" if head else ""
        lines = [*(wrapped(head, width) if head else []), *lines]
        left = len(lines) - most
        return "\n".join([*lines[:most], *([f"... print: {left} lines more"] if left > 0 else [])])

    def to_html(self) -> str:
        """Return the report as static HTML without scripts."""
        return "".join([block.to_html() for block in self._shown()])

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        return "\n\n".join(filter(None, [block.to_markdown() for block in self._shown()]))

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data with its schema version: `json_data`, or its `rows`."""
        return with_schema(self.json_data())

    def json_data(self) -> Any:
        """Return the public fields as plain data; without any, the rows of `to_frame()`.

        Modules, sessions and functions are left out.
        """
        return named_data(self._fields_by_name() or self.to_frame())

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows as a DataFrame."""
        table = self.records()
        return wide_frame(table.rows, table.columns)

    @cleaned
    def __str__(self) -> str:
        return self.to_text()

    @cleaned
    def __repr__(self) -> str:
        return self.to_terminal() if self.headline() else str(self)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.to_html()}


def _is_data(value: Any) -> bool:
    """Return True if a value belongs into JSON: numbers, texts, containers and reports."""
    known = (Report, bool, int, float, str, list, tuple, dict)
    return (
        value is None
        or isinstance(value, known)
        or any(hasattr(value, name) for name in ("to_json", "to_dict", "item"))
    )
