"""Questions to the journal: rules, provenance, hot rules, files; overrides that stop or reorder."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import ClassVar

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import PassContext, PassFailedError, PassPipeline, make_pass
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.journal import Journal, JournalFormatError
from xla_explorer.hlo.module import HloModule

X = np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)


# -- applicable ------------------------------------------------------------------------------------
def test_rules_that_fit_say_what_they_would_make(softmax: Session) -> None:
    found = softmax.passes.applicable("%scaled", step=0)
    assert found.names[0] == "multiply-one" and found["multiply-one"].becomes.startswith(
        "%x = f32[64,96]{1,0} parameter(0)"
    )
    assert found["multiply-one"].sentence and "multiplication.py:" in found["multiply-one"].place
    assert "as written" in str(found) and "text/html" in found._repr_mimebundle_()
    frame = found.to_frame()
    assert (
        list(frame.columns) == ["rule", "applies", "code", "reason", "becomes", "sentence", "place"]
        and frame["applies"].all()
    )
    assert softmax.passes.applicable("%scaled", 0).names == found.names  # asking changes nothing


def test_rules_that_fit_and_are_refused_say_why() -> None:
    trace = xe.optimize(
        "ENTRY e { x = f32[4] parameter(0)\n ROOT y = f32[4] subtract(x, x) }", "dce"
    )
    answer = trace.passes.applicable("y")
    refused = [row for row in answer if row.reason is not None]
    assert refused and all(
        row.reason is not None and row.reason.code and row.reason.message for row in refused
    ), str(answer)
    with pytest.raises(KeyError, match="does not fit"):
        answer["add-zero"]


def test_an_instruction_that_no_rule_fits(softmax: Session) -> None:
    answer = softmax.passes.applicable("%e", 0)
    assert not answer.names and ("no rule's pattern fits" in str(answer) or len(answer))
    with pytest.raises(xe.XlaExplorerError, match="near"):
        softmax.passes.applicable("%scalde")


# -- provenance ------------------------------------------------------------------------------------
def test_every_instruction_of_the_result_leads_back(softmax: Session) -> None:
    found = softmax.passes.provenance()
    assert found.coverage == 100.0 and found.line_coverage == 100.0 and "100.0 %" in repr(found)
    names = {i.name for i in softmax.source.instructions()}
    assert all(set(origin.sources) <= names for origin in found.origins)
    assert found.of("%e").sources == ("e",) and found.of("e").line == "model.py:8"
    by_root = {o.opcode: o for o in found.origins}
    assert set(by_root["fusion"].sources) <= names and by_root["fusion"].how == "cloned"
    # y = e / sums became a product with the reciprocal: made by a rule out of y.
    assert by_root["multiply"].sources == ("y",) and by_root["multiply"].how == "rewritten"
    assert len(found.to_frame()) == len(found.origins) and "text/html" in found._repr_mimebundle_()


def test_a_line_is_related_to_everything_that_it_became(softmax: Session) -> None:
    frame = softmax.annotate().relation()
    assert set(frame["instruction"]) == {
        f"%{o.instruction}" for o in softmax.passes.provenance().origins
    }
    line = frame[frame["line"] == "model.py:8"]
    assert (
        {"llvm-ir-optimized", "assembly"} <= set(line["stage"])
        and (line["time_us"] > 0).all()
        and (line["bytes"] > 0).all()
    )
    text = softmax.stage("assembly").text.split("\n")
    assert all(
        text[row.number - 1].strip() == row.code
        for row in line[line["stage"] == "assembly"].itertuples()
    )


def test_an_operand_that_takes_its_users_place_does_not_come_from_it() -> None:
    trace = xe.optimize(
        "ENTRY e { x = f32[4] parameter(0)\n z = f32[] constant(0)\n b = f32[4] broadcast(z), dimensions={}\n"
        " n = f32[4] negate(x)\n s = f32[4] subtract(n, b)\n ROOT r = f32[4] exponential(s) }"
    )
    assert trace.passes.lineage.origins(trace.passes.find("n")) == [trace.passes.find("n")]
    assert trace.provenance().coverage == 100.0


# -- journals --------------------------------------------------------------------------------------
def test_a_journal_survives_a_file(softmax: Session, tmp_path: pathlib.Path) -> None:
    journal = softmax.passes.journal
    assert journal is not None
    journal.save(tmp_path / "journal.jsonl")
    again = Journal.load(tmp_path / "journal.jsonl")
    assert (
        again.level == journal.level and len(again.spans) == len(journal.spans) and not again.errors
    )
    assert [(e.kind, e.by, e.subjects, e.names) for e in again.events] == [
        (e.kind, e.by, e.subjects, e.names) for e in journal.events
    ]
    assert [e.reason for e in again.events] == [e.reason for e in journal.events]
    assert (
        again.hot_rules() == journal.hot_rules()
        and again.to_json_lines() == journal.to_json_lines()
    )
    assert "algsimp (pass): changed" in str(again)


def test_a_malformed_journal_names_its_line() -> None:
    with pytest.raises(JournalFormatError, match="line 2"):
        Journal.from_json_lines('{"level": "decisions"}\n{"span": 0}\n')


@dataclasses.dataclass(frozen=True)
class Breaks:
    """Fails after having decided something."""

    name: ClassVar[str] = "breaks"

    def run(self, module: HloModule, context: PassContext) -> bool:
        context.decide("breaking", (), (), module.entry.root)
        raise RuntimeError("half way")


def test_the_journal_of_a_failed_compile_can_be_read(
    softmax: Session, tmp_path: pathlib.Path
) -> None:
    pipeline = PassPipeline("p", (make_pass("algsimp"), Breaks(), make_pass("dce")))
    with pytest.raises(PassFailedError) as caught:
        xe.optimize(softmax.source, pipeline)
    trace = caught.value.trace
    assert [s.name for s in trace.steps] == ["algsimp", "breaks"] and trace.journal is not None
    trace.journal.save(tmp_path / "failed.jsonl")
    again = Journal.load(tmp_path / "failed.jsonl")
    assert again.errors[-1].name == "breaks" and "RuntimeError: half way" in repr(again)
    assert again.events[-1].by == "breaking" and again.hot_rules()
    with pytest.raises(xe.errors.CompileFailedError) as failed:
        xe.compile(softmax.source, backend="interpreter", passes=pipeline)
    session = failed.value.session
    assert (
        session.passes.hot_rules()["accepted"].sum() > 0
        and session.passes.history("%scaled")
        and session.passes[1].module.entry
    )


def test_hot_rules_as_a_table(softmax: Session) -> None:
    frame = softmax.passes.hot_rules()
    assert list(frame.columns) == ["rule", "accepted", "refused", "sentence", "place"]
    assert "multiply-one" in set(frame["rule"]) and frame["accepted"].is_monotonic_decreasing


# -- control ---------------------------------------------------------------------------------------
def _acted(session: Session) -> list[tuple[str, tuple[str, ...]]]:
    journal = session.passes.journal
    assert journal is not None
    return [(e.by, e.names) for e in journal.events if e.acted]


def test_stopping_after_an_event_does_what_came_before_and_nothing_else(
    softmax_interpreted: Session,
) -> None:
    journal = softmax_interpreted.passes.journal
    assert journal is not None
    whole = _acted(softmax_interpreted)
    acting = [e for e in journal.events if e.acted]
    for count, event in enumerate(acting, 1):
        stopped = softmax_interpreted.override(stop_after=event)
        assert _acted(stopped) == whole[:count]
        np.testing.assert_allclose(stopped(X), softmax_interpreted(X), rtol=1e-5)
    assert _acted(softmax_interpreted.override(stop_after=-1)) == []
    with pytest.raises(xe.XlaExplorerError, match="event 10000 does not exist"):
        softmax_interpreted.override(stop_after=10_000)


def test_merges_and_removals_count_and_can_be_skipped() -> None:
    text = (
        "ENTRY e { x = f32[4] parameter(0)\n a = f32[4] exponential(x)\n b = f32[4] exponential(x)\n"
        " dead = f32[4] negate(x)\n ROOT r = f32[4] subtract(a, b) }"
    )
    session = xe.compile(text, backend="interpreter", passes="cse,dce")
    assert _acted(session) == [("merge-equal", ("b", "a")), ("remove-dead", ("dead",))]
    kept = session.override(skip_rules=["merge-equal"])
    assert [i.name for i in kept.module.entry.post_order()] == ["x", "a", "b", "r"]
    assert [
        i.name for i in kept.override(skip_rules=["remove-dead"]).module.entry.instructions.values()
    ].count("dead") == 1
    assert "merge-equal replaced it by %a" in "\n".join(session.passes.history("%b"))


def test_a_kind_of_decision_can_be_skipped(softmax: Session) -> None:
    other = softmax.override(skip_rules=["fusion"])
    frame = other.decisions("fusion")
    frame = frame[frame["kind"] == "fusion"]
    assert not len(frame[frame["verdict"] == "accepted"]) and "skipped-by-user" in set(
        frame["code"]
    )
    np.testing.assert_allclose(other(X), softmax(X), rtol=1e-5)


def test_an_edited_pipeline_beside_the_whole_one(softmax: Session) -> None:
    other = softmax.override(
        passes=softmax.passes.pipeline.without("fusion", "multi-output-fusion")
    )
    comparison = other.compare(repeats=2)
    rows = {what: (a, b) for what, a, b in comparison.rows}
    assert rows["kernels"][0] > rows["kernels"][1]
    assert (
        rows["bytes read and written (estimate)"][0] > rows["bytes read and written (estimate)"][1]
    )
    assert (
        rows["predicted us (cost model)"][0] > rows["predicted us (cost model)"][1] > 0
        and rows["median us"][0] > 0
    )
    with pytest.raises(xe.XlaExplorerError, match="overrides no other"):
        softmax.compare()
