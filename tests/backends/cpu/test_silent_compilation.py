"""Nothing of LLVM reaches the standard error: loops that are marked to be unrolled can be."""

import pytest

import xla_explorer as xe

LOOP_AT_THE_END_OF_A_LOOP = """HloModule m
body { s = (s32[], s32[2,2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  j = s32[] add(i, two)
  eight = s32[] constant(8)
  b = s32[2,2] broadcast(eight), dimensions={}
  ROOT r = (s32[], s32[2,2]) tuple(j, b) }
condition { s = (s32[], s32[2,2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { v = s32[2,2] parameter(0)
  zero = s32[] constant(0)
  x = (s32[], s32[2,2]) tuple(zero, v)
  w = (s32[], s32[2,2]) while(x), condition=condition, body=body
  ROOT r = s32[2,2] get-tuple-element(w), index=1 }"""

CHOICE_AROUND_A_LOOP = """HloModule m
sum { a = s16[] parameter(0)
  b = s16[] parameter(1)
  ROOT c = s16[] add(a, b) }
ENTRY e { p = s16[] parameter(0)
  x = s16[7] parameter(1)
  y = s16[7] multiply(x, x)
  zero = s16[] constant(0)
  r = s16[] reduce(y, zero), dimensions={0}, to_apply=sum
  b = s16[1,2] broadcast(r), dimensions={}
  q = s16[4,4] pad(b, p), padding=2_1x1_0_1
  ROOT s = s16[3,3] slice(q), slice={[0:3], [0:3]} }"""

CHOICE_BY_THE_INDEX = """HloModule m
ENTRY e { i = s32[] parameter(0)
  x = u8[16,1] parameter(1)
  a = u8[16,1] shift-left(x, x)
  b = u8[16,1] or(x, a)
  c = u8[16,1] shift-right-logical(b, b)
  y = u8[16,3] concatenate(c, b, x), dimensions={1}
  zero = s32[] constant(0)
  s = u8[4,3] dynamic-slice(y, i, zero), dynamic_slice_sizes={4,3}
  ROOT n = u8[4,3] not(s) }"""

WINDOW_IN_PADDING = """HloModule m
xor { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] xor(a, b) }
ENTRY e { x = s32[130,1,1] parameter(0)
  zero = s32[] constant(0)
  ROOT w = s32[130,2,3] reduce-window(x, zero), window={size=3x1x1 stride=1x2x1 pad=2_0x2_1x2_0}, to_apply=xor }"""

ENDLESS_OR_NO_LOOP = """HloModule m
condition { s = (f32[3], f32[3], pred[]) parameter(0)
  ROOT c = pred[] get-tuple-element(s), index=2 }
body { s = (f32[3], f32[3], pred[]) parameter(0)
  x = f32[3] get-tuple-element(s), index=0
  y = f32[3] get-tuple-element(s), index=1
  go = pred[] get-tuple-element(s), index=2
  z = f32[3] add(x, y)
  ROOT r = (f32[3], f32[3], pred[]) tuple(x, z, go) }
ENTRY e { x = f32[3] parameter(0)
  go = pred[] parameter(1)
  s = (f32[3], f32[3], pred[]) tuple(x, x, go)
  w = (f32[3], f32[3], pred[]) while(s), condition=condition, body=body
  ROOT r = f32[3] get-tuple-element(w), index=1 }"""

AT_MOST_ONE_TURN = """HloModule m
condition { s = (f32[2], f32[2], s32[]) parameter(0)
  k = s32[] get-tuple-element(s), index=2
  n = s32[] constant(42)
  ROOT c = pred[] compare(k, n), direction=EQ }
body { s = (f32[2], f32[2], s32[]) parameter(0)
  x = f32[2] get-tuple-element(s), index=0
  y = f32[2] add(x, x)
  n = s32[] constant(-1)
  ROOT r = (f32[2], f32[2], s32[]) tuple(x, y, n) }
ENTRY e { x = f32[2] parameter(0)
  k = s32[] parameter(1)
  s = (f32[2], f32[2], s32[]) tuple(x, x, k)
  ROOT w = (f32[2], f32[2], s32[]) while(s), condition=condition, body=body }"""

TEXTS = [
    LOOP_AT_THE_END_OF_A_LOOP,
    CHOICE_AROUND_A_LOOP,
    CHOICE_BY_THE_INDEX,
    WINDOW_IN_PADDING,
    ENDLESS_OR_NO_LOOP,
    AT_MOST_ONE_TURN,
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_compiling_prints_nothing(text, threads, capfd):
    xe.compile(text, backend="cpu", threads=threads, cache=False)
    assert capfd.readouterr() == ("", "")
