"""Reading, passes and code generation under the child process's limits; their results."""

from __future__ import annotations

import importlib
import math
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.pace import wall_seconds
from xla_explorer.compiler.pipeline import pass_interface
from xla_explorer.explorer.sessions.compilation import CompileFailedError
from xla_explorer.explorer.sessions.isolation import (
    IsolatedCrashError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
    Isolation,
    worker,
)
from xla_explorer.explorer.sessions.isolation import process as child

PLANTED = "tests.explorer.isolation.planted_passes"
ADD = "HloModule plus\nENTRY e {\n  x = f32[64] parameter(0)\n  c = f32[] constant(1)\n  b = f32[64] broadcast(c), dimensions={}\n  n = f32[64] negate(x)\n  ROOT r = f32[64] add(n, b)\n}"


@pytest.fixture(scope="module", autouse=True)
def planted() -> Iterator[Isolation]:
    """Register passes in both processes while these tests run."""
    reading = worker.source_of
    known = pass_interface.registered_passes()  # which declares the built-in ones first: they stay
    importlib.import_module(PLANTED)

    child._close_all()
    yield Isolation(timeout=60, imports=(PLANTED,))
    sys.modules.pop(PLANTED)
    worker.source_of = reading
    for name in pass_interface.declared_passes().keys() - known.keys():
        del pass_interface._REGISTRY[name]
    child._close_all()


@pytest.fixture(autouse=True)
def _a_child_is_there(planted: Isolation) -> None:
    xe.compile(ADD, isolate=planted)


def test_the_deadline_ends_reading(planted: Isolation) -> None:
    with pytest.raises(IsolatedTimeoutError, match="while parsing") as caught:
        xe.compile(ADD.replace("plus", "endless"), isolate=replace(planted, timeout=1))
    assert caught.value.phase == "parsing"


def test_the_deadline_ends_a_single_pass(planted: Isolation) -> None:
    limit = math.ceil(
        wall_seconds(1)
    )  # the child is in the pass by then, however much else this machine does
    with pytest.raises(
        IsolatedTimeoutError, match=f"plus in the pass sleeper did not finish within {limit} s"
    ) as caught:
        xe.compile(xe.parse_hlo(ADD), passes="sleeper", isolate=replace(planted, timeout=limit))
    assert (caught.value.phase, caught.value.hlo_pass) == ("in the passes", "sleeper")


def test_the_memory_limit_holds_in_the_passes(planted: Isolation) -> None:
    with pytest.raises(IsolatedMemoryError, match="plus in the pass eater") as caught:
        xe.compile(xe.parse_hlo(ADD), passes="eater", isolate=replace(planted, memory=200 << 20))
    assert caught.value.phase == "in the passes"
    xe.compile(ADD, isolate=True)


def test_what_comes_home_is_what_a_compile_here_gives(tmp_path: Path) -> None:
    path = tmp_path / "plus.hlo"
    path.write_text(ADD)
    for given in (ADD, ADD.encode(), path, str(path), xe.parse_hlo(ADD)):
        apart, here = (
            xe.compile(given, isolate=True, journal="everything"),
            xe.compile(given, journal="everything"),
        )
        assert (
            apart.source.to_text() == here.source.to_text()
            and apart.module.to_text() == here.module.to_text()
        )
        assert [
            str(s.before and s.before.name) + s.name + s.pipeline for s in apart.passes.record.steps
        ] == [
            str(s.before and s.before.name) + s.name + s.pipeline for s in here.passes.record.steps
        ]
        for mine, other in zip(apart.passes.record.steps, here.passes.record.steps, strict=True):
            assert (
                mine.before,
                mine.after,
                mine.changed,
                mine.hlo_pass,
                mine.options,
                mine.rewrites,
            ) == (
                other.before,
                other.after,
                other.changed,
                other.hlo_pass,
                other.options,
                other.rewrites,
            )
        assert [e.to_json() for e in apart.passes.journal.events] == [
            e.to_json() for e in here.passes.journal.events
        ]
        assert apart.decisions().equals(here.decisions()) and apart.passes.history(
            "r"
        ) == here.passes.history("r")
        assert str(apart.explain("r")).splitlines()[0] == str(here.explain("r")).splitlines()[0]
        x = np.arange(64, dtype=np.float32)
        np.testing.assert_array_equal(apart(x), 1 - x)


def test_what_is_shared_between_steps_is_shared_at_home() -> None:
    steps = xe.compile(ADD, isolate=True).passes.record.steps
    assert all(late.before is early.after for early, late in pairwise(steps))
    assert any(step.before is step.after for step in steps)


def test_errors_of_the_text_are_those_of_the_text() -> None:
    with pytest.raises(xe.errors.HloParseError) as caught:
        xe.compile(
            "HloModule m\nENTRY e { x = f99[8] parameter(0) }", isolate=True, filename="mine.hlo"
        )
    assert caught.value.filename == "mine.hlo" and caught.value.lineno == 2
    with pytest.raises(xe.errors.HloVerifyError):
        xe.compile(
            "HloModule m\nENTRY e { x = f32[8] parameter(0)\n ROOT s = f32[40] slice(x), slice={[100:140]} }",
            isolate=True,
        )
    with pytest.raises(xe.XlaExplorerError, match="cannot read"):
        xe.compile(Path("nowhere.hlo"), isolate=True)


