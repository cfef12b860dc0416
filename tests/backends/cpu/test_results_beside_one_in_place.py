"""A kernel with several results, one in an operand's place.

The overlapping last vector must repeat elements of no result.
"""

import numpy as np
import pytest

import xla_explorer as xe

TEXT = """HloModule m
twice {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  m = f32[] maximum(a, b)
  ROOT c = f32[] add(m, b)
}}
ENTRY e {{
  x = f32[{n},33,1] parameter(0)
  top = (f32[{n},33,1], s32[{n},33,1]) topk(x), k=1
  g = f32[{n},33,1] get-tuple-element(top), index=0
  v = f32[{n},33,1] map(g, g), dimensions={{0,1,2}}, to_apply=twice
  s = f32[{n},33,1] add(v, v)
  d = f32[{n},33,1] subtract(x, x)
  t = f32[{n},33,1] add(s, d)
  a = f32[{n},33,1] abs(v)
  one = f32[] constant(1)
  ones = f32[{n},33,1] broadcast(one), dimensions={{}}
  p = f32[{n},33,1] add(a, ones)
  r = f32[{n},33,1] rsqrt(p)
  ROOT all = (f32[{n},33,1], f32[{n},33,1], f32[{n},33,1]) tuple(s, t, r)
}}
"""


@pytest.mark.parametrize("rows", [1, 2, 33, 100])
def test_each_result_is_computed_from_the_operand_as_it_was(rows):
    x = np.random.default_rng(rows).integers(-8, 9, (rows, 33, 1)).astype(np.float32)
    s, t, r = xe.compile(TEXT.format(n=rows), cache=False, threads=1)(x)
    np.testing.assert_array_equal(s, 4 * x)
    np.testing.assert_array_equal(t, 4 * x)
    np.testing.assert_allclose(r, 1 / np.sqrt(1 + 2 * np.abs(x)), rtol=1e-6)
