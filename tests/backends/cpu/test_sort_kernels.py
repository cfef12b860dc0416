"""sort and topk kernels against the evaluator: radix and merge, every key type and dimension."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program, compile_for_cpu
from xla_explorer.hlo.primitive_type import primitive_type

RANDOM = np.random.default_rng(11)


def some(kind, dimensions):
    """Values with ties, zeros of both signs, infinities and NaN (floats)."""
    dtype = primitive_type(kind).dtype
    if kind == "pred":
        return RANDOM.random(dimensions) < 0.5
    if dtype.kind in "iu":
        information = np.iinfo(dtype)
        wide = RANDOM.integers(
            information.min, information.max, dimensions, dtype=dtype, endpoint=True
        )
        return np.where(RANDOM.random(dimensions) < 0.3, wide % 5, wide).astype(dtype)
    values = RANDOM.standard_normal(dimensions).astype(dtype)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, 1.0]).astype(dtype)
    return np.where(RANDOM.random(dimensions) < 0.3, RANDOM.choice(odd, dimensions), values)


def one_key(kind, dimensions, axis, comparator):
    text = ",".join(map(str, dimensions))
    order = ",".join(map(str, reversed(range(len(dimensions)))))
    return f"""HloModule m
c {{ a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT r = pred[] compare(a, b), {comparator} }}
ENTRY e {{
  x = {kind}[{text}]{{{order}}} parameter(0)
  ROOT s = {kind}[{text}]{{{order}}} sort(x), dimensions={{{axis}}}, to_apply=c
}}"""


@pytest.mark.parametrize(
    "kind", ["f32", "f64", "bf16", "f16", "s8", "u8", "s32", "u32", "s64", "u64", "pred"]
)
@pytest.mark.parametrize("length", [2, 31, 600])
@pytest.mark.sampled(6)
def test_one_operand(kind, length):
    total = ", type=TOTALORDER" if kind[0] in "fb" else ""
    for direction in ("LT", "GT"):
        check_program(
            one_key(kind, (3, length), 1, f"direction={direction}{total}"), some(kind, (3, length))
        )
        check_program(
            one_key(kind, (length, 3), 0, f"direction={direction}{total}"), some(kind, (length, 3))
        )


@pytest.mark.parametrize("length", [40, 1000, 70000])
def test_partial_order_keeps_zeros_in_place(length):
    x = RANDOM.choice(np.array([0.0, -0.0, 1.5, -2.0], np.float32), length)
    check_program(one_key("f32", (length,), 0, "direction=GT"), x)


def test_wide_digits():
    check_program(
        one_key("f32", (70001,), 0, "direction=LT, type=TOTALORDER"), some("f32", (70001,))
    )
    check_program(one_key("s64", (70001,), 0, "direction=GT"), some("s64", (70001,)))


def test_an_order_without_keys():
    text = """HloModule m
c { a = s32[] parameter(0)
  b = s32[] parameter(1)
  k = s32[] parameter(2)
  l = s32[] parameter(3)
  s = s32[] subtract(a, b)
  z = s32[] constant(0)
  ROOT r = pred[] compare(s, z), direction=LT }
ENTRY e {
  x = s32[2,5000]{1,0} parameter(0)
  i = s32[2,5000]{1,0} iota(), iota_dimension=1
  ROOT s = (s32[2,5000]{1,0}, s32[2,5000]{1,0}) sort(x, i), dimensions={1}, to_apply=c
}"""
    check_program(text, RANDOM.integers(-99, 99, (2, 5000)).astype(np.int32))


@pytest.mark.parametrize("length", [20, 900])
def test_two_keys_and_a_payload(length):
    text = f"""HloModule m
c {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  k = s16[] parameter(2)
  l = s16[] parameter(3)
  p = c64[] parameter(4)
  q = c64[] parameter(5)
  g = pred[] compare(a, b), direction=GT, type=TOTALORDER
  e = pred[] compare(a, b), direction=EQ, type=TOTALORDER
  t = pred[] compare(k, l), direction=LT
  n = pred[] and(e, t)
  ROOT r = pred[] or(g, n) }}
