"""`override(force=..., forbid=...)`: one form for every kind; none is dropped silently.

`force=[(kind, *subjects)]`, `forbid=[...]`.
"""

from __future__ import annotations

import cProfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.decisions.programs import MANY
from tests.explorer.test_many_overrides import chain
from xla_explorer.explorer.questions.decisions import UnknownKindError

TWO = """HloModule two
ENTRY e { x = f32[64,64] parameter(0)
 one = f32[] constant(1)
 ones = f32[64,64] broadcast(one), dimensions={}
 m = f32[64,64] multiply(x, ones)
 a = f32[64,64] exponential(m)
 b = f32[64,64] negate(a)
 c = f32[64,64] cholesky(b), lower=true
 ROOT t = (f32[64,64], f32[64,64]) tuple(a, c) }
"""


@pytest.fixture
def session() -> xe.Session:
    return xe.compile(TWO, threads=1)


def test_a_fusion_is_forbidden_and_the_row_says_so(session: xe.Session) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apart = session.override(forbid=[("fusion", "%a", "%b")])
    (asked,) = apart.overrides()
    assert (asked.word, asked.kind, asked.subjects, asked.granted) == (
        "forbid",
        "fusion",
        ("%a", "%b"),
        True,
    )
    assert str(asked) == "%a and %b were kept in separate kernels"
    assert len(apart.override(force=[("fusion", "%b", "%c")]).overrides()) == 2


def test_what_is_illegal_stays_refused_and_the_row_says_why(session: xe.Session) -> None:
    (asked,) = session.override(force=[("fusion", "%b", "%c")]).overrides()
    assert (
        not asked.granted
        and asked.reason is not None
        and asked.reason.code == "consumer-not-fusible"
    )


@pytest.mark.parametrize("backend", ["cpu", "gpu", "interpreter"])
def test_decisions_of_any_pass_can_be_forbidden(backend: str) -> None:
    options = (
        {"passes": "call-inliner,algsimp,constant_folding,fusion,dce"}
        if backend == "interpreter"
        else {}
    )
    session = xe.compile(MANY, backend=backend, **options)
    other = session.override(
        forbid=[("inlining", "%c"), ("constant-folding", "%folded"), ("share-buffer", "%x")]
    )
    inlining, folding, sharing = other.overrides()
    assert inlining.granted and folding.granted, (inlining, folding)
    assert (
        other.why_not("inlining", "%c").code
        == other.why_not("constant-folding", "%folded").code
        == "forbidden-by-user"
    )
    assert "%c" in str(inlining) and str(inlining).startswith("inlining of %c was forbidden")
    assert sharing.kind == "share-buffer" and (sharing.granted or sharing.reason is not None)


def test_a_rule_is_forbidden_at_one_instruction(session: xe.Session) -> None:
    rule = next(
        e.by
        for e in session.passes.journal.events
        if e.is_rewrite and e.acted and e.names[0] == "m"
    )  # type: ignore[union-attr]
    other = session.override(forbid=[(rule, "%m")])
    assert [asked.granted for asked in other.overrides()] == [True]
    assert other.why_not(rule, "%m").code == "forbidden-by-user"
    x = np.eye(64, dtype=np.float32)
    for ours, wanted in zip(other(x), session(x), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-5)


def test_a_kind_that_this_compile_never_decides_gives_a_row(session: xe.Session) -> None:
    (asked,) = session.override(force=[("stream-assignment", "%x")]).overrides()
    assert not asked.granted and asked.reason is not None and asked.reason.code == "never-decided"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("fusion", "%a"), "must name two instructions"),
        (("fusion", "%a", "%b", "%c"), "must name two instructions"),
        (("fussion", "%a", "%b"), "no kind of decision 'fussion'"),
        (("launch", "%a"), "must name a kernel and an emitter"),
        (("vector-width", "%a"), "cannot be forced or forbidden one by one"),
        (("rule", "%a"), "cannot be forced or forbidden one by one"),
        (("share-buffer",), "must name its subjects"),
        (("fusion", "%a", "%nope"), "no instruction was ever named"),
        ("fusion", r"must be \(kind, \*subjects\)"),
        (("%a", "%b"), r"must be \(kind, \*subjects\)"),
    ],
)
def test_what_cannot_be_heard_is_an_error(session: xe.Session, asked: object, words: str) -> None:
    with warnings.catch_warnings(), pytest.raises(xe.XlaExplorerError, match=words):
        warnings.simplefilter("ignore")
        session.override(force=[asked])


def test_a_rule_cannot_be_forced(session: xe.Session) -> None:
    with pytest.raises(xe.XlaExplorerError, match="conditions keep the values right"):
        session.override(force=[("multiply-one", "%m")])


def test_an_unknown_kind_is_one_error_everywhere(session: xe.Session) -> None:
    for ask in (
        lambda: session.decisions("fussion"),
        lambda: session.why_not("fussion", "%a"),
        lambda: session.override(forbid=[("fussion", "%a", "%b")]),
    ):
        with pytest.raises(UnknownKindError, match=r"near: .*fusion"):
            ask()


def calls(work: Callable[[], object]) -> tuple[Any, int]:
    """Return the result of a function and the number of functions that it called."""
    profile = cProfile.Profile()
    found = profile.runcall(work)
    return found, sum([row.callcount for row in profile.getstats()])


