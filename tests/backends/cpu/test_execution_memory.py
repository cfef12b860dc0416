"""Memory of an execution: no copies of arguments and results, any alignment, as predicted."""

import os
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.cpu.cpu_programs import compile_for_cpu
from xla_explorer.backends.cpu.aligned_arena import AllocationError

NEGATE = (
    "HloModule m\nENTRY e { x = f32[1000,100] parameter(0)\n ROOT r = f32[1000,100] negate(x) }"
)


class OnlyDlpack:
    """An array of another library: it speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_results_are_shared_not_copied():
    x = np.ones((1000, 100), np.float32)
    executable = compile_for_cpu(NEGATE)
    (found,) = executable.execute([x])
    assert found.__array_interface__["data"][0] % 64 == 0
    taken = np.from_dlpack(found)
    assert np.shares_memory(taken, found)
    (again,) = executable.execute([x])
    assert not np.shares_memory(again, found)  # the first result is still referenced


def test_inputs_come_by_dlpack():
    x = np.arange(100000, dtype=np.float32).reshape(1000, 100)
    np.testing.assert_array_equal(compile_for_cpu(NEGATE).execute([OnlyDlpack(x)])[0], -x)


@pytest.mark.parametrize("offset", [4, 12, 1, 63])
def test_inputs_of_any_alignment(offset):
    raw = np.zeros(400000 + 64, np.uint8)
    x = raw[offset : offset + 400000].view(np.float32).reshape(1000, 100)
    x[...] = np.arange(100000, dtype=np.float32).reshape(1000, 100)
    np.testing.assert_array_equal(compile_for_cpu(NEGATE).execute([x])[0], -x)
    turned = np.asfortranarray(x)
    np.testing.assert_array_equal(compile_for_cpu(NEGATE).execute([turned])[0], -x)


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc"
)
def test_an_execution_takes_the_memory_that_was_predicted():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    text = """HloModule m
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
more { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=GT }
ENTRY e { x = f32[10000,1000] parameter(0)
 s = f32[10000,1000] sort(x), dimensions={1}, to_apply=less
 d = f32[10000,1000] sort(s), dimensions={0}, to_apply=more
 ROOT r = f32[10,10] slice(d), slice={[0:10], [0:10]} }"""
    x = np.random.default_rng(0).standard_normal((10000, 1000)).astype(np.float32)
    session = xe.compile(text, backend="cpu", cache=False)
    report = session.buffers()
    before = resident()
    session(x)
    predicted = report.run_bytes
    assert (
        predicted == report.peak_bytes + report.scratch_bytes + 400
        and "scratch memory of kernels" in " ".join(repr(report).split())
    )
    assert predicted >= 2 * x.nbytes
    assert 0.9 * predicted <= resident() - before <= 1.15 * predicted + (8 << 20)


def test_a_program_too_large_for_this_machine_compiles_and_says_so_when_it_runs():
    text = """HloModule big
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[16777216,2] parameter(0)
  y = f32[2,16777216] parameter(1)
  d = f32[16777216,16777216] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  ROOT r = f32[] reduce(d, z), dimensions={0,1}, to_apply=add
}"""
    session = xe.compile(text, threads=1)
    assert "arena" in repr(session.buffers()) and session.stage("llvm-ir").text
    with pytest.raises(AllocationError, match=r"cannot allocate 1024\.0 TiB"):
        session(np.zeros((16777216, 2), np.float32), np.zeros((2, 16777216), np.float32))
