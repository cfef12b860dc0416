"""The widget's Python half: its state, its answers, and the static form beside the live view."""

from __future__ import annotations

from typing import Any

import pytest

anywidget = pytest.importorskip("anywidget")

import xla_explorer as xe  # noqa: E402
from tests.support.explorer_fakes import GeneratedSource, SoftmaxSource  # noqa: E402
from xla_explorer.explorer.page.payload import unpacked  # noqa: E402
from xla_explorer.notebook import explorer_widget  # noqa: E402
from xla_explorer.notebook.explorer_widget import MOST_KEPT, ExplorerWidget  # noqa: E402


class _Heard(list[Any]):
    def __call__(self, content: Any, buffers: Any = None) -> None:
        self.append((content, buffers))


def test_bundle_carries_the_static_form_beside_the_view() -> None:
    shown = ExplorerWidget(SoftmaxSource())._repr_mimebundle_()
    assert shown is not None
    bundle = shown[0]
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(bundle)
    assert bundle["text/plain"].startswith("softmax_dot · cpu")
    assert "would-duplicate-expensive" in bundle["text/html"] and len(bundle["text/html"]) < 300_000


def test_small_compiles_travel_whole_and_big_ones_answer() -> None:
    assert unpacked(ExplorerWidget(SoftmaxSource()).data)["complete"]
    widget = ExplorerWidget(GeneratedSource())
    assert not unpacked(widget.data)["complete"] and len(widget.data) < 5000
    heard = _Heard()
    widget.send = heard
    widget._reply(widget, {"call": "view.step", "args": {"step": 3}, "reply": 7}, [])
    content, buffers = heard[0]
    assert content == {"reply": 7} and len(unpacked(buffers[0])["text"]) == len(
        GeneratedSource().text(3)
    )


def test_a_failing_answer_is_an_answer() -> None:
    widget, heard = ExplorerWidget(SoftmaxSource()), _Heard()
    widget.send = heard
    widget._reply(widget, {"call": "view.step", "args": {"step": 99}, "reply": 1}, [])
    assert heard[0][0]["reply"] == 1 and "no step 99" in heard[0][0]["error"]


def test_page_of_the_widget() -> None:
    assert ExplorerWidget(SoftmaxSource()).to_html().startswith("<!doctype html>")


@pytest.mark.parametrize("message", [None, 3, "text", [], [1, 2], ("method", "step")])
def test_what_is_no_request_is_left_alone(message: Any) -> None:
    widget = ExplorerWidget(SoftmaxSource())
    sent: list[Any] = []
    widget.send = lambda *given: sent.append(given)  # type: ignore[method-assign]
    widget._reply(widget, message, [])
    assert sent == []


def test_what_ifs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    session = xe.compile("HloModule m\nENTRY e { ROOT x = f32[4] parameter(0) }")
    source = session._explorer_source_()
    widget = ExplorerWidget(source)
    monkeypatch.setattr(explorer_widget, "what_if", lambda other, *_: (other, None))
    widget._show = lambda: None  # type: ignore[method-assign]
    for _ in range(100):
        widget.override()
    assert len(widget._shown) == MOST_KEPT and widget._shown[0][0] is source
    for _ in range(100):
        widget.back()
    assert widget.source is source


def test_a_decision_of_any_kind_is_tried_out_and_the_new_compile_has_its_times() -> None:
    session = xe.compile(
        "HloModule m\nENTRY e { x = f32[300000] parameter(0)\n ROOT t = f32[300000] tanh(x) }",
        threads=2,
    )
    widget, sent = xe.explore(session), []
    widget.send = lambda content, _=None: sent.append(content)  # type: ignore[method-assign]
    widget._reply(
        widget,
        {"call": "widget.override", "args": {"forbid": [["parallel", "wrapped_tanh"]]}, "reply": 1},
        [],
    )
    comparison = widget._shown[-1][1]
    assert sent == [{"reply": 1}] and comparison.title == "forbid parallel of %wrapped_tanh"
    assert [row.sentence for row in comparison.overrides] == [
        "parallel of %wrapped_tanh was forbidden"
    ] and comparison.overrides[0].granted
    assert "%wrapped_tanh" in [row.kernel for row in widget.source.timings()]
    widget._reply(
        widget, {"call": "widget.override", "reply": 2, "args": {"forbid": [["launch"]]}}, []
    )
    assert "not a list of kinds" in sent[-1]["error"]
