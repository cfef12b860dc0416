"""The one place that imports pandas and makes the explorer's tables, at the first table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_explorer.explorer.display.pandas_frame import WideFrame


def wide_frame(rows: Iterable[Any], columns: Sequence[str]) -> WideFrame:
    """Return a DataFrame of rows (dicts or sequences) that notebooks show with full sentences.

    Its columns are the identifiers of the given ones: see `column_names`.
    """
    # pandas takes longer to import than the whole package.
    from xla_explorer.explorer.display.pandas_frame import WideFrame

    frame = WideFrame(list(rows), columns=list(columns))
    frame.columns = column_names(columns)
    return frame


def column_names(headings: Iterable[str]) -> list[str]:
    """Return distinct identifiers for headings of a table: `saves_at_most_us`, `gb_per_s`.

    A heading that is an identifier stays as it is.
    """
    found: list[str] = []
    for number, heading in enumerate(headings):
        name = heading
        if not name.isidentifier():
            words = heading.lower().replace("/s", "_per_s").replace("%", " percent ")
            name = re.sub(r"\W+", "_", words).strip("_") or f"column_{number}"
            name = f"_{name}" if name[0].isdigit() else name
        stem, copy = name, 1
        while name in found:
            name, copy = f"{stem}_{copy + 1}", copy + 1
        found.append(name)
    return found
