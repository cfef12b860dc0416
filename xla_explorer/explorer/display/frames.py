"""Every table of the explorer is made here, so that pandas is imported in one place, and only when a table is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_explorer.explorer.display.pandas_frame import WideFrame


def wide_frame(rows: Iterable[Any], columns: Sequence[str]) -> WideFrame:
    """A DataFrame of rows (dicts or sequences) with these columns; its notebook form shows sentences in full."""
    # Start-up time: pandas takes longer to import than the whole package.
    from xla_explorer.explorer.display.pandas_frame import WideFrame

    return WideFrame(list(rows), columns=list(columns))
