"""Faults of generated code in the child process: segfault, endless loop, memory, interrupt."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.explorer.sessions.isolation import (
    IsolatedCrashError,
    IsolatedError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
    Isolation,
)
from xla_explorer.explorer.sessions.isolation import process as child
from xla_explorer.explorer.sessions.isolation.blackboard import Blackboard, BlackboardFile
from xla_explorer.foundation.diagnostic import XlaExplorerError

ADD = """HloModule plus
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  ROOT b = f32[64] add(x, y)
}"""

SQUARES = [k * k % 97 for k in range(512)]
# Two kernels; the second reads a constant array that is too big to be written into its code.
TWO = """HloModule two
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[512] parameter(0)
  c = f32[512] constant({VALUES})
  s = f32[512] sort(x), dimensions={0}, to_apply=less
  ROOT m = f32[512] multiply(s, c)
}""".replace("VALUES", ", ".join(map(str, SQUARES)))

ENDLESS = """HloModule endless
c {
  p = (s32[], f32[4]) parameter(0)
  ROOT t = pred[] constant(true)
}
b {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[4] cosine(v)
  ROOT r = (s32[], f32[4]) tuple(j, w)
}
ENTRY e {
  i = s32[] constant(0)
  v = f32[4] parameter(0)
  t = (s32[], f32[4]) tuple(i, v)
  w = (s32[], f32[4]) while(t), condition=c, body=b
  ROOT r = f32[4] get-tuple-element(w), index=1
}"""

GREATER = """k = s32[] get-tuple-element(p), index=0
  z = s32[] constant(-1)
  ROOT t = pred[] compare(k, z), direction=GT"""

BOMB = """HloModule bomb
ENTRY e {
  x = f32[] parameter(0)
  ROOT b = f32[100000,100000] broadcast(x), dimensions={}
}"""


@pytest.fixture
def planted() -> Iterator[Isolation]:
    """Start a fresh child that imports the faults, and remove them afterwards."""
    child._close_all()
    yield Isolation(
        timeout=30,
        imports=("tests.explorer.isolation.planted_faults",),
        environment=("PLANTED_FAULT",),
    )
    child._close_all()


def _adds_up() -> None:
    session = xe.compile(ADD, isolate=True)
    x = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(session(x, x), 2 * x)


def test_an_isolated_session_answers_like_any_other() -> None:
    apart, here = xe.compile(ADD, isolate=True), xe.compile(ADD)
    assert list(apart.stages()) == list(here.stages())
    for name in ("hlo", "hlo-optimized", "buffers", "llvm-ir"):
        assert apart.stage(name).text == here.stage(name).text
        assert apart.stage(name).origins == here.stage(name).origins
    assert apart.executable.llvm_module == here.executable.llvm_module
    assert program_steps(apart) == program_steps(here)
    assert apart.decisions().equals(here.decisions())
    x = np.ones(64, np.float32)
    assert (
        apart.profile(x, x, repeats=2).kernel.tolist()
        == here.profile(x, x, repeats=2).kernel.tolist()
    )
    assert apart.buffers().to_frame().equals(here.buffers().to_frame())
    assert "vector" in str(apart.assembly()) or "v" in str(apart.assembly())
    assert apart.override(forbid=[]).isolation == apart.isolation


def test_code_with_its_origins_comes_from_the_child() -> None:
    here, there = (xe.compile(TWO, isolate=isolate, threads=1) for isolate in (False, True))
    kernel = here.kernels()["kernel"][0]
    assert str(there.explain(kernel)) == str(here.explain(kernel))
    assert str(there.llvm_ir()) == str(here.llvm_ir())


def test_ids_at_home_are_ids_in_the_child() -> None:
    session = xe.compile(TWO, isolate=True)
    names = {i.id: i.name for i in session.module.instructions()}
    assert [names[s.instruction] for s in program_steps(session)] == [
        s.name for s in program_steps(session)
    ]
    origins = {k for k in session.stage("llvm-ir").origins if k is not None}
    assert origins <= names.keys()


def test_a_wrong_address_is_an_error_that_names_the_kernel(
    planted: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_FAULT", "address")
    session = xe.compile(TWO, isolate=planted)
    with pytest.raises(IsolatedCrashError, match="SIGSEGV") as caught:
        session(np.ones(512, np.float32))
    problem = caught.value
    assert (
        "multiply" in problem.kernel
        and "512" in problem.hlo
        and problem.kernel in str(problem)
        and problem.phase == "running"
    )
    monkeypatch.delenv("PLANTED_FAULT")
    # The same session goes on, in a new child.
    np.testing.assert_array_equal(session(np.ones(512, np.float32)), np.array(SQUARES, np.float32))
    _adds_up()


def test_a_process_that_ends_itself_is_an_error(
    planted: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_FAULT", "exit")
    with pytest.raises(IsolatedCrashError, match="exit code 3"):
        xe.compile(ADD, isolate=planted)(np.ones(64, np.float32), np.ones(64, np.float32))
    monkeypatch.delenv("PLANTED_FAULT")
    _adds_up()


def test_a_lost_device_takes_its_child_with_it(
    planted: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context that an illegal address cost does not come back in the process that had it."""
    session, x = xe.compile(ADD, isolate=planted), np.ones(64, np.float32)
    monkeypatch.setenv("PLANTED_FAULT", "context")
    child._close_all()
    with pytest.raises(GpuExecutionError, match=r"process \d+ is lost") as first:
        session(x, x)
    monkeypatch.delenv("PLANTED_FAULT")
    np.testing.assert_array_equal(session(x, x), 2 * x)
    assert first.value.fatal and str(child.shared_process().pid) not in str(first.value)


