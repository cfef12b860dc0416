"""Whole GPU programs on the emulator: kernels, launch dimensions, buffers, control flow."""

import warnings

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.gpu.gpu_modules import (
    BRANCHES,
    DOT,
    LOOP,
    SOFTMAX,
    SORT,
    TWO_REPLICAS,
    compiled,
)
from xla_explorer.backends.gpu.device_executor import GpuExecutionError, PtxProgram
from xla_explorer.backends.gpu.runtime import devices, emulated_executor
from xla_explorer.backends.interfaces.host_arguments import ArgumentError
from xla_explorer.foundation.reason import refuse
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

RNG = np.random.default_rng(5)
SWITCH = """HloModule switch
first { p = s32[5] parameter(0) ROOT n = s32[5] negate(p) }
second { p = s32[5] parameter(0) ROOT t = s32[5] add(p, p) }
third { p = s32[5] parameter(0) ROOT t = s32[5] multiply(p, p) }
ENTRY main {
  c = s32[] parameter(0)
  x = s32[5] parameter(1)
  ROOT r = s32[5] conditional(c, x, x, x), branch_computations={first, second, third}
}
"""
SWAP = """HloModule swap
body {
  s = (s32[], f32[40], f32[40]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[40] get-tuple-element(s), index=1
  b = f32[40] get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  c = f32[40] negate(a)
  ROOT r = (s32[], f32[40], f32[40]) tuple(n, b, c)
}
condition {
  s = (s32[], f32[40], f32[40]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(5)
  ROOT more = pred[] compare(i, limit), direction=LT
}
ENTRY main {
  a = f32[40] parameter(0)
  b = f32[40] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[40], f32[40]) tuple(zero, a, b)
  w = (s32[], f32[40], f32[40]) while(init), condition=condition, body=body
  p = f32[40] get-tuple-element(w), index=1
  q = f32[40] get-tuple-element(w), index=2
  ROOT r = (f32[40], f32[40]) tuple(p, q)
}
"""
LAYOUT = """HloModule layout
ENTRY main {
  x = f32[3,70]{0,1} parameter(0)
  t = f32[3,70]{1,0} copy(x)
  ROOT y = f32[3,70]{0,1} sine(t)
}
"""
FFT = """HloModule transform
ENTRY main {
  x = c64[4,16] parameter(0)
  y = c64[4,16] fft(x), fft_type=FFT, fft_length={16}
  ROOT z = c64[4,16] add(y, y)
}
"""
SUM_OVER_REPLICAS = """HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[6] parameter(0) r = f32[6] all-reduce(x), replica_groups={}, to_apply=sum ROOT y = f32[6] negate(r) }
"""


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


PROGRAMS = {
    "softmax": (SOFTMAX, [normal(512, 1000)]),
    "loop": (LOOP, [normal(64, 8), np.full(8, 1e-9, np.float32), np.int32(3)]),
    "dot": (DOT, [normal(64, 32), normal(32, 48), normal(48)]),
    "true": (BRANCHES, [np.bool_(True), normal(16)]),
    "false": (BRANCHES, [np.bool_(False), normal(16)]),
    "switch-1": (SWITCH, [np.int32(1), np.arange(5, dtype=np.int32)]),
    "switch-out-of-range": (SWITCH, [np.int32(-4), np.arange(5, dtype=np.int32)]),
    "swap": (SWAP, [normal(40), normal(40)]),
    "layout": (LAYOUT, [normal(3, 70)]),
    "sort": (SORT, [normal(100)]),
    "fft": (FFT, [(normal(4, 16) + 1j * normal(4, 16)).astype(np.complex64)]),
    "collective": (SUM_OVER_REPLICAS, [normal(6)]),
}


