"""Public calls that run programs obey isolation limits of `xe.options` and of sessions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.xla.child import XlaMemoryError, XlaTimeoutError
from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.compiler.pipeline.value_check import ValueCheck
from xla_explorer.explorer.code.kernel_alone import compiled_alone, module_of_kernel
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.isolation import (
    IsolatedMemoryError,
    IsolatedTimeoutError,
    Isolation,
)
from xla_explorer.explorer.sessions.isolation import process as child
from xla_explorer.explorer.trace import Passes
from xla_explorer.foundation.limits import Bounds, bounds, limited_run, under
from xla_explorer.hlo.evaluator import Evaluator, Host

# Neither the compiler nor the evaluator sees that the counter stays zero.
ENDLESS = """HloModule endless
c {
  p = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  ROOT t = pred[] compare(k, one), direction=LT
}
b {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[4] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  j = s32[] multiply(i, zero)
  w = f32[4] cosine(v)
  ROOT r = (s32[], f32[4]) tuple(j, w)
}
ENTRY e {
  i = s32[] constant(0)
  v = f32[4] parameter(0)
  n = f32[4] add(v, v)
  t = (s32[], f32[4]) tuple(i, n)
  w = (s32[], f32[4]) while(t), condition=c, body=b
  ROOT r = f32[4] get-tuple-element(w), index=1
}"""
BOMB = "HloModule bomb\nENTRY e {\n  x = f32[] parameter(0)\n  b = f32[30000,30000] broadcast(x), dimensions={}\n  ROOT n = f32[30000,30000] negate(b)\n}"
A = np.ones(4, np.float32)
LIMIT = 0.7
SLACK = (
    20.0  # seconds on a busy machine, for starts of processes that no limit counts; endless is more
)

SESSION: dict[str, Callable[[Session], Any]] = {
    "__call__": lambda s: s(A),
    "run_flat": lambda s: s.run_flat([A]),
    "profile": lambda s: s.profile(A),
    "time": lambda s: s.time(A),
    "compare": lambda s: s.compare(s, A),
    "bisect": lambda s: s.bisect(A),
    "certificate": lambda s: s.certificate(seconds=60),
    "annotate": lambda s: s.annotate(A),
    "timeline": lambda s: s.timeline(),
    "emulation": lambda s: s.emulation(A),
}
PASSES: dict[str, Callable[[Session], Any]] = {
    "errors": lambda s: s.passes.errors(A),
    "value": lambda s: s.passes.value("w", A, step=0),
}
COMPILE_OR_SHOW = {
    "assembly", "buffers", "decisions", "explain", "gpu", "kernels", "llvm_ir", "loops", "lowering", "override", "overrides", "place", "ptx", "save",
    "schedule", "side_by_side", "stage", "stages", "to_html", "why_not",
}  # fmt: skip
OF_PASSES = {
    "applicable", "blocks", "callers", "commute", "costs", "count", "draw_edges", "effective", "find", "flame", "fusion_edges",
    "headline", "history", "hot_rules", "index", "json_data", "named", "opcodes", "provenance", "records", "rule_times", "search", "search_order",
    "text_of", "to_frame", "to_html", "to_json", "to_markdown", "to_terminal", "to_text", "try_rule", "warm",
}  # fmt: skip


def _in_a_function() -> Any:
    @xe.hlo
    def endless(v):  # type: ignore[no-untyped-def]
        found = xe.hlo.while_loop(lambda k, w: k < 1, lambda k, w: (k * 0, w), (0, v))
        return found[1]

    return endless(A)


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: xe.evaluate(ENDLESS, A),
    "evaluate, evaluator given": lambda: xe.evaluate(ENDLESS, A, evaluator=Evaluator(record=True)),
    "evaluate, host given": lambda: xe.evaluate(ENDLESS, A, host=Host([A])),
    "evaluate_replicated": lambda: xe.hlo.evaluate_replicated(xe.parse_hlo(ENDLESS), [[A], [A]]),
    "a traced function": _in_a_function,
    "compile, check_values": lambda: xe.compile(ENDLESS, check_values=(A,)),
    "optimize, check_values": lambda: xe.optimize(ENDLESS, control=PassControl(check_values=[A])),
    "interpreter": lambda: xe.compile(ENDLESS, backend="interpreter")(A),
    "search_fusion": lambda: xe.search_fusion(ENDLESS, A),
    "minimize": lambda: xe.minimize(ENDLESS, lambda module: xe.evaluate(module, A) is None),
}
REAL_XLA: dict[str, Callable[[], Any]] = {
    "a session": lambda: xe.compile(ENDLESS, backend="xla")(A),
    "bisect": lambda: xe.compile(ENDLESS, backend="xla").bisect(A),
    "time": lambda: xe.xla.time(ENDLESS, A),
    "profile": lambda: xe.xla.profile(ENDLESS, A),
    "why_slow": lambda: xe.xla.why_slow(ENDLESS, A),
    "sweep_flags": lambda: xe.xla.sweep_flags(
        ENDLESS, A, flags={"xla_cpu_enable_fast_math": [True]}
    ),
}


@pytest.fixture(autouse=True, scope="module")
def _no_child_stays() -> Iterator[None]:
    yield
    child._close_all()


@pytest.fixture(scope="module")
def session() -> Session:
    return xe.compile(ENDLESS, isolate=True)


def _ends(call: Callable[[], Any]) -> None:
    began = time.monotonic()
    with pytest.raises((IsolatedTimeoutError, XlaTimeoutError), match=f"{LIMIT:g} s") as caught:
        call()
    assert time.monotonic() - began < LIMIT + SLACK and caught.value.hint


def test_the_lists_name_every_question() -> None:
    """Whoever adds a question says here whether it runs the program."""
    for cls, runs, rest in ((Session, SESSION, COMPILE_OR_SHOW), (Passes, PASSES, OF_PASSES)):
        public = {name for name in dir(cls) if name[0] != "_" and callable(getattr(cls, name))}
        assert public - runs.keys() == rest, cls


@pytest.mark.parametrize("name", [*SESSION, *PASSES])
def test_a_question_of_a_session_with_limits_of_its_own(
    name: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Isolation(timeout=LIMIT)
    program: Any = session.executable
    for holder in (session, session.passes, program.program):
        monkeypatch.setattr(holder, "isolation", own)
    _ends(lambda: {**SESSION, **PASSES}[name](session))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_under_the_limits_of_the_options(name: str) -> None:
    with xe.options.set(isolate=True, timeout=LIMIT):
        _ends(FUNCTIONS[name])


@pytest.mark.parametrize("name", REAL_XLA)
def test_real_xla(name: str) -> None:
    pytest.importorskip("jaxlib")
    with xe.options.set(isolate=True, timeout=LIMIT):
        _ends(REAL_XLA[name])


def test_real_xla_with_limits_of_its_own() -> None:
    pytest.importorskip("jaxlib")
    compiled = xe.compile(ENDLESS, backend="xla", timeout=60)
    xla: Any = compiled.executable
    xla.child._bounds = xla.child._bounds._replace(seconds=LIMIT)
    _ends(lambda: compiled(A))
    with pytest.raises(XlaTimeoutError, match="compile the program again"):
        compiled(A)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
def test_the_memory_limit_holds_too() -> None:
    one = np.float32(1)
    with xe.options.set(isolate=True, memory_limit=1 << 30):
        with pytest.raises(IsolatedMemoryError, match="bomb while evaluating"):
            xe.evaluate(BOMB, one)
        with pytest.raises(IsolatedMemoryError):
            xe.compile(BOMB, backend="interpreter").bisect(one)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
def test_the_memory_limit_holds_in_real_xla() -> None:
    pytest.importorskip("jaxlib")
    compiled = xe.compile(BOMB, backend="xla", isolate=True, memory_limit=1 << 30)
    with pytest.raises(XlaMemoryError, match="1,073,741,824 bytes"):
        compiled(np.float32(1))


def test_values_and_states_come_home() -> None:
    text = """ENTRY main { t = token[] after-all()
      i = (f32[], token[]) infeed(t)
      x = f32[] get-tuple-element(i), index=0
      u = token[] get-tuple-element(i), index=1
      o = token[] outfeed(x, u), outfeed_shape=f32[]
      y = f32[] parameter(0)
      p = pred[] constant(true)
      z = bf16[2] constant({1, 2})
      ROOT r = (f32[], pred[], bf16[2]) tuple(x, p, z) }"""
    here, apart = Host([np.float32(2)]), Host([np.float32(2), np.float32(3)])
    recorder = Evaluator(record=True)
    expected = xe.evaluate(text, 5.0, host=here)
    with xe.options.set(isolate=True):
        found = xe.evaluate(text, 5.0, host=apart)
        square = xe.parse_hlo("ENTRY main { x = f32[] parameter(0) ROOT r = f32[] multiply(x, x) }")
        assert float(xe.evaluate(square, 3.0, evaluator=recorder)) == 9
        with pytest.raises(xe.errors.EvaluationError, match="parameter 0"):
            xe.evaluate(text, np.zeros(3, np.float32))
        with pytest.raises(xe.errors.EvaluationError, match="infeed"):
            xe.evaluate(text, 5.0)
    for a, b in zip(expected, found, strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    assert [float(v) for v in apart.outfeed] == [2] and len(apart.infeed) == 1
    assert float(recorder.values[square.entry.root.id]) == 9


def test_what_only_this_process_has_is_evaluated_here_with_a_warning() -> None:
    taken: list[int] = []
    host = Host(on_send=lambda channel, value: taken.append(channel))
    text = "ENTRY main { x = f32[] parameter(0) ROOT r = f32[] multiply(x, x) }"
    with xe.options.set(isolate=True), pytest.warns(RuntimeWarning, match="not isolated"):
        assert float(xe.evaluate(text, 3.0, host=host)) == 9


def test_a_question_with_many_runs_has_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each evaluation is quick, together they are not."""
    compare = ValueCheck.compare

    def slowly(check: ValueCheck, module: Any) -> Any:
        time.sleep(LIMIT)
        return compare(check, module)

    monkeypatch.setattr(ValueCheck, "compare", slowly)
    text = "ENTRY main { x = f32[4] parameter(0) n = f32[4] negate(x) ROOT r = f32[4] negate(n) }"
    compiled = xe.compile(text, isolate=True)
    compiled.isolation = Isolation(timeout=LIMIT)
    _ends(lambda: compiled.bisect(A))


