"""Tables on a terminal, or as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.display import table_text
from xla_explorer.explorer.page.json_data import plain

if TYPE_CHECKING:
    import pandas


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, as_json: bool = False, limit: int = 200) -> None:
    """A table as aligned text, or as a JSON list of objects."""
    if as_json:
        print_json([dict(zip(columns, plain(list(row)), strict=True)) for row in rows])
    else:
        print(table_text(columns, rows, limit=limit))


def print_frame(frame: pandas.DataFrame, columns: Sequence[str] | None = None, *, as_json: bool = False, limit: int = 200) -> None:
    """A DataFrame in the same way."""
    shown = frame if columns is None else frame[list(columns)]
    rows = [[None if value != value else value for value in row] for row in shown.astype(object).values.tolist()]
    print_table(list(shown.columns), rows, as_json=as_json, limit=limit)


def print_answer(answer: Any, *, as_json: bool = False) -> None:
    """An object that prints itself, or its public fields as a JSON object."""
    if as_json:
        print_json(plain(_fields_by_name({name: value for name, value in vars(answer).items() if not name.startswith("_")})))
    else:
        print(answer)


def print_json(data: Any, indent: int | None = 1) -> None:
    """JSON in ASCII without control characters; what it cannot hold as its text."""
    print(json.dumps(data, indent=indent, default=str).replace("\x7f", "\\u007f"))


def _fields_by_name(value: Any) -> Any:
    """Records as objects: JSON would take them as lists, without the names of their fields."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _fields_by_name(item) for key, item in value.items()}
    return [_fields_by_name(item) for item in value] if isinstance(value, list | tuple) else value


def heading(text: str) -> None:
    """A title with a line under it."""
    print(f"\n{text}\n{'-' * len(text)}")
