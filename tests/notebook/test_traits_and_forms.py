"""Jupyter's parts: `step` and `selected` as linked traits, a pass's options as a form."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("anywidget")
ipywidgets = pytest.importorskip("ipywidgets")

import traitlets  # noqa: E402

import xla_explorer as xe  # noqa: E402
from xla_explorer.notebook.explorer_widget import ExplorerWidget  # noqa: E402
from xla_explorer.notebook.pipeline_builder import PassForm  # noqa: E402

TEXT = "HloModule m\nENTRY e { x = f32[64] parameter(0)  y = f32[64] exponential(x)  ROOT r = f32[64] add(y, x) }"


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def test_step_and_selected_are_observed_linked_and_interacted_with(session: xe.Session) -> None:
    widget, seen = xe.explore(session), []
    assert isinstance(widget, ExplorerWidget)
    widget.observe(
        lambda change: seen.append((change["name"], change["new"])), ["step", "selected"]
    )
    slider = ipywidgets.IntSlider(max=session.passes.last)
    link = widget.link("step", slider)
    assert isinstance(link, traitlets.link) and widget.step == slider.value
    slider.value = 3
    widget.selected = session.passes.find("%y")
    assert ("step", 3) in seen and ("selected", session.passes.find("%y")) in seen
    widget.set_state({"step": 2})  # what the browser sends
    assert slider.value == 2
    link.unlink()
    in_browser = ipywidgets.jslink((slider, "value"), (widget, "step"))
    assert in_browser.target == (widget, "step") and {"step", "selected"} <= set(widget.keys)
    shown = ipywidgets.interactive(
        lambda step: setattr(widget, "step", step), step=(0, session.passes.last)
    )
    shown.children[0].value = 5
    assert widget.step == 5


def test_a_form_has_a_control_for_each_option(session: xe.Session) -> None:
    form = PassForm("fusion", session)
    assert {"max_operands", "policy", "code_price"} <= set(form.controls) and form.options == {}
    seen: list[Any] = []
    form.observe(lambda change: seen.append(change["new"]), "options")
    form.controls["max_operands"].value = 1
    assert form.options == {"max_operands": 1} == seen[-1] and form.made().max_operands == 1
    form.options = {"policy": "xla"}
    assert form.controls["policy"].value == "xla" and form.controls["max_operands"].value == 64
    form.options = {"max_emitted": 1}
    form.compile()
    assert form.comparison is not None and "<table" in form.shown.value
    with pytest.raises(xe.XlaExplorerError, match="for the pass 'no', which is unknown"):
        PassForm("no")
