"""Loops and branches: known trip counts without condition checks, and conditional graphs."""

import sys
from functools import cache
from unittest import mock

import numpy as np
import pytest

from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_driver import CUresult, FakeDriver
from tests.backends.gpu.gpu_modules import BRANCHES, LOOP, compiled
from tests.backends.gpu.test_gpu_executable import SWAP, SWITCH
from tests.support.llvm_bodies import text_of_body
from xla_explorer.backends.gpu import gpu_program, thunk
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.runtime import code_loading, instrumentation
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.backends.gpu.runtime.emulated_executor import EmulatedExecutor
from xla_explorer.backends.gpu.runtime.thunk_runner import GraphRefusedWarning
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.foundation.reason import refuse
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

NINE = SWAP.replace("limit = s32[] constant(5)", "limit = s32[] constant(9)")
# sum over i < n of (i + 1) * 2 ** min(i, 3), by an inner loop and a branch
NESTED = """HloModule nested
double { p = s32[4] parameter(0) ROOT d = s32[4] add(p, p) }
same { p = s32[4] parameter(0) ROOT c = s32[4] copy(p) }
inner_body {
  s = (s32[], s32[4], s32[]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  x = s32[4] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  three = s32[] constant(3)
  few = pred[] compare(k, three), direction=LT
  y = s32[4] conditional(few, x, x), true_computation=double, false_computation=same
  one = s32[] constant(1)
  m = s32[] add(k, one)
  ROOT r = (s32[], s32[4], s32[]) tuple(m, y, n)
}
inner_condition {
  s = (s32[], s32[4], s32[]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT more = pred[] compare(k, n), direction=LT
}
outer_body {
  s = (s32[], s32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  total = s32[4] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = s32[4] broadcast(j), dimensions={}
  zero = s32[] constant(0)
  init = (s32[], s32[4], s32[]) tuple(zero, x, i)
  w = (s32[], s32[4], s32[]) while(init), condition=inner_condition, body=inner_body
  y = s32[4] get-tuple-element(w), index=1
  t = s32[4] add(total, y)
  ROOT r = (s32[], s32[4], s32[]) tuple(j, t, n)
}
outer_condition {
  s = (s32[], s32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT more = pred[] compare(i, n), direction=LT
}
ENTRY main {
  n = s32[] parameter(0)
  t = s32[4] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], s32[4], s32[]) tuple(zero, t, n)
  w = (s32[], s32[4], s32[]) while(init), condition=outer_condition, body=outer_body
  ROOT r = s32[4] get-tuple-element(w), index=1
}
"""


ADDS = """HloModule adds
body {
  s = (s32[], f32[600]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[600] get-tuple-element(s), index=1
  zero = s32[] constant(0)
  PLACE
  row = f32[8] slice(x), slice={[0:8]}
  more = f32[8] add(row, row)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[600] dynamic-update-slice(x, more, place)
  ROOT r = (s32[], f32[600]) tuple(j, y)
}
condition {
  s = (s32[], f32[600]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT more = pred[] compare(i, ten), direction=LT
}
ENTRY main {
  x = f32[600] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[600]) tuple(zero, x)
  w = (s32[], f32[600]) while(init), condition=condition, body=body
  ROOT r = f32[600] get-tuple-element(w), index=1
}
"""


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setattr(code_loading, "find_ptxas", lambda: None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    return FakeDriver()


@cache
def in_launches(text, passes="default"):
    """Compiled with each kernel of a loop launched on its own, as if it were more than a block."""
    with mock.patch.object(
        gpu_program, "persistent_kernel", return_value=refuse("not-one-block", "planted")
    ):
        compiler = GpuCompiler()
        options = CompileOptions(passes=passes, backend_options={"architecture": "sm_90"})
        return compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)


def on(executor, text, passes="default", compilation=in_launches):
    r = compilation(text, passes=passes)
    return GpuExecutable(r.buffers, r.program, r.stages["ptx"], "sm_90", executor)


def replayed(driver, text, arguments, passes="default", compilation=in_launches):
    """Results of three calls, of which two are graphs."""
    executable = on(CudaExecutor(driver_of(driver)), text, passes, compilation)
    found = [executable.execute(arguments) for _ in range(3)]
    assert driver.calls.count("cuGraphLaunch") == 2 and driver.recordings == []
    return found