def test_the_start_of_a_child_is_not_counted() -> None:
    child._close_all()
    text = "ENTRY main { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }"
    with xe.options.set(isolate=True, timeout=LIMIT), pytest.MonkeyPatch.context() as patch:
        ask = child.ChildProcess.ask

        def slow_start(process: Any, timeout: Any, *request: Any) -> Any:
            if request[0] == "prepare":
                time.sleep(LIMIT)
            return ask(process, timeout, *request)

        patch.setattr(child.ChildProcess, "ask", slow_start)
        with under(Bounds(LIMIT, None, bounds().elsewhere)), limited_run():
            np.testing.assert_array_equal(xe.evaluate(text, A), -A)


def test_a_kernel_alone_is_kept_apart_as_its_session_is() -> None:
    text = "ENTRY main { x = f32[64,64] parameter(0) ROOT r = f32[64,64] exponential(x) }"
    compiled = xe.compile(text, isolate=True)
    name = str(compiled.kernels()["kernel"].iloc[0]).lstrip("%")
    found = compiled.schedule(name).run(repeats=2)
    assert "agree" in str(found) or "equal" in repr(found)
    made = compiled.schedule(name)
    alone = compiled_alone(compiled, module_of_kernel(made.instruction))
    assert alone.isolation == compiled.isolation
    for session in (compiled, xe.compile(text, backend="gpu", isolate=True)):
        assert len(xe.tune(session, budget=0.5, tried=1, cache=False).kernels) == 1
