"""The base of all results: a class is its fields and `blocks()`; every form in which it shows itself derives from these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.blocks import Block, Blocks, Sentence, Table
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.display.plain_data import named_data
from xla_explorer.foundation.visible_text import cleaned

if TYPE_CHECKING:
    import pandas


class Report:
    """A result that shows itself as text, HTML, Markdown, JSON and a DataFrame.

    A subclass has fields and `blocks()`. It may have a `headline()`, which `repr` then shows alone,
    and `records()` where `to_frame()` is not the first table that is shown.

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
    {'sizes': {'x': 16}}
    """

    __slots__ = ()

    def headline(self) -> str:
        """The result in one line, or empty."""
        return ""

    def blocks(self) -> Blocks:
        """The parts that are shown, from top to bottom."""
        raise NotImplementedError

    def records(self) -> Table:
        """The columns and rows of `to_frame()`: the first table, else the public fields as one row."""
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
        """All of it as text; a blank line after each table."""
        texts = [(block.to_text(), isinstance(block, Table)) for block in self._shown()]
        return "\n".join([text + "\n" * is_table for text, is_table in texts if text]).rstrip("\n")

    def to_html(self) -> str:
        """All of it as static HTML without scripts."""
        return "".join([block.to_html() for block in self._shown()])

    def to_markdown(self) -> str:
        """All of it as Markdown."""
        return "\n\n".join(filter(None, [block.to_markdown() for block in self._shown()]))

    def to_json(self) -> Any:
        """The public fields as plain data; where there are none, the rows of `to_frame()`.

        Modules, sessions and functions are left out.
        """
        return named_data(self._fields_by_name() or self.to_frame())

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a DataFrame."""
        table = self.records()
        return wide_frame(table.rows, table.columns)

    @cleaned
    def __str__(self) -> str:
        return self.to_text()

    @cleaned
    def __repr__(self) -> str:
        head = self.headline()
        return f"<{head}>" if head else str(self)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.to_html()}


def _is_data(value: Any) -> bool:
    """Whether a value says something in JSON, rather than being something to work with."""
    known = (Report, bool, int, float, str, list, tuple, dict)
    return (
        value is None
        or isinstance(value, known)
        or any(hasattr(value, name) for name in ("to_json", "to_dict", "item"))
    )
