"""Edges of the user's own over a picture: from a DataFrame, or from any rows of source, target and a word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph
from xla_explorer.foundation.diagnostic import XlaExplorerError


def given_edges(edges: Any, find: Callable[[Any], int]) -> tuple[PictureEdge, ...]:
    """The edges that a user gave: a DataFrame with the columns `source`, `target` and perhaps `label`, or rows of two or three.

    find: the id of an instruction by its name or id. XlaExplorerError for what is neither.
    """
    rows: Iterable[Sequence[Any]]
    if hasattr(edges, "columns") and hasattr(edges, "to_dict"):
        if missing := {"source", "target"} - set(edges.columns):
            raise XlaExplorerError(
                f"own edges need the columns source and target; {', '.join(sorted(missing))} missing",
                f"the columns are {', '.join(map(str, edges.columns))}: rename(columns=...)",
            )
        rows = [
            (row["source"], row["target"], row.get("label", "")) for row in edges.to_dict("records")
        ]
    else:
        rows = list(edges)
    found = []
    for row in rows:
        if isinstance(row, str) or len(row) not in (2, 3):
            raise XlaExplorerError(
                f"an own edge must be (source, target) or (source, target, label), got {row!r}"
            )
        label = row[2] if len(row) == 3 else ""
        found.append(
            PictureEdge(
                find(row[0]),
                find(row[1]),
                "own",
                0,
                "" if label is None or label != label else str(label),
            )
        )
    return tuple(found)


def with_edges(picture: PictureGraph, edges: Iterable[PictureEdge]) -> PictureGraph:
    """The picture with further edges, where both ends are drawn, each of its own or as part of another; from one to itself is none."""
    there = {node.id for node in picture.nodes} | {
        group.instruction for group in picture.groups if group.instruction is not None
    }
    drawn = []
    for edge in edges:
        a, b = [
            key if key in there else picture.aliases.get(key) for key in (edge.source, edge.target)
        ]
        if a is not None and b is not None and a != b:
            drawn.append(edge._replace(source=a, target=b))
    picture.edges = (*picture.edges, *drawn)
    return picture
