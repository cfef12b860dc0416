"""Convolutions as implicit GEMM and directly: any window, layout and grouping; work counted."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of, run
from tests.support.drawn import DRAWN
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters.tiled_gemm import plan_simt_convolution
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.attributes import WindowDimension
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(11)
TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "s32": np.int32,
}
NHWC = "b01f_01io->b01f"


def text_of(kind, x, k, result, how, result_kind=None):
    shapes = [",".join(map(str, s)) for s in (x, k, result)]
    return f"""HloModule m
ENTRY e {{ x = {kind}[{shapes[0]}] parameter(0) k = {kind}[{shapes[1]}] parameter(1)
  ROOT r = {result_kind or kind}[{shapes[2]}] convolution(x, k), {how} }}"""


def arrays(kind, *shapes):
    return [
        (RANDOM.standard_normal(s) * (5 if kind == "s32" else 1)).astype(TYPES[kind])
        for s in shapes
    ]


RELATIVE = {"f32": 1e-4, "f64": 1e-9, "bf16": 4e-2, "f16": 1e-2, "s32": 0}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["f32", "f64", "bf16", "f16", "s32"])
@pytest.mark.sampled(2)
def test_types(kind):
    x, k, result = (2, 12, 11, 16), (3, 3, 16, 32), (2, 12, 11, 32)
    ran = check(
        text_of(kind, x, k, result, f"window={{size=3x3 pad=1_1x1_1}}, dim_labels={NHWC}"),
        *arrays(kind, x, k),
        relative=RELATIVE[kind],
    )
    assert ran.emitted.emitter == (
        "tensor-core-convolution" if kind in ("bf16", "f16") else "simt-convolution"
    )
    assert ran.conflicts() == 1
    if kind in ("bf16", "f16"):
        assert "cp.async" in ran.ptx and "ldmatrix" in ran.ptx


CASES = {
    "strided": ((2, 13, 13, 16), (3, 3, 16, 40), (2, 7, 7, 40), f"window={{size=3x3 pad=1_1x1_1 stride=2x2}}, dim_labels={NHWC}"),
    "three features": ((2, 20, 20, 3), (7, 7, 3, 32), (2, 10, 10, 32), f"window={{size=7x7 pad=2_3x2_3 stride=2x2}}, dim_labels={NHWC}"),
    "channels first": ((2, 16, 13, 13), (32, 16, 3, 3), (2, 32, 13, 13), "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01"),
    "dilated image": ((2, 6, 6, 16), (3, 3, 16, 32), (2, 11, 11, 32), f"window={{size=3x3 pad=1_1x1_1 lhs_dilate=2x2}}, dim_labels={NHWC}"),
    "dilated and strided": ((2, 9, 9, 16), (3, 3, 16, 32), (2, 13, 13, 32),
                            f"window={{size=3x3 pad=1_1x1_1 stride=2x2 lhs_dilate=3x3}}, dim_labels={NHWC}"),
    "dilated window": ((2, 11, 11, 16), (3, 3, 16, 32), (2, 7, 7, 32), f"window={{size=3x3 rhs_dilate=2x2}}, dim_labels={NHWC}"),
    "reversed": ((2, 9, 9, 16), (3, 3, 16, 32), (2, 9, 9, 32), f"window={{size=3x3 pad=1_1x1_1 rhs_reversal=1x1}}, dim_labels={NHWC}"),
    "groups": ((2, 9, 9, 32), (3, 3, 8, 64), (2, 9, 9, 64), f"window={{size=3x3 pad=1_1x1_1}}, dim_labels={NHWC}, feature_group_count=4"),
    "batch groups": ((8, 9, 9, 16), (9, 9, 16, 32), (2, 3, 3, 32), f"window={{size=9x9 pad=1_1x1_1}}, dim_labels={NHWC}, batch_group_count=4"),
    "filter's derivative": ((4, 10, 10, 8), (4, 10, 10, 16), (3, 3, 8, 16), "window={size=10x10 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf"),
    "one dimension": ((4, 50, 16), (5, 16, 32), (4, 50, 32), "window={size=5 pad=2_2}, dim_labels=b0f_0io->b0f"),
    "three dimensions": ((1, 5, 6, 7, 8), (3, 3, 3, 8, 32), (1, 5, 6, 7, 32),
                         "window={size=3x3x3 pad=1_1x1_1x1_1}, dim_labels=b012f_012io->b012f"),
    "a border left out": ((2, 12, 12, 16), (3, 3, 16, 32), (2, 8, 8, 32), f"window={{size=3x3 pad=-1_-1x-1_-1}}, dim_labels={NHWC}"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(2)
def test_windows(kind, name, monkeypatch_loop):
    x, k, result, how = CASES[name]
    monkeypatch_loop(True)
    ran = check(
        text_of(kind, x, k, result, how),
        *arrays(kind, x, k),
        relative=RELATIVE[kind],
        assemble=name in ("strided", "groups"),
    )
    assert ran.emitted.emitter == (
        "tensor-core-convolution" if kind == "bf16" else "simt-convolution"
    )


FUSED = """HloModule m
ENTRY e {{
  x = {kind}[2,12,12,16] parameter(0)
  k = {kind}[3,3,{depth},32] parameter(1)
  b = {kind}[32] parameter(2)
  c = {kind}[2,12,12,32] convolution(x, k), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f, feature_group_count={groups}
  bb = {kind}[2,12,12,32] broadcast(b), dimensions={{3}}
  s = {kind}[2,12,12,32] add(c, bb)
  z = {kind}[] constant(0)
  zs = {kind}[2,12,12,32] broadcast(z), dimensions={{}}
  ROOT r = {kind}[2,12,12,32] maximum(s, zs)
}}"""


@pytest.mark.parametrize(("kind", "groups", "emitter"), [
    ("f32", 1, "simt-convolution"), ("bf16", 1, "tensor-core-convolution"), ("f32", 16, "depthwise-convolution"),
])  # fmt: skip
def test_bias_and_activation_are_done_where_the_sums_are(kind, groups, emitter):
    module = parse_hlo(FUSED.format(kind=kind, depth=16 // groups, groups=groups))
    options = CompileOptions(
        backend_options={"architecture": "sm_90", "device": "emulator", "libraries": "never"}
    )
    compiler = GpuCompiler()
    result = compiler.run_backend(compiler.run_hlo_passes(module, options), options)
    assert {thunk.kernel.emitter for thunk in result.program.walk()} == {emitter}
    given = arrays(kind, *[p.shape.dimensions for p in module.entry.parameters()])
    found, wanted = (
        np.asarray(v, np.float64)
        for v in (result.executable.execute(given)[0], evaluate(module, *given))
    )
    np.testing.assert_allclose(found, wanted, rtol=RELATIVE[kind], atol=RELATIVE[kind])


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_90a"])
@pytest.mark.sampled(1)
def test_nothing_spills(architecture):
    if find_ptxas() is None:
        pytest.skip("ptxas is not installed")
    how = f"window={{size=3x3 pad=1_1x1_1}}, dim_labels={NHWC}"
    for kind, batch in (("f32", 32), ("f32", 4), ("bf16", 32), ("f64", 8)):
        x, k, result = (batch, 28, 28, 128), (3, 3, 128, 128), (batch, 28, 28, 128)
        for row in assemble_ptx(
            ptx_of(text_of(kind, x, k, result, how), architecture)[3], architecture
        ).resources:
            assert row.spill_stores == 0 and row.registers <= 255


def test_zeros_between_elements_are_not_multiplied():
    """A dilated image is split by residue: a quarter of the window's products a result."""
    x, k, result, how = CASES["dilated image"]
    plan = plan_simt_convolution(
        parse_hlo(text_of("f32", x, k, result, how)).entry.root, gpu_architecture("sm_90")
    )
    assert (
        plan.matrices.phases == (2, 2)
        and plan.matrices.depth == 2 * 2 * 16
        and "4 phases" in plan.launch.reasoning
    )


