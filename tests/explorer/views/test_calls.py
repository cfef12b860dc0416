"""The requests of the script: generated from the registry, each with a public call of Python."""

from __future__ import annotations

import re

import pytest

import xla_explorer as xe
from xla_explorer.explorer.asking import answer, checked_call, parse_call, questions
from xla_explorer.explorer.code.lowering_steps import LOWERING
from xla_explorer.explorer.page.calls import SCRIPT, WIDGET, calls_script, requests
from xla_explorer.explorer.page.front_end import ASSETS
from xla_explorer.explorer.page.tabs import TABS
from xla_explorer.explorer.page.view import answer_of
from xla_explorer.explorer.session import Session

WITHOUT_A_CALL = {"help", "flame", "faults"}
NO_TABLES = {"step", "text", "history", "about", "rewrite", "panes", "pane", "stage_text"}


@pytest.fixture(scope="module")
def attention() -> Session:
    session = xe.compile(xe.example("attention"))
    session.profile(repeats=2)
    return session


def test_the_script_of_calls_is_what_the_registry_says() -> None:
    assert SCRIPT.read_text(encoding="utf-8") == calls_script(), (
        "renew it: python -m xla_explorer.explorer.page.calls"
    )


def test_every_request_of_the_script_is_a_question_and_every_question_is_requested() -> None:
    known = {*requests(), *WIDGET}
    used = set()
    for path in ASSETS.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r'(?:\.report|\brequest|tryOut|\bbring)\((?:app, )?"(\w+)"', text))
    assert used <= known, used - known
    assert known - used <= {tab.name for tab in TABS} | {"counts"}


def test_every_request_names_a_public_call_that_shows_the_same() -> None:
    for name, asked in requests().items():
        if name in WITHOUT_A_CALL:
            assert not asked.shown_by
            continue
        values = {a.name: "1" if a.name == "step" else "'x'" for a in asked.arguments}
        text = re.sub(
            r"\{(\w+)\}", lambda found, known=values: known[found.group(1)], asked.shown_by
        )
        call = parse_call(text)
        if not call.name.endswith((".graph", ".text")):
            checked_call(call)
        assert call.name in questions() or call.name.endswith(".graph"), name


def test_the_widget_has_the_requests_that_the_script_can_send() -> None:
    pytest.importorskip("anywidget")
    import xla_explorer.notebook.explorer_widget  # noqa: F401

    widget = {
        name.removeprefix("widget."): tuple([a.name for a in asked.arguments])
        for name, asked in questions(of_views=True).items()
        if asked.owner == "widget"
    }
    assert widget == dict(WIDGET)


def test_the_rows_of_a_request_are_those_of_its_call(attention: Session) -> None:
    source = attention._explorer_source_()
    loops = attention.loops().to_frame()  # type: ignore[union-attr]
    sent = answer_of(source, "loops")
    assert [row[0] for row in sent] == [name.lstrip("%") for name in loops["kernel"]] or [
        row[0] for row in sent
    ] == list(loops["kernel"])
    buffers = attention.buffers().to_frame()
    view = answer_of(source, "buffers")
    assert sorted([row[0] for row in view["rows"]]) == sorted(buffers["value"])
    costs = answer_of(source, "pass_costs")
    assert [row[:4] for row in costs["rows"]] == [
        row[:4] for row in attention.passes.costs().astype(object).values.tolist()
    ]
    remarks = answer(attention, "llvm.remarks()")
    assert len(answer_of(source, "remarks")) == remarks.total
    name = str(attention.kernels()["kernel"][1])
    passes = attention.llvm.passes(name)
    assert [row[0] for row in answer_of(source, "llvm", {"kernel": name})] == list(passes["pass"])
    assert [row[:2] for row in answer_of(source, "advice")] == [
        [a.sentence, a.gain_us] for a in attention.explain().advice
    ]


def test_what_a_request_shows_of_a_selection_is_what_its_call_returns(attention: Session) -> None:
    source, passes = attention._explorer_source_(), attention.passes
    kernel = next(row for row in source.view().rows() if row.opcode == "fusion")
    name, key = kernel.kernel, kernel.instruction
    assert answer_of(source, "history", {"instruction": key}) == passes.history(name)
    step = next(p.number for p in passes if p.changed)
    text = answer_of(source, "text", {"step": step})
    assert "\n".join([line[0] for line in text]).strip() == passes[step].text.strip()
    about = answer_of(source, "about", {"instruction": key})
    assert len(about) == len(attention.explain(name).decisions)
    steps = answer_of(source, "lowering", {"kernel": key})
    lowered = attention.lowering(name).to_frame()
    lowered = lowered[lowered["phase"] == LOWERING].iloc[-len(steps) :]
    assert [row[0] for row in steps] == list(lowered["name"]) and steps
    flow = attention.llvm.control_flow(name, "llvm-ir")
    blocks = answer_of(source, "blocks", {"kernel": key, "stage": "llvm-ir"})
    assert blocks["head"] == flow.headline()
    assert len(blocks["first"]) == len(flow.basic_blocks)
    tensor = passes.value(name, step=passes.last)
    shown = answer_of(source, "values", {"instruction": key, "step": passes.last})
    assert shown["head"] == tensor.headline()
    frame = attention.buffers().to_frame()
    first, second = frame[frame["kind"] == "arena"]["value"][:2]
    reason = attention.buffers().why_not_shared(first, second)
    sent = answer_of(source, "not_shared", {"first": first, "second": second})
    assert sent[2] == (reason.code if reason is not None else "")
    rows = passes.hot_rules()
    known = answer_of(source, "rules", {"names": list(rows["rule"])})
    assert set(known) <= set(rows["rule"]) and known
