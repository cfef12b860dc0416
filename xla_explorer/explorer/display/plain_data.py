"""Values as the plain data of JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

SCHEMA: Final = 1
"""The version of all JSON of answers; it is raised if a key or a column changes its meaning."""


def with_schema(data: Any) -> dict[str, Any]:
    """Return JSON data of an answer as an object with its schema version; a list is its `rows`."""
    found = data if isinstance(data, Mapping) else {"rows": data}
    return {"schema": SCHEMA, **found}


def plain(value: Any) -> Any:
    """Return `value` as JSON data, records as lists.

    numpy scalars become numbers, numbers that are not finite become words, anything else its text.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not hasattr(value, "item"):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        try:
            return plain(value.item())
        except (TypeError, ValueError):
            return str(value)
    return str(value)


def named_data(value: Any) -> Any:
    """Return `value` as JSON data, records as objects with the names of their fields."""
    if hasattr(value, "json_data"):  # a report inside of another
        return named_data(value.json_data())
    if hasattr(value, "to_json") and not hasattr(value, "columns"):
        return named_data(value.to_json())
    if hasattr(value, "to_dict"):  # a DataFrame
        return named_data(
            [
                {key: None if cell != cell else cell for key, cell in row.items()}
                for row in value.to_dict("records")
            ]
        )
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): named_data(item) for key, item in value.items()}
    return [named_data(item) for item in value] if isinstance(value, list | tuple) else plain(value)
