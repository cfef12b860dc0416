"""The one place that imports pandas and makes the explorer's tables, at the first table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_explorer.explorer.display.pandas_frame import WideFrame


def wide_frame(rows: Iterable[Any], columns: Sequence[str]) -> WideFrame:
    """Return a DataFrame of rows (dicts or sequences) that notebooks show with full sentences."""
    # pandas takes longer to import than the whole package.
    from xla_explorer.explorer.display.pandas_frame import WideFrame

    return WideFrame(list(rows), columns=list(columns))