def test_check_values_and_overrides_go_there_and_back() -> None:
    with pytest.raises(xe.XlaExplorerError, match="no-such-thing"):
        xe.compile(ADD, isolate=True, passes="dce,no-such-thing")
    session = xe.compile(ADD, isolate=True, check_values=True)
    assert len(session.options.control.check_values) == 1
    np.testing.assert_array_equal(
        session.override(forbid=[("fusion", "n", "r")])(np.zeros(64, np.float32)), np.ones(64)
    )


def test_a_failed_pass_comes_home_with_what_ran_before_it(planted: Isolation) -> None:
    with pytest.raises(CompileFailedError) as here:
        xe.compile(ADD, passes="dce,failer,cse")
    with pytest.raises(CompileFailedError) as apart:
        xe.compile(ADD, passes="dce,failer,cse", isolate=planted)
    assert str(apart.value) == str(here.value)
    assert (
        type(apart.value.session.error).__name__ == "PlantedError"
        and apart.value.session.error.number == 7
    )
    assert [s.name for s in apart.value.session.passes.record.steps] == [
        s.name for s in here.value.session.passes.record.steps
    ]
    assert (
        xe.compile(ADD, passes="dce,failer,cse", isolate=planted, keep_errors=True).failed_phase
        == "the pass failer"
    )


def test_elided_constants_are_told_at_home() -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  c = f32[64] constant({...})\n  ROOT r = f32[64] add(x, c)\n}"
    with pytest.warns(UserWarning, match="leaves out"):
        session = xe.compile(text, isolate=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert session.decisions().equals(xe.compile(text).decisions())


def test_a_child_that_was_killed_while_idle_is_replaced_without_a_word() -> None:
    session = xe.compile(ADD, isolate=True)
    os.kill(child._current[0].pid, signal.SIGKILL)
    np.testing.assert_array_equal(session(np.zeros(64, np.float32)), np.ones(64))
    os.kill(child._current[0].pid, signal.SIGSEGV)
    time.sleep(0.3)
    np.testing.assert_array_equal(session(np.zeros(64, np.float32)), np.ones(64))
    os.kill(child._current[0].pid, signal.SIGKILL)
    assert xe.compile(ADD, isolate=True).stage("llvm-ir").text


def test_killed_by_somebody_is_not_out_of_memory(planted: Isolation) -> None:
    def kill_in_the_pass() -> None:
        while (at_work := child._current[0])._board.read().hlo_pass != "sleeper":
            time.sleep(0.01)
        os.kill(at_work.pid, signal.SIGKILL)

    threading.Thread(target=kill_in_the_pass, daemon=True).start()
    with pytest.raises(
        IsolatedCrashError, match=r"in the pass sleeper was killed \(SIGKILL\) by somebody else"
    ):
        xe.compile(xe.parse_hlo(ADD), passes="sleeper", isolate=planted)


def test_a_crash_before_there_is_a_session_sends_nobody_to_one(planted: Isolation) -> None:
    def crash_in_the_pass() -> None:
        while (at_work := child._current[0])._board.read().hlo_pass != "sleeper":
            time.sleep(0.01)
        os.kill(at_work.pid, signal.SIGSEGV)

    threading.Thread(target=crash_in_the_pass, daemon=True).start()
    with pytest.raises(
        IsolatedCrashError, match="in the pass sleeper crashed with SIGSEGV"
    ) as caught:
        xe.compile(xe.parse_hlo(ADD), passes="sleeper", isolate=planted)
    assert "session." not in caught.value.hint and "report it" in caught.value.hint


def test_a_pass_of_this_notebook_is_not_sent_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_interface.declared_passes()["sleeper"], "__module__", "__main__")
    with pytest.raises(xe.XlaExplorerError, match="the pass sleeper was written in this notebook"):
        xe.compile(ADD, passes="sleeper", isolate=True)


SUM = "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\nENTRY main { x = f32[70000] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }"


@pytest.mark.parametrize(("backend", "options"), [("cpu", {}), ("gpu", {"device": "emulator"})])
@pytest.mark.parametrize("text", [ADD, SUM], ids=["loop", "sum"])
def test_loop_nests_are_those_of_a_compile_in_this_process(
    planted: Isolation, text: str, backend: str, options: dict[str, str]
) -> None:
    here, apart = (
        xe.compile(text, backend, isolate=False, **options),
        xe.compile(text, backend, isolate=planted, **options),
    )
    kernel = here.kernels()["kernel"].iloc[0]
    assert str(apart.loops()) == str(here.loops())
    assert (
        str(apart.schedule(kernel)) == str(here.schedule(kernel))
        and apart.schedule(kernel).written_by == here.schedule(kernel).written_by
    )


def test_a_schedule_is_searched_by_counters_from_the_child(planted: Isolation) -> None:
    rows = []
    for isolate in (False, planted):
        session = xe.compile(SUM, "gpu", device="emulator", isolate=isolate)
        rows.append(
            xe.tune(session, tried=2, cache=False)
            .to_frame()[["kernel", "default_us", "found"]]
            .to_dict("records")
        )
    assert rows[0] == rows[1] and rows[0][0]["found"] == "counters of the emulator"
