"""Decisions, why not, explain, history, override, bisect."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.decisions.kinds import accepted_sentence
from xla_explorer.compiler.pipeline import PassContext
from xla_explorer.compiler.transforms.simplifiers.algebraic.algsimp import ALGEBRAIC_RULES
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.tables import NOUNS

X = np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)


def test_fusion_decisions_as_a_table(softmax: Session) -> None:
    frame = softmax.decisions("fusion")
    assert (
        list(frame.columns) == list(NOUNS["decision"].columns) and frame.columns[-1] == "facts"
    ), "what is long stands last"
    assert frame["subjects"].tolist() == list(
        zip(frame["producer"], frame["consumer"], strict=True)
    )
    assert set(frame["verdict"]) == {"accepted", "refused"} and set(frame["pass"]) == {
        "fusion",
        "multi-output-fusion",
    }
    refused = frame[frame["verdict"] == "refused"]
    assert all(refused["code"]) and all(refused["reason"])
    assert all(isinstance(s, tuple) and s[0].startswith("%") for s in frame["subjects"])
    rules = softmax.decisions("rule")
    assert "accepted" in set(rules["verdict"])


def test_why_not_says_whether_it_was_recorded(softmax: Session) -> None:
    row = next(
        r for r in softmax.decisions("fusion").to_dict("records") if r["verdict"] == "refused"
    )
    answer = softmax.why_not("fusion", *row["subjects"])
    assert (
        answer.recorded
        and answer.refused
        and answer.code == row["code"]
        and "recorded in pass" in str(answer)
    )
    unrelated = softmax.why_not("fusion", "%x", "%e")
    assert (
        not unrelated.recorded
        and unrelated.code == "not-an-operand"
        and "by the pass" in unrelated.source
    )
    quiet = xe.compile(softmax.source, journal="passes").why_not("fusion", *row["subjects"])
    assert not quiet.recorded and quiet.checklist
    with pytest.raises(xe.XlaExplorerError, match="near"):
        softmax.why_not("fusion", "%shiftd", "%e")
    with pytest.raises(xe.XlaExplorerError, match="fusion"):
        softmax.why_not("nothing", "%x", "%e")


CALLED = """HloModule called
twice { t = f32[16,16] parameter(0)
 ROOT u = f32[16,16] add(t, t) }
