"""`xe.graph`: the static picture of a module, a computation or a session, with fusion boxes and refused edges."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.pictures.dot import picture_dot, render_dot
from xla_explorer.explorer.pictures.module_picture import snapshot_picture
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.pictures.svg import picture_svg
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.computation import HloComputation


class Graph:
    """A picture that shows itself. Needs no Graphviz: the layout is our own; `engine="dot"` uses the program where there is one.

    picture: the neutral picture data (nodes, edges, boxes).
    """

    def __init__(self, picture: PictureGraph, focus: int | None = None, engine: str = "own") -> None:
        self.picture, self.focus, self.engine = picture, focus, engine

    def to_svg(self, *, budget: int = 300, engine: str | None = None) -> str:
        """The picture as SVG. engine: `own`, or `dot` (falls back to `own` without the program or after 10 s)."""
        if (engine or self.engine) == "dot":
            drawn = render_dot(self.to_dot())
            if drawn is not None:
                text = drawn.decode("utf-8", "replace")
                return text[text.find("<svg") :] if "<svg" in text else text
        return picture_svg(self.picture, budget=budget, focus=self.focus)

    def to_dot(self) -> str:
        """Graphviz DOT text; always possible."""
        return picture_dot(self.picture)

    def to_json(self) -> dict[str, Any]:
        """Nodes, edges and boxes as plain data: what the widget draws. See `PictureGraph.to_json`."""
        return self.picture.to_json()

    def save(self, path: str | Path) -> Path:
        """Write to `path`; the suffix chooses: .svg, .dot, .gv, .json. ValueError for another one."""
        path = Path(path)
        if path.suffix == ".svg":
            return write_file(path, self.to_svg())
        return self.picture.save(path)

    @cleaned
    def __repr__(self) -> str:
        picture = self.picture
        parts = [number_of(len(picture.nodes), "node"), number_of(len([e for e in picture.edges if e.kind == "data"]), "edge")]
        if picture.groups:
            parts.append(number_of(len([g for g in picture.groups if g.kind == "fusion"]), "fusion"))
        refused = len([e for e in picture.edges if e.kind == "fusion-refused"])
        if refused:
            parts.append(number_of(refused, "refused fusion"))
        if picture.aliases:
            parts.append(f"{len(picture.aliases)} folded into others")
        if picture.hidden:
            parts.append(f"{number_of(picture.hidden, 'instruction')} not drawn")
        return f"<Graph {picture.title}: {', '.join(parts)}>"

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        svg = self.to_svg()
        if len(svg) > 300_000:
            svg = self.to_svg(budget=100)
        data = base64.b64encode(svg.encode("utf-8", "replace")).decode()
        note = f"<p><i>{escape(self.picture.note)}</i></p>" if self.picture.note else ""
        html = f'<img alt="{escape(repr(self))}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">{note}'
        return {"text/plain": repr(self), "text/html": html}


def graph(thing: Any, around: Any = None, radius: int = 2, *, engine: str = "own") -> Graph:
    """The graph of a module, a computation, HLO text, a trace or a session.

    around: an instruction (name or id): only what is at most `radius` edges away. A session's graph shows its fusions as boxes and the
    refused ones as dashed edges labelled with the code of the reason. KeyError with near names when there is no such instruction.
    """
    from xla_explorer.explorer.sessions.loading import as_module

    passes = getattr(thing, "passes", None)
    if passes is not None:
        found: Graph = passes[-1].graph(around, radius)
        return Graph(found.picture, found.focus, engine)
    computation = None
    if isinstance(thing, HloComputation):
        computation, module = thing.name, thing.module
    else:
        module = as_module(thing)
    ids: list[int] = []
    if around is not None:
        ids = [module.find(getattr(around, "id", around)).id]
    picture = snapshot_picture(
        module.snapshot(), computation=computation, around=ids, radius=radius if ids else None, title=computation or module.name
    )
    return Graph(picture, ids[0] if ids else None, engine)
