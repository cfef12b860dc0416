"""Loops and branches: how often bodies run, without asking where that is known; and graphs in which the device decides."""

import sys

import numpy as np
import pytest

from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_driver import CUresult, FakeDriver
from tests.backends.gpu.gpu_modules import BRANCHES, LOOP, compiled
from tests.backends.gpu.test_gpu_executable import SWAP, SWITCH
from xla_explorer.backends.gpu import thunk
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.runtime import code_loading, probe
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.backends.gpu.runtime.emulated_executor import EmulatedExecutor
from xla_explorer.backends.gpu.runtime.thunk_runner import GraphRefusedWarning

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


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setattr(code_loading, "find_ptxas", lambda: None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    return FakeDriver()


def on(executor, text, passes="default"):
    r = compiled(text, passes=passes)
    return GpuExecutable(r.trace.module, r.buffers, r.program, r.stages["ptx"], "sm_90", executor)


def replayed(driver, text, arguments, passes="default"):
    """Results of three calls, of which two are graphs."""
    executable = on(CudaExecutor(driver_of(driver)), text, passes)
    found = [executable.execute(arguments) for _ in range(3)]
    assert driver.calls.count("cuGraphLaunch") == 2 and driver.recordings == []
    return found


def launched(executor, monkeypatch):
    names = []
    launch = executor.launch_kernel
    monkeypatch.setattr(executor, "launch_kernel", lambda loaded, name, *rest: (names.append(name), launch(loaded, name, *rest)))
    return names


def test_nobody_asks_a_loop_whose_trips_are_known(monkeypatch):
    a, b = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    executor = EmulatedExecutor()
    names, reads = launched(executor, monkeypatch), []
    read = executor.read
    monkeypatch.setattr(executor, "read", lambda address, target, stream=None: (reads.append(address), read(address, target)))
    p, q = on(executor, NINE).execute([a, b])
    np.testing.assert_array_equal(p, b)
    np.testing.assert_array_equal(q, -a)
    assert not any("compare" in name for name in names) and len(reads) == 2, "only results are read"


def test_the_condition_of_an_unknown_count_is_asked(monkeypatch):
    executor = EmulatedExecutor()
    names = launched(executor, monkeypatch)
    on(executor, LOOP).execute([np.zeros((64, 8), np.float32), np.ones(8, np.float32), np.int32(60)])
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
    assert driver.calls.count("cuMemcpyDtoHAsync") == 3 * 3 + max(65 - start, 1), "only the first call reads the predicate"


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
    monkeypatch.setattr(probe, "_MARKED_CALLS", 3)
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
