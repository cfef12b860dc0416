"""Plain values of rows and pictures: what JSON can hold, nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from xla_explorer.explorer.page.source import TextLine
from xla_explorer.explorer.pictures.picture import PictureGraph

LineData = list[Any]
"""[text, instruction id or None], and a list of more ids where there are some"""


class PictureData(TypedDict):
    """See `PictureGraph.to_json`."""

    title: str
    nodes: list[list[Any]]
    edges: list[list[Any]]
    groups: list[list[Any]]
    aliases: list[list[int]]
    hidden: int
    note: str


def plain(value: Any) -> Any:
    """`value` as JSON data: numpy scalars become numbers, what is not finite a word, anything else its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not hasattr(value, "item"):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        try:
            return plain(value.item())
        except (TypeError, ValueError):
            return str(value)
    return str(value)


def picture_data(graph: PictureGraph) -> PictureData:
    """The JSON form of a picture, typed."""
    data = graph.to_json()
    return PictureData(
        title=data["title"],
        nodes=data["nodes"],
        edges=data["edges"],
        groups=data["groups"],
        aliases=data["aliases"],
        hidden=data["hidden"],
        note=data["note"],
    )


def text_lines(lines: Sequence[TextLine] | Sequence[tuple[str, int | None]]) -> list[LineData]:
    """Lines as [text, instruction id or None], with a list of more ids where a line has several."""
    return [[line[0], line[1]] if len(line) < 3 or not line[2] else [line[0], line[1], list(line[2])] for line in lines]
