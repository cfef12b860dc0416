"""Small modules on which simplifiers once failed stay well formed and keep their value."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

NUMBERS = np.arange(8, dtype=np.float32)

# The reducer of an argmax: the greater value, NaN above all, and of equal ones the lower place.
PLACE = """HloModule m
place {
  a = f32[] parameter(0)
  b = f32[] parameter(2)
  above = pred[] compare(a, b), direction=GT
  odd = pred[] compare(a, a), direction=NE
  first = pred[] or(above, odd)
  value = f32[] select(first, a, b)
  equal = pred[] compare(a, b), direction=EQ
  i = s8[] parameter(1)
  j = s8[] parameter(3)
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, before)
  left = pred[] or(first, tie)
  number = s8[] select(left, i, j)
  ROOT pair = (f32[], s8[]) tuple(value, number)
}
most {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
ENTRY e {
"""
PLACE_END = "(f32[], s8[]) reduce(x, n, low, z), dimensions={0}, to_apply=place"
TOTAL = PLACE.replace("direction=GT", "direction=GT, type=TOTALORDER").replace(
    "direction=NE", "direction=NE, type=TOTALORDER"
)

MODULES = {
    # A number of one bit (two with a sign) does not reach the third element.
    **{
        f"gather-of-few-by-{index}": (
            f"""HloModule m
ENTRY e {{
  x = f32[8]{{0}} parameter(0)
  few = f32[3]{{0}} slice(x), slice={{[1:4]}}
  i = {index}[1,1]{{1,0}} constant({{{{0}}}})
  ROOT g = f32[1]{{0}} gather(few, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}
}}""",
            (NUMBERS,),
        )
        for index in ("u1", "s1", "s2")
    },
    # The empty slice starts behind what the strided one reads of x: 3 + 2 * 3 > 8.
    "empty-slice-of-a-strided-slice": (
        """HloModule m
ENTRY e {
  x = f32[8]{0} parameter(0)
  a = f32[2]{0} slice(x), slice={[3:7:3]}
  ROOT r = f32[0]{0} slice(a), slice={[2:2]}
}""",
        [NUMBERS],
    ),
    "empty-slice-of-the-end-of-a-pad": (
        """HloModule m
ENTRY e {
  x = f32[8]{0} parameter(0)
  z = f32[] constant(0)
  a = f32[12]{0} pad(x, z), padding=2_2
  ROOT r = f32[0]{0} slice(a), slice={[12:12:3]}
}""",
        [NUMBERS],
    ),
    # 1 / 127.5 rounded to eight bits is off by a sixth of a percent, which shows in every second
    # quotient.
    "division-by-a-constant-in-bf16": (
        """HloModule m
ENTRY e {
  x = bf16[8]{0} parameter(0)
  c = bf16[] constant(127.5)
  b = bf16[8]{0} broadcast(c), dimensions={}
  ROOT r = bf16[8]{0} divide(x, b)
}""",
        [(NUMBERS * 17 + 3).astype(ml_dtypes.bfloat16)],
    ),
    # An update outside of the inner slice is moved into the inner slice, not into the array.
    "slice-of-a-slice-beyond-its-end": (
        """HloModule m
ENTRY e {
  x = f32[8]{0} parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  a = f32[4]{0} dynamic-slice(x, i), dynamic_slice_sizes={4}
  ROOT r = f32[2]{0} dynamic-slice(a, j), dynamic_slice_sizes={2}
}""",
        [NUMBERS, np.int32(1), np.int32(100)],
    ),
    # The numbers of an s8 that counts to 200 wrap around: the lowest place is number -128.
    "places-that-wrap-around": (
        f"""{PLACE}
  c = f32[] constant(42)
  x = f32[200] broadcast(c), dimensions={{}}
  n = s8[200] iota(), iota_dimension=0
  low = f32[] constant(-inf)
  z = s8[] constant(0)
  ROOT r = {PLACE_END}
}}""",
        [],
    ),
    # In the total order zero is greater than minus zero.
    "extremum-in-the-total-order": (
        f"""{TOTAL}
  c = f32[] constant(-0)
  x = f32[5] broadcast(c), dimensions={{}}
  n = s8[5] iota(), iota_dimension=0
  low = f32[] constant(0)
  z = s8[] constant(0)
  r = {PLACE_END}
  v = f32[] get-tuple-element(r), index=0
  one = f32[] constant(1)
  ROOT d = f32[] divide(one, v)
}}""",
        [],
    ),
    # The places are made of the maximum, or wait for it: it cannot come from the reduce that finds
    # its place.
    "places-that-depend-on-the-extremum": (
        f"""{PLACE}
  x = f32[8] parameter(0)
  low = f32[] constant(-inf)
  m = f32[] reduce(x, low), dimensions={{0}}, to_apply=most
  s = s8[] convert(m)
  n = s8[8] broadcast(s), dimensions={{}}
  z = s8[] constant(0)
  b = {PLACE_END}
  ROOT t = (f32[], (f32[], s8[])) tuple(m, b)
}}""",
        [NUMBERS],
    ),
    "places-that-wait-for-the-extremum": (
        f"""{PLACE}
  x = f32[8] parameter(0)
  low = f32[] constant(-inf)
  m = f32[] reduce(x, low), dimensions={{0}}, to_apply=most
  g = f32[] negate(m)
  n = s8[8] iota(), iota_dimension=0
  z = s8[] constant(0)
  b = {PLACE_END}, control-predecessors={{g}}
  ROOT t = (f32[], (f32[], s8[])) tuple(m, b)
}}""",
        [NUMBERS],
    ),
    # A float becomes the nearest u8, an integer keeps its low bits.
    "integers-by-way-of-floats": (
        """HloModule m
ENTRY e {
  x = s16[5]{0} parameter(0)
  w = f32[5]{0} convert(x)
  ROOT r = u8[5]{0} convert(w)
}""",
        [np.array([-1, 5, 300, -32768, 32767], np.int16)],
    ),
    "empty-and-long": (
        """HloModule m
ENTRY e {
  ROOT i = f32[1000000000000,0]{1,0} iota(), iota_dimension=0
}""",
        [],
    ),
    "convolution-without-features": (
        """HloModule m
ENTRY e {
  x = f32[2,5,0]{2,1,0} parameter(0)
  k = f32[2,0,4]{2,1,0} parameter(1)
  ROOT r = f32[2,4,4]{2,1,0} convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f
}""",
        [np.zeros((2, 5, 0), np.float32), np.zeros((2, 0, 4), np.float32)],
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_the_default_passes_keep_the_value(name):
    text, inputs = MODULES[name]
    module = parse_hlo(text)
    trace = optimize(module, "default", "passes", verify=True)
    again = parse_hlo(trace.module.to_text())
    expected, actual = (flatten_value(evaluate(m, *inputs)) for m in (module, again))
    for want, got in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(got, want)
