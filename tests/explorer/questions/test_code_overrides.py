"""Decisions of code generation forced and forbidden by kernel; refusals have rows with reasons."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

X = np.linspace(-3, 3, 64 * 64, dtype=np.float32).reshape(64, 64)
DOT = """ENTRY e { x = f32[64,64] parameter(0) y = f32[64,64] parameter(1)
 ROOT d = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
SUM = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[64,64] parameter(0) z = f32[] constant(0) ROOT s = f32[64] reduce(x, z), dimensions={1}, to_apply=add }"""
MATH = """f { x = f32[64,64] parameter(0) t = f32[64,64] tanh(x) e = f32[64,64] exponential(t)
 ROOT d = f32[64,64] divide(e, t) }
ENTRY e { x = f32[64,64] parameter(0) ROOT r = f32[64,64] fusion(x), kind=kLoop, calls=f }"""


def on_gpu(text: str, **options: object) -> xe.Session:
    return xe.compile(text, backend="gpu", device="emulator", passes="none", **options)


def emitters(session: xe.Session) -> list[str]:
    rows = session.decisions("launch")
    return [
        facts["emitter"]
        for verdict, facts in zip(rows["verdict"], rows["facts"], strict=True)
        if verdict == "accepted"
    ]


def test_launch_another_emitter_is_forced() -> None:
    session = on_gpu(DOT)
    other = session.override(force=[("launch", "%d", "skinny-dot")])
    (override,) = other.overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code == "neither-side-is-skinny"
    )
    assert emitters(other) == emitters(session)
    plain = session.override(force=[("launch", "%d", "loop")])
    assert plain.overrides()[0].granted and emitters(plain) == ["loop"] != emitters(session)
    assert "because the user forces it" in " ".join(plain.decisions("launch")["reason"])
    np.testing.assert_allclose(plain(X, X), session(X, X), rtol=1e-4, atol=1e-3)


def test_launch_an_emitter_is_forbidden_one_or_all() -> None:
    session = on_gpu(SUM)
    (first,) = emitters(session)
    for subjects in (("%s", first), ("%s",)):
        other = session.override(forbid=[("launch", *subjects)])
        assert other.overrides()[0].granted and first not in emitters(other)
        np.testing.assert_allclose(other(X), session(X), rtol=1e-5, atol=1e-4)


def test_launch_the_only_emitter_stays() -> None:
    sort = """less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
    ENTRY e { x = f32[64] parameter(0) ROOT s = f32[64] sort(x), dimensions={0}, to_apply=less }"""
    session = on_gpu(sort)
    (override,) = (other := session.override(forbid=[("launch", "%s")])).overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code == "accepted-although-forbidden"
    )
    assert np.array_equal(other(X[0, ::-1].copy()), X[0])


def test_math_a_function_of_one_kernel_is_forced_and_forbidden() -> None:
    session = on_gpu(MATH)
    facts = {f["function"]: f["level"] for f in session.decisions("math")["facts"]}
    assert facts == {"divide": "xla", "exponential": "xla", "tanh": "xla"}
    fast = session.override(
        force=[("math", "%r", "tanh", "fast")],
        forbid=[("math", "%r", "exponential"), ("math", "%r", "divide")],
    )
    assert [override.granted for override in fast.overrides()] == [True, True, True]
    assert {f["function"]: f["level"] for f in fast.decisions("math")["facts"]} == {
        "divide": "precise",
        "tanh": "fast",
    }
    ptx = fast.ptx()
    assert (
        "tanh.approx.f32" in str(ptx) and "div.rn.f32" in str(ptx) and "ex2.approx" not in str(ptx)
    )
    np.testing.assert_allclose(fast(X), session(X), rtol=1e-2)


def test_math_a_function_that_the_kernel_does_not_use_has_a_row() -> None:
    (override,) = on_gpu(MATH).override(force=[("math", "%r", "log", "fast")]).overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code == "function-not-used"
    )
    with pytest.raises(xe.XlaExplorerError, match="must end in a level"):
        on_gpu(MATH).override(force=[("math", "%r", "sloppy")])


def table(dimension: int) -> str:
    values = ", ".join([str(k % 61) for k in range(64)])
    return f"""ENTRY e {{ x = f32[64,64] parameter(0) c = f32[64] constant({{{values}}})
 b = f32[64,64] broadcast(c), dimensions={{{dimension}}} ROOT r = f32[64,64] add(x, b) }}"""


def test_constant_memory_is_forbidden_and_forced() -> None:
    for dimension, asked in ((0, "forbid"), (1, "force")):
        session = xe.compile(table(dimension), backend="gpu", device="emulator")
        (row,) = session.decisions("constant-memory").to_dict("records")
        constant, reader = row["subjects"]
        other = session.override(**{asked: [("constant-memory", constant, reader)]})
        assert (".const" in str(session.ptx())) == (asked == "forbid") and (
            ".const" in str(other.ptx())
        ) == (asked == "force")
        assert other.overrides()[0].granted and np.array_equal(other(X), session(X))


def test_constant_memory_that_is_full_stays_refused() -> None:
    values = ", ".join([str(k % 61) for k in range(17000)])
    text = f"ENTRY e {{ x = f32[17000] parameter(0) c = f32[17000] constant({{{values}}}) ROOT r = f32[17000] add(x, c) }}"
    session = xe.compile(text, backend="gpu", device="emulator")
    (override,) = session.override(
        force=[("constant-memory", *session.decisions("constant-memory")["subjects"][0])]
    ).overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code in ("constant-bank-full", "divergent-constant")
    )


@pytest.mark.parametrize("kind", ["native-code", "library-call"])
def test_a_library_is_forced_and_forbidden_on_a_cpu(kind: str) -> None:
    session = xe.compile(DOT, threads=1)
    other = session.override(force=[(kind, "%d")])
    assert (
        session.kernels()["runs_on"][0] == "kernel"
        and other.kernels()["runs_on"][0] == "library"
        and other.overrides()[0].granted
    )
    back = other.override(forbid=[(kind, "%d")])
    assert back.kernels()["runs_on"][0] == "kernel" and back.overrides()[-1].granted
    np.testing.assert_allclose(other(X, X), session(X, X), rtol=1e-4, atol=1e-3)


def test_a_library_that_has_no_routine_stays_refused() -> None:
    session = xe.compile(DOT.replace("f32", "s32"), threads=1)
    (override,) = session.override(force=[("native-code", "%d")]).overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code == "no-blas-routine"
    )