def test_an_endless_loop_ends_at_the_timeout() -> None:
    session = xe.compile(ENDLESS, isolate=True, timeout=1.5)
    started = time.monotonic()
    with pytest.raises(IsolatedTimeoutError, match=r"1\.5 s") as caught:
        session(np.ones(4, np.float32))
    assert time.monotonic() - started < 20
    assert "times in a loop" in str(caught.value) and isinstance(caught.value, TimeoutError)
    _adds_up()


def test_an_endless_loop_on_the_evaluator_ends_too() -> None:
    counting = ENDLESS.replace(
        "ROOT t = pred[] constant(true)", GREATER
    )  # one that the evaluator does not see through
    session = xe.compile(counting, backend="interpreter", isolate=True, timeout=1.5)
    with pytest.raises(IsolatedTimeoutError, match="endless while running"):
        session(np.ones(4, np.float32))


def test_a_memory_bomb_is_an_error() -> None:
    session = xe.compile(BOMB, isolate=True, memory_limit=1 << 30)
    with pytest.raises(IsolatedMemoryError, match="bomb") as caught:
        session(np.float32(1))
    assert isinstance(caught.value, MemoryError) and "memory_limit" in str(caught.value)
    _adds_up()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to oneself on Windows")
def test_ctrl_c_ends_what_runs_and_the_session_stays_usable() -> None:
    session = xe.compile(ENDLESS, isolate=True)
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what a shell starts in the background ignores it
    timer = threading.Timer(0.8, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            session(np.ones(4, np.float32))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not child._current[0].alive
    _adds_up()
    assert session.stage("llvm-ir").text  # compiled again in the new child


def test_ctrl_c_in_a_pass_leaves_the_next_compile_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination

    monkeypatch.setattr(
        DeadCodeElimination, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt())
    )
    module = xe.parse_hlo(ADD)
    before = module.to_text()
    with pytest.raises(KeyboardInterrupt):
        xe.compile(module)
    monkeypatch.undo()
    assert module.to_text() == before
    x = np.ones(64, np.float32)
    np.testing.assert_array_equal(xe.compile(module)(x, x), x + x)


def test_errors_of_use_stay_what_they_are() -> None:
    session = xe.compile(ADD, isolate=True)
    with pytest.raises(TypeError, match="parameter"):
        session(np.ones(3, np.float32), np.ones(64, np.float32))
    with pytest.raises(TypeError, match="parameter"):
        session.run_flat([np.ones(3, np.float32), np.ones(64, np.float32)])
    assert child._current[0].alive


def test_limits_without_a_child_are_refused_and_options_are_defaults() -> None:
    with pytest.raises(XlaExplorerError, match="needs a child process"):
        xe.compile(ADD, timeout=3)
    with pytest.raises(XlaExplorerError, match="not a number of seconds"):
        xe.compile(ADD, isolate=True, timeout=-1)
    with xe.options.set(isolate=True, timeout=9):
        assert xe.compile(ADD).isolation == Isolation(timeout=9.0)
        assert xe.compile(ADD, isolate=False).isolation is None
    assert xe.compile(ADD).isolation is None and "isolate" in repr(xe.options)
    with pytest.raises(XlaExplorerError, match="has no option 'isolated'"):
        xe.options.isolated = True


def test_the_environment_gives_the_defaults() -> None:
    code = "import xla_explorer as xe; print(xe.options.isolate, xe.options.timeout)"
    environment = {**os.environ, "XLA_EXPLORER_ISOLATE": "1", "XLA_EXPLORER_TIMEOUT": "5"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "5.0"]


def test_a_child_does_not_outlive_its_parent() -> None:
    code = (
        "import os, numpy as np, threading, time, xla_explorer as xe\n"
        "from xla_explorer.explorer.sessions.isolation import process\n"
        f"s = xe.compile({ENDLESS!r}, isolate=True)\n"
        "threading.Thread(target=lambda: s(np.ones(4, np.float32)), daemon=True).start()\n"
        "time.sleep(0.5); print(process._current[0].pid, flush=True); os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    pid = int(done.stdout)
    for _ in range(60):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the child still ran")


def test_the_blackboard_tells_what_was_begun() -> None:
    file = BlackboardFile()
    board = Blackboard(str(file.path))
    board.begin(7, "running")
    rows = board.rows(3000)  # more than the file was made for
    rows[0] = 10, 2
    rows[1] = -5, 1
    found = file.read()
    assert (found.program, found.phase, found.running, found.calls[:3]) == (
        7,
        "running",
        (1,),
        (2, 1, 0),
    )
    file.remove()


def test_errors_can_be_pickled() -> None:
    assert isinstance(pickle.loads(pickle.dumps(IsolatedTimeoutError("m", "h"))), IsolatedError)


def test_what_only_this_process_knows_is_not_sent_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_explorer.backends import registry
    from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS

    class Mine:
        name = "mine"

        def __getattr__(self, name: str) -> object:
            return getattr(registry.platform("interpreter"), name)

    registry.register(Mine())  # type: ignore[arg-type]
    try:
        with pytest.raises(XlaExplorerError, match="registered in this process"):
            xe.compile(ADD, backend="mine", isolate=True)
        with xe.options.set(isolate=True), pytest.warns(RuntimeWarning, match="not isolated"):
            assert xe.compile(ADD, backend="mine").isolation is None
    finally:
        registry.unregister("mine")

    def own(*_: object) -> str:
        return ""

    own.__module__ = "__main__"
    monkeypatch.setitem(ELEMENTWISE_EMITTERS, "tan", own)
    with pytest.raises(XlaExplorerError, match="emitter of tan was written in this notebook"):
        xe.compile(ADD, isolate=True)
