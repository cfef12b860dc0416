"""The type of a column of a table."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A column.

    Attributes
    ----------
    name : str
        An identifier.
    unit : str
        `us`, `ms`, `s`, `bytes`, `flops`, `share` (of a whole, from 0 to 1) or `count`; empty for
        words.
    sentence : str
        Its meaning.
    better : str
        `less`, `more`, or empty if neither is.
    rank : int
        Its importance on a narrow terminal: 0 is shown first, 9 last.
    """

    name: str
    unit: str
    sentence: str
    better: str = ""
    rank: int = 5
