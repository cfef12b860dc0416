"""`why_not` answers for every kind of decision of passes, rules and code generation.

It does so on every backend.
"""

from __future__ import annotations

import pathlib
import re

import pytest

import xla_explorer
import xla_explorer as xe
from tests.compiler.decisions.programs import COMPILES, MANY
from xla_explorer.compiler.decisions.kinds import FUSION_KINDS
from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.compiler.pipeline.explaining import decided_again, kinds_of, with_checklists
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.journal import Event

EXPECTED = {
    "cpu": {"fusion", "multi-output-fusion", "fusion-wrapper", "layout", "share-buffer", "parallel", "loop-vectorization", "vector-width",
            "inlining", "constant-folding", "transpose-folding"},
    "cpu, XLA's policy": {"fusion", "fusion-wrapper", "layout", "share-buffer", "parallel"},
    "gpu": {"fusion", "normalization-fusion", "multi-output-fusion", "library-call", "launch", "share-buffer", "layout", "horizontal-loop-fusion"},
    "interpreter": {"fusion", "inlining", "constant-folding"},
}  # fmt: skip


@pytest.fixture(scope="module", params=COMPILES)
def compiled(request: pytest.FixtureRequest) -> tuple[str, xe.Session]:
    return request.param, xe.compile(MANY, **COMPILES[request.param])


def last_decisions(session: xe.Session) -> dict[tuple[str, tuple[str, ...]], Event]:
    """(kind, subjects, each once) -> the last decision."""
    journal = session.passes.journal
    assert journal is not None
    return {(e.by, tuple(dict.fromkeys(e.names))): e for e in journal.events if e.is_decision}


def test_every_recorded_decision_has_an_answer(compiled: tuple[str, xe.Session]) -> None:
    name, session = compiled
    decisions = last_decisions(session)
    assert {kind for kind, _ in decisions} >= EXPECTED[name]
    for (kind, subjects), event in decisions.items():
        answer = session.why_not(kind, *subjects)
        assert answer.recorded and answer.verdict == event.verdict, (kind, subjects)
        assert answer.code == (event.reason.code if event.reason is not None else "")
        assert (
            isinstance(answer.decision, Decision)
            and answer.kind == kind
            and answer.subjects == tuple([f"%{n}" for n in subjects])
        )


def test_passes_say_all_kinds_that_they_decide(compiled: tuple[str, xe.Session]) -> None:
    record = compiled[1].passes.record
    for step in record.steps:
        assert {e.by for e in record.events_of(step) if e.is_decision} <= set(
            kinds_of(step.hlo_pass)
        ), step.name


def is_written_at(place: str) -> bool:
    """Return True if `folder/file.py:line` is a line of a predicate in the package."""
    file, line = place.rsplit(":", 1)
    package = pathlib.Path(xla_explorer.__file__).parent
    return any(
        int(line) <= len(path.read_text().splitlines()) for path in package.glob(f"**/{file}")
    )


def test_each_decision_has_all_its_checks_with_value_name_and_place(
    compiled: tuple[str, xe.Session],
) -> None:
    """Each check has a positive name, a measured value and its predicate's line.

    This holds for passes and code generation, for passed and failed checks.
    """
    name, session = compiled
    record = session.passes.record
    again = {
        sequence: found
        for step in record.steps
        for sequence, found in with_checklists(record, step).items()
    }
    decided: dict[str, set[bool | None]] = {}
    for event in record.journal.events:  # type: ignore[union-attr]
        if not event.is_decision:
            continue
        decision = again.get(event.sequence) or decision_of(event, None)
        assert decision.checklist, decision
        assert decision.refused == any(check.ok is False for check in decision.checklist), decision
        if decision.refused:
            assert decision.code == next(
                check.code for check in decision.checklist if check.ok is False
            )
        for check in decision.checklist:
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.name) and check.name not in (
                "lambda",
                "check",
            ), check
            assert not re.search(r"(^|-)(not|too|would|differs?)(-|$)", check.name), (
                "a check says what must hold"
            )
            assert check.ok is None or check.value, (decision.kind, check)
            assert is_written_at(check.place), check
            decided.setdefault(decision.kind, set()).add(check.ok)
    assert set(decided) >= EXPECTED[name]


def test_answers_of_code_generation_have_a_check(compiled: tuple[str, xe.Session]) -> None:
    _, session = compiled
    for row in session.decisions("native-code").to_dict("records")[:4]:
        (check,) = session.why_not("native-code", *row["subjects"]).checklist
        assert (
            check.name == "native-code-computes-it" and check.value and is_written_at(check.place)
        )


def test_running_a_pass_once_more_changes_nothing_of_the_compile(
    compiled: tuple[str, xe.Session],
) -> None:
    session = compiled[1]
    record = session.passes.record
    before, count = (
        session.module.to_text(),
        len(record.journal.events) if record.journal is not None else 0,
    )
    for step in record.steps:
        assert decided_again(record, step) is decided_again(record, step)
    assert (
        session.module.to_text() == before
        and record.journal is not None
        and len(record.journal.events) == count
    )


