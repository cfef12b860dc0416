"""`xe.graph`: the static picture of a module, a computation or a session, with fusion boxes."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.blocks import Blocks, Layout, Sentence, Table, drawn
from xla_explorer.explorer.display.display import image_html
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.pictures.dot import picture_dot, render_dot
from xla_explorer.explorer.pictures.picture import PictureFormatError, PictureGraph, PictureNode
from xla_explorer.explorer.pictures.svg import FONT, picture_svg
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.optional import import_optional

if TYPE_CHECKING:
    import graphviz


def _strip_svg_prologue(drawn: bytes) -> str:
    text = drawn.decode("utf-8", "replace")
    return text[text.find("<svg") :] if "<svg" in text else text


class Graph(Report):
    """The graph of a module as a picture.

    The layout needs no Graphviz; `engine="dot"` uses its program if it is installed.

    Attributes
    ----------
    picture : PictureGraph
        Nodes, edges and boxes as data.
    focus : int, optional
        The instruction id around which it is drawn.
    engine : str
        `own` or `dot`.
    """

    def __init__(
        self, picture: PictureGraph, focus: int | None = None, engine: str = "own"
    ) -> None:
        self.picture, self.focus, self.engine = picture, focus, engine

    def to_svg(
        self,
        *,
        budget: int = 300,
        engine: str | None = None,
        legend: bool = True,
        font: str = FONT,
        direction: str = "down",
    ) -> str:
        """Return the picture as SVG.

        Parameters
        ----------
        budget : int
            The most elements that are drawn.
        engine : str, optional
            `own`, or `dot`; `own` also if the program `dot` is missing or takes more than 10 s.
        legend : bool
            Name the kinds of nodes below the picture.
        font : str
            A font family as in CSS.
        direction : str
            `down`, or `right`, which needs the program `dot`.

        Raises
        ------
        PictureFormatError
            The direction is unknown, or `right` without the program `dot`.
        """
        if direction not in ("down", "right"):
            raise PictureFormatError(
                f"direction must be 'down' or 'right', got {direction!r}",
                "`right` needs the program dot",
            )
        if direction == "right":
            drawn = render_dot(self.to_dot().replace("{\n", "{\n  rankdir=LR;\n", 1))
            if drawn is None:
                raise PictureFormatError(
                    "direction='right' needs the program dot, which is not installed",
                    "install Graphviz",
                )
            return _strip_svg_prologue(drawn)
        if (engine or self.engine) == "dot":
            drawn = render_dot(self.to_dot())
            if drawn is not None:
                return _strip_svg_prologue(drawn)
        return picture_svg(self.picture, budget=budget, focus=self.focus, legend=legend, font=font)

    def to_dot(self) -> str:
        """Return the picture as Graphviz DOT text; needs no Graphviz."""
        return picture_dot(self.picture)

    def to_graphviz(self) -> graphviz.Digraph:
        """Return a `graphviz.Digraph`, to render, style or extend with that package."""
        # A hosted kernel may lack the package, and nothing else needs it.
        import graphviz

        lines = self.to_dot().strip().split("\n")
        return graphviz.Digraph(self.picture.title, body=[f"{line}\n" for line in lines[1:-1]])

    def to_json(self) -> dict[str, Any]:
        """Return nodes, edges and boxes as plain data, as `PictureGraph.to_json` does."""
        return {**self.picture.to_json()}

    def save(self, path: str | Path, **options: Any) -> Path:
        """Write the picture to `path` in the format of its suffix.

        Parameters
        ----------
        path : str or Path
            Ends with .svg, .dot, .gv, .json, or .pdf, .png (these two need the package
            vl-convert-python).
        **options
            The parameters of `to_svg`, and `scale` of a .png.

        Raises
        ------
        PictureFormatError
            Another suffix.
        """
        path = Path(path)
        text: str | bytes
        match path.suffix:
            case ".svg":
                text = self.to_svg(**options)
            case ".pdf" | ".png":
                scale = options.pop("scale", 2.0)
                text = converted(self.to_svg(**options), path.suffix, scale)
            case ".dot" | ".gv":
                text = self.to_dot()
            case ".json":
                text = json.dumps(self.to_json(), ensure_ascii=False)
            case suffix:
                raise PictureFormatError(
                    f"cannot save a picture as {suffix!r}",
                    "choose .svg, .pdf, .png, .dot, .gv or .json",
                )
        return write_file(path, text)

    def records(self) -> Table:
        """Return a row for each node: the fields of PictureNode."""
        return Table(PictureNode._fields, self.picture.nodes)

    def headline(self) -> str:
        """Return the numbers of drawn nodes, edges and fusions."""
        picture = self.picture
        parts = [
            number_of(len(picture.nodes), "node"),
            number_of(len([e for e in picture.edges if e.kind == "data"]), "edge"),
        ]
        if picture.groups:
            parts.append(
                number_of(len([g for g in picture.groups if g.kind == "fusion"]), "fusion")
            )
        refused = len([e for e in picture.edges if e.kind == "fusion-refused"])
        if refused:
            parts.append(number_of(refused, "refused fusion"))
        if picture.aliases:
            parts.append(f"{len(picture.aliases)} folded into others")
        if picture.hidden:
            parts.append(f"{number_of(picture.hidden, 'instruction')} not drawn")
        return f"Graph {picture.title}: {', '.join(parts)}"

    def blocks(self) -> Blocks:
        """Yield the picture as an image, and its note."""
        svg = self.to_svg()
        if len(svg) > 300_000:
            svg = self.to_svg(budget=100)
        image = image_html(svg, self.headline())
        yield Layout(html=image, markdown=image)
        if self.picture.note:
            yield drawn(Sentence(self.picture.note))

    def _prompt_blocks(self) -> Blocks:
        """Return nothing: a prompt shows the headline, no picture."""
        return ()

    def to_html(self) -> str:
        """Return the image alone, which contains the headline."""
        return "".join([block.to_html() for block in self.blocks()])


_PAPER = '<rect x="-9999" y="-9999" width="99999" height="99999" fill="#fff"/>'
"""A white background: other programs show black below partly transparent boxes."""


def converted(svg: str, suffix: str, scale: float) -> bytes:
    """Return an SVG as `.pdf` or `.png`.

    scale: pixels of a .png for each pixel of the picture. PictureFormatError without
    vl-convert-python.
    """
    if find_spec("vl_convert") is None:
        hint = 'pip install "xla-explorer[charts]", or save .svg'
        raise PictureFormatError(
            f"{suffix} needs the package vl-convert-python, which is not installed", hint
        )
    package = import_optional("vl_convert", "charts")
    head, tag, rest = svg.partition("</title>")
    svg = head + tag + _PAPER + rest
    made: bytes = (
        package.svg_to_pdf(svg) if suffix == ".pdf" else package.svg_to_png(svg, scale=scale)
    )
    return made
