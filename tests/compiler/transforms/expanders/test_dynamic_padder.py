"""Scatters of updates whose number is known at run time only: those that do not count write nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text import parse_hlo


@pytest.mark.parametrize(
    "kind, size, code",
    [
        ("s32", 6, None),
        ("s8", 200, None),  # 127 is an index that writes: -1 is not
        ("u8", 255, None),
        ("u8", 256, "not-padded"),  # every u8 is an index that writes
    ],
)
def test_what_does_not_count_writes_nowhere(kind: str, size: int, code: str | None) -> None:
    module = parse_hlo(f"""HloModule m
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[{size}] parameter(0)
  p = {kind}[4] parameter(1)
  q = f32[4] parameter(2)
  n = s32[] constant(2)
  i = {kind}[<=4] set-dimension-size(p, n), dimensions={{0}}
  u = f32[<=4] set-dimension-size(q, n), dimensions={{0}}
  ROOT g = f32[{size}] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, \
index_vector_dim=1, to_apply=add
}}""")
    trace = optimize(module, "dynamic_padder", verify=True)
    assert trace.journal is not None
    assert {e.reason.code for e in trace.journal.events if e.reason} == ({code} if code else set())
    indices = np.array([3, 0, 1, 2], module.parameter_shapes()[1].element_type.dtype)
    found = evaluate(trace.module, np.zeros(size, np.float32), indices, np.ones(4, np.float32))
    np.testing.assert_array_equal(np.flatnonzero(found), [0, 3])


def test_updates_of_the_whole_array_cannot_be_told_to_write_nowhere() -> None:
    """Without an index nothing says where an update goes."""
    module = parse_hlo("""HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[3] parameter(0)
  p = s32[4,0] parameter(1)
  q = f32[4,3] parameter(2)
  n = s32[] constant(2)
  i = s32[<=4,0] set-dimension-size(p, n), dimensions={0}
  u = f32[<=4,3] set-dimension-size(q, n), dimensions={0}
  ROOT g = f32[3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, \
index_vector_dim=1, to_apply=add
}""")
    trace = optimize(module, "dynamic_padder", verify=True)
    found = evaluate(trace.module, np.zeros(3, np.float32), np.zeros((4, 0), np.int32), np.ones((4, 3), np.float32))
    np.testing.assert_array_equal(found, [2, 2, 2])