@pytest.mark.slow
def test_as_many_products_as_the_tiles_need():
    x, k, result = (4, 16, 16, 32), (3, 3, 32, 64), (4, 16, 16, 64)
    how = f"window={{size=3x3 pad=1_1x1_1}}, dim_labels={NHWC}"
    ran = check(
        text_of("bf16", x, k, result, how), *arrays("bf16", x, k), relative=4e-2, assemble=False
    )
    (kernel, *_) = ran.emitted.kernels
    rows, columns, depth = 4 * 16 * 16, 64, 9 * 32
    executed = sum(
        row["warp_instructions"] for row in ran.rows if row["opcode"].startswith("mma.sync")
    )
    assert executed == rows // 16 * columns // 8 * depth // 16
    assert ran.sector_use() == 1 and ran.conflicts() == 1 and kernel.shared_bytes <= 48 << 10
    ran = check(
        text_of("f32", x, k, result, how), *arrays("f32", x, k), relative=1e-4, assemble=False
    )
    executed = sum(
        row["thread_instructions"] for row in ran.rows if row["opcode"].startswith("fma.rn.f32")
    )
    assert executed == rows * columns * depth and ran.conflicts() == 1
    loads = [
        row for row in ran.rows if row["opcode"].startswith("ld.global") and "v4" in row["opcode"]
    ]
    assert loads and all(row["sector_use"] >= 1 for row in loads)