def test_the_journal_may_be_off(compiled: tuple[str, xe.Session]) -> None:
    name, session = compiled
    quiet = xe.compile(MANY, journal="passes", **COMPILES[name])
    pairs = [
        (kind, names)
        for kind, names in last_decisions(session)
        if kind in ("fusion", "layout", "share-buffer", "inlining")
    ]
    for kind, names in pairs:
        recorded, again = session.why_not(kind, *names), quiet.why_not(kind, *names)
        assert not again.recorded and (again.verdict, again.code) == (
            recorded.verdict,
            recorded.code,
        ), (kind, names)
        assert again.checklist == recorded.checklist


def test_what_no_pass_of_the_compile_decides_is_asked_or_said(
    compiled: tuple[str, xe.Session],
) -> None:
    _, session = compiled
    answer = session.why_not("stream-assignment", "%y")
    assert (
        answer.refused
        and not answer.recorded
        and answer.code == "never-decided"
        and "stream-assignment" in answer.message
    )
    answer = session.why_not("launch", "%x")
    assert answer.refused and answer.code == "never-decided"


def test_guards_of_rules_are_checks_with_a_value_and_a_place() -> None:
    text = "HloModule m\nENTRY e { x = f32[8] parameter(0)\n z = f32[] constant(0)\n zs = f32[8] broadcast(z), dimensions={}\n ROOT r = f32[8] multiply(x, zs) }"
    session = xe.compile(text, backend="interpreter", passes="dce")
    answer = session.why_not("multiply-zero", "%r")
    assert answer.refused and answer.code == "not-integral", answer
    named = {check.name: check for check in answer.checklist}
    assert (
        named["pattern-fits"].ok
        and named["integral"].ok is False
        and named["replacement-is-built"].ok is None
    )
    assert "f32[8]" in named["integral"].value and named["integral"].place.startswith(
        "rewriting/guards.py:"
    )
    for rule in session.passes.applicable("%r").rules:
        assert all(
            check.value and is_written_at(check.place)
            for check in rule.checks
            if check.ok is not None
        ), rule


def test_rules_answer_too(compiled: tuple[str, xe.Session]) -> None:
    name, session = compiled
    rewrites = [e for e in session.passes.journal.events if e.is_rewrite and e.by in xe_rules()]  # type: ignore[union-attr]
    assert rewrites, name
    for event in rewrites[:12]:
        answer = session.why_not(event.by, event.names[0])
        assert answer.recorded and answer.kind == event.by
    assert session.why_not("rule", rewrites[0].names[0]).recorded
    never = session.why_not("add-zero" if "add-zero" in xe_rules() else rewrites[0].by, "%x")
    assert never.refused and not never.recorded and never.code


def xe_rules() -> set[str]:
    from xla_explorer.compiler.rewriting.declared import declared_rules

    return set(declared_rules())


def test_a_table_of_fusion_shows_all_kinds_of_fusion(compiled: tuple[str, xe.Session]) -> None:
    name, session = compiled
    kinds = set(session.decisions("fusion")["kind"])
    assert kinds <= set(FUSION_KINDS)
    assert kinds == {kind for kind, _ in last_decisions(session) if kind in FUSION_KINDS}, name


def test_the_interpreter_asks_the_pass_that_its_compile_did_not_run() -> None:
    session = xe.compile(MANY, backend="interpreter")
    answer = session.why_not("fusion", "%ex", "%q")
    assert not answer.recorded and answer.checklist and "no such pass has seen" in answer.source


def test_a_multi_output_fusion_that_was_never_asked() -> None:
    text = """HloModule two
ENTRY e { x = f32[64] parameter(0)
 y = f32[32] parameter(1)
 a = f32[64] tanh(x)
 b = f32[32] negate(y)
 ROOT t = (f32[64], f32[32]) tuple(a, b) }"""
    session = xe.compile(text)
    one, other = [i.name for i in session.module.instructions() if i.opcode.name == "fusion"]
    answer = session.why_not("multi-output-fusion", one, other)
    assert not answer.recorded and answer.code == "dimensions-differ"
    assert {check.name: check.ok for check in answer.checklist}["both-are-loops"] is True


def test_checks_print_what_holds_and_what_was_measured() -> None:
    session = xe.compile(MANY, threads=1)
    pair = next(
        names
        for (kind, names), e in last_decisions(session).items()
        if kind == "fusion" and e.acted
    )
    answer = session.why_not("fusion", *pair)
    text = str(answer)
    assert "ok  layouts-agree: " in text and re.search(
        r"ok  operands-within-limit: operands \d+ <= \d+", text
    )
    html = answer._repr_mimebundle_()["text/html"]
    assert "fusion/policy.py:" in html and ">condition<" in html


def test_decisions_of_code_generation_tell_what_they_were_about() -> None:
    session = xe.compile(MANY, threads=2)
    kernel = next(names for kind, names in last_decisions(session) if kind == "parallel")
    assert session.why_not("parallel", *kernel).source == "recorded after the passes"
    silent = session.why_not("parallel", "%x")
    assert (
        silent.code == "never-decided"
        and f"%{kernel[0]}" in silent.message
        and silent.facts["decisions"] > 0
    )


def test_native_code_is_answered_where_no_event_tells_it() -> None:
    session = xe.compile(MANY, threads=1)
    rows = session.decisions("native-code").to_dict("records")
    for row in rows:
        answer = session.why_not("native-code", *row["subjects"])
        assert (answer.verdict, answer.code) == (row["verdict"], row["code"])


def test_all_passes_say_kinds_in_kebab_case() -> None:
    for cls in registered_passes().values():
        for kind in getattr(cls, "kinds", ()):
            assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind)
