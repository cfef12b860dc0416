"""Rows about a loop nest: what folds in its text, which directives made it, what another schedule would come to."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.explorer.display.code_pane import TextLine


class Fold(NamedTuple):
    """What a line of a nest opens: the `length` lines from `first` on. axes: the names of the axes that it runs over."""

    first: int
    length: int
    axes: tuple[str, ...]


class DirectiveStep(NamedTuple):
    """A directive of a schedule. message: its numbers. by: `user` or `policy`. diff: what it changed, as lines (`same`, `del`, `add` or
    `gap`, text)."""

    directive: str
    message: str
    by: str
    diff: tuple[tuple[str, str], ...]


class LoopChoice(NamedTuple):
    """A directive that may be written next. axis: that it is about. code, message: why it is refused; empty where it is legal."""

    axis: str
    directive: str
    code: str
    message: str


class LoopTry(NamedTuple):
    """What a schedule comes to. schedule: its text. code, message, hint: of the directive that is refused, empty where all are legal; the
    rest is then of the directives before. lines: its nest. nanoseconds, limit: the estimate, which is for one core or for a GPU
    (`where`); before: of the kernel as it is. choices: what may follow. ran: what running the kernel alone said, in sentences."""

    schedule: str
    code: str
    message: str
    hint: str
    lines: tuple[TextLine, ...]
    nanoseconds: float
    limit: str
    before: float
    choices: tuple[LoopChoice, ...]
    ran: tuple[str, ...] = ()
    where: str = "on one core"
