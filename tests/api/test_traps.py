"""Traps of the public interface that newcomers reported, by number; a test for each."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe

TEXT = """HloModule m

ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  s = f32[8] add(x, y)
  e = f32[8] exponential(s)
  ROOT r = f32[8] multiply(e, y)
}
"""
X = np.ones(8, np.float32)


@pytest.fixture
def session() -> xe.Session:
    return xe.compile(TEXT, backend="interpreter", passes="algsimp,fusion")


def test_1_one_numbering_on_one_class(session: xe.Session) -> None:
    for k in range(len(session.passes)):
        assert (
            session.passes[k].graph().picture.title == session._explorer_source_().picture(k).title
        )
    assert set(session.decisions("fusion")["step"]) == {session.passes.named("fusion").number}


def test_2_a_comparison_runs_both(session: xe.Session) -> None:
    other = session.override(skip_rules=["fusion"])
    rows = [row[0] for row in session.compare(other, repeats=2).rows]
    assert "median us" in rows and rows == [row[0] for row in other.compare(repeats=2).rows]
    assert rows == [row[0] for row in xe.compare(session, other, X, X, repeats=2).rows]


def test_3_arrays_come_last(session: xe.Session) -> None:
    frame = xe.compare(TEXT, X, X, backends="interpreter", repeats=1)
    assert set(frame["backend"]) == {"interpreter"} and frame["status"][0] == "ok"
    for function in (
        xe.compare,
        xe.evaluate,
        xe.search_fusion,
        session.profile,
        session.compare,
        session.bisect,
        session.time,
    ):
        kinds = [p.kind for p in inspect.signature(function).parameters.values()]
        after = kinds[kinds.index(inspect.Parameter.VAR_POSITIONAL) + 1 :]
        assert inspect.Parameter.POSITIONAL_OR_KEYWORD not in after


def test_4_an_instruction_is_its_name_its_id_or_itself(session: xe.Session) -> None:
    first, second = session.source.find("s"), session.source.find("e")
    trace = xe.optimize(TEXT, "algsimp,fusion")
    for ask in (
        lambda given: str(session.explain(given)),
        session.passes.history,
        session.passes.find,
    ):
        assert ask("%s") == ask(first.id) == ask(first)
    answers = [
        str(session.why_not("fusion", *pair))
        for pair in (("s", "e"), (first.id, second.id), (first, second))
    ]
    assert len(set(answers)) == 1
    with pytest.raises(xe.XlaExplorerError, match="no instruction was ever named"):
        trace.passes.history("nothing")


def test_5_what_is_not_there_is_not_an_attribute(session: xe.Session) -> None:
    assert not hasattr(xe.compile(TEXT, backend="interpreter", passes="none"), "nothing")
    failed = xe.compile(TEXT, backend="interpreter")
    failed.result = None
    with pytest.raises(xe.errors.NotThereError):
        failed.buffers()


def test_6_the_timeline_of_chrome_is_no_trace() -> None:
    assert not [name for name in xe.__all__ if "trace" in name] and callable(xe.read_timeline)


def test_7_one_place_for_the_compile_for_a_gpu(session: xe.Session) -> None:
    gpu = session.gpu()
    assert session.gpu() is gpu and gpu.gpu() is gpu and "ptx" in gpu.stages()
    assert session.gpu(math="fast") is not gpu
    assert str(session.ptx()) == gpu.stage("ptx").text


def test_8_charts_take_sessions() -> None:
    for name in ("roofline", "predicted", "memory"):
        assert next(iter(inspect.signature(getattr(xe.charts, name)).parameters)) in (
            "given",
            "session",
        )


def test_9_every_documented_error_has_a_name() -> None:
    for name in (
        "UnknownBackendError",
        "StablehloError",
        "LoadError",
        "PassFailedError",
        "MissingExtraError",
        "ArgumentError",
    ):
        assert issubclass(getattr(xe.errors, name), xe.XlaExplorerError)
    with pytest.raises(xe.errors.UnknownBackendError):
        xe.compile(TEXT, backend="abacus")
    with pytest.raises(xe.errors.ArgumentError):
        xe.compile(TEXT, backend="interpreter")(1)


def test_10_names_that_are_not_there_are_errors() -> None:
    with pytest.raises(AttributeError, match="comple"):
        xe.comple  # type: ignore[attr-defined]  # noqa: B018


def test_11_what_a_call_returns_has_a_type() -> None:
    calls = {f"xe.{name}": getattr(xe, name) for name in xe.__all__}
    calls |= {
        f"Session.{name}": getattr(xe.Session, name)
        for name in dir(xe.Session)
        if not name.startswith("_")
    }
    calls |= {
        f"xe.compare.{name}": getattr(xe.compare, name)
        for name in ("fusions", "programs", "signatures", "structure", "text", "__call__")
    }
    untyped = {
        name
        for name, call in calls.items()
        if callable(call)
        and inspect.signature(call).return_annotation in ("Any", inspect.Signature.empty)
    }
    classes = {name for name in untyped if inspect.isclass(calls[name])}
    assert untyped - classes == {"xe.hlo"}, "the decorator's type is that of its room"


def test_12_a_picture_is_made_in_one_place(session: xe.Session) -> None:
    drawn = {
        xe.graph(session).to_svg(),
        session.passes[-1].graph().to_svg(),
        session.passes[session.passes.last].graph().to_svg(),
    }
    assert len(drawn) == 1


def test_a_path_with_blanks_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "run=3"
    folder.mkdir()
    (folder / "a b.hlo").write_text(TEXT)
    assert xe.compile(str(folder / "a b.hlo"), backend="interpreter")(X, X).shape == (8,)
