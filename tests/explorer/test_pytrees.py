"""Pytrees wherever arrays are taken, with JAX and without; errors name the path of the leaf."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions import pytrees

TEXT = """HloModule dense

ENTRY e {
  b = f32[3] parameter(0)
  w = f32[2,3] parameter(1)
  x = f32[4,2] parameter(2)
  xw = f32[4,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bs = f32[4,3] broadcast(b), dimensions={1}
  ROOT r = f32[4,3] add(xw, bs)
}
"""
B, W, X = (
    np.float32([1, 2, 3]),
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.ones((4, 2), np.float32),
)
WANT = X @ W + B


class Layer(NamedTuple):
    """In the order of the module."""

    b: Any
    w: Any


TREES: dict[str, tuple[Any, ...]] = {
    "dict, sorted": ({"w": W, "b": B}, X),
    "dict, ordered": (OrderedDict(b=B, w=W), X),
    "named tuple": (Layer(B, W), X),
    "all in one": ({"params": [B, (W,)], "x": X, "rest": None},),
    "nothing": ((B, W), None, X),
}


@pytest.fixture(params=["with JAX", "without JAX"])
def _jax(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "with JAX":
        pytest.importorskip("jax", reason="needs the extra `jax`")
    else:
        monkeypatch.setattr(pytrees, "sys", type("Bare", (), {"modules": {}}))


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, backend="interpreter", passes="none")


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize("name", TREES)
def test_leaves_in_jaxs_order(session: xe.Session, name: str) -> None:
    np.testing.assert_array_equal(session(*TREES[name]), WANT)


WAYS: dict[str, Callable[..., Any]] = {
    "call": lambda s, *a: s(*a),
    "place": lambda s, *a: s(*s.place(*a)),
    "evaluate": lambda s, *a: xe.evaluate(s.source, *a),
    "time": lambda s, *a: s.time(*a, repeats=1).n,
    "profile": lambda s, *a: s.profile(*a, repeats=1),
    "bisect": lambda s, *a: s.bisect(*a),
    "emulation": lambda s, *a: s.emulation(*a),
    "annotate": lambda s, *a: s.annotate(*a, repeats=1),
    "compare": lambda s, *a: s.compare(s, *a, repeats=1),
    "xe.compare": lambda s, *a: xe.compare(s.source, *a, backends="interpreter", repeats=1)[
        "status"
    ][0],
    "xe.compare of two": lambda s, *a: xe.compare(s, s, *a, repeats=1),
    "search_fusion": lambda s, *a: xe.search_fusion(s, *a, trials=1, repeats=1),
    "check_values": lambda s, *a: xe.compile(s.source, "interpreter", "dce", check_values=a),
}


@pytest.mark.parametrize("way", WAYS)
def test_wherever_arrays_are_taken(session: xe.Session, way: str) -> None:
    found = WAYS[way](session, {"w": W, "b": B}, X)
    if way in ("call", "place", "evaluate"):
        np.testing.assert_array_equal(found, WANT)
    elif way == "xe.compare":
        assert found == "ok"
        return  # a backend that refuses is a row
    with pytest.raises(
        xe.XlaExplorerError, match=r"takes 3 arrays, the arguments have 2: the last is args\[1\]"
    ):
        WAYS[way](session, {"b": B}, X)


@pytest.mark.usefixtures("_jax")
def test_errors_name_the_path(session: xe.Session) -> None:
    with pytest.raises(
        xe.errors.ArgumentError,
        match=r"parameter 1 \(%w, given as args\[0\]\['w'\]\) is f32\[2,3\].*got \[2\]",
    ):
        session({"w": W[:, 0], "b": B}, X)
    with pytest.raises(
        xe.errors.ArgumentError, match=r"%b, given as args\[0\]\.b\) .* got float64"
    ):
        session(Layer(B.astype(float), W), X)
    with pytest.raises(xe.errors.ArgumentError, match=r"takes 3 arrays, the arguments have 4"):
        session({"w": W, "b": B, "more": B}, X)


def test_numbers_in_lists_are_arrays_as_before() -> None:
    one = xe.compile(
        "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] negate(x) }",
        backend="interpreter",
    )
    assert one(np.float32([1, 2])).tolist() == [-1, -2] and one([np.float32([1, 2])]).tolist() == [
        -1,
        -2,
    ]
    with pytest.raises(xe.errors.ArgumentError, match="its dtype must be float32; got"):
        one([1.0, 2.0])
    pair = xe.compile(
        "HloModule m\nENTRY e { p = (f32[], f32[]) parameter(0) ROOT x = f32[] get-tuple-element(p), index=1 }",
        backend="interpreter",
    )
    assert pair((1.0, 2.0)) == 2 and pair([1.0, 2.0]) == 2 and pair({"a": 1.0, "b": 2.0}) == 2
    with pytest.raises(xe.errors.ArgumentError, match="is a tuple of 2"):
        pair((1.0, 2.0, 3.0))


@pytest.mark.long
def test_a_dataclass_that_is_registered_with_jax() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    program = """
import dataclasses, jax, numpy as np
import xla_explorer as xe
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    b: object
    w: object
s = xe.compile(TEXT, backend="interpreter")
assert s(Layer(np.ones(3, "f4"), np.ones((2, 3), "f4")), np.ones((4, 2), "f4")).tolist() == [[3.0] * 3] * 4
try:
    s(Layer(np.ones(4, "f4"), np.ones((2, 3), "f4")), np.ones((4, 2), "f4"))
except xe.errors.ArgumentError as problem:
    assert "given as args[0].b)" in str(problem), problem
"""
    done = subprocess.run(
        [sys.executable, "-c", f"TEXT = {TEXT!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _step(w: Any, x: Any) -> dict[str, Any]:
    return {"w": Layer(w["w"] * 2, w["b"]), "loss": (x @ w["w"]).sum(), "none": None}


RUNS: dict[str, Callable[..., Any]] = {
    "session": lambda m, *a: xe.compile(m)(*a),
    "isolated": lambda m, *a: xe.compile(m, isolate=True)(*a),
    "copy": lambda m, *a: xe.compile(m.clone())(*a),
    "override": lambda m, *a: xe.compile(m).override(skip_rules=["fusion"])(*a),
    "gpu": lambda m, *a: xe.compile(m).gpu()(*a),
    "pickled": lambda m, *a: pickle.loads(pickle.dumps(xe.compile(m)))(*a),
    "evaluate": lambda m, *a: xe.evaluate(m, *a),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_traced_function_returns_its_own_pytree(run: str) -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    arguments = {"w": W, "b": B}, X
    found = RUNS[run](xe.from_jax(_step, *arguments), *arguments)
    want = {"w": Layer(W * 2, B), "loss": (X @ W).sum(), "none": None}
    assert jax.tree.structure(found) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_allclose, found, want)


def test_stages_of_jax_keep_the_pytree() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    arguments = {"w": W, "b": B}, X
    lowered = jax.jit(_step).lower(*arguments)
    for stage in (lowered, lowered.compile()):
        assert set(xe.compile(stage)(*arguments)) == {"w", "loss", "none"}
    jaxpr = jax.make_jaxpr(_step)(*arguments)
    assert isinstance(xe.compile(jaxpr)(*arguments), tuple)  # a jaxpr has a flat list


def test_a_changed_result_is_a_plain_tuple() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    module = xe.from_jax(_step, {"w": W, "b": B}, X)
    module.entry.set_root(module.entry.root.operands[0])
    assert isinstance(xe.evaluate(module, {"w": W, "b": B}, X), np.ndarray)