ENTRY e { x = f32[16,16] parameter(0)
 y = f32[16,16] exponential(x)
 c = f32[16,16] call(y), to_apply=twice
 p = f32[16,16] parameter(1)
 s = f32[16,16] reshape(c)
 ROOT d = f32[16,16] dot(s, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
"""


def test_why_not_of_what_was_gone_before_fusion_says_what_took_it_away() -> None:
    session = xe.compile(CALLED, threads=1)
    answer = session.why_not("fusion", "y", "c")
    assert answer.refused and answer.code == "removed-before-fusion" and not answer.recorded
    step = session.passes.named("call-inliner").number
    assert f"%c (call) was removed before fusion, by call-inliner in pass {step}" in answer.message
    assert answer.facts["pass"] == "call-inliner" and answer.facts["step"] == step
    later = next(i.name for i in session.module.instructions() if i.opcode.name == "fusion")
    with pytest.raises(xe.XlaExplorerError, match="did not exist before fusion"):
        session.why_not("fusion", later, "d")


GROWN = """HloModule grown
ENTRY e { x = f32[64,64] parameter(0)
 y = f32[64,64] parameter(1)
 a = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 b = f32[64,64] add(a, y)
 c = f32[64,64] exponential(b)
 ROOT d = f32[64,64] multiply(c, x) }
"""


@pytest.mark.parametrize("journal", ["decisions", "passes"])
def test_why_not_of_a_consumer_inside_a_kernel_gives_what_that_kernel_decided(journal: str) -> None:
    session = xe.compile(GROWN, journal=journal, threads=1)
    recorded = journal == "decisions"
    answer = session.why_not("fusion", "a", "b")
    assert (
        answer.refused and answer.code == "producer-has-own-kernel" and answer.recorded == recorded
    )
    assert "for the kernel of %d, which %b is part of" in answer.source
    inside = session.why_not("fusion", "b", "c")
    assert not inside.refused and inside.recorded == (journal == "decisions")
    assert "for the kernel of %d, which %c is part of" in inside.source
    assert session.why_not("fusion", "a", "d").code == "producer-has-own-kernel"


def test_decisions_about_one_instruction_and_after_the_passes_read_well() -> None:
    session = xe.compile(CALLED, threads=4)
    fusion = next(i.name for i in session.module.instructions() if i.opcode.name == "fusion")
    text = str(session.explain(fusion))
    assert f"refused: parallel of %{fusion}; " in text and "into %;" not in text
    assert f"after the passes: parallel %{fusion} refused" in text and "step 0, input" not in text
    assert session.passes.history(fusion)[-1].startswith("after the passes"), (
        session.passes.history(fusion)
    )


def test_history_and_explanation(softmax: Session) -> None:
    lines = softmax.passes.history("%scaled")
    assert lines[0] == "%scaled as written" and any("replaced it by %x" in line for line in lines)
    text = str(softmax.explain("%e"))
    assert (
        "model.py:8" in text and "exponential" in text and "history" in text and "decisions" in text
    )
    assert "gone; in its place: %x" in str(softmax.explain("%scaled"))
    assert "text/html" in softmax.explain("%e")._repr_mimebundle_()
    kernel = softmax.kernels()["kernel"].iloc[0]
    touched = softmax.explain(kernel).accesses or softmax.explain("%e").accesses
    assert touched and {access.what for access in touched} <= {"load", "store", "load and store"}


def test_override_and_compare(softmax: Session) -> None:
    accepted = softmax.decisions("fusion").query("verdict == 'accepted'")
    pair = next(
        s for s in accepted["subjects"] if "constant" not in s[0] and s[0] not in ("%low", "%zero")
    )
    other = softmax.override(forbid=[("fusion", *pair)])
    row = next(r for r in other.decisions("fusion").to_dict("records") if r["subjects"] == pair)
    assert row["verdict"] == "refused" and row["code"] == "forbidden-by-user"
    comparison = other.compare(softmax, X, repeats=2)
    names = [what for what, _, _ in comparison.rows]
    assert {"kernels", "median us", "arena bytes", "largest error against the evaluator"} <= set(
        names
    )
    assert comparison.changed_decisions and "text/html" in comparison._repr_mimebundle_()
    np.testing.assert_allclose(other(X), softmax(X), rtol=1e-5)
    flips = comparison.flips().set_index(["producer", "consumer"])
    row = flips.loc[pair]
    assert (
        (row["was"], row["is"], row["granted"]) == ("accepted", "refused", True)
        and row["kernels"] >= 0
        and row["bytes"] > 0
        and row["iqr_us"] is None
    )
    timed = comparison.flips(X, repeats=3).set_index(["producer", "consumer"]).loc[pair]
    assert timed["n"] == 3 and timed["iqr_us"] >= 0, "a change below the spread is noise"


def test_bisect_is_content_with_a_right_compile(softmax: Session) -> None:
    result = softmax.bisect(X)
    assert not result and "agrees" in str(result)


def test_bisect_finds_the_wrong_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule fails at its second application: x * 1 is right, the other gets a wrong operand."""
    text = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  one = f32[] constant(1)
  ones = f32[8] broadcast(one), dimensions={}
  a = f32[8] multiply(x, ones)
  b = f32[8] multiply(y, ones)
  ROOT c = f32[8] subtract(a, b)
}"""
    clean = xe.compile(text, backend="interpreter", passes="algsimp,dce")
    rule = clean.decisions("rule").query("verdict == 'accepted'")["code"].iloc[0]
    original = ALGEBRAIC_RULES[rule].build
    first: list[str] = []

    def wrong(computation: object, i: object, captures: object) -> object:
        right = original(computation, i, captures)  # type: ignore[arg-type]
        name = getattr(i, "name", "")
        if name == "b":
            return computation.parameters()[0]  # type: ignore[attr-defined]
        first.append(name)
        return right

    monkeypatch.setattr(ALGEBRAIC_RULES[rule], "build", wrong)
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    session = xe.compile(text, backend="interpreter", passes="algsimp,dce")
    result = session.bisect(x, y)
    assert (
        result
        and result.pass_name == "algsimp"
        and result.event is not None
        and result.event.names[0] == "b"
    ), str(result)
    assert first and PassContext is not None


def test_why_not_of_the_gpu_policy_recorded_and_asked_again() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[1024,1024] parameter(0)
  y = f32[1024,1024] parameter(1)
  a = f32[1024,1024] tanh(x)
  b = f32[1024,1024] negate(a)
  d = f32[1024,1024] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[1024,1024], f32[1024,1024]) tuple(b, d)
}"""
    recorded = xe.compile(text, backend="gpu").why_not("fusion", "a", "b")
    again = xe.compile(text, backend="gpu", journal="passes").why_not("fusion", "a", "b")
    assert recorded.refused and again.refused and recorded.recorded and not again.recorded
    assert recorded.code == again.code == "stored-anyway"
    assert recorded.facts["fused_microseconds"] > recorded.facts["unfused_microseconds"]


def test_every_refused_fusion_has_a_cost_or_says_why_not(softmax: Session) -> None:
    rows = [r for r in softmax.decisions("fusion").to_dict("records") if r["verdict"] == "refused"]
    assert rows
    for row in rows:
        keys = [key for key in row["facts"] if key.startswith("refusal_costs")]
        assert keys and (
            row["cost_us"] == row["cost_us"] or "not estimable" in row["facts"]["refusal_costs"]
        )
    answer = softmax.why_not("fusion", *rows[0]["subjects"])
    assert answer.cost is not None and "cost of the refusal" in str(answer)


LIBRARY = """HloModule library
ENTRY e {
  x = f32[256,256] parameter(0)
  y = f32[256,256] parameter(1)
  c = f32[256,256] cholesky(x), lower=true
  ROOT r = f32[256,256] add(c, y)
}
"""


def test_a_refusal_before_any_number_costs_at_most_the_traffic_and_the_launch() -> None:
    session = xe.compile(LIBRARY, threads=1)
    row = next(
        r
        for r in session.decisions("fusion").to_dict("records")
        if r["verdict"] == "refused" and r["subjects"] == ("%c", "%r")
    )
    facts = row["facts"]
    if "unfused_microseconds" not in facts:  # written once, read once, one kernel more
        assert (
            row["cost_bytes"] == 2 * 256 * 256 * 4
            and facts["refusal_costs_at_most_bytes"] == row["cost_bytes"]
        )
    assert row["cost_us"] > 0


def test_a_kind_that_there_is_not_is_an_error_with_near_names(softmax: Session) -> None:
    with pytest.raises(ValueError, match="no kind of decision 'fuson'") as caught:
        softmax.decisions("fuson")
    assert "fusion" in str(caught.value)
    assert len(softmax.decisions("inlining")) == 0  # a kind of which nothing was decided here


def test_wishes_that_were_not_granted_say_why(softmax: Session) -> None:
    refused = [
        r for r in softmax.decisions("fusion").to_dict("records") if r["verdict"] == "refused"
    ]
    legality = next(
        r for r in refused if r["code"] in ("reduce-is-root-only", "producer-has-own-kernel")
    )
    other = softmax.override(force=[("fusion", *legality["subjects"])])
    (override,) = other.overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code == legality["code"]
    )
    assert "1 of 1 overrides not granted" in repr(other) and legality["code"] in str(
        other.compare(softmax)
    )
    accepted = next(
        r
        for r in softmax.decisions("fusion").to_dict("records")
        if r["verdict"] == "accepted" and len(r["subjects"]) == 2
    )
    apart = softmax.override(forbid=[("fusion", *accepted["subjects"])])
    assert (
        [w.granted for w in apart.overrides()] == [True]
        and apart.overrides().refused == []
        and "wishes" not in repr(apart)
    )
    again = apart.override(force=[("fusion", *legality["subjects"])])
    assert [(w.word, w.granted) for w in again.overrides()] == [("forbid", True), ("force", False)]


