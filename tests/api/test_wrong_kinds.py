"""Arguments of the wrong kind: every public call names the parameter and what it must be."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.api.public_api import names

TEXT = """HloModule m
ENTRY e { x = f32[8] parameter(0)
 y = f32[8] exponential(x)
 ROOT r = f32[8] add(y, x) }"""
KINDS = [None, 3, -1, 2.5, "text", b"x", [], [1], {}, object(), (), np.ones(3), True, int]
GOOD = {"kind": "fusion", "kernel": "r", "instruction": "r", "name": "fusion"}
SLOW = {"doctor", "search_fusion", "sweep", "tune", "warm_up"}
RAW = {
    # Not called by users, or not in this process.
    *("xe.Session", "xe.Reason", "xe.load_ipython_extension", "trace.explore"),
    "Session.run_flat",  # unchecked: a call for loops that measure
}


def calls() -> dict[str, Callable[..., Any]]:
    """Return the public calls on a small module, by the name that users write."""
    session, trace = xe.compile(TEXT, backend="interpreter"), xe.optimize(TEXT)
    owners = {
        "Session": session,
        "session.llvm": session.llvm,
        "session.passes": session.passes,
        "session.passes[k]": session.passes[-1],
        "trace": trace,
    }
    found = {}
    for name, thing in names():
        owner, _, attribute = name.rpartition(".")
        call = getattr(owners[owner], attribute, None) if owner in owners else thing
        is_class = inspect.isclass(call)
        of_users = not is_class or name.count(".") == 1 or name.startswith("xe.hlo.")
        if callable(call) and of_users and name not in RAW:
            found[name] = call
    return found


CALLS = calls()
HERE = [n for n in CALLS if not n.startswith(("xe.xla.", "xe.charts.", "xe.errors.", "xe.compare"))]


def arguments(call: Callable[..., Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield call arguments of which one has a wrong kind, or all required ones."""
    parameters = list(inspect.signature(call).parameters.values())
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in placed if p.default is p.empty]
    for kind in KINDS:
        if placed:
            yield (kind,) * max(1, len(needed)), {}
        for number in range(1, len(placed)):
            yield (*[GOOD.get(p.name, TEXT) for p in placed[:number]], kind), {}
        for p in parameters:
            if p.kind is p.KEYWORD_ONLY and not (p.name == "repeats" and kind is True):
                yield tuple([GOOD.get(q.name, TEXT) for q in needed]), {p.name: kind}


def is_explained(problem: BaseException, call: Callable[..., Any]) -> bool:
    """Return whether an error is ours, or names a parameter and what it must be."""
    text = str(problem)
    if isinstance(problem, xe.XlaExplorerError) or "required" in text:
        return True
    named = any(name in text for name in inspect.signature(call).parameters)
    return isinstance(problem, TypeError) and named and "must be" in text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.long) if n.rpartition(".")[2] in SLOW else n for n in HERE],
)
def test_wrong_kinds_are_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("xe.jit", "xe.from_jax") and importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    monkeypatch.chdir(tmp_path)
    call, raw = CALLS[name], []
    for given, keywords in arguments(call):
        try:
            call(*given, **keywords)
        except Exception as problem:
            # The function of a user may raise whatever it likes.
            ours = not any(kind is int for kind in (*given, *keywords.values()))
            if ours and not is_explained(problem, call):
                raw.append((given, keywords, repr(problem)))
    assert not raw


def test_the_message_names_parameter_kind_and_value() -> None:
    for call, words in {
        lambda: xe.from_jax("text"): "from_jax: function must be a function, got the str 'text'",
        lambda: xe.compile(TEXT, threads=int): "threads must be an integer or None",
        lambda: xe.aot(TEXT, prefix=3): "prefix must be a text or None, got 3",
        lambda: xe.compare.fusions(
            TEXT, backends=()
        ): r"backends must be a tuple \(a text, a text\)",
    }.items():
        with pytest.raises(xe.XlaExplorerError, match=words):
            call()


def test_errors_of_valid_arguments_stay_as_they_are() -> None:
    def fails(module: xe.HloModule) -> bool:
        raise KeyError("of the user")

    with warnings.catch_warnings(), pytest.raises(KeyError, match="of the user"):
        xe.minimize(TEXT, fails)


def test_objects_that_behave_as_the_type_are_accepted() -> None:
    assert xe.compile(TEXT, backend="interpreter").time(repeats=np.int64(2)).n == 2


@pytest.mark.jax
def test_why_recompiled_takes_stated_shapes() -> None:
    jax = pytest.importorskip("jax")
    three, four = (jax.ShapeDtypeStruct((n,), np.float32) for n in (3, 4))
    found = xe.xla.why_recompiled(lambda x: x + 1, (three,), (four,), (np.zeros(4, np.float32),))
    assert [call.compiled for call in found.calls] == [True, True, False]
    assert "shape (3,) became (4,)" in found.calls[1].reason
