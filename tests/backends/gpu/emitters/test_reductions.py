"""Reductions by warps and blocks: values, coalescing, bank conflicts, launches, refusals."""

import re

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.compiler.codegen.nest.policies.launched.columns import plan_columns
from xla_explorer.compiler.codegen.nest.tuning import GPU_TUNING

RANDOM = np.random.default_rng(7)
F32_SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"


def reduction(kind, shape, dimensions, combiner="add", initial="0"):
    kept = ",".join([str(size) for d, size in enumerate(shape) if d not in dimensions])
    return f"""HloModule m
f {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT c = {kind}[] {combiner}(a, b) }}
ENTRY e {{ x = {kind}[{",".join(map(str, shape))}] parameter(0) z = {kind}[] constant({initial})
  ROOT r = {kind}[{kept}] reduce(x, z), dimensions={{{",".join(map(str, dimensions))}}}, to_apply=f }}"""


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("shape", "dimensions", "emitter", "launches"),
    [
        ((64, 1000), [1], "row-reduction", 1),
        ((37, 17), [1], "row-reduction", 1),
        ((300, 33), [1], "row-reduction", 1),
        ((3, 12000), [1], "row-reduction", 2),
        ((9, 40000), [1], "row-reduction", 2),
        ((200, 33, 40), [0, 2], "row-reduction", 1),
        ((100, 64), [0], "column-reduction", 1),
        ((1000, 7), [0], "column-reduction", 1),
        ((5, 300, 130), [1], "column-reduction", 1),
        ((4096, 256), [0], "column-reduction", 2),
        ((30, 20, 50), [0, 1], "column-reduction", 1),
        ((60, 90, 50), [0, 1], "column-reduction", 2),
        ((70000,), [0], "row-reduction", 2),
    ],
)
@pytest.mark.sampled(5)
def test_shapes(shape, dimensions, emitter, launches):
    assemble = shape in ((64, 1000), (3, 12000), (4096, 256))
    ran = check(
        reduction("f32", shape, dimensions, initial="0.5"),
        floats(*shape),
        relative=1e-4,
        assemble=assemble,
    )
    assert (ran.emitted.emitter, len(ran.emitted.kernels)) == (emitter, launches)
    assert ran.conflicts() == 1


@pytest.mark.parametrize(
    ("kind", "combiner", "initial", "dtype"),
    [
        ("bf16", "maximum", "-inf", ml_dtypes.bfloat16),
        ("f16", "add", "0", np.float16),
        ("f64", "minimum", "inf", np.float64),
        ("s8", "add", "3", np.int8),
        ("u16", "minimum", "9999", np.uint16),
        ("pred", "and", "true", bool),
        ("u32", "or", "0", np.uint32),
        ("s64", "maximum", "-5", np.int64),
        ("s32", "multiply", "1", np.int32),
        ("c64", "add", "(0,0)", np.complex64),
    ],
)
@pytest.mark.parametrize(("shape", "dimension"), [((40, 264), 1), ((264, 40), 0), ((2, 20000), 1)])
@pytest.mark.sampled(7)
def test_types(kind, combiner, initial, dtype, shape, dimension):
    if dtype is bool:
        x = RANDOM.random(shape) > 0.01
    elif np.dtype(dtype).kind in "iu":
        x = RANDOM.integers(0, 90, shape).astype(dtype)
    else:
        x = RANDOM.standard_normal(shape).astype(dtype)
    relative = 1e-2 if kind in ("bf16", "f16") else 1e-4
    ran = check(
        reduction(kind, shape, [dimension], combiner, initial), x, relative=relative, assemble=False
    )
    assert ran.emitted.emitter.endswith("-reduction") and ran.conflicts() == 1


def test_rows_are_read_sixteen_bytes_at_a_time():
    ran = check(reduction("f32", (64, 1024), [1]), floats(64, 1024), relative=1e-4)
    assert "ld.global.nc.v4" in ran.ptx and "shfl.sync.bfly" in ran.ptx and ran.sector_use() == 1


def test_the_same_bits_every_time_and_nan_goes_through():
    x = floats(5, 5000)
    x[3, 77] = np.nan
    text = reduction("f32", x.shape, [1], "maximum", "-inf")
    assert np.isnan(check(text, x, assemble=False).values[0][3])
    text = reduction("f32", x.shape, [1])
    first, again = (
        check(text, floats(5, 5000), assemble=False, relative=1e-3).emitted.kernels,
        ptx_of(text)[1].kernels,
    )
    assert [one.kernel for one in first] == [one.kernel for one in again]