def test_long_sums_use_split_k():
    x, k, result = (4, 28, 28, 1), (4, 28, 28, 16), (3, 3, 1, 16)
    text = text_of(
        "f32", x, k, result, "window={size=28x28 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf"
    )
    ran = check(text, *arrays("f32", x, k), relative=1e-3, assemble=False)
    first, second = ran.emitted.kernels
    assert (
        "slices that a second kernel adds" in first.launch.reasoning and second.suffix == "_combine"
    )
    assert ran.emitted.scratch_bytes == 4 * 9 * 16 * int(
        first.launch.reasoning.split("split-K over ")[1].split()[0]
    )


@pytest.mark.parametrize(
    ("kind", "k", "groups", "result_kind"),
    [("f32", (3, 3, 1, 16), 16, None), ("bf16", (3, 3, 1, 16), 16, None), ("bf16", (3, 3, 1, 16), 16, "f32"), ("f64", (3, 3, 1, 16), 16, None),
     ("f32", (3, 3, 1, 32), 16, None), ("f32", (3, 3, 4, 8), 4, None)],
)  # fmt: skip
@pytest.mark.parametrize(
    "window",
    [
        "size=3x3 pad=1_1x1_1",
        "size=3x3 pad=1_1x1_1 stride=2x2",
        "size=3x3 pad=2_1x2_1 lhs_dilate=2x2 rhs_reversal=1x1",
    ],
)
@pytest.mark.sampled(4)
def test_groups_of_few_features(kind, k, groups, result_kind, window):
    x = (2, 8, 9, 16)
    sizes = [d.output_size(n) for d, n in zip(parsed_window(window), x[1:3], strict=True)]
    result = (2, *sizes, k[3])
    text = text_of(
        kind,
        x,
        k,
        result,
        f"window={{{window}}}, dim_labels={NHWC}, feature_group_count={groups}",
        result_kind,
    )
    ran = check(text, *arrays(kind, x, k), relative=RELATIVE[kind], assemble="stride" in window)
    assert ran.emitted.emitter == "depthwise-convolution" and not ran.emitted.refused
    if k[2] == 1 and k[3] == groups:
        assert f".v{16 // np.dtype(TYPES[kind]).itemsize}." in ran.ptx or ".v4." in ran.ptx


def parsed_window(text):
    module = f"HloModule m\nENTRY e {{ x = f32[1,40,40,1] parameter(0) k = f32[3,3,1,1] parameter(1)\n ROOT r = convolution(x, k), window={{{text}}}, dim_labels={NHWC} }}"
    return (
        parse_hlo(module.replace("ROOT r = ", "ROOT r = f32[1,1,1,1] "))
        .entry.root.attribute("window")
        .dimensions
    )