def launched(executor, monkeypatch):
    names = []
    launch = executor.launch_kernel
    monkeypatch.setattr(
        executor,
        "launch_kernel",
        lambda loaded, name, *rest: (names.append(name), launch(loaded, name, *rest)),
    )
    return names


def test_nobody_asks_a_loop_whose_trips_are_known(monkeypatch):
    a, b = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    executor = EmulatedExecutor()
    names, reads = launched(executor, monkeypatch), []
    read = executor.read
    monkeypatch.setattr(
        executor,
        "read",
        lambda address, target, stream=None: (reads.append(address), read(address, target)),
    )
    p, q = on(executor, NINE).execute([a, b])
    np.testing.assert_array_equal(p, b)
    np.testing.assert_array_equal(q, -a)
    assert not any("compare" in name for name in names) and len(reads) == 2, "only results are read"


def test_the_condition_of_an_unknown_count_is_asked(monkeypatch):
    executor = EmulatedExecutor()
    names = launched(executor, monkeypatch)
    on(executor, LOOP).execute(
        [np.zeros((64, 8), np.float32), np.ones(8, np.float32), np.int32(60)]
    )
    assert sum("compare" in name for name in names) == 5


@pytest.mark.parametrize(("limit", "trip"), [(4096, 256), (3, 1), (3, 12)])
def test_a_known_count_is_written_out_or_counted_by_the_device(driver, monkeypatch, limit, trip):
    """Nine trips: written out, one by one, and several at once with a remainder."""
    monkeypatch.setattr(thunk, "WRITTEN_OUT_NODES", limit)
    monkeypatch.setattr(thunk, "_TRIP_NODES", trip)
    a, b = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    for p, q in replayed(driver, NINE, [a, b]):
        np.testing.assert_array_equal(p, b)
        np.testing.assert_array_equal(q, -a)
    assert driver.calls.count("cuGraphAddNode") == (limit == 3)


@pytest.mark.parametrize("start", [0, 61, 64, 99])
def test_the_device_decides_how_long_a_loop_runs(driver, start):
    table, row = np.zeros((64, 8), np.float32), np.full(8, 0.5, np.float32)
    want = compiled(LOOP).executable.execute([table, row, np.int32(start)])
    for found in replayed(driver, LOOP, [table, row, np.int32(start)]):
        for x, y in zip(found, want, strict=True):
            np.testing.assert_array_equal(x, y)
    assert driver.calls.count("cuMemcpyDtoHAsync") == 3 * 3 + max(65 - start, 1), (
        "only the first call reads the predicate"
    )


@pytest.mark.parametrize("count", [0, 1, 6])
@pytest.mark.parametrize("passes", ["default", "none"])
def test_loops_and_branches_inside_each_other(driver, count, passes):
    total = np.arange(4, dtype=np.int32)
    want = total + sum((i + 1) * 2 ** min(i, 3) for i in range(count))
    for (found,) in replayed(driver, NESTED, [np.int32(count), total], passes):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 3, -(1 << 31)])
def test_the_device_chooses_a_branch(driver, index):
    x = np.arange(5, dtype=np.int32)
    want = {0: -x, 1: x + x}.get(index, x * x)
    for (found,) in replayed(driver, SWITCH, [np.int32(index), x], "none"):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("taken", [False, True])
def test_the_device_chooses_by_a_predicate(driver, taken):
    x = np.linspace(-1, 1, 16, dtype=np.float32)
    for (found,) in replayed(driver, BRANCHES, [np.bool_(taken), x], "none"):
        np.testing.assert_allclose(found, -x if taken else np.tanh(x), rtol=1e-6)


@pytest.mark.parametrize("function", ["cuGraphAddNode", "cuGraphInstantiate"])
def test_without_such_nodes_the_host_decides(driver, function):
    executable = on(CudaExecutor(driver_of(driver)), LOOP)
    arguments = [np.zeros((64, 8), np.float32), np.ones(8, np.float32), np.int32(62)]
    want = executable.execute(arguments)
    driver.fail[function] = CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.warns(GraphRefusedWarning, match=f"loop runs without a CUDA graph: {function}"):
        found = executable.execute(arguments)
    for x, y in zip(found, want, strict=True):
        np.testing.assert_array_equal(x, y)
    assert driver.recordings == [] and "cuGraphLaunch" not in driver.calls


