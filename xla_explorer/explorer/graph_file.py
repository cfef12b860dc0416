"""A page of graphs that another tool wrote: `python -m xla_explorer.explorer.graph_file`.

The format is JSON of named fields: those of `PictureNode`, `PictureEdge` and `PictureGroup`. The
button JSON of the graph tab writes it. A file holds one graph, or a list `steps` of graphs in
order, each with the name of the pass that made it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from xla_explorer.explorer.display.code_pane import CodePane, PrintedLine
from xla_explorer.explorer.page.html_page import save_page
from xla_explorer.explorer.page.rows import RewriteRow, StepRow
from xla_explorer.explorer.page.view import View
from xla_explorer.explorer.pictures.picture import (
    NODE_KINDS,
    EdgeKind,
    GroupKind,
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest

_KINDS = {
    PictureNode: NODE_KINDS,
    PictureEdge: get_args(EdgeKind),
    PictureGroup: get_args(GroupKind),
}
_REQUIRED = {
    PictureNode: ("id", "label"),
    PictureEdge: ("source", "target"),
    PictureGroup: ("id", "label"),
}


class GraphFileError(XlaExplorerError, ValueError):
    """A file that is no graph: the message names the element and the field."""


def read_graph(data: Mapping[str, Any]) -> PictureGraph:
    """Return the picture of one graph; GraphFileError with the first element that is wrong."""
    nodes = [_row(PictureNode, row, f"node {k}") for k, row in enumerate(data.get("nodes", ()))]
    edges = [_row(PictureEdge, row, f"edge {k}") for k, row in enumerate(data.get("edges", ()))]
    groups = [_row(PictureGroup, row, f"group {k}") for k, row in enumerate(data.get("groups", ()))]
    if not nodes:
        raise GraphFileError("a graph needs at least one row in 'nodes'")
    ids, boxes = {node.id for node in nodes}, {group.id for group in groups}
    ends = ids | {group.instruction for group in groups if group.instruction is not None}
    for k, node in enumerate(nodes):
        if node.group is not None and node.group not in boxes:
            raise GraphFileError(f"node {k}: no group has the id {node.group!r}")
    for k, group in enumerate(groups):
        if group.parent is not None and group.parent not in boxes:
            raise GraphFileError(f"group {k}: no group has the id {group.parent!r}")
    for k, edge in enumerate(edges):
        missing = {edge.source, edge.target} - ends
        if missing:
            raise GraphFileError(f"edge {k}: no node has the id {min(missing)}")
    if len(ids) < len(nodes) or len(boxes) < len(groups):
        raise GraphFileError("two nodes or two groups have the same id")
    return PictureGraph(nodes, edges, groups, title=str(data.get("title", "graph")))


def _row(row_type: Any, given: Mapping[str, Any], where: str) -> Any:
    """Return a row of named fields; missing ones have their defaults."""
    values = dict(given)
    for field in _REQUIRED[row_type]:
        if field not in values:
            raise GraphFileError(f"{where}: the field {field!r} is missing")
    for field in values:
        if field not in row_type._fields:
            known = ", ".join(nearest(field, row_type._fields) or row_type._fields)
            raise GraphFileError(f"{where}: unknown field {field!r}; did you mean {known}?")
    for field in ("id", "source", "target", "instruction"):
        wanted = str if (row_type, field) == (PictureGroup, "id") else int
        if values.get(field) is not None and not isinstance(values[field], wanted):
            raise GraphFileError(f"{where}: {field} must be {wanted.__name__}")
    if "kind" in values and values["kind"] not in _KINDS[row_type]:
        raise GraphFileError(f"{where}: kind must be one of {', '.join(_KINDS[row_type])}")
    if "lines" in values:
        values["lines"] = tuple(values["lines"])
    if row_type is PictureNode:
        values.setdefault("name", str(values["label"]))
    return row_type(**values)


class _Shown(NamedTuple):
    name: str
    graph: PictureGraph


class GraphFile:
    """Graphs of a file as the source of a view: no compile, no code, no times."""

    passes = None
    session = None

    def __init__(self, data: Mapping[str, Any]) -> None:
        given = data.get("steps") or [data]
        self.title = str(data.get("title", "graph"))
        self._shown = [
            _Shown(str(one.get("name", "as written" if k == 0 else f"step {k}")), read_graph(one))
            for k, one in enumerate(given)
        ]

    def view(self, *, live: bool = True) -> View:
        """Return the questions about it."""
        return View(self, live=live)

    def summary(self) -> Mapping[str, str | float | int]:
        """Return the number of nodes of the last graph."""
        return {"nodes": len(self._shown[-1].graph.nodes)}

    def steps(self) -> Sequence[StepRow]:
        """Return a row for each graph."""
        rows, before = [], None
        for k, (name, graph) in enumerate(self._shown):
            count = len(graph.nodes)
            changed = before is not None and not graph.same_rows(before)
            last = count if before is None else len(before.nodes)
            rows.append(StepRow(k, "", name, changed, 0.0, last, count))
            before = graph
        return rows

    def rewrites(self, step: int) -> Sequence[RewriteRow]:
        """Return nothing: the file has no rules."""
        return ()

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Raise: the file has no rules."""
        raise GraphFileError("a graph of another tool has no rewrites")

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        """Return the graph of a step."""
        return self._shown[step].graph

    def text(self, step: int) -> Sequence[PrintedLine]:
        """Return a line for each node: its name, its label, its operands, its detail."""
        graph = self._shown[step].graph
        names = {node.id: node.name for node in graph.nodes}
        operands: dict[int, list[str]] = {}
        for edge in graph.edges:
            if edge.kind == "data":
                operands.setdefault(edge.target, []).append(names.get(edge.source, "?"))
        return [
            (
                f"%{node.name} = {node.detail} {node.opcode or node.label}"
                f"({', '.join('%' + name for name in operands.get(node.id, ()))})",
                node.id,
            )
            for node in graph.nodes
        ]

    def decisions(self, step: int | None = None) -> Sequence[Decision]:
        """Return nothing: edges carry the verdicts."""
        return ()

    def panes(self) -> Sequence[CodePane]:
        """Return nothing: the panes of the steps are made of `text`."""
        return ()

    def timings(self) -> Sequence[Kernel]:
        """Return nothing."""
        return ()

    def history(self, instruction: int) -> Sequence[str]:
        """Return nothing."""
        return ()


def save_graph_page(graph: str | Path, page: str | Path) -> Path:
    """Write the page of a graph file and return its path.

    Examples
    --------
    ``save_graph_page("graph.json", "graph.html")``
    """
    try:
        data = json.loads(Path(graph).read_text(encoding="utf-8"))
    except ValueError as error:
        raise GraphFileError(f"{graph} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise GraphFileError(f"{graph} must hold an object with the key 'nodes' or 'steps'")
    return save_page(GraphFile(data), page)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m xla_explorer.explorer.graph_file GRAPH.json PAGE.html")
    try:
        print(save_graph_page(*sys.argv[1:]))
    except (GraphFileError, OSError) as error:
        sys.exit(str(error))