@pytest.mark.parametrize(("kind", "groups", "emitter", "nans"), [
    ("f32", 1, "simt-convolution", 11), ("bf16", 1, "tensor-core-convolution", 11), ("f32", 16, "depthwise-convolution", 0),
])  # fmt: skip
def test_infinite_weights_beside_the_padding(kind, groups, emitter, nans):
    """Implicit GEMM multiplies infinite weights with the padding's zeros.

    XLA:CPU and cuDNN do the same; the evaluator leaves padded taps out.
    """
    x, k, result = (1, 6, 6, 16), (3, 3, 16 // groups, 16), (1, 6, 6, 16)
    weights = np.ones(k, TYPES[kind])
    weights[0, 0, 0, 0] = np.inf
    text = text_of(
        kind,
        x,
        k,
        result,
        f"window={{size=3x3 pad=1_1x1_1}}, dim_labels={NHWC}, feature_group_count={groups}",
    )
    ran = run(text, np.ones(x, TYPES[kind]), weights, assemble=False)
    found, wanted = (np.asarray(v[0], np.float64) for v in (ran.values, ran.wanted))
    assert ran.emitted.emitter == emitter and np.isnan(found).sum() == nans
    assert ((found == wanted) | np.isnan(found)).all() and not np.isnan(found[0, 1:, 1:]).any()


def test_outside_of_the_features_one_element_is_read():
    def sectors(features):
        x, k = arrays("bf16", (2, 8, 8, 64), (1, 1, 64, features))
        text = f"""HloModule m
ENTRY e {{ a = bf16[2,8,8,64] parameter(0) b = bf16[1,1,64,{features}] parameter(1)
  ROOT r = f32[2,8,8,{features}] convolution(a, b), window={{size=1x1}}, dim_labels=b01f_01io->b01f }}"""
        ran = run(text, x, k, assemble=False)
        assert ran.emitted.emitter == "tensor-core-convolution"
        return sum([row["sectors"] for row in ran.rows if row["opcode"].startswith("cp.async.cg")])

    assert sectors(40) < sectors(64)  # two tiles of 32 both times


def test_tiny_ones_stay_with_a_thread_an_element():
    emitted = ptx_of(
        text_of(
            "f32",
            (1, 2, 2, 2),
            (1, 1, 2, 2),
            (1, 2, 2, 2),
            f"window={{size=1x1}}, dim_labels={NHWC}",
        )
    )[1]
    reason = dict(emitted.refused)["simt-convolution"]
    assert (
        emitted.emitter == "loop"
        and reason.code == "loop-is-faster"
        and reason.facts["loop_us"] <= reason.facts["own_us"]
    )


@st.composite
def convolutions(draw):
    """Any window over any layout: (text, shapes)."""
    rank = draw(st.integers(1, 2))
    rules, image, sizes = [], [], []
    for _ in range(rank):
        rule = WindowDimension(
            draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(-1, 3)), draw(st.integers(-1, 3)), draw(st.integers(1, 3)),
            draw(st.integers(1, 2)), draw(st.booleans()),
        )  # fmt: skip
        n = draw(st.integers(3, 9))
        if rule.output_size(n) < 1:
            n += 6
        image.append(n)
        rules.append(rule)
        sizes.append(rule.output_size(n))
    groups = draw(st.sampled_from([1, 1, 2, 8]))
    batch_groups = draw(st.sampled_from([1, 2])) if groups == 1 else 1
    depth, features = (
        draw(st.sampled_from([1, 3, 8, 16])),
        draw(st.sampled_from([1, 5, 16])) * groups * batch_groups,
    )
    batch = draw(st.integers(1, 3))
    spatial = "01"[:rank]
    extents = {
        "x": {"b": batch * batch_groups, "f": depth * groups},
        "k": {"i": depth, "o": features},
        "r": {"b": batch, "f": features},
    }
    for name, values in (("x", image), ("k", [rule.size for rule in rules]), ("r", sizes)):
        extents[name] |= dict(zip(spatial, values, strict=True))
    labels = {name: "".join(draw(st.permutations(sorted(extents[name])))) for name in extents}
    shapes = {name: tuple(extents[name][label] for label in labels[name]) for name in extents}
    columns = {
        "size": [str(r.size) for r in rules], "stride": [str(r.stride) for r in rules],
        "pad": [f"{r.padding_low}_{r.padding_high}" for r in rules], "lhs_dilate": [str(r.base_dilation) for r in rules],
        "rhs_dilate": [str(r.window_dilation) for r in rules], "rhs_reversal": [str(int(r.window_reversal)) for r in rules],
    }  # fmt: skip
    window = " ".join(f"{key}={'x'.join(values)}" for key, values in columns.items())
    how = f"window={{{window}}}, dim_labels={labels['x']}_{labels['k']}->{labels['r']}, feature_group_count={groups}, batch_group_count={batch_groups}"
    kind = draw(st.sampled_from(["f32", "bf16", "s32"]))
    return (
        kind,
        text_of(kind, *shapes.values(), how),
        shapes["x"],
        shapes["k"],
        math.prod(shapes["r"]),
    )


@pytest.mark.long
@pytest.mark.parametrize("forced", [True, False])
@given(case=convolutions())
@settings(DRAWN, max_examples=12)
@pytest.mark.sampled(1)
def test_any_convolution(case, forced, monkeypatch_loop):
    """forced: also where one thread an element would be chosen."""
    kind, text, x, k, elements = case
    if not elements:
        return
    monkeypatch_loop(forced)
    ran = check(text, *arrays(kind, x, k), relative=RELATIVE[kind], assemble=False)
    assert not forced or ran.emitted.emitter != "loop"


@pytest.fixture
def monkeypatch_loop(monkeypatch):
    from xla_explorer.backends.gpu.emitters import tiled_gemm

    def force(forced):
        if forced:
            monkeypatch.setattr(tiled_gemm, "loop_us", lambda *_: 1e9)

    return force