ENTRY e {{
  x = f32[4,{length}]{{1,0}} parameter(0)
  y = s16[4,{length}]{{1,0}} parameter(1)
  z = pred[4,{length}]{{1,0}} parameter(2)
  ROOT s = (f32[4,{length}]{{1,0}}, s16[4,{length}]{{1,0}}, pred[4,{length}]{{1,0}})
    sort(x, y, z), dimensions={{1}}, to_apply=c
}}""".replace("c64[]", "pred[]")
    x = (
        some("f32", (4, length))
        if length < 100
        else RANDOM.integers(0, 9, (4, length)).astype(np.float32)
    )
    check_program(text, x, some("s16", (4, length)), some("pred", (4, length)))


def test_a_column_major_operand_and_empty_rows():
    text = """HloModule m
c { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e {
  x = f32[300,4]{0,1} parameter(0)
  n = f32[0,4]{1,0} parameter(1)
  s = f32[300,4]{0,1} sort(x), dimensions={0}, to_apply=c
  m = f32[0,4]{1,0} sort(n), dimensions={1}, to_apply=c
  ROOT t = (f32[300,4]{0,1}, f32[0,4]{1,0}) tuple(s, m)
}"""
    check_program(text, some("f32", (300, 4)), np.zeros((0, 4), np.float32))


@pytest.mark.parametrize("kind", ["f32", "bf16", "u8", "s64", "pred"])
@pytest.mark.parametrize(
    ("length", "k"), [(1000, 16), (50, 50), (17, 1), (3000, 700), (9, 0), (9000, 66)]
)
@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.sampled(20)
def test_topk(kind, length, k, largest):
    text = f"""HloModule m
ENTRY e {{
  x = {kind}[3,{length}]{{1,0}} parameter(0)
  ROOT t = ({kind}[3,{k}]{{1,0}}, s32[3,{k}]{{1,0}}) topk(x), k={k}, largest={largest}
}}"""
    check_program(text, some(kind, (3, length)))


def test_scratch_memory_in_loops_and_profiles():
    text = """HloModule m
c { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }
body { p = (s32[], f32[50]{0}, f32[9]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  o = s32[] constant(1)
  j = s32[] add(i, o)
  x = f32[50]{0} get-tuple-element(p), index=1
  y = f32[50]{0} sort(x), dimensions={0}, to_apply=c
  z = f32[50]{0} negate(y)
  t = (f32[9]{0}, s32[9]{0}) topk(z), k=9
  v = f32[9]{0} get-tuple-element(t), index=0
  ROOT r = (s32[], f32[50]{0}, f32[9]{0}) tuple(j, z, v) }
cond { p = (s32[], f32[50]{0}, f32[9]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e {
  z = s32[] constant(0)
  x = f32[50]{0} parameter(0)
  y = f32[9]{0} parameter(1)
  s = (s32[], f32[50]{0}, f32[9]{0}) tuple(z, x, y)
  ROOT w = (s32[], f32[50]{0}, f32[9]{0}) while(s), condition=cond, body=body
}"""
    inputs = [RANDOM.standard_normal(50).astype(np.float32), np.zeros(9, np.float32)]
    check_program(text, *inputs)
    executable = compile_for_cpu(text)
    assert executable.profile(inputs, 1).kernels


def test_a_call_of_topk_is_native():
    """As TensorFlow's optimised modules have it: with a comparator of two or of four parameters."""
    for more in ("", "i = s32[] parameter(2)\n j = s32[] parameter(3)\n"):
        text = f"""HloModule m
c {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  {more} ROOT r = pred[] compare(a, b), direction=GT }}
ENTRY e {{
  x = f32[3,9]{{1,0}} parameter(0)
  ROOT t = (f32[3,2]{{1,0}}, s32[3,2]{{1,0}}) custom-call(x), custom_call_target="TopK", called_computations={{c}}
}}"""
        check_program(text, RANDOM.integers(0, 4, (3, 9)).astype(np.float32))
        assert {step.runs_on for step in compile_for_cpu(text).steps} == {"kernel"}
