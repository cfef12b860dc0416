"""The registered passes as a table."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING

from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.explorer.display.frames import wide_frame

if TYPE_CHECKING:
    import pandas


def passes() -> pandas.DataFrame:
    """Return the registered passes, one row per pass.

    Returns
    -------
    pandas.DataFrame
        Columns: pass (its name), also (other names), options with their defaults, summary (first
        paragraph of its docstring).

    Examples
    --------
    >>> import xla_explorer as xe
    >>> {"algsimp", "cse", "dce", "fusion"} <= set(xe.passes()["pass"])
    True
    """
    names: dict[type, list[str]] = {}
    for name, cls in registered_passes().items():
        names.setdefault(cls, []).append(name)
    rows = []
    for cls, known in names.items():
        options = {field.name: field.default for field in dataclasses.fields(cls)}
        text = " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())
        rows.append(
            {
                "pass": cls.name,
                "also": ", ".join([name for name in known if name != cls.name]),
                "options": ", ".join([f"{key}={value}" for key, value in options.items()]),
                "summary": text,
            }
        )
    frame = wide_frame(rows, ["pass", "also", "options", "summary"])
    return frame.sort_values("pass", ignore_index=True)
