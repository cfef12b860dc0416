"""Rows about a loop nest: what folds in its text, and which directives made it."""

from __future__ import annotations

from typing import NamedTuple


class Fold(NamedTuple):
    """What a line of a nest opens: the `length` lines from `first` on. axes: the names of the axes that it runs over."""

    first: int
    length: int
    axes: tuple[str, ...]


class DirectiveStep(NamedTuple):
    """A directive of a schedule. message: its numbers, or why it was refused. by: `user` or `policy`. diff: the lines around it as (`same`,
    `del`, `add` or `gap`, text)."""

    directive: str
    verdict: str
    message: str
    by: str
    diff: tuple[tuple[str, str], ...]
