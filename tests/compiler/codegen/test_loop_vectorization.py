"""Vectorisation of a kernel's loops, by us or by LLVM; values equal those of scalar loops."""

import re

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.decisions.code_reasons import VECTORS

BF16 = ml_dtypes.bfloat16
needs_fixed_width = pytest.mark.skipif(
    not described_cpu().vectorizes_itself,
    reason="this machine's loops are LLVM's",
)


PROGRAMS = {
    "softmax": """HloModule m
mx { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] maximum(a, b) }
ad { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[37,203] parameter(0)
 lo = f32[] constant(-inf)
 m = f32[37] reduce(x, lo), dimensions={1}, to_apply=mx
 mb = f32[37,203] broadcast(m), dimensions={0}
 d = f32[37,203] subtract(x, mb)
 y = f32[37,203] exponential(d)
 zero = f32[] constant(0)
 s = f32[37] reduce(y, zero), dimensions={1}, to_apply=ad
 sb = f32[37,203] broadcast(s), dimensions={0}
 ROOT r = f32[37,203] divide(y, sb) }""",
    "many functions": """HloModule m
ENTRY e { x = f32[1003] parameter(0)
 a = f32[1003] tanh(x)
 b = f32[1003] exponential(a)
 c = f32[1003] logistic(b)
 d = f32[1003] sine(c)
 p = pred[1003] compare(a, d), direction=LT
 f = f32[1003] log(b)
 g = f32[1003] select(p, f, d)
 h = f64[1003] convert(g)
 k = f64[1003] multiply(h, h)
 ROOT r = (f64[1003], pred[1003], f32[1003]) tuple(k, p, g) }""",
}


@needs_fixed_width
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_programs_in_vectors_have_the_evaluators_values(name, threads):
    text = PROGRAMS[name]
    session = xe.compile(text, threads=threads, cache=False)
    assert re.search(r"<\d+ x float>", session.executable.program.text)
    shape = session.source.entry.parameters()[0].shape.dimensions
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    wanted = xe.evaluate(xe.parse_hlo(text), x)
    for mine, other in zip(
        session.run_flat([x]), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
    ):
        np.testing.assert_allclose(mine, np.asarray(other), rtol=1e-4, atol=1e-6)


SCANS = """HloModule m
ad { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[40,50] parameter(0)
  z = f32[] constant(0)
  w = f32[40,20] parameter(2)
  y = f32[40,20] reduce-window(w, z), window={size=1x20 pad=0_0x19_0}, to_apply=ad
  e = f32[40,50] exponential(x)
  k = f32[] parameter(1)
  l = f32[] negate(k)
  ROOT r = (f32[40,20], f32[40,50], f32[]) tuple(y, e, l)
}"""


@needs_fixed_width
def test_decisions_say_who_makes_the_vectors():
    rows = (
        xe.compile(SCANS, cache=False, threads=1).decisions("loop-vectorization").to_dict("records")
    )
    assert len({row["subjects"] for row in rows}) == len(rows)
    assert {row["code"]: row["verdict"] for row in rows} == {
        "left-to-llvm": "refused", "written-in-vectors": "accepted", "tiny-kernel": "refused"}  # fmt: skip
    assert all(
        row["reason"].startswith(row["subjects"][0])
        and VECTORS[row["code"]].sentence in row["reason"]
        for row in rows
    )


def test_argmax_keeps_ties_and_nan():
    text = """HloModule m
am { a = f32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = s32[] parameter(3)
 gt = pred[] compare(a, c), direction=GT
 ne = pred[] compare(a, a), direction=NE
 f = pred[] or(gt, ne)
 v = f32[] select(f, a, c)
 eq = pred[] compare(a, c), direction=EQ
 lt = pred[] compare(b, d), direction=LT
 t = pred[] and(eq, lt)
 g = pred[] or(f, t)
 i = s32[] select(g, b, d)
 ROOT r = (f32[], s32[]) tuple(v, i) }
ENTRY e { x = f32[9,300] parameter(0)
 k = s32[9,300] iota(), iota_dimension=1
 lo = f32[] constant(-inf)
 z = s32[] constant(0)
 ROOT r = (f32[9], s32[9]) reduce(x, k, lo, z), dimensions={1}, to_apply=am }"""
    x = np.random.default_rng(1).integers(-5, 5, (9, 300)).astype(np.float32)
    x[3, 17], x[4] = np.nan, -np.inf
    values, places = xe.compile(text, cache=False, threads=1).run_flat([x])
    wanted = [int(np.argmax(row)) for row in x]
    assert list(places) == wanted
    np.testing.assert_array_equal(values, x[np.arange(9), wanted])


# -- two elements of 16 bits as a word -------------------------------------------------------------
PAIRED = """HloModule paired

ENTRY e {{
  x = bf16[{n}] parameter(0)
  y = bf16[{n}] parameter(1)
  s = bf16[] parameter(2)
  b = bf16[{n}] broadcast(s), dimensions={{}}
  p = bf16[{n}] multiply(x, b)
  q = bf16[{n}] subtract(p, y)
  g = pred[{n}] compare(q, x), direction=GT
  ROOT r = bf16[{n}] select(g, q, y)
}}
"""


@needs_fixed_width
@pytest.mark.parametrize("n", [2048, 2111, 65536])
@pytest.mark.parametrize("donate", [False, True])
def test_pairs_have_the_bits_of_single_elements(n, donate):
    every = np.arange(65536).astype(np.uint16)[-n:]
    arguments = [
        every.view(BF16),
        np.roll(every, 4099 % n)[::-1].copy().view(BF16),
        np.array(1.171875, BF16),
    ]
    paired = xe.compile(PAIRED.format(n=n), backend="cpu", threads=1, cache=False, donate=donate)
    assert (
        "load <16 x i32>" in paired.stage("llvm-ir").text
        or host_target().vector_register_bits != 512
    )
    (kernel,) = [d.name for d in paired.executable.program.decisions if d.kind == "loop-nest"]
    single = xe.compile(
        PAIRED.format(n=n),
        backend="cpu",
        threads=1,
        cache=False,
        schedules=f"%{kernel}: split{{i,8}},vectorize{{ii}}",
    )
    assert " x i32>, ptr" not in single.stage("llvm-ir").text
    wanted = single.run_flat([a.copy() for a in arguments])[0].view(np.uint16)
    got = paired.run_flat([a.copy() for a in arguments])[0].view(np.uint16)
    np.testing.assert_array_equal(got, wanted)


POOL = """HloModule pool
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[2,12,12,64] parameter(0)  z = f32[] constant(0)
  ROOT r = f32[2,6,6,64] reduce-window(x, z), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=sum }"""


@pytest.mark.parametrize(
    "text", [POOL, xe.example("mlp_train").to_text()], ids=["pool", "mlp_train"]
)
def test_only_functions_with_a_finished_loop_skip_the_optimiser(text: str) -> None:
    functions = xe.compile(text, threads=1).stage("llvm-ir").text.split("\ndefine ")[1:]
    final = {
        function.split("(")[0]: '"optimization-level"="final"' in function.split("\n")[0]
        for function in functions
    }
    finished = {function.split("(")[0]: "!llvm.loop !1\n" in function for function in functions}
    in_vectors = {
        function.split("(")[0]: any(
            part in function for part in (" store <", " load <", "@llvm.masked.")
        )
        for function in functions
    }
    assert all(final[name] for name in final if finished[name])
    without_loops = {function.split("(")[0]: " phi " not in function for function in functions}
    assert all(
        finished[name] or in_vectors[name] or without_loops[name] for name in final if final[name]
    )
