"""Overrides of schedule directives, thread tasks and libraries; illegal ones stay refused."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

TEXT = """ENTRY e {
  x = f32[64,96] parameter(0) y = f32[64,96] parameter(1)
  a = f32[64,96] add(x, y)
  ROOT r = f32[64,96] tanh(a)
}"""
X, Y = np.random.default_rng(0).standard_normal((2, 64, 96)).astype("f4")


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


@pytest.fixture(scope="module")
def kernel(session: xe.Session) -> str:
    return session.loops()[0].name


def test_a_directive_of_the_policy_is_forbidden(session: xe.Session, kernel: str) -> None:
    (lanes,) = [d for d in session.schedule(kernel).directives if d.name == "vectorize"]
    other = session.override(forbid=[("vectorize", f"%{kernel}", lanes.axis)])
    assert "vectorize" not in str(other.schedule(kernel)) and not other.overrides().refused
    assert "split" in str(other.schedule(kernel))
    (told,) = other.decisions("loop-vectorize").to_dict("records")
    assert told["code"] == "forbidden-by-user" and told["facts"]["axis"] == lanes.axis
    assert np.array_equal(other(X, Y), session(X, Y))


def test_a_directive_is_forced_where_it_is_legal(session: xe.Session, kernel: str) -> None:
    scheduled = session.override(schedules=[f"%{kernel}: split{{j,32}},vectorize{{ji}}"])
    other = scheduled.override(force=[("unroll", kernel, "jo"), ("split", kernel, "i", 4)])
    assert str(other.schedule(kernel)) == "split{j,32},vectorize{ji},unroll{jo},split{i,4}"
    assert [override.granted for override in other.overrides()] == [True, True]
    assert np.array_equal(other(X, Y), scheduled(X, Y))
    refused = scheduled.override(force=[("vectorize", kernel, "i")])
    (override,) = refused.overrides()
    assert (
        not override.granted
        and override.reason is not None
        and override.reason.code in ("strided-access", "nested-vector")
    )
    assert str(refused.schedule(kernel)) == "split{j,32},vectorize{ji}"


def test_tasks_for_threads_are_forced_as_they_are_forbidden() -> None:
    session = xe.compile(TEXT, threads=2)
    name = session.loops()[0].name
    assert session.decisions("parallel")["verdict"].tolist() == ["refused"]
    other = session.override(force=[("parallel", name)])
    assert (
        other.decisions("parallel")["verdict"].tolist() == ["accepted"]
        and other.overrides()[0].granted
    )
    assert np.array_equal(other(X, Y), session(X, Y))


def test_a_library_is_forbidden() -> None:
    session = xe.compile(
        "ENTRY e { x = f64[8,8] parameter(0) ROOT d = f64[8,8] cholesky(x), lower=true }", threads=1
    )
    if session.kernels()["runs_on"][0] != "library":
        pytest.skip("no LAPACK here")
    other = session.override(forbid=[("native-code", "d")])
    assert other.kernels()[["runs_on", "code"]].values.tolist() == [
        ["evaluator", "forbidden-by-user"]
    ]
    x = np.eye(8) * 4.0
    assert np.allclose(other(x), session(x))


def test_what_nothing_can_hear_is_an_error(session: xe.Session, kernel: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match="cannot be forced"):
        session.override(force=[("vector-width", kernel)])
    with pytest.raises(xe.XlaExplorerError, match="nothing"):
        session.override(force=[("vectorize", "nothing", "j")])
