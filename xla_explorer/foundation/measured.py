"""Formatters of measurements, with the same text for checks that hold and checks that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Teller = Callable[..., str]
"""Formatter of a predicate's measurement on its subjects."""


def number(value: float) -> str:
    """Format a number: `4,096`, `12.5`."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def at_most(what: str, found: float, limit: float) -> str:
    """Format an upper limit: `operands 3 <= 64`, `operands 70 > 64`."""
    return f"{what} {number(found)} {'<=' if found <= limit else '>'} {number(limit)}"


def at_least(what: str, found: float, limit: float) -> str:
    """Format a lower limit: `bytes 4,096 >= 1,024`, `bytes 0 < 1,024`."""
    return f"{what} {number(found)} {'>=' if found >= limit else '<'} {number(limit)}"


def equal(what: str, one: Any, other: Any) -> str:
    """Format an equality: `layouts {1,0} = {1,0}`, `layouts {1,0} != {0,1}`."""
    return f"{what} {one} {'=' if one == other else '!='} {other}"


def listed(names: Iterable[str], most: int = 4) -> str:
    """Format a list of names: `%a, %b and 3 more`; `none`."""
    given = [f"%{name}" for name in names]
    if not given:
        return "none"
    rest = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + rest
