"""Asynchronous work on its own streams: waits proved by vector clocks; planted faults."""

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_driver import FakeDriver
from tests.backends.gpu.order_checker import OrderError
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.runtime import code_loading
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

OVERLAPPED = """HloModule o
side { p = f32[64,64] parameter(0) q = f32[64,64] parameter(1) ROOT d = f32[64,64] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
ENTRY e {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  n = f32[64,64] tanh(x)
  s = ((f32[64,64], f32[64,64]), f32[64,64], u32[]) async-start(n, y), calls=side
  c = (f32[64,64], f32[64,64], u32[]) copy-start(n)
  t = f32[64,64] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u = f32[64,64] dot(t, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[64,64] async-done(s), calls=side
  e = f32[64,64] copy-done(c)
  v = f32[64,64] add(u, d)
  w = f32[64,64] add(v, e)
  ROOT r = f32[64,64] dot(w, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setattr(code_loading, "find_ptxas", lambda: None)
    monkeypatch.setattr(code_loading, "_by_nvjitlink", lambda program: "is not installed")
    return FakeDriver()


def compiled(text):
    compiler = GpuCompiler()
    options = CompileOptions(backend_options={"architecture": "sm_90", "device": "emulator"})
    module = parse_hlo(text)
    return compiler.run_backend(compiler.run_hlo_passes(module, options), options), module


def executable(driver, result, change=lambda thunks: thunks):
    """On the fake driver, with what the kernels access known to it.

    change: of the program's thunks.
    """
    program = result.program._replace(thunks=change(result.program.thunks))
    for thunk in program.walk():
        if thunk.kernel is None:
            continue
        i = thunk.instruction
        target = i if i.opcode.name != "async-start" else None
        written = (
            {result.buffers.slice_of(target, index) for index, leaf in target.shape.leaves()}
            if target is not None and i.parent is (result.trace.module.entry)
            else {thunk.arguments[-1]}
        )
        accesses = [
            (place.size, place not in written, place in written) for place in thunk.arguments
        ]
        if thunk.kernel.scratch:
            accesses.append((program.scratch_bytes, True, True))
        driver.accesses[thunk.kernel.name] = accesses
    executor = CudaExecutor(driver_of(driver))
    return GpuExecutable(result.buffers, program, result.stages["ptx"], "sm_90", executor)


ARRAYS = [np.random.default_rng(k).standard_normal((64, 64)).astype(np.float32) / 8 for k in (0, 1)]


@pytest.mark.long
def test_streams_wait_for_what_they_use(driver):
    result, module = compiled(OVERLAPPED)
    assert {thunk.stream for thunk in result.program.walk()} == {0, 1, 4}
    assert all(thunk.kind != "evaluator" for thunk in result.program.walk())
    runs = executable(driver, result)
    for _ in range(2):
        (got,) = runs.execute(ARRAYS)
        np.testing.assert_allclose(got, evaluate(module, *ARRAYS), rtol=1e-4, atol=1e-4)
    assert len(driver.streams) == 3 and driver.calls.count("cuStreamWaitEvent") == 3 * 4, (
        "the second time to run, and to record"
    )
    runs.release()
    assert driver.order.accesses > 30 and driver.events == {}, "events are given back"
    assert "on stream 1 after streams 0" in result.stages["launches"].text


@pytest.mark.slow
def test_a_graph_of_several_streams(driver):
    result, _ = compiled(OVERLAPPED)
    profile = executable(driver, result).profile(ARRAYS, repeats=2)
    assert driver.calls.count("cuStreamBeginCapture") == 1 and len(profile.total_us) == 2


@pytest.mark.parametrize("kind", ["wait", "kernel", "copy"])
def test_a_wait_that_is_left_out_is_found(driver, kind):
    result, _ = compiled(OVERLAPPED)

    def change(thunks):
        return tuple([t._replace(waits=()) if t.kind == kind and t.waits else t for t in thunks])

    with pytest.raises(OrderError, match="does not wait for"):
        executable(driver, result, change).execute(ARRAYS)


REUSED = """HloModule r
side { p = f32[64,64] parameter(0) ROOT d = f32[64,64] tanh(p) }
ENTRY e {
  x = f32[64,64] parameter(0)
  n = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = ((f32[64,64]), f32[64,64], u32[]) async-start(n), calls=side
  a = f32[64,64] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  b = f32[64,64] dot(a, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  c = f32[64,64] dot(b, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  d = f32[64,64] async-done(s), calls=side
  ROOT r = f32[64,64] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def test_an_operand_whose_memory_is_used_again_is_copied_first(driver):
    """Nothing reads n after the start, so its memory may be another's before the work is done."""
    result, module = compiled(REUSED)
    assert [(t.kind, t.stream) for t in result.program.walk() if t.instruction.name == "s"] == [
        ("copy", 0)
    ]
    (got,) = executable(driver, result).execute(ARRAYS[:1])
    np.testing.assert_allclose(got, evaluate(module, ARRAYS[0]), rtol=1e-4, atol=1e-4)


# Rows that no block can sort alone: each sort is several kernels, which exchange keys by scratch
# memory.
TWO_SORTS = """HloModule t
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
side { p = f32[3000] parameter(0) ROOT d = f32[3000] sort(p), dimensions={0}, to_apply=less }
ENTRY e {
  x = f32[3000] parameter(0)
  y = f32[3000] parameter(1)
  s = ((f32[3000]), f32[3000], u32[]) async-start(x), calls=side
  t = f32[3000] sort(y), dimensions={0}, to_apply=less
  d = f32[3000] async-done(s), calls=side
  ROOT r = f32[6000] concatenate(t, d), dimensions={0}
}
"""


@pytest.mark.long
@pytest.mark.parametrize("one_for_all", [False, True])
def test_each_stream_has_scratch_memory_of_its_own(driver, monkeypatch, one_for_all):
    result, _ = compiled(TWO_SORTS)
    kernels = [
        (thunk.stream, thunk.kernel.scratch)
        for thunk in result.program.walk()
        if thunk.instruction.opcode.name == "sort"
    ]
    assert (
        all(scratch for _, scratch in kernels)
        and len(kernels) > 3
        and {stream for stream, _ in kernels} == {0, 1}
    )
    runs = executable(driver, result)
    if one_for_all:
        blocks = [runs.executor.allocate(result.program.scratch_bytes)]
        allocate = runs.executor.allocate_named
        monkeypatch.setattr(
            runs.executor,
            "allocate_named",
            lambda size, name: blocks[0] if name == "scratch" else allocate(size, name),
        )
        with pytest.raises(OrderError, match="does not wait for"):
            runs.execute(SORTED)
        return
    for _ in range(2):
        (got,) = runs.execute(SORTED)
        np.testing.assert_array_equal(got, np.concatenate([np.sort(SORTED[1]), np.sort(SORTED[0])]))


SORTED = [np.random.default_rng(k).permutation(3000).astype(np.float32) for k in (2, 3)]


def test_memory_goes_back_when_every_stream_is_done(driver):
    result, _ = compiled(OVERLAPPED)
    runs = executable(driver, result)
    runs.execute(ARRAYS)
    runs.executor.release_unused()
    assert driver.sizes == {}


def test_large_arguments_go_by_pinned_memory(driver):
    text = "HloModule p\nENTRY e { x = f32[65536] parameter(0) ROOT r = f32[65536] negate(x) }"
    result, _ = compiled(text)
    runs = executable(driver, result)
    x = np.arange(65536, dtype=np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(runs.execute([x])[0], -x)
    assert driver.calls.count("cuMemHostAlloc") == 1, "a piece is used again when its copy is done"
    runs.executor.release_unused()
    assert driver.pinned == {} and driver.events == {}


def test_a_session_shows_the_streams():
    session = xe.compile(OVERLAPPED, backend="gpu", device="emulator")
    assert {row.stream for row in session.kernels().itertuples()} == {0, 1, 4}
    assert (
        "stream"
        not in xe.compile(
            "HloModule p\nENTRY e { x = f32[8] parameter(0) ROOT r = f32[8] negate(x) }",
            backend="gpu",
        ).kernels()
    )
