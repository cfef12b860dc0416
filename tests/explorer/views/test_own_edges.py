"""Edges of the user's own, and pictures as figures of a paper."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import xla_explorer as xe
from tests.browser.test_legible import layers_text
from xla_explorer.explorer.pictures import graph as pictures
from xla_explorer.explorer.pictures.picture import PictureFormatError

TEXT = """HloModule m
ENTRY e {
  x = f32[8,64] parameter(0)
  a = f32[64,64] constant({...})
  p = f32[8,64] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[8,64] dot(p, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[8,64] exponential(q)
}""".replace("constant({...})", "parameter(1)")


@pytest.fixture
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def own(picture: object) -> list[tuple[int, int, str]]:
    return [(e.source, e.target, e.label) for e in picture.edges if e.kind == "own"]  # type: ignore[attr-defined]


def test_edges_of_a_frame_are_in_every_picture_and_in_the_page(
    session: xe.Session, tmp_path: Path
) -> None:
    p, q = session.passes.find("%p"), session.passes.find("%q")
    xe.explore(session, edges=pd.DataFrame({"source": ["%p"], "target": [q], "label": ["reuses"]}))
    assert own(session.passes[0].picture()) == [(p, q, "reuses")] == own(xe.graph(session).picture)
    assert (
        "reuses" in xe.graph(session).to_svg()
        and "#a84f80" in xe.graph(session).to_svg()
        and "#a84f80" in xe.graph(session).to_dot()
    )
    assert own(session._explorer_source_().picture(0)) == [(p, q, "reuses")]
    session.passes.draw_edges([("p", "r"), ("p", "p")])
    assert [(a, label) for a, _, label in own(session.passes[0].picture())] == [(p, "")], (
        "an edge to itself is none"
    )
    session.passes.draw_edges([])
    assert not own(xe.graph(session).picture)


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        (pd.DataFrame({"from": ["p"], "target": ["q"]}), "source missing"),
        (["pq"], "must be"),
        ([("p", "nothing")], "nothing"),
    ],
)
def test_what_is_no_edge_is_said(session: xe.Session, edges: object, says: str) -> None:
    with pytest.raises((xe.XlaExplorerError, KeyError), match=says):
        session.passes.draw_edges(edges)


def test_values_in_the_same_memory_are_edges(session: xe.Session) -> None:
    long = xe.compile(layers_text(2), threads=1)
    frame = long.buffers().edges()
    assert list(frame.columns) == ["source", "target", "label"] and len(frame)
    long.passes.draw_edges(frame)
    assert {label for *_, label in own(xe.graph(long).picture)} == {"same memory"}


def test_a_figure_has_the_font_the_legend_and_the_form_that_are_asked_for(
    session: xe.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = xe.graph(session)
    text = graph.save(tmp_path / "a.svg", legend=False, font="Times New Roman").read_text()
    assert (
        'font-family="Times New Roman"' in text
        and "system-ui" not in text
        and ">contraction<" not in text
    )
    assert ">contraction<" in graph.to_svg()
    with pytest.raises(PictureFormatError, match="direction must be"):
        graph.to_svg(direction="up")

    class Converter:
        @staticmethod
        def svg_to_pdf(svg: str) -> bytes:
            return b"%PDF" + svg[:4].encode()

        @staticmethod
        def svg_to_png(svg: str, scale: float) -> bytes:
            return f"PNG {scale}".encode()

    monkeypatch.setattr(pictures, "find_spec", lambda name: object())
    monkeypatch.setattr(pictures, "import_optional", lambda name, extra: Converter)
    assert graph.save(tmp_path / "a.pdf").read_bytes() == b"%PDF<svg"
    assert graph.save(tmp_path / "a.png", scale=3).read_bytes() == b"PNG 3"
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    with pytest.raises(PictureFormatError, match="vl-convert-python"):
        graph.save(tmp_path / "b.png")
