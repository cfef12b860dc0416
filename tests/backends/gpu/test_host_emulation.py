"""Whole GPU programs on the host: kernels, launch dimensions, buffers and control flow together, in both thread orders."""

import numpy as np
import pytest
from gpu_modules import BRANCHES, DOT, LOOP, SOFTMAX, SORT, compiled

from xla_explorer.backends.gpu.host_emulation import EmulatedGpuProgram, EmulationError
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
  five = s32[] constant(5)
  ROOT r = pred[] compare(i, five), direction=LT
}
ENTRY main {
  z = s32[] constant(0)
  x = f32[40] parameter(0)
  y = f32[40] parameter(1)
  t = (s32[], f32[40], f32[40]) tuple(z, x, y)
  w = (s32[], f32[40], f32[40]) while(t), condition=condition, body=body
  p = f32[40] get-tuple-element(w), index=1
  q = f32[40] get-tuple-element(w), index=2
  ROOT r = (f32[40], f32[40]) tuple(p, q)
}
"""
LAYOUT = """HloModule layout, entry_computation_layout={(f32[3,70]{0,1})->f32[70,3]{0,1}}
ENTRY main {
  x = f32[3,70]{0,1} parameter(0)
  t = f32[70,3] transpose(x), dimensions={1,0}
  ROOT e = f32[70,3]{0,1} exponential(t)
}
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
}


@pytest.mark.parametrize("passes", ["default", "none"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_like_the_evaluator(name, passes):
    text, inputs = PROGRAMS[name]
    result = compiled(text, passes=passes)
    emulated = EmulatedGpuProgram(result.program, result.buffers)
    before = [np.array(x) for x in inputs]
    found = emulated.execute(inputs)
    wanted = evaluate(parse_hlo(text), *inputs)
    wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-5, atol=1e-5)
    for a, b in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(found, emulated.execute(inputs, reverse=True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_step_without_kernel_ends_it():
    result = compiled(SORT)
    with pytest.raises(EmulationError, match="sort"):
        EmulatedGpuProgram(result.program, result.buffers).execute([normal(100)])
