"""A widget that shows another compile of its program: after an edit, after its cell was run again.

What the reader looked at stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("anywidget")
pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import xla_explorer as xe
from xla_explorer.explorer.page.payload import unpacked
from xla_explorer.explorer.sessions.editing import faults, like_step
from xla_explorer.notebook.explorer_widget import ExplorerWidget

TEXT = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  y = f32[64] exponential(x)\n  ROOT r = f32[64] add(y, x)\n}\n"


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def _at_fusion(session: xe.Session) -> ExplorerWidget:
    widget = xe.explore(session)
    assert isinstance(widget, ExplorerWidget)
    widget.step, widget.selected = session.passes.named("fusion").number, session.passes.find("%r")
    widget.view = {"tab": "text", "panes": ["edit"]}
    return widget


def _selected(widget: Any) -> str:
    name: str = widget.source.passes.lineage.records[widget.selected].name
    return name


def _asked(widget: ExplorerWidget, call: str, **args: Any) -> Any:
    heard: list[Any] = []
    widget.send = lambda content, buffers=None: heard.append((content, buffers))  # type: ignore[method-assign]
    widget._reply(widget, {"reply": 1, "call": call, "args": args}, [])
    return unpacked(heard[-1][1][0])


def test_an_edited_text_is_compiled_and_the_place_is_kept(session: xe.Session) -> None:
    widget = _at_fusion(session)
    text = TEXT.replace("  y", "  w = f32[64] tanh(x)\n  y").replace("(y, x)", "(y, w)")
    answer = _asked(widget, "widget.edit", text=text, passes="")
    assert (
        answer["faults"] == []
        and "compiled in" in answer["status"]
        and "4 instructions" not in answer["status"]
    )
    assert widget.source.steps()[widget.step].name == "fusion" and _selected(widget) == "r"
    assert (
        widget.view == {"tab": "text", "panes": ["edit"]}
        and _asked(widget, "view.source_text") == text
    )
    assert len(widget.source.steps()) > 9
    _asked(widget, "widget.edit", text=text, passes="algsimp,dce")
    assert [step.name for step in widget.source.steps()][1:3] == ["algsimp", "dce"]
    widget.back()
    widget.back()
    assert getattr(widget.source, "session", None) is session


@pytest.mark.parametrize(
    ("text", "passes", "place", "says"),
    [
        (TEXT.replace("exponential", "exponentil"), "", (4, 15, 25), "unknown opcode"),
        (TEXT.replace("r = f32[64]", "r = f32[65]"), "", (5, 8, 9), "the operands give f32[64]"),
        (TEXT, "no-such-pass", (0, 0, 0), "no-such-pass"),
        ("", "", None, ""),
    ],
)
def test_what_cannot_be_compiled_says_where(
    session: xe.Session, text: str, passes: str, place: Any, says: str
) -> None:
    widget = _at_fusion(session)
    before = widget.data
    (fault,) = _asked(widget, "widget.edit", text=text, passes=passes)["faults"]
    assert says in fault["message"] and (
        place is None or (fault["line"], fault["column"]) == place[:2]
    )
    assert fault["where"] == ("passes" if passes else "text") and widget.data is before
    assert bool(faults(text)) == (not passes)


def test_steps_are_found_by_pass_and_occurrence() -> None:
    names = ["as written", "dce", "fusion", "dce"]
    assert [like_step(names, names, step) for step in range(4)] == [0, 1, 2, 3]
    assert (
        like_step(["as written", "cse", "dce", "dce"], names, 1) == 2
        and like_step(names[:2], names, 3) == 1
    )
    assert like_step(names, names, -1) == -1 and like_step(names[:1], names, 2) == 0


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "xla_explorer")
    yield shell
    InteractiveShell.clear_instance()


@pytest.mark.long
def test_a_cell_that_is_run_again_keeps_its_view(shell: InteractiveShell) -> None:
    with capture_output() as first:
        shell.run_cell("%%hlo m --no-run --show explore\n" + TEXT)
    session, (shown,) = (
        shell.user_ns["m"],
        [o for o in first.outputs if "application/vnd.jupyter.widget-view+json" in o.data],
    )
    other = _at_fusion(session)
    with capture_output() as second:
        shell.run_cell("%%hlo m --no-run --show explore\n" + TEXT.replace("exponential", "tanh"))
    (again,) = [o for o in second.outputs if "application/vnd.jupyter.widget-view+json" in o.data]
    assert shell.user_ns["m"] is not session and other.source.steps()[other.step].name == "fusion"
    assert getattr(other.source, "session", None) is shell.user_ns["m"] and _selected(other) == "r"
    first_id, again_id = [
        o.data["application/vnd.jupyter.widget-view+json"]["model_id"] for o in (shown, again)
    ]
    assert (
        first_id == again_id != other.model_id
    )  # the cell's own widget, not another one of its session
