"""Rows about a loop nest: folds, directives, accesses, and other schedules' estimates."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.explorer.display.code_pane import TextLine


class Fold(NamedTuple):
    """A foldable part of a nest: the `length` lines from `first` on.

    axes: the names of the axes that it runs over.
    """

    first: int
    length: int
    axes: tuple[str, ...]


class DirectiveStep(NamedTuple):
    """A directive of a schedule.

    message: its numbers. by: `user` or `policy`. diff: what it changed, as lines (`same`, `del`,
    `add` or `gap`, text).
    """

    directive: str
    message: str
    by: str
    diff: tuple[tuple[str, str], ...]


class AccessPattern(NamedTuple):
    """One load or store of a nest.

    Attributes
    ----------
    access : str
        `load %x` or `store %out`.
    of, instruction : str, int or None
        The HLO instruction that it belongs to, by name and by id.
    offset : str
        The offset in elements, by the axes of the nest.
    along : str
        The axis whose steps follow one another fastest.
    pattern : str
        `contiguous`, `one element`, `every nth element`, `in pieces` (no constant step) or
        `gathered` (by values), along that axis.
    elements, bytes, element_bytes : int
        How many are accessed in one run, again and again; the size of one.
    distinct_bytes : int
        How many different bytes that are, in whole cache lines.
    behind_l1, behind_l2, behind_l3 : int
        Bytes from and to what lies behind each cache, by what the loops touch.
    warp_sectors : int
        Sectors of 32 bytes per request of a GPU's warp, if its threads ran along that axis.
    coalesced : float
        The least number of sectors for so many elements, over `warp_sectors`; 1 is the best.
    terms, constant : tuple of (str, int) or None, int
        Elements from one step of an axis to the next, by name, None where the offset is not a sum
        of them; the offset where all axes begin.
    """

    access: str
    of: str
    offset: str
    along: str
    pattern: str
    elements: int
    bytes: int
    distinct_bytes: int
    behind_l1: int
    behind_l2: int
    behind_l3: int
    warp_sectors: int
    coalesced: float
    instruction: int | None
    element_bytes: int
    terms: tuple[tuple[str, int], ...] | None
    constant: int


class LoopChoice(NamedTuple):
    """A directive that may be written next.

    axis: that it is about. code, message: why it is refused; empty where it is legal.
    """

    axis: str
    directive: str
    code: str
    message: str


class LoopTry(NamedTuple):
    """The result of a schedule that was tried.

    schedule: its text. code, message, hint: of the refused directive, empty if all are legal; the
    rest is then of the directives before it. lines: its nest. nanoseconds, limit: the estimate, for
    one core or for a GPU (`where`). before: the estimate of the present kernel. choices: possible
    next directives. ran: sentences on a run of the kernel alone.
    """

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