def test_of_many_calls_a_profile_marks_some(driver, monkeypatch):
    monkeypatch.setattr(instrumentation, "_RECORDED_CALLS", 3)
    executable = on(CudaExecutor(driver_of(driver)), LOOP)
    arguments = [np.zeros((64, 8), np.float32), np.ones(8, np.float32), np.int32(59)]
    before = driver.calls.count("cuEventElapsedTime")
    calls = sorted(t.calls for t in executable.profile(arguments, repeats=1).kernels)
    assert calls[-1] == 6, "the condition of five trips"
    marked = driver.calls.count("cuEventElapsedTime") - before - 1
    assert marked == 2 * sum(min(c, 3) for c in calls), "in the run before, too"


def test_few_trips_of_a_small_body_are_no_loop():
    assert "while" not in {t.kind for t in compiled(SWAP).program.walk()}
    assert "while" in {t.kind for t in compiled(NINE).program.walk()}


def test_a_graph_of_several_runs(driver):
    executable = on(CudaExecutor(driver_of(driver)), LOOP)
    table, row = np.zeros((64, 8), np.float32), np.ones(8, np.float32)
    with executable.start([table, row, np.int32(61)]) as run:
        one, three = run.launcher(), run.launcher(3)
        before = driver.calls.count("cuGraphAddNode")
        one()
        three()
        for x, y in zip(run.results(), executable.execute([table, row, np.int32(61)]), strict=True):
            np.testing.assert_array_equal(x, y)
    assert before == 4 and driver.calls.count("cuGraphLaunch") == 2 and driver.graphs == []


# x, y -> y, x + y (bytes wrap around), so long as a number is smaller than a limit: the state
# changes places.
FIBONACCI = """HloModule fibonacci
body {
  s = (s32[], KIND, KIND, s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = KIND get-tuple-element(s), index=1
  y = KIND get-tuple-element(s), index=2
  n = s32[] get-tuple-element(s), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  z = KIND add(x, y)
  ROOT r = (s32[], KIND, KIND, s32[]) tuple(j, y, z, n)
}
condition {
  s = (s32[], KIND, KIND, s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=3
  ROOT more = pred[] compare(i, LIMIT), direction=LT
}
ENTRY main {
  n = s32[] parameter(0)
  x = KIND parameter(1)
  y = KIND parameter(2)
  zero = s32[] constant(0)
  init = (s32[], KIND, KIND, s32[]) tuple(zero, x, y, n)
  w = (s32[], KIND, KIND, s32[]) while(init), condition=condition, body=body
  p = KIND get-tuple-element(w), index=1
  q = KIND get-tuple-element(w), index=2
  ROOT r = (KIND, KIND) tuple(p, q)
}
"""
KNOWN = (
    "n = s32[] get-tuple-element(s), index=3\n  ROOT more = pred[] compare(i, LIMIT)",
    "n = s32[] constant(11)\n  ROOT more = pred[] compare(i, LIMIT)",
)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kind", ["f32[]", "f32[100]", "s8[70]", "f32[400]", "f32[3,100]"])
def test_a_loop_of_one_block_is_one_kernel(driver, kind, known):
    text = FIBONACCI.replace(*KNOWN) if known else FIBONACCI
    text = text.replace("LIMIT", "n").replace("KIND", kind)
    dtype, shape = (
        (np.int8 if "s8" in kind else np.float32),
        tuple([int(n) for n in kind[kind.index("[") + 1 : -1].split(",") if n]),
    )
    x, y = np.ones(shape, dtype), np.full(shape, 2, dtype)
    for count in (11,) if known else (0, 1, 12):
        p, q = x, y
        for _ in range(count):
            p, q = q, (p + q).astype(dtype)
        driver.calls.clear()
        executable = on(CudaExecutor(driver_of(driver)), text, compilation=compiled)
        for call in range(3):
            launches = driver.calls.count("cuLaunchKernel")
            got = executable.execute([np.int32(count), x, y])
            np.testing.assert_array_equal(got[0], p)
            np.testing.assert_array_equal(got[1], q)
            assert driver.calls.count("cuLaunchKernel") - launches <= (1 if call == 0 else 4), (
                "the loop, then a rehearsal of each kernel"
            )
        assert "cuGraphAddNode" not in driver.calls


