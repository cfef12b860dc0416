"""Links to places in a saved page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode


def page_link(page: str | Path, *, step: int | None = None, select: str = "", tab: str = "") -> str:
    """Return the address of a place in a saved page: `page.html#step=51&select=%25fusion.3`.

    Parameters
    ----------
    page : str or Path
        The page that `session.save` wrote.
    step : int, optional
        The number of the pass that the page opens; by default the last change.
    select : str
        The name of the instruction that it selects.
    tab : str
        The tab that it opens: `overview`, `graph`, `decisions`, `kernels`, ...
    """
    given = {"step": step, "select": select, "tab": tab}
    return f"{page}#{urlencode({key: value for key, value in given.items() if value not in (None, '')})}"


def row_link(page: str | Path, row: Mapping[str, Any]) -> str:
    """Return the link to what a row is about, by its columns; empty without one."""
    columns = ("kernel", "producer", "value", "name", "instruction")
    names = [row[key] for key in columns if isinstance(row.get(key), str) and row[key]]
    step = row.get("step")
    number = int(step) if isinstance(step, int) and not isinstance(step, bool) else None
    if not names and number is None:
        return ""
    select = f"%{names[0].lstrip('%')}" if names else ""
    return page_link(page, step=number, select=select)
