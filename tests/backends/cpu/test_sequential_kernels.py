"""Native kernels of the opcodes that are algorithms rather than loops, against the evaluator."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("algorithm", ["rng_philox", "rng_three_fry", "rng_default"])
@pytest.mark.parametrize(
    "bits",
    [
        "u32[1001]{0}",
        "u64[37]{0}",
        "u16[3,5]{1,0}",
        "u8[6,7,3]{2,1,0}",
        "f32[2,9]{1,0}",
        "s32[]",
        "u32[5,7]{1,0}",
        "u32[7,1,5]{2,1,0}",
    ],
)
@pytest.mark.sampled(8)
def test_random_bits(algorithm, bits):
    text = f"""HloModule m
ENTRY e {{
  s = u64[2]{{0}} parameter(0)
  ROOT r = (u64[2]{{0}}, {bits}) rng-bit-generator(s), algorithm={algorithm}
}}"""
    check_program(text, np.array([0x123456789ABCDEF0, 2**64 - 3], np.uint64))


def test_random_bits_of_a_long_state():
    text = """HloModule m
ENTRY e {
  s = u32[6]{0} parameter(0)
  ROOT r = (u32[6]{0}, u32[50]{0}) rng-bit-generator(s), algorithm=rng_philox
}"""
    check_program(text, np.array([1, 2, 2**32 - 2, 2**32 - 1, 2**32 - 1, 5], np.uint32))


SELECT = """HloModule m
ge {{ a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE }}
add {{ a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT c = {t}[] add(a, b) }}
ENTRY e {{
  x = {t}[{x}]{{{order}}} parameter(0)
  s = {t}[{s}]{{{order}}} parameter(1)
  i = {t}[] constant({i})
  ROOT r = {t}[{x}]{{{order}}} select-and-scatter(x, s, i), window={{{window}}}, select=ge, scatter=add
}}"""


@pytest.mark.parametrize("kind", ["f32", "s32", "bf16"])
@pytest.mark.parametrize(
    ("x", "s", "window"),
    [
        ((2, 8, 6, 5), (2, 4, 3, 5), "size=1x2x2x1 stride=1x2x2x1"),
        ((2, 8, 7, 5), (2, 4, 3, 5), "size=1x2x2x1 stride=1x2x2x1"),
        ((1, 9, 9, 3), (1, 5, 5, 3), "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"),
        ((1, 9, 9, 3), (1, 3, 3, 3), "size=1x2x2x1 stride=1x3x3x1 rhs_dilate=1x2x2x1"),
        ((1, 4, 4, 2), (1, 9, 9, 2), "size=1x1x1x1 pad=0_0x2_3x2_3x0_0"),
    ],
)
def test_select_and_scatter(kind, x, s, window):
    from xla_explorer.hlo.primitive_type import primitive_type

    dtype = primitive_type(kind).dtype
    text = SELECT.format(
        t=kind,
        x=",".join(map(str, x)),
        s=",".join(map(str, s)),
        order="3,2,1,0",
        i="1",
        window=window,
    )
    given = RANDOM.integers(-3, 4, x).astype(dtype)
    if kind == "f32":
        given[0, 1, 1, 0] = np.nan
    check_program(text, given, RANDOM.integers(-9, 9, s).astype(dtype))


ARGMAX = """HloModule m
r {{
  a = {t}[] parameter(0)
  b = s32[] parameter(1)
  c = {t}[] parameter(2)
  d = s32[] parameter(3)
  g = pred[] compare(a, c), direction={direction}
  n = pred[] compare(a, a), direction=NE
  p = pred[] or(g, n)
  e = pred[] compare(a, c), direction=EQ
  l = pred[] compare(b, d), direction=LT
  k = pred[] and(e, l)
  q = pred[] or(p, k)
  v = {t}[] select(p, a, c)
  i = s32[] select(q, b, d)
  ROOT t = ({t}[], s32[]) tuple(v, i)
}}
ENTRY e {{
  x = {t}[7,300]{{1,0}} parameter(0)
  i = s32[7,300]{{1,0}} iota(), iota_dimension=1
  v = {t}[] constant({initial})
  z = s32[] constant(0)
  ROOT r = ({t}[{kept}], s32[{kept}]) reduce(x, i, v, z), dimensions={{{reduced}}}, to_apply=r
}}"""


@pytest.mark.parametrize(
    ("kind", "direction", "initial"),
    [
        ("f32", "GT", "-inf"),
        ("f64", "LT", "inf"),
        ("bf16", "GT", "-inf"),
        ("s32", "GT", "-2147483648"),
        ("u8", "LT", "255"),
    ],
)
@pytest.mark.parametrize(("kept", "reduced"), [("7", "1"), ("300", "0"), ("", "0,1")])
@pytest.mark.sampled(6)
def test_argmax(kind, direction, initial, kept, reduced):
    from xla_explorer.hlo.primitive_type import primitive_type

    dtype = primitive_type(kind).dtype
    x = RANDOM.integers(0 if kind == "u8" else -50, 50, (7, 300)).astype(dtype)
    if kind not in ("s32", "u8"):
        x[1, 70], x[1, 200] = np.nan, np.nan
        x[2] = -np.inf if direction == "GT" else np.inf
        x[3] = np.where(RANDOM.random(300) < 0.5, -0.0, 0.0).astype(dtype)
        x[4] = np.abs(x[4].astype(np.float32)).astype(dtype)
        x[5] = np.nan
    for given in (x, x[[0, 6] * 3 + [6]]):
        check_program(
            ARGMAX.format(t=kind, direction=direction, initial=initial, kept=kept, reduced=reduced),
            given,
        )


def test_scatter_into_two_operands():
    text = """HloModule m
c { a = f32[] parameter(0)
  b = s32[] parameter(1)
  x = f32[] parameter(2)
  y = s32[] parameter(3)
  g = pred[] compare(x, a), direction=GT
  v = f32[] select(g, x, a)
  i = s32[] select(g, y, b)
  ROOT t = (f32[], s32[]) tuple(v, i) }
ENTRY e {
  v = f32[6,2]{1,0} parameter(0)
  n = s32[6,2]{1,0} parameter(1)
  i = s32[9,1]{1,0} parameter(2)
  x = f32[9,2]{1,0} parameter(3)
  y = s32[9,2]{1,0} parameter(4)
  ROOT s = (f32[6,2]{1,0}, s32[6,2]{1,0}) scatter(v, n, i, x, y),
    update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c
}"""
    check_program(
        text,
        np.zeros((6, 2), np.float32),
        np.full((6, 2), -1, np.int32),
        RANDOM.integers(-1, 7, (9, 1)).astype(np.int32),
        RANDOM.standard_normal((9, 2)).astype(np.float32),
        np.arange(18, dtype=np.int32).reshape(9, 2),
    )
