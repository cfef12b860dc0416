"""SVG, DOT, static form and page: well-formed, complete, bounded, safe with hostile names."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
import xml.dom.minidom
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.explorer.views.asset_script import quickjs
from tests.support.explorer_fakes import GeneratedSource, HostileSource, SoftmaxSource
from xla_explorer.explorer.display.quantities import byte_count, headline, microseconds, percent
from xla_explorer.explorer.page.front_end import (
    page_module,
    script,
    widget_module,
)
from xla_explorer.explorer.page.html_page import export_page, save_page
from xla_explorer.explorer.page.static_form import SIZE_LIMIT, static_html, static_text
from xla_explorer.explorer.page.static_tables import decisions_html
from xla_explorer.explorer.pictures.dot import picture_dot, render_dot
from xla_explorer.explorer.pictures.svg import picture_svg
from xla_explorer.foundation.decision import Decision


def test_svg_is_well_formed_titled_and_uses_presentation_attributes_only() -> None:
    source = SoftmaxSource()
    svg = picture_svg(source.picture(7))
    document = xml.dom.minidom.parseString(svg)
    assert not document.getElementsByTagName("style") and not document.getElementsByTagName(
        "script"
    )
    assert " class=" not in svg and " id=" not in svg
    titles = [t.firstChild.data for t in document.getElementsByTagName("title") if t.firstChild]
    assert any(t.startswith("%exp.9") for t in titles)
    assert "stroke-dasharray" in svg and "would-duplicate-expensive" in svg


def test_svg_says_what_it_left_out() -> None:
    svg = picture_svg(GeneratedSource().picture(0), budget=100)
    assert "1900 of 2000 elements not drawn" in svg


def test_svg_and_static_html_survive_hostile_names() -> None:
    source = HostileSource()
    svg = picture_svg(source.picture(1))
    document = xml.dom.minidom.parseString(svg.encode("utf-8"))
    assert {e.tagName for e in document.getElementsByTagName("*")} <= {
        "svg",
        "title",
        "g",
        "path",
        "text",
        "rect",
        "circle",
    }
    html = static_html(source)
    assert "<script" not in html and not re.search(r"<img src=x|<svg onload", html)


def test_dot_quotes_names_and_draws_clusters() -> None:
    text = picture_dot(SoftmaxSource().picture(9))
    assert (
        text.count("subgraph") == 3
        and "style=dashed" in text
        and 'label="would-duplicate-expensive"' in text
    )
    hostile = picture_dot(HostileSource().picture(1))
    assert hostile.count("{") - hostile.count("}") == 0 and "\x00" not in hostile


@pytest.mark.skipif(
    shutil.which("dot") is None, reason="Graphviz is not installed: DOT text is not drawn"
)
def test_dot_is_drawn_where_graphviz_is_installed() -> None:
    assert b"<svg" in (render_dot(picture_dot(SoftmaxSource().picture(9))) or b"")
    assert b"<svg" in (render_dot(picture_dot(HostileSource().picture(1))) or b"")


def test_no_graphviz_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert render_dot("digraph {}") is None


def test_numbers_carry_units() -> None:
    assert (microseconds(61.2), microseconds(1250.0), microseconds(None)) == (
        "61.2 µs",
        "1.25 ms",
        "–",
    )
    assert (byte_count(131072), byte_count(12), percent(0.123)) == ("128 KiB", "12 B", "12 %")
    parts = headline(SoftmaxSource().summary())
    assert parts == [
        "cpu",
        "9 passes, 3 changed it",
        "13 → 4 kernels",
        "runs in 61.2 µs (n 20, iqr 1.40 µs, was 148 µs)",
    ]


def test_static_form_is_complete() -> None:
    html = static_html(SoftmaxSource())
    for text in (
        "softmax_dot",
        "13 → 4 kernels",
        "data:image/svg+xml;base64,",
        "would-duplicate-expensive",
        "algsimp",
        "exp_sum_fusion",
        "⚠ evaluator",
    ):
        assert text in html
    picture = re.search(r"base64,([^\"]+)", html)
    assert picture is not None and b"fusion of" in base64.b64decode(picture[1])
    assert "2 decisions accepted, 2 refused" in static_text(SoftmaxSource())


def test_long_directives_of_the_static_form_may_wrap_in_jupyterlab() -> None:
    message = "%dot: split{j,32},reorder{jo,i},vectorize{ji}"
    html = decisions_html(
        [Decision("loop-nest", "accepted", (1,), ("dot",), "made-from-nest", message)], 10
    )
    assert message.replace(",", ",<wbr>") in html


def test_static_form_of_a_failed_compile_shows_what_was_before() -> None:
    html = static_html(SoftmaxSource(failed=True))
    assert "fusion failed" in html and "HloVerifyError" in html and "layout-assignment" in html


@pytest.mark.parametrize("count", [500, 2000, 6000])
def test_static_form_stays_below_its_limit_and_says_what_it_cut(count: int) -> None:
    html = static_html(GeneratedSource(count))
    assert len(html) <= SIZE_LIMIT and "lines cut" in html


def test_page_holds_everything_and_fetches_nothing(tmp_path: Path) -> None:
    page = save_page(SoftmaxSource(), tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page) and "import(" not in page
    assert page.count("</script>") == 2
    assert export_page(HostileSource()).count("</script>") == 2


def test_joined_script_has_no_imports_and_no_double_names() -> None:
    text = script()
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE)
    assert sorted(names) == sorted(set(names))
    assert "innerHTML" not in text and "insertAdjacentHTML" not in text


@pytest.mark.parametrize("module", [widget_module, page_module])
def test_joined_modules_parse(module: Callable[[], str]) -> None:
    """As modules: strict, and a name that two files define is a SyntaxError."""
    quickjs.Context().module(module())


def test_importing_the_views_loads_no_notebook_and_no_pandas() -> None:
    code = (
        "import sys, xla_explorer.explorer.page.html_page, xla_explorer.explorer.pictures.dot; "
        "bad = {'IPython', 'anywidget', 'pandas', 'llvmlite'} & set(sys.modules); "
        "sys.exit(str(bad) if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_labels_of_edges_keep_off_what_is_written() -> None:
    """A long edge past a node: its label sits where the line is alone."""
    from xla_explorer.explorer.pictures.scene import Scene, SceneEdge, SceneNode
    from xla_explorer.explorer.pictures.svg import label_places

    def node(key: int, x: float, y: float) -> SceneNode:
        return SceneNode(
            key,
            "elementwise",
            "add",
            f"n{key}",
            "f32[4]",
            (),
            [key],
            None,
            width=100,
            height=44,
            x=x,
            y=y,
        )

    scene = Scene.__new__(Scene)
    scene.nodes = [node(1, 0, 0), node(2, 0, 150), node(3, 70, 300)]
    scene.left, scene.width = -100.0, 300.0
    scene.edges = [SceneEdge(0, 2, "fusion-refused", 1, "reduce-is-root-only", [70, 44, 70, 300])]
    [(_, x, y)] = label_places(scene)
    assert x == 70 and not 143 < y < 201


def test_a_label_leaves_a_short_edge_to_be_seen_and_stays_inside_the_picture() -> None:
    from xla_explorer.explorer.pictures.scene import Scene, SceneEdge, SceneNode
    from xla_explorer.explorer.pictures.svg import label_places

    def node(key: int, x: float, y: float) -> SceneNode:
        return SceneNode(
            key,
            "elementwise",
            "add",
            f"n{key}",
            "f32[4]",
            (),
            [key],
            None,
            width=100,
            height=44,
            x=x,
            y=y,
        )

    scene = Scene.__new__(Scene)
    scene.nodes, scene.left, scene.width = [node(1, 0, 0), node(2, 0, 60)], -300.0, 600.0
    scene.edges = [SceneEdge(0, 1, "fusion-refused", 1, "reads-multiply", [0, 44, 0, 60])]
    [(edge, x, y)] = label_places(scene)
    half = (5.4 * len(edge.label) + 10) / 2
    assert abs(x) - half >= 6 and 44 < y < 60, "beside the line, not on it"
    scene.left, scene.width = -50.0, 100.0
    assert label_places(scene) == [], "no room inside the picture"
