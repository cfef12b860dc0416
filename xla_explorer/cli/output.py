"""Tables on a terminal, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display import Report, plain, table_text
from xla_explorer.explorer.page.private_paths import cut_folders, cut_folders_in_data

if TYPE_CHECKING:
    import pandas


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    as_json: bool = False,
    limit: int = 200,
) -> None:
    """Print a table as aligned text, or as a JSON list of objects."""
    if as_json:
        print_json([dict(zip(columns, plain(list(row)), strict=True)) for row in rows])
    else:
        print(table_text(columns, rows, limit=limit))


def print_frame(
    frame: pandas.DataFrame,
    columns: Sequence[str] | None = None,
    *,
    as_json: bool = False,
    limit: int = 200,
) -> None:
    """Print a DataFrame as aligned text, or as a JSON list of objects."""
    shown = frame if columns is None else frame[list(columns)]
    rows = [
        [None if value != value else value for value in row]
        for row in shown.astype(object).values.tolist()
    ]
    print_table(list(shown.columns), rows, as_json=as_json, limit=limit)


def print_report(report: Report, *, as_json: bool = False, hide_paths: bool = False) -> None:
    """Print a report as text, or as a JSON object.

    hide_paths: print only the names of source files.
    """
    if as_json:
        print_json(cut_folders_in_data(report.to_json()) if hide_paths else report.to_json())
    else:
        print(cut_folders(str(report)) if hide_paths else report)


def print_json(data: Any, indent: int | None = 1) -> None:
    """Print JSON in ASCII without control characters; other values as their text."""
    print(json.dumps(data, indent=indent, default=str).replace("\x7f", "\\u007f"))


def heading(text: str) -> None:
    """Print a title with a line under it."""
    print(f"\n{text}\n{'-' * len(text)}")