def softmax(rows, length):
    full, row = f"f32[{rows},{length}]", f"f32[{rows}]"
    return f"""HloModule m
{F32_SUM}largest {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }}
f {{ x = {full} parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
  m = {row} reduce(x, low), dimensions={{1}}, to_apply=largest
  mb = {full} broadcast(m), dimensions={{0}}
  d = {full} subtract(x, mb)
  e = {full} exponential(d)
  s = {row} reduce(e, zero), dimensions={{1}}, to_apply=sum
  sb = {full} broadcast(s), dimensions={{0}}
  ROOT r = {full} divide(e, sb) }}
ENTRY e {{ x = {full} parameter(0) ROOT r = {full} fusion(x), kind=kCustom, calls=f }}"""


@pytest.mark.parametrize(("rows", "length"), [(50, 1000), (7, 33), (300, 128), (2, 40000)])
def test_softmax(rows, length):
    ran = check(softmax(rows, length), floats(rows, length))
    assert ran.emitted.emitter == "row-reduction" and ran.conflicts() == 1
    if length <= 32 * 1024:  # each element is read once and its exponential computed once
        read = sum(
            [
                row["thread_instructions"] * 4 * (4 if "v4" in row["opcode"] else 1)
                for row in ran.rows
                if row["opcode"].startswith("ld.global")
            ]
        )
        assert read <= 1.25 * rows * 4 * 32 * -(-length // 32)


def test_several_results_side_output_and_epilogue():
    text = f"""HloModule m
{F32_SUM}f {{ x = f32[40,256] parameter(0) b = f32[256] parameter(1) z = f32[] constant(1)
  bb = f32[40,256] broadcast(b), dimensions={{1}} y = f32[40,256] add(x, bb) q = f32[40,256] multiply(y, y)
  s = f32[40] reduce(y, z), dimensions={{1}}, to_apply=sum t = f32[40] reduce(q, z), dimensions={{1}}, to_apply=sum
  h = f32[] constant(0.5) hb = f32[40] broadcast(h), dimensions={{}} u = f32[40] multiply(t, hb)
  ROOT r = (f32[40], f32[40], f32[40,256]) tuple(s, u, q) }}
ENTRY e {{ x = f32[40,256] parameter(0) b = f32[256] parameter(1)
  ROOT r = (f32[40], f32[40], f32[40,256]) fusion(x, b), kind=kInput, calls=f }}"""
    assert (
        check(text, floats(40, 256), floats(256), relative=1e-4).emitted.emitter == "row-reduction"
    )


ARGMAX = """am { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = s32[] parameter(3)
  gt = pred[] compare(a, c), direction=GT nn = pred[] compare(a, a), direction=NE better = pred[] or(gt, nn)
  v = f32[] select(better, a, c) eq = pred[] compare(a, c), direction=EQ lt = pred[] compare(b, d), direction=LT
  tie = pred[] and(eq, lt) pick = pred[] or(better, tie) k = s32[] select(pick, b, d) ROOT t = (f32[], s32[]) tuple(v, k) }
"""


@pytest.mark.parametrize(
    ("shape", "dimension", "kind"),
    [((20, 300), 1, kind) for kind in ("f32", "f16", "bf16", "f64")]
    + [((300, 20), 0, "f32"), ((2, 40000), 1, "f32")],
)
def test_argmax_with_ties_and_nans(shape, dimension, kind):
    x = np.round(floats(*shape), 1).astype(
        {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}[kind]
    )
    x.reshape(-1)[[5, 3005, 4000]] = np.nan
    sizes, kept = ",".join(map(str, shape)), shape[1 - dimension]
    text = f"""HloModule m
{ARGMAX}f {{ x = f32[{sizes}] parameter(0) i = s32[{sizes}] iota(), iota_dimension={dimension} l = f32[] constant(-inf) z = s32[] constant(0)
  ROOT r = (f32[{kept}], s32[{kept}]) reduce(x, i, l, z), dimensions={{{dimension}}}, to_apply=am }}
ENTRY e {{ x = f32[{sizes}] parameter(0) ROOT r = (f32[{kept}], s32[{kept}]) fusion(x), kind=kInput, calls=f }}""".replace(
        "f32", kind
    )
    assert check(text, x, assemble=False).emitted.emitter.endswith("-reduction")


def test_a_reducer_whose_order_matters_stays_in_one_thread():
    text = """HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) two = f32[] constant(2) d = f32[] multiply(a, two) ROOT c = f32[] add(d, b) }
ENTRY e { x = f32[4,20] parameter(0) z = f32[] constant(0) ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=f }"""
    ran = check(text, floats(4, 20), relative=1e-4)
    assert ran.emitted.emitter == "loop"
    ((name, reason),) = ran.emitted.refused
    assert (name, reason.code) == ("reduction", "reducer-not-known-associative")


def test_the_detector_sees_when_the_barrier_is_gone():
    from xla_explorer.backends.gpu.emulator import (
        EmulatedKernel,
        GlobalMemory,
        LaunchOptions,
        parse_ptx,
    )

    _, emitted, kernels, ptx = ptx_of(reduction("f32", (4, 1024), [1]))
    assert re.search(r"bar(rier)?\.(cta\.)?sync", ptx)
    broken = parse_ptx(re.sub(r"\tbar(rier)?\.(cta\.)?sync.*\n", "", ptx))
    device = GlobalMemory()
    places = [device.allocate(size, "argument") for size in (4 * 1024 * 4, 4, 16)]
    for place, size in zip(places, (4 * 1024 * 4, 4, 16), strict=True):
        device.write(place, np.zeros(size, np.uint8))
    kernel = EmulatedKernel(broken, broken.kernels[kernels[0].name], device)
    launch = emitted.kernels[0].launch
    found = kernel.launch(launch.blocks, launch.threads_per_block, places, LaunchOptions()).findings
    assert any("race" in str(finding) for finding in found)


@pytest.mark.parametrize(
    ("shape", "dimensions"),
    [
        ((40, 264), [1]),
        ((264, 40), [0]),
        ((3, 20000), [1]),
        ((2000, 64), [0]),
        ((4, 30, 64), [0, 1]),
        ((30, 4, 64), [2]),
        ((37, 1001), [0, 1]),
    ],
)
def test_what_is_stored_and_reduced_is_read_once(shape, dimensions):
    dims, kept = (
        ",".join(map(str, shape)),
        ",".join([str(n) for d, n in enumerate(shape) if d not in dimensions]),
    )
    ran = check(
        f"""HloModule m
{F32_SUM}
f {{ x = f32[{dims}] parameter(0) z = f32[] constant(0) e = f32[{dims}] cosine(x)
  t = f32[{kept}] reduce(e, z), dimensions={{{",".join(map(str, dimensions))}}}, to_apply=sum ROOT r = (f32[{dims}], f32[{kept}]) tuple(e, t) }}
ENTRY e {{ x = f32[{dims}] parameter(0) ROOT r = (f32[{dims}], f32[{kept}]) fusion(x), kind=kInput, calls=f }}""",
        floats(*shape), relative=1e-4, assemble=False,
    )  # fmt: skip
    read = sum([row["sectors"] for row in ran.rows if row["opcode"].startswith("ld.global.nc")])
    assert read * 32 <= 1.3 * 4 * np.prod(shape), read * 32


@pytest.mark.parametrize("element", [4, 16])
def test_few_columns_are_narrow_and_tall_before_multiprocessors_are_idle(element):
    facts = gpu_architecture("sm_90")
    few, many = [
        plan_columns(1, 512, columns, 16 // element, element, facts, GPU_TUNING, True)
        for columns in (512, 1 << 17)
    ]
    assert (few.width, few.splits) == (1, 1) and few.above > many.above
    assert (many.width, many.across * many.above) == (
        16 // element,
        GPU_TUNING.block,
    ) and many.tiles >= facts.multiprocessors
    assert (
        plan_columns(1, 512, 32, 16 // element, element, facts, GPU_TUNING, True).width
        == 16 // element
    ), "one block in any case"
    crowded = plan_columns(1, 512, 512, 1, 60, facts, GPU_TUNING, True)
    assert GPU_TUNING.block < crowded.across * crowded.above <= STATIC_SHARED_BYTES // 60