def test_steps_are_the_numbers_of_passes(softmax: Session) -> None:
    row = softmax.decisions("fusion").to_dict("records")[0]
    assert softmax.passes[row["step"]].name == row["pass"] == "fusion"
    assert any(
        f"pass {row['step']}, fusion" in line for line in softmax.passes.history(row["subjects"][1])
    )


@pytest.mark.parametrize(
    ("kind", "names", "facts", "sentence"),
    [
        ("share-buffer", ("f", "f"), {}, "%f stays in the buffer it is in, without a copy"),
        (
            "share-buffer",
            ("a", "b"),
            {"forced-by-user": True},
            "%a and %b share a buffer because the user forces it",
        ),
        ("dot-epilogue-fusion", ("d", "r"), {}, "%d and what follows it, up to %r, are one kernel"),
        (
            "launch",
            ("k",),
            {"emitter": "loop", "grid": 1, "block": 128},
            "%k is a loop kernel: 1 block of 128 threads",
        ),
        ("launch", ("k",), {"emitter": "sort"}, "%k is a sort kernel"),
        (
            "math",
            ("k",),
            {"function": "tanh", "instructions": ["tanh.approx.f32"], "max_ulps": 8192.5},
            "%k: tanh by tanh.approx.f32, within 8192.5 ulps",
        ),
        (
            "constant-memory",
            ("c", "k"),
            {"bytes": 64},
            "%c is in the constant bank, where %k reads it",
        ),
        ("some-pass", ("a", "b"), {}, "all checks of some-pass hold for %a and %b"),
        ("fusion", (), {}, ""),
    ],
)
def test_what_an_accepted_decision_says(
    kind: str, names: tuple[str, ...], facts: dict[str, object], sentence: str
) -> None:
    assert accepted_sentence(kind, names, facts) == sentence


