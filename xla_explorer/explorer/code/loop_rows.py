"""Rows about a loop nest: folds, directives, accesses, and other schedules' estimates."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
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

    message: its numbers. by: `user` or `policy`. diff: its change, as lines (`same`, `del`,
    `add` or `gap`, text).
    """

    directive: str
    message: str
    by: str
    diff: tuple[tuple[str, str], ...]


class LoweringRow(NamedTuple):
    """A step of the lowering of a kernel.

    name, sentence: its name, and what it does. lines: of the kernel afterwards. diff: its change,
    see `DirectiveStep`; empty if there is none.
    """

    name: str
    sentence: str
    lines: int
    diff: tuple[tuple[str, str], ...]


def diff_rows(before: Sequence[str], after: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return a change of a text as lines (`same`, `del`, `add` or `gap`, text)."""
    kinds = {" ": "same", "-": "del", "+": "add", "@": "gap"}
    changed = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    return tuple([(kinds[line[0]], "" if line[0] == "@" else line[1:]) for line in changed])


class AccessPattern(NamedTuple):
    """One load or store of a nest.

    Attributes
    ----------
    access : str
        `load %x` or `store %out`.
    of, instruction : str, int or None
        Its HLO instruction, by name and by id.
    offset : str
        The offset in elements, by the axes of the nest.
    along : str
        The innermost axis.
    pattern : str
        `contiguous`, `one element`, `every nth element`, `in pieces` (no constant step) or
        `gathered` (by values), along that axis.
    elements, bytes, element_bytes : int
        The accesses of one run in elements and bytes, repetitions included; the size of one.
    distinct_bytes : int
        The different bytes among them, in whole cache lines.
    behind_l1, behind_l2, behind_l3 : int
        Bytes of traffic below each cache level, by the footprints of the loops.
    warp_sectors : int
        Sectors of 32 bytes per request of a GPU's warp, if its threads ran along that axis.
    coalesced : float
        The least possible number of sectors over `warp_sectors`; 1 is the best.
    terms, constant : tuple of (str, int) or None, int
        The stride of each axis in elements, None if the offset is not a sum of strides; the offset
        at the beginning of all axes.
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


class LoopAxis(NamedTuple):
    """An axis of a loop nest.

    iterations: how often its body runs. share: of the kernel's estimated cycles, 0 to 1.
    """

    name: str
    kind: str
    extent: int
    iterations: int
    share: float


class LoopKernel(NamedTuple):
    """A kernel as loops.

    Attributes
    ----------
    first, length : int
        Its lines in the pane `loops`.
    code, reason : str
        The reason why it is opaque; empty for a nest.
    made_by : str
        `user` or `policy` if its code is made from the nest, else `writer`.
    schedule : str
        Its directives as text.
    nanoseconds, limit : float, str
        The estimate for one core or for a GPU (`where`), and its limiting resource.
    part : str
        The number among several kernels of one nest, as `1 of 2`.
    """

    name: str
    instruction: int
    family: str
    first: int
    length: int
    code: str
    reason: str
    made_by: str
    schedule: str
    nanoseconds: float | None
    limit: str
    axes: tuple[LoopAxis, ...] = ()
    folds: tuple[Fold, ...] = ()
    steps: tuple[DirectiveStep, ...] = ()
    accesses: tuple[AccessPattern, ...] = ()
    part: str = ""
    where: str = "on one core"


class LoopChoice(NamedTuple):
    """A possible next directive.

    axis: its subject. code, reason: of the refusal; empty if it is legal.
    """

    axis: str
    directive: str
    code: str
    reason: str


class LoopTry(NamedTuple):
    """The result of a schedule that was tried.

    schedule: its text. code, reason, hint: of the refused directive, empty if all are legal; the
    rest is then of the directives before it. lines: its nest. nanoseconds, limit: the estimate, for
    one core or for a GPU (`where`). before: the estimate of the present kernel. choices: possible
    next directives. ran: sentences on a run of the kernel alone.
    """

    schedule: str
    code: str
    reason: str
    hint: str
    lines: tuple[TextLine, ...]
    nanoseconds: float
    limit: str
    before: float
    choices: tuple[LoopChoice, ...]
    ran: tuple[str, ...] = ()
    where: str = "on one core"
