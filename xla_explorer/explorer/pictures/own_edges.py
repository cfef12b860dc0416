"""Edges that a user adds to a picture, from a DataFrame or from rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph
from xla_explorer.foundation.diagnostic import XlaExplorerError


def parse_edges(edges: Any, find: Callable[[Any], int]) -> tuple[PictureEdge, ...]:
    """Return the edges of a DataFrame, or of rows of two or three.

    Parameters
    ----------
    edges
        A DataFrame with the columns `source`, `target` and perhaps `label`, or rows.
    find
        The id of an instruction by its name or id.

    Raises
    ------
    XlaExplorerError
        A column is missing, or a row has another length.
    """
    rows: Iterable[Sequence[Any]]
    if hasattr(edges, "columns") and hasattr(edges, "to_dict"):
        if missing := {"source", "target"} - set(edges.columns):
            raise XlaExplorerError(
                f"own edges need the columns source and target; {', '.join(sorted(missing))} "
                "missing",
                f"the columns are {', '.join(map(str, edges.columns))}: rename(columns=...)",
            )
        rows = [
            (row["source"], row["target"], row.get("label", "")) for row in edges.to_dict("records")
        ]
    else:
        rows = list(edges) if isinstance(edges, Iterable) else [edges]
    found = []
    for row in rows:
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) not in (2, 3):
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


def add_edges(picture: PictureGraph, edges: Iterable[PictureEdge]) -> PictureGraph:
    """Add edges whose ends are drawn or folded into drawn nodes; leave out self edges."""
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