def test_why_a_loop_is_no_kernel_is_told():
    options = {"architecture": "sm_90", "device": "emulator"}

    def decided(text, **more):
        compiler, chosen = (
            GpuCompiler(),
            CompileOptions(journal="decisions", backend_options=options, **more),
        )
        trace = compiler.run_hlo_passes(parse_hlo(text), chosen)
        program = compiler.run_backend(trace, chosen).program
        (loop,) = [thunk for thunk in program.walk() if thunk.kind == "while"]
        (event,) = [
            e
            for e in trace.journal.events
            if e.by == "launch" and loop.instruction.id in e.subjects
        ]
        return event, loop.kernel

    event, kernel = decided(LOOP)
    assert (
        event.verdict == "accepted"
        and event.facts["emitter"] == kernel.emitter == "persistent-kernel"
        and kernel.launch.blocks == 1
    )
    for text, control, code in (
        (
            LOOP.replace("64,8", "64,800").replace("[8]", "[800]").replace("1,8]", "1,800]"),
            PassControl(),
            "not-one-block",
        ),
        (LOOP, PassControl(forbid={"launch": [("w", "persistent-kernel")]}), "forbidden-by-user"),
    ):
        event, kernel = decided(text, control=control)
        assert event.verdict == "refused" and event.reason.code == code and kernel is None


def test_what_the_condition_alone_wants_is_left_out_where_nobody_asks_it():
    """Values that only the condition reads are left out with it.

    A row is doubled in place ten times, or written at the iteration's number.
    """
    for place, counts in (
        ("place = s32[] add(zero, zero)", False),
        ("place = s32[] add(i, i)", True),
    ):
        text = ADDS.replace("PLACE", place)
        module = parse_hlo(text)
        (loop,) = [t for t in in_launches(text).program.walk() if t.kind == "while"]
        assert loop.trips in (5, 10) and loop.bodies[1]
        assert (
            any("s32[]" in t.instruction.shape.text_without_layout for t in loop.bodies[1])
            == counts
        )
        x = np.arange(600, dtype=np.float32)
        np.testing.assert_array_equal(
            on(EmulatedExecutor(), text).execute([x])[0], evaluate(module, x)
        )


@pytest.mark.parametrize(
    ("noticed", "trips"), [("", 5), (", custom_call_has_side_effect=true", None)]
)
def test_a_condition_that_somebody_notices_is_asked(noticed, trips):
    """A condition with visible effects is evaluated.

    An attribute of a custom call, also in a callee, states the effect.
    """
    module = parse_hlo(f"""HloModule m
told {{ k = s32[] parameter(0) ROOT t = s32[] custom-call(k), custom_call_target="tell"{noticed} }}
condition {{
  s = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  t = s32[] call(k), to_apply=told
  five = s32[] constant(5)
  ROOT more = pred[] compare(k, five), direction=LT
}}
body {{
  s = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] add(k, one)
  y = f32[4] add(x, x)
  ROOT r = (s32[], f32[4]) tuple(m, y)
}}
ENTRY main {{
  init = (s32[], f32[4]) parameter(0)
  ROOT w = (s32[], f32[4]) while(init), condition=condition, body=body, backend_config={{"known_trip_count":{{"n":"5"}}}}
}}""")
    assert gpu_program._trips(module.entry.root) == trips


def test_a_kernel_in_a_persistent_kernel_gets_its_registers_as_parameters() -> None:
    """And the persistent kernel may write what the called one loads."""
    module = compiled(LOOP).executable.llvm_module
    called = [f for f in module.functions if f.name.endswith(".in_a_block")]
    (launched,) = [f for f in module.functions if called and called[0].name in f.callees]
    assert set(launched.callees) >= {f.name for f in called} and launched.linkage == ""
    for function in called:
        text = text_of_body(function.body)
        assert "sreg" not in text and "invariant" not in text
        assert "add i32 %lane, 0" in text and function.parameters[-2:] == (
            "i32 %lane",
            "i32 %number",
        )
