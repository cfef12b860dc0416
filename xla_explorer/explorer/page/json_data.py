"""The data sent to the browser: its types, and rows and pictures as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from xla_explorer.explorer.display.code_pane import TextLine
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.pools import PackedColumn, PackedPool, SlotSequence
from xla_explorer.explorer.page.rows import BufferView, ComparisonTable
from xla_explorer.explorer.pictures.picture import PictureData

LineData = list[Any]
"""[text, instruction id or None], and a list of further ids if there are any."""


class StepDetail(TypedDict):
    """The data of one step: its picture, its text, the rules that were applied.

    text: None if it is requested separately. changes: ids of the instructions that the pass added,
    and of those that it changed; None if unknown.
    """

    picture: PictureData
    changes: list[PackedColumn] | None
    text: list[LineData] | None
    rewrites: list[list[Any]]


class PooledPicture(TypedDict):
    """A `PictureData` whose rows are sequences of slots of the payload's pools."""

    title: str
    nodes: SlotSequence
    edges: SlotSequence
    groups: SlotSequence
    aliases: SlotSequence
    hidden: int
    note: str


class WholeData(PooledPicture):
    """Every instruction of a step.

    blocks: rows of boxes; homes: the box of each node, and of each box outside of boxes.
    """

    blocks: list[list[Any]]
    homes: PackedColumn


class PooledStep(TypedDict):
    """A `StepDetail` whose rows are sequences of slots of the pools.

    whole: every instruction, if `picture` is a part of the module.
    """

    picture: PooledPicture
    changes: list[PackedColumn] | None
    whole: WholeData | None
    text: SlotSequence
    rewrites: list[list[Any]]


class PaneData(TypedDict):
    """One code pane; `lines` as in a `StepDetail`.

    lines: None if they are requested when the pane is opened, or if they are in `packed`: texts,
    instructions and further instructions as columns. costly: made at the first request, even in a
    complete payload.
    """

    name: str
    producer: str
    note: str
    lines: list[LineData] | None
    packed: list[PackedColumn] | None
    costly: bool
    sections: list[tuple[int, str]]


class ExplorerPayload(TypedDict):
    """All data that the explorer draws.

    Attributes
    ----------
    format
        A script of another version refuses the data.
    steps, decisions, timings
        Rows in the field order of their types in source.py.
    lineage
        [subject, produced ...] for each applied rewrite.
    same
        A step -> the earlier step that shows the same.
    pools, details, panes, histories
        Filled if `complete` (see pools.py). `histories` are numbers of `sentences`; an instruction
        without one was left out for size.
    live
        The notebook's process answers requests; else `reports` has the embedded answers.
    reasons
        The meanings of the decisions' codes.
    fact_heads
        The titles of the decisions' facts.
    comparison
        Set if this compile is a what-if of another.
    devices
        The number of devices that the program is written for.
    """

    format: str
    complete: bool
    live: bool
    title: str
    headline: list[str]
    steps: list[list[Any]]
    same: list[int]
    decisions: list[list[Any]]
    decisions_hidden: int
    no_decisions: str
    reasons: dict[str, str]
    fact_heads: dict[str, list[Any]]
    timings: list[list[Any]]
    lineage: list[list[int]]
    pools: dict[str, PackedPool]
    sentences: PackedColumn
    details: dict[str, PooledStep]
    panes: list[PaneData]
    histories: dict[str, list[int]]
    roof: list[Any] | None
    columns: list[list[Any]]
    own_colour: bool
    comparison: dict[str, Any] | None
    devices: int
    reports: dict[str, Any]


def text_lines(lines: Sequence[TextLine] | Sequence[tuple[str, int | None]]) -> list[LineData]:
    """Return lines as [text, instruction id or None].

    A list of further ids follows if a line has several, and its number if that is not its position.
    """
    return [
        [line[0], line[1]]
        if len(line) < 3 or not (line[2] or line[3] is not None)
        else _long_line(line)
        for line in lines
    ]


def _long_line(line: TextLine) -> LineData:
    found: LineData = [line.text, line.instruction, list(line.also) or None]
    return found if line.number is None else [*found, line.number]


def to_mapping(row: BufferView | ComparisonTable | None) -> dict[str, Any] | None:
    """Return a named tuple as a mapping, with its rows as lists."""
    return None if row is None else {name: plain(value) for name, value in row._asdict().items()}