def test_no_decision_names_one_instruction_as_two(softmax: Session) -> None:
    assert not [
        m
        for m in softmax.decisions("share-buffer")["reason"]
        if len(set(m.split(" share")[0].split(" and "))) == 1 and " and " in m
    ]


def test_one_kernel_is_no_kernels() -> None:
    session = xe.compile(
        "HloModule one\nENTRY e { x = f32[8] parameter(0) ROOT y = f32[8] negate(x) }"
    )
    assert ", 1 kernel, " in repr(session) and " 1 edge, 1 fusion, 1 folded into others>" in repr(
        xe.graph(session)
    )


def test_views_show_an_instruction_once_where_a_decision_is_about_it_alone(
    softmax: Session,
) -> None:
    rows = [row for row in softmax._explorer_source_().decisions() if row.kind == "share-buffer"]
    assert rows and not [row for row in rows if len(set(row.names)) != len(row.names)]


def test_what_a_pass_does_without_a_rule_has_a_sentence_and_a_place() -> None:
    """Merges and folds, which are the most frequent actions."""
    text = """ENTRY e { x = f32[4] parameter(0)  a = f32[4] sine(x)  b = f32[4] sine(x)  c = f32[2] constant({1, 2})  d = f32[2] negate(c)
      r = f32[4] add(a, b)  ROOT t = (f32[4], f32[2]) tuple(r, d) }"""
    rows = (
        xe.compile(text, "interpreter", passes="cse,constant-folding")
        .passes.hot_rules()
        .set_index("rule")
    )
    assert (
        {"merge-equal", "constant-folding"} <= set(rows.index)
        and all(rows["sentence"])
        and all(".py" in place for place in rows["place"])
    )
