"""Tables on a terminal, or as JSON."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display import Report, plain, table_text, with_schema
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
    """Print a table as aligned text, or as JSON with `rows`, a list of objects."""
    if as_json:
        print_json([dict(zip(columns, plain(list(row)), strict=True)) for row in rows])
    else:
        width = shutil.get_terminal_size().columns if on_terminal() else None
        print(fitted_table(columns, rows, limit=limit, width=width))


def on_terminal() -> bool:
    """Return whether a terminal shows the output; pipes and files get whole lines."""
    return sys.stdout.isatty()


def fitted_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    limit: int = 200,
    width: int | None = None,
) -> str:
    """Return a table as text of at most `width` characters a line, where its cells permit.

    A wider table continues below, each part with the first column.
    """

    def part(numbers: Sequence[int]) -> str:
        chosen = [[row[k] for k in numbers] for row in rows]
        return table_text([columns[k] for k in numbers], chosen, limit=limit)

    def fits(numbers: Sequence[int]) -> bool:
        return width is None or max(map(len, part(numbers).splitlines()), default=0) <= width

    parts: list[list[int]] = [[0]]
    for number in range(1, len(columns)):
        if len(parts[-1]) > 1 and not fits([*parts[-1], number]):
            parts.append([0])
        parts[-1].append(number)
    everything = list(range(len(columns)))
    return part(everything) if fits(everything) else "\n\n".join(map(part, parts))


def print_frame(
    frame: pandas.DataFrame,
    columns: Sequence[str] | None = None,
    *,
    as_json: bool = False,
    limit: int = 200,
) -> None:
    """Print a DataFrame as aligned text, or as JSON with `rows`, a list of objects."""
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
    """Print JSON in ASCII without control characters, with its schema version.

    Other values are printed as their text; a list is printed as `rows`.
    """
    text = json.dumps(with_schema(data), indent=indent, default=str)
    print(text.replace("\x7f", "\\u007f"))


def heading(text: str) -> None:
    """Print a title with a line under it."""
    print(f"\n{text}\n{'-' * len(text)}")
