"""A DataFrame whose notebook form shows sentences in full.

Only `frames.py` imports this module, which loads pandas.
"""

from __future__ import annotations

from typing import Any

import pandas

from xla_explorer.explorer.display.blocks import frame_table
from xla_explorer.explorer.display.display import table_html
from xla_explorer.explorer.display.terminal_table import MOST_LINES, terminal_table, wrapped
from xla_explorer.foundation.visible_text import cleaned


class WideFrame(pandas.DataFrame):  # type: ignore[misc]  # pandas is untyped without its stubs
    """A DataFrame whose `_repr_html_` shows whole sentences, left-aligned, and empty missing cells.

    At most 200 rows are shown. Shares are shown as percent; the values stay numbers from 0 to 1.
    """

    @property
    def _constructor(self) -> type[WideFrame]:
        return WideFrame

    @cleaned
    def __repr__(self) -> str:
        """Return the most important columns that fit the terminal, and the first rows."""
        if isinstance(self.index, pandas.MultiIndex) or isinstance(self.columns, pandas.MultiIndex):
            return str(pandas.DataFrame(self).to_string(max_rows=MOST_LINES))
        names = [str(name) for name in self.columns]
        if not len(self):
            return "\n".join(wrapped(self._note() or f"no rows; columns: {', '.join(names)}", 80))
        rows = self.astype(object).where(self.notna(), None).values.tolist()
        shown = terminal_table(names, rows, index=self.index.tolist())
        return shown if len(rows) <= MOST_LINES else f"{shown}\n(print(frame.to_string()): all)"

    def _note(self) -> str:
        """Return the reason why the table is empty, if it has one."""
        return str(self.attrs.get("note", "")) if not len(self) else ""

    def _repr_html_(self) -> str:
        rows = [
            [index, *row]
            for index, row in zip(
                self.index, self.astype(object).where(self.notna(), "").values.tolist(), strict=True
            )
        ]
        return table_html("", ["", *map(str, self.columns)], rows, self._note())

    def to_frame(self) -> WideFrame:
        """Return itself: a table has every format that a `Report` has."""
        return self

    def to_markdown(self, *arguments: Any, **options: Any) -> Any:
        """Return the rows as a Markdown table.

        With arguments the table is that of pandas, which needs the package tabulate.
        """
        return (
            super().to_markdown(*arguments, **options)
            if arguments or options
            else frame_table(self).to_markdown()
        )
