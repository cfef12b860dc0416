"""Reductions that keep the last dimension: column tiles for any width and thread count."""

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen import parallel_plan


def program(rows, columns, operation="add", initial="0"):
    return f"""HloModule m
c {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] {operation}(a, b) }}
ENTRY e {{
  x = f32[{rows},{columns}] parameter(0)
  zero = f32[] constant({initial})
  ROOT s = f32[{columns}] reduce(x, zero), dimensions={{0}}, to_apply=c
}}"""


@pytest.mark.parametrize("columns", [17, 1000, 1024, 1031, 2048, 2050, 3000, 7500])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.sampled(8)
def test_any_width_on_several_threads(columns, threads, monkeypatch):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-6)
    x = np.random.default_rng(1).integers(-9, 9, (11, columns)).astype(np.float32)
    session = xe.compile(program(11, columns), backend="cpu", threads=threads, cache=False)
    np.testing.assert_array_equal(np.asarray(session(x)), x.sum(axis=0))


@pytest.mark.parametrize(("columns", "threads"), [(75000, 1), (75000, 2), (1031, 1), (4096, 2)])
def test_no_loop_is_left_to_the_optimiser(columns, threads):
    session = xe.compile(
        program(40, columns, "maximum", "-inf"), backend="cpu", threads=threads, cache=False
    )
    codes = set(session.decisions("loop-vectorization")["code"])
    assert codes == {"written-in-vectors"}
