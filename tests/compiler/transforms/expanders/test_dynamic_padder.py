"""Scatters with an update count known at run time: excess updates write nothing."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text import parse_hlo


@pytest.mark.parametrize(
    ("kind", "size", "code"),
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
    found = evaluate(
        trace.module,
        np.zeros(3, np.float32),
        np.zeros((4, 0), np.int32),
        np.ones((4, 3), np.float32),
    )
    np.testing.assert_array_equal(found, [2, 2, 2])


CONDITIONAL = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
doubled {
  s = (f32[<=4], f32[2]) parameter(0)
  x = f32[<=4] get-tuple-element(s), index=0
  ROOT y = f32[<=4] add(x, x)
}
shorter {
  x = f32[<=4] parameter(0)
  n = s32[] get-dimension-size(x), dimensions={0}
  one = s32[] constant(1)
  less = s32[] subtract(n, one)
  ROOT y = f32[<=4] set-dimension-size(x, less), dimensions={0}
}
ENTRY e {
  which = pred[] parameter(0)
  p = f32[4] parameter(1)
  n = s32[] parameter(2)
  two = f32[2] parameter(3)
  x = f32[<=4] set-dimension-size(p, n), dimensions={0}
  first = (f32[<=4], f32[2]) tuple(x, two)
  c = f32[<=4] conditional(which, first, x), true_computation=doubled, false_computation=shorter
  both = f32[<=4] multiply(c, x)
  zero = f32[] constant(0)
  sum = f32[] reduce(both, zero), dimensions={0}, to_apply=add
  size = s32[] get-dimension-size(c), dimensions={0}
  ROOT r = (f32[], s32[]) tuple(sum, size)
}"""


@pytest.mark.parametrize(("which", "sum_", "size"), [(True, 2 * (1 + 4 + 9), 3), (False, 1 + 4, 2)])
def test_sizes_travel_through_a_conditional_beside_their_arrays(
    which: bool, sum_: float, size: int
) -> None:
    """Operands of an elementwise operation are cut to the smaller size, as in the evaluator."""
    trace = optimize(parse_hlo(CONDITIONAL), "dynamic_padder", verify=True)
    assert not any(
        any(leaf.dynamic) for i in trace.module.instructions() for _, leaf in i.shape.leaves()
    )
    found = evaluate(
        trace.module,
        np.bool_(which),
        np.array([1, 2, 3, 100], np.float32),
        np.int32(3),
        np.zeros(2, np.float32),
    )
    assert [float(x) for x in found] == [sum_, size]


def test_sizes_travel_through_a_loop_beside_their_arrays() -> None:
    module = parse_hlo("""HloModule m
more {
  s = (f32[<=4], s32[]) parameter(0)
  k = s32[] get-tuple-element(s), index=1
  two = s32[] constant(2)
  ROOT c = pred[] compare(k, two), direction=LT
}
step {
  s = (f32[<=4], s32[]) parameter(0)
  x = f32[<=4] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(k, one)
  n = s32[] get-dimension-size(x), dimensions={0}
  less = s32[] subtract(n, one)
  y = f32[<=4] set-dimension-size(x, less), dimensions={0}
  ROOT r = (f32[<=4], s32[]) tuple(y, next)
}
ENTRY e {
  p = f32[4] parameter(0)
  n = s32[] parameter(1)
  zero = s32[] constant(0)
  x = f32[<=4] set-dimension-size(p, n), dimensions={0}
  start = (f32[<=4], s32[]) tuple(x, zero)
  w = (f32[<=4], s32[]) while(start), condition=more, body=step
  y = f32[<=4] get-tuple-element(w), index=0
  ROOT size = s32[] get-dimension-size(y), dimensions={0}
}""")
    trace = optimize(module, "dynamic_padder", verify=True)
    assert not any(
        any(leaf.dynamic) for i in trace.module.instructions() for _, leaf in i.shape.leaves()
    )
    assert evaluate(trace.module, np.ones(4, np.float32), np.int32(4)) == 2


@pytest.mark.parametrize("reducer", ["add", "multiply", "maximum", "and"])
@pytest.mark.parametrize("size", [0, 2, 3])
def test_an_initial_value_that_changes_the_result_counts_once(reducer: str, size: int) -> None:
    """Elements beyond the sizes must not bring the initial value in again."""
    text = f"""HloModule m
    f {{ a = u32[] parameter(0) b = u32[] parameter(1) ROOT r = u32[] {reducer}(a, b) }}
    ENTRY e {{ x = u32[3,3] parameter(0) n = s32[] parameter(1)
     d = u32[<=3,3] set-dimension-size(x, n), dimensions={{0}}
     g = u32[<=3,<=3] set-dimension-size(d, n), dimensions={{1}}
     start = u32[] constant(6)
     ROOT r = u32[] reduce(g, start), dimensions={{0,1}}, to_apply=f }}"""
    x = np.arange(1, 10, dtype=np.uint32).reshape(3, 3)
    function = {
        "add": np.add,
        "multiply": np.multiply,
        "maximum": np.maximum,
        "and": np.bitwise_and,
    }[reducer]
    wanted = function.reduce([np.uint32(6), *x[:size, :size].ravel()])
    padded = optimize(parse_hlo(text), "dynamic_padder", verify=True).module
    assert (
        evaluate(padded, x, np.int32(size))
        == evaluate(parse_hlo(text), x, np.int32(size))
        == wanted
    )