def test_thousands_of_wishes_cost_no_more_than_a_compile() -> None:
    session, compiling = calls(
        lambda: xe.compile(
            chain(500), threads=1, cache=False, passes="algsimp,fusion,dce", backend="interpreter"
        )
    )
    pairs = [
        ("fusion", *pair) for pair in session.decisions("fusion")["subjects"] if len(pair) == 2
    ]
    others = [
        ("fusion", f"%x{k}", f"%b{k + 5}") for k in range(450)
    ]  # never read each other: each is answered by its own words
    assert len(pairs) + len(others) > 1900
    other, deciding = calls(lambda: session.override(forbid=pairs, force=others))
    rows, telling = calls(lambda: other.overrides())
    assert len(rows) == len(pairs) + len(others) and all(
        row.granted or row.reason is not None for row in rows
    )
    assert {row.reason.code for row in rows if row.reason is not None and row.word == "force"} <= {
        "not-an-operand",
        "forbidden-by-user",
    }
    assert telling <= compiling and deciding - compiling <= 1.2 * compiling, (
        compiling,
        deciding,
        telling,
    )


BORDERS = """HloModule borders, entry_computation_layout={(f32[8,4]{1,0}, f32[1,8]{0,1})->f32[8,4]{1,0}}
ENTRY e { x = f32[8,4] parameter(0)
 y = f32[1,8] parameter(1)
 s = f32[8] reshape(y)
 b = f32[8,4] broadcast(s), dimensions={0}
 ROOT u = f32[8,4] add(x, b) }
"""


def test_the_layout_of_a_parameter_is_forbidden_to_be_a_bitcast() -> None:
    session = xe.compile(BORDERS, threads=1)
    assert session.why_not("layout", "%y").verdict == "accepted"
    other = session.override(forbid=[("layout", "%y")])
    assert [asked.granted for asked in other.overrides()] == [True] and other.why_not(
        "layout", "%y"
    ).code == "forbidden-by-user"
    x, y = np.ones((8, 4), np.float32), np.arange(8, dtype=np.float32).reshape(1, 8)
    np.testing.assert_array_equal(other(x, y), session(x, y))


SHARED = """HloModule shared
body { t = (s32[], f32[64]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
 v = f32[64] get-tuple-element(t), index=1
 k = s32[] constant(1)
 j = s32[] add(i, k)
 w = f32[64] sine(v)
 ROOT o = (s32[], f32[64]) tuple(j, w) }
condition { t2 = (s32[], f32[64]) parameter(0)
 i2 = s32[] get-tuple-element(t2), index=0
 n = s32[] constant(500)
 ROOT lt = pred[] compare(i2, n), direction=LT }
ENTRY e { x = f32[64] parameter(0)
 zero = s32[] constant(0)
 start = (s32[], f32[64]) tuple(zero, x)
 loop = (s32[], f32[64]) while(start), condition=condition, body=body
 ROOT end = f32[64] get-tuple-element(loop), index=1 }
"""


def test_sharing_a_buffer_is_forbidden_or_forced_with_an_answer() -> None:
    session = xe.compile(SHARED, threads=1)
    rows = session.decisions("share-buffer").to_dict("records")
    shared = next(
        row["subjects"]
        for row in rows
        if row["verdict"] == "accepted" and len(row["subjects"]) == 2
    )
    refused = next(row for row in rows if row["verdict"] == "refused")
    other = session.override(
        forbid=[("share-buffer", *shared)], force=[("share-buffer", *refused["subjects"])]
    )
    forced, forbidden = other.overrides()
    assert forbidden.granted and other.why_not("share-buffer", *shared).code == "forbidden-by-user"
    assert (
        not forced.granted and forced.reason is not None and forced.reason.code == refused["code"]
    ), "what is illegal stays refused"
    x = np.linspace(0, 1, 64, dtype=np.float32)
    np.testing.assert_array_equal(other(x), session(x))


@pytest.mark.codegen
def test_a_kernel_is_forbidden_to_be_partitioned_into_tasks() -> None:
    text = "HloModule wide\nENTRY e { x = f32[4096,1024] parameter(0)\n s = f32[4096,1024] sine(x)\n ROOT c = f32[4096,1024] cosine(s) }"
    session = xe.compile(text, threads=2)
    kernel = next(d for d in session.decisions("parallel")["subjects"])
    assert session.why_not("parallel", *kernel).verdict == "accepted"
    for name in (kernel[0], "%s"):  # the fusion, or what is inside
        other = session.override(forbid=[("parallel", name)])
        assert other.why_not("parallel", *kernel).code == "forbidden-by-user" and [
            asked.granted for asked in other.overrides()
        ] == [True]
    assert [
        asked.granted for asked in session.override(force=[("parallel", *kernel)]).overrides()
    ] == [True]


def test_a_compile_takes_what_an_override_takes(session: xe.Session) -> None:
    asked = {"force": [("fusion", "%b", "%c")], "forbid": [("fusion", "%a", "%b")]}
    made, other = xe.compile(session.source, **asked), session.override(**asked)
    assert made.module.to_text() == other.module.to_text() != session.module.to_text()
    assert [(row.word, row.subjects, row.granted) for row in made.overrides()] == [
        (row.word, row.subjects, row.granted) for row in other.overrides()
    ]
    assert made.base is not None and made.base.module.to_text() == session.module.to_text()
    with pytest.raises(xe.XlaExplorerError, match="nothing"):
        xe.compile(session.source, force=[("fusion", "%a", "%nothing")])


@pytest.mark.long
def test_a_refused_fusion_is_forceable_exactly_where_forcing_it_is_granted() -> None:
    session = xe.compile(xe.example("attention"), threads=1)
    refused = [
        d
        for d in session._explorer_source_().decisions()
        if d.kind == "fusion" and d.refused and len(d.names) == 2
    ]
    seen = set()
    for d in refused:
        if d.code not in seen:
            seen.add(d.code)
            (answer,) = session.override(
                force=[("fusion", *[f"%{name}" for name in d.names])]
            ).overrides()
            assert answer.granted is d.forceable, f"{d.names}: {answer}"
    assert {d.forceable for d in refused} == {True, False}
