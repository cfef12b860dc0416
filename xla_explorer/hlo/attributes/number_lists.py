"""Readers and writers of integers and lists of integers in the text of attributes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

INTEGER: Final = re.compile(r"-?\d+")
LIST: Final = re.compile(r"\s*\{\s*+(?:-?\d+\s*+(?:,\s*+-?\d+\s*+)*+)?+\}\s*", re.ASCII)
LISTS: Final = re.compile(rf"\s*\{{\s*+(?:{LIST.pattern}(?:,{LIST.pattern})*+)?+\}}\s*", re.ASCII)
LIMIT: Final = 1 << 63


def as_integers(found: Iterable[str]) -> tuple[int, ...]:
    """Convert texts to integers; ValueError for integers of more than 64 bits."""
    integers = tuple(map(int, found))
    if integers and not (min(integers) >= -LIMIT and max(integers) < LIMIT):
        raise ValueError(f"expects integers of 64 bits but sees {max(integers, key=abs)}")
    return integers


def read_integers(text: str) -> tuple[int, ...]:
    """Read a list of integers: `{0,1}`. ValueError names the expected form."""
    if LIST.fullmatch(text) is None:
        raise ValueError(f"expects a list of integers such as {{0,1}} but sees {text}")
    return as_integers(INTEGER.findall(text))


def write_integers(value: tuple[int, ...]) -> str:
    """Write a list of integers: `{0,1}`."""
    return "{" + ",".join(map(str, value)) + "}"


def read_integer(text: str) -> int:
    """Read one integer of 64 bits. ValueError names the expected form."""
    if re.fullmatch(r"\s*-?\d+\s*", text) is None:
        raise ValueError(f"expects an integer but sees {text}")
    return as_integers([text])[0]


def read_pairs(text: str) -> tuple[tuple[int, ...], ...]:
    """Read a list of lists: `{{0,1},{1,0}}`. ValueError names the expected form."""
    if LISTS.fullmatch(text) is None:
        raise ValueError(f"expects a list of lists such as {{{{0,1}},{{1,0}}}} but sees {text}")
    return tuple(
        [as_integers(INTEGER.findall(row)) for row in re.findall(r"\{([^{}]*)\}", text[1:-1])]
    )


def write_pairs(value: tuple[tuple[int, ...], ...]) -> str:
    """Write a list of lists: `{{0,1},{1,0}}`."""
    return "{" + ",".join(["{" + ",".join(map(str, pair)) + "}" for pair in value]) + "}"


def read_slice_sizes(text: str) -> Any:
    """Read sizes of one slice, or of the slice of each operand."""
    return read_pairs(text) if "{" in text[1:] else read_integers(text)


def write_slice_sizes(value: Any) -> str:
    """Write sizes of one slice, or of the slice of each operand."""
    return write_pairs(value) if value and isinstance(value[0], tuple) else write_integers(value)
