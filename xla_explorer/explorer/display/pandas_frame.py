"""A DataFrame whose notebook form shows sentences in full.

Only `frames.py` imports this module, which loads pandas.
"""

from __future__ import annotations

from typing import Any

import pandas

from xla_explorer.explorer.display.blocks import frame_table
from xla_explorer.explorer.display.display import is_share, table_html
from xla_explorer.explorer.display.quantities import percent
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
        note = self._note()
        shares = [name for name in map(str, self.columns) if is_share(name)]
        shown = pandas.DataFrame(self)
        if shares and self.columns.is_unique:
            shown = shown.assign(**{name: shown[name].map(percent) for name in shares})
        return repr(shown) + (f"\n{note}" if note else "")

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
