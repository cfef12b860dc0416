"""The registry of questions: what is in it, what a request may say, and that answers fit."""

from __future__ import annotations

import json

import pytest

import xla_explorer as xe
from xla_explorer.explorer.asking import (
    SCHEMA,
    Budget,
    CallError,
    Cost,
    answer,
    checked_call,
    parse_call,
    questions,
)
from xla_explorer.explorer.asking.question import UnknownQuestionError
from xla_explorer.explorer.session import Session

INSTANT = [
    "decisions()",
    "decisions('fusion')",
    "kernels()",
    "buffers()",
    "loops()",
    "explain()",
    "overrides()",
    "passes.to_frame()",
    "passes.costs()",
    "passes.hot_rules()",
    "passes.opcodes()",
    "passes.provenance()",
    "passes.search('op:reduce')",
    "passes[1].text",
    "passes[-1].text_diff()",
    "llvm_ir()",
    "assembly()",
]


def test_a_call_is_read_without_being_run() -> None:
    assert parse_call("session.decisions('fusion')[20:40]")[:5] == (
        "decisions",
        ("fusion",),
        {},
        None,
        20,
    )
    assert parse_call("passes[-2].decisions(kind='rule')").step == -2
    for text in (
        "__import__('os').system('true')",
        "decisions(open('x'))",
        "decisions(kind=[x for x in y])",
        "(lambda: 1)()",
        "decisions(**{'kind': 'fusion'})",
        "kernels()[0]",
        "kernels()[-3:]",
        "a" * 30_000,
        "decisions(",
        "",
    ):
        with pytest.raises((CallError, UnknownQuestionError)):
            checked_call(parse_call(text))


def test_wrong_arguments_are_named_with_what_is_read(softmax: Session) -> None:
    for text, words in (
        ("decision()", "near: decisions"),
        ("decisions(kin='fusion')", "did you mean 'kind'"),
        ("decisions(3)", "must be a text"),
        ("passes[True].text", "not a call"),
        ("why_not()", "needs kind"),
        ("passes.costs(1)", "takes 0 arguments"),
        ("kernels(resources=1)", "must be True or False"),
    ):
        with pytest.raises(xe.XlaExplorerError) as raised:
            answer(softmax, text)
        assert words in str(raised.value), text


def test_the_answer_is_what_the_method_returns(softmax: Session) -> None:
    reply = answer(softmax, "decisions", {"kind": "fusion"})
    assert reply.call == "decisions('fusion')"
    frame = softmax.decisions("fusion")
    assert reply.value.equals(frame)
    assert reply.columns == list(frame.columns) and reply.total == len(frame)


@pytest.mark.parametrize("call", INSTANT)
def test_an_answer_fits_its_budget_and_leads_on(softmax: Session, call: str) -> None:
    whole = answer(softmax, call)
    small = answer(softmax, call, budget=Budget(tokens=400))
    data = small.to_json()
    assert len(json.dumps(data)) <= 1_200 and data["schema"] == SCHEMA
    shown = len(data["rows"] if "rows" in data else data["lines"])
    assert data["total"] == whole.total
    assert shown >= min(1, whole.total)
    seen, more = shown, small.more
    while more:
        rest = answer(softmax, more, budget=Budget(rows=50))
        seen += len(rest.rows if rest.rows is not None else rest.lines or [])
        more = rest.more
    assert seen == whole.total


def test_the_most_important_rows_come_first(softmax: Session) -> None:
    reply = answer(softmax, "decisions()")
    verdicts = [row[0] for row in reply.rows or []]
    assert verdicts == sorted(verdicts, key=lambda one: one == "accepted")
    sizes = answer(softmax, "buffers()")
    at = (sizes.columns or []).index("size")
    assert [row[at] for row in sizes.rows or []] == sorted(
        [row[at] for row in sizes.rows or []], reverse=True
    )


def test_no_question_reads_or_writes_files_or_takes_arrays() -> None:
    for question in questions().values():
        names = {a.name for a in question.arguments}
        assert not names & {"path", "folder", "file", "arrays", "options"}, question
        assert question.summary.endswith("."), question.name
        for argument in question.arguments:
            assert argument.sentence, (question.name, argument.name)


def test_a_question_that_costs_more_than_allowed_is_refused(softmax: Session) -> None:
    with pytest.raises(UnknownQuestionError, match="its cost is runs"):
        answer(softmax, "profile()", most=Cost.INSTANT)


def test_schemas_have_a_type_for_every_argument() -> None:
    for question in questions().values():
        schema = question.schema()
        assert set(schema["required"]) <= set(schema["properties"])
        for name, found in schema["properties"].items():
            assert found["type"], (question.name, name)
        assert question.tool.isidentifier()


def test_a_trace_answers_what_it_has_and_says_what_it_has_not() -> None:
    trace = xe.optimize(xe.example("attention"))
    assert answer(trace, "passes.costs()").total
    with pytest.raises(UnknownQuestionError, match="a trace has no kernels"):
        answer(trace, "kernels()")


def test_an_answer_links_to_the_place_in_a_saved_page(softmax: Session) -> None:
    reply = answer(softmax, "decisions('fusion')", page="softmax.html")
    row = dict(zip(reply.columns or [], (reply.rows or [])[0], strict=True))
    name = row["producer"].replace("%", "%25")
    assert reply.link == f"softmax.html#step={row['step']}&select={name}"
    assert reply.to_json()["link"] == reply.link and reply.link in reply.to_text()
    assert answer(softmax, "kernels()", page="p.html").link.startswith("p.html#select=%25")
    assert answer(softmax, "kernels()").link == ""
