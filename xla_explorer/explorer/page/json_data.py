"""What travels to the browser: its shapes, and rows and pictures as the plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from xla_explorer.explorer.display.code_pane import TextLine
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.pools import PackedColumn, PackedPool, SlotSequence
from xla_explorer.explorer.page.reports import BufferView, ComparisonTable
from xla_explorer.explorer.pictures.picture import PictureData

LineData = list[Any]
"""[text, instruction id or None], and a list of more ids where there are some"""


class StepDetail(TypedDict):
    """What one step shows: its picture, its text (None: asked for on its own), the rules that fired. changes: the ids of the instructions
    that the pass added, and of those that it changed; None where that is not known.
    """

    picture: PictureData
    changes: list[PackedColumn] | None
    text: list[LineData] | None
    rewrites: list[list[Any]]


class PooledPicture(TypedDict):
    """A `PictureData` whose rows are sequences of slots of the pools of the payload."""

    title: str
    nodes: SlotSequence
    edges: SlotSequence
    groups: SlotSequence
    aliases: SlotSequence
    hidden: int
    note: str


class WholeData(PooledPicture):
    """Every instruction of a step.

    blocks: rows of boxes; homes: in which of them each node and each box outside of boxes is.
    """

    blocks: list[list[Any]]
    homes: PackedColumn


class PooledStep(TypedDict):
    """A `StepDetail` whose rows are sequences of slots of the pools.

    whole: every instruction, where `picture` is a part of the module.
    """

    picture: PooledPicture
    changes: list[PackedColumn] | None
    whole: WholeData | None
    text: SlotSequence
    rewrites: list[list[Any]]


class PaneData(TypedDict):
    """One code pane; `lines` as in a `StepDetail` (None: asked for when the pane is opened, or `packed`: texts, instructions and further
    instructions as columns). costly: not made before that, even where everything else travels at once.
    """

    name: str
    producer: str
    note: str
    lines: list[LineData] | None
    packed: list[PackedColumn] | None
    costly: bool
    sections: list[tuple[int, str]]


class ExplorerPayload(TypedDict):
    """Everything that is drawn.

    `steps`, `decisions`, `timings`: rows in the field order of their types in source.py.

    `format`: a script of another version refuses the data. `lineage` holds [subject, produced ...]
    per applied rewrite. `same` maps a step to the earlier step that shows the same. `pools` (see
    pools.py), `details`, `panes`, `histories` (numbers of `sentences`) are filled when `complete`;
    an instruction that `histories` does not have was left out for size. `live`: a kernel answers;
    without one `reports` holds what can be shown without. `reasons`: what the codes of the
    decisions mean. `fact_heads`: what the facts of the decisions are. `comparison`: set when this
    compile is a what-if of another.
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
    reports: dict[str, Any]


def text_lines(lines: Sequence[TextLine] | Sequence[tuple[str, int | None]]) -> list[LineData]:
    """Lines as [text, instruction id or None], with a list of more ids where a line has several, and its number where that is not its
    place.
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


def by_field(row: BufferView | ComparisonTable | None) -> dict[str, Any] | None:
    """A named tuple of which there is one: a mapping, with the rows inside of it as rows."""
    return None if row is None else {name: plain(value) for name, value in row._asdict().items()}