@pytest.mark.parametrize("passes", ["default", "none"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(4)
def test_like_the_evaluator(name, passes):
    text, inputs = PROGRAMS[name]
    executable = compiled(text, passes=passes).executable
    before = [np.array(x) for x in inputs]
    found = executable.execute(inputs)
    wanted = evaluate(parse_hlo(text), *inputs)
    wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-5, atol=1e-5)
    for a, b in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(a, b)
    # A second run finds memory that was used before, and no stale value in it.
    for a, b in zip(found, executable.execute(inputs), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_host_call_says_why():
    steps = compiled(TWO_REPLICAS).executable.steps
    (step,) = [s for s in steps if s.runs_on == "evaluator"]
    assert (step.opcode, step.reason.code) == ("all-reduce", "several-devices")
    assert [s.runs_on for s in steps].count("kernel") == 2


def test_memory_is_given_back():
    memory = devices.emulated_executor().memory
    executable = compiled(LOOP).executable
    inputs = PROGRAMS["loop"][1]
    executable.execute(inputs)
    before = dict(memory._names)
    executable.execute(inputs)
    assert memory._names == before


def test_arguments_that_do_not_fit():
    executable = compiled(SOFTMAX).executable
    with pytest.raises(ArgumentError, match=r"takes 1 array, got 0"):
        executable.execute([])
    with pytest.raises(ArgumentError, match=r"%x is f32\[512,1000\], the argument is float64"):
        executable.execute([np.zeros((512, 1000))])


def broken(text, find, replace):
    """Return the program with its PTX changed."""
    result = compiled(text)
    ptx = result.stages["ptx"]
    assert find in ptx.text
    executable = result.executable
    changed = type(executable)(
        executable.assignment,
        executable.program,
        ptx,
        "sm_90",
        executable.executor,
    )
    changed._ptx = type(
        "Changed", (), {"text": ptx.text.replace(find, replace), "origins": ptx.origins}
    )()
    return changed


BOUND = """HloModule bound
ENTRY e { x = f32[200] parameter(0) ROOT tripled = f32[200] multiply(x, x) }
"""


def test_a_fault_names_kernel_ptx_and_hlo():
    # One element too many.
    executable = broken(BOUND, ", 199;", ", 200;")
    pattern = r"out of bounds in \w+, PTX line \d+: ld.*parameter 0\[byte 800 of 800\].*HLO %\w+, kernel \w+ of %\w+"
    with pytest.raises(GpuExecutionError, match=pattern) as caught:
        executable.execute([np.ones(200, np.float32)])
    assert "emulation()" in caught.value.hint
    result = executable.emulate([np.ones(200, np.float32)])
    assert {f.kind for f in result.findings} == {"out of bounds"} and len(result.findings) == 2
    np.testing.assert_array_equal(result.values[0], np.ones(200, np.float32))
    # The memory of the failed run was given back, and the executable still works.
    assert compiled(BOUND).executable.execute([np.ones(200, np.float32)])[0].sum() == 200


def test_counters_by_line():
    result = compiled(BOUND).executable.emulate([np.ones(200, np.float32)])
    assert result.findings == []
    stores = [row for row in result.rows if row["opcode"].startswith("st.global")]
    assert stores and all(
        row["sector_use"] > 0.95 and row["instruction"] is not None for row in stores
    )
    assert sum(row["thread_instructions"] for row in stores) in (200, 256)


def test_profile_has_a_time_per_step():
    executable = compiled(LOOP).executable
    profile = executable.profile(PROGRAMS["loop"][1], repeats=2)
    assert len(profile.total_us) == 2 and [t.step for t in profile.kernels] == executable.steps
    assert max(t.calls for t in profile.kernels) > 50 and all(
        len(t.samples_us) == 2 for t in profile.kernels
    )


def test_emulation_of_a_session():
    session = xe.compile(SOFTMAX.replace("512", "8"), backend="gpu")
    report = session.emulation()
    assert "no faults" in repr(report)
    frame = report.counters
    assert {"kernel", "line", "opcode", "sectors_per_request", "hlo"} <= set(frame.columns) and len(
        frame
    ) > 20
    assert frame["hlo"].str.startswith("%").sum() > 10
    kernels = report.kernels
    assert list(kernels["kernel"]) == [k.name for k in session.result.program.kernels]
    assert (kernels["thread_instructions"] > 0).all() and report.findings.empty
    assert xe.compile(SOFTMAX.replace("512", "8")).emulation().counters.shape == frame.shape, (
        "of any backend: the same source for the gpu"
    )


def test_the_emulator_is_announced_once(monkeypatch):
    monkeypatch.setattr(devices, "_said", set())
    monkeypatch.setattr(devices, "cuda_executor", lambda: refuse("no-cuda-device", "there is none"))
    x = np.ones(200, np.float32)
    with pytest.warns(devices.EmulatedDeviceWarning, match="emulator: there is none"):
        xe.compile(BOUND, backend="gpu")(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = xe.compile(BOUND, backend="gpu")
        session(x)
        xe.compile(BOUND, backend="gpu", device="emulator")(x)
    assert (
        session.executable.device == "PTX emulator"
        and session.executable.why_emulated.code == "no-cuda-device"
    )
    with pytest.raises(xe.XlaExplorerError, match="there is none"):
        xe.compile(BOUND, backend="gpu", device="cuda")
    with pytest.raises(xe.XlaExplorerError, match="unknown device"):
        xe.compile(BOUND, backend="gpu", device="tpu")


def test_the_emulator_forgets_programs_that_ran_long_ago(monkeypatch):
    monkeypatch.setattr(emulated_executor, "_KEPT_PROGRAMS", 2)
    executor = emulated_executor.EmulatedExecutor()
    text = """.version 8.3
.target sm_80
.address_size 64
.global .align 4 .b32 v = 7;
.visible .entry k() { .reg .b32 %r<2>; ld.global.b32 %r1, [v]; ret; }
"""
    programs = [PtxProgram(text + f"// {number}\n", "sm_80", ()) for number in range(4)]
    held = executor.load_ptx(programs[0])
    for program in programs[1:]:
        executor.load_ptx(program)
    assert len(executor.memory._names) == 3, (
        "variables of the last two, and of the one that is held"
    )
    executor.launch_kernel(held, "k", 1, 32, [], 0)
    del held
    assert len(executor.memory._names) == 2
