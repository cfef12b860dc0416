"""Tables on a terminal, or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display import table_text
from xla_explorer.explorer.views.json_data import plain

if TYPE_CHECKING:
    import pandas


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, as_json: bool = False, limit: int = 200) -> None:
    """A table as aligned text, or as a JSON list of objects."""
    if as_json:
        json.dump([dict(zip(columns, plain(list(row)), strict=True)) for row in rows], sys.stdout, indent=1)
        print()
    else:
        print(table_text(columns, rows, limit=limit))


def print_frame(frame: pandas.DataFrame, columns: Sequence[str] | None = None, *, as_json: bool = False, limit: int = 200) -> None:
    """A DataFrame in the same way."""
    shown = frame if columns is None else frame[list(columns)]
    rows = [[None if value != value else value for value in row] for row in shown.astype(object).values.tolist()]
    print_table(list(shown.columns), rows, as_json=as_json, limit=limit)


def heading(text: str) -> None:
    """A title with a line under it."""
    print(f"\n{text}\n{'-' * len(text)}")
