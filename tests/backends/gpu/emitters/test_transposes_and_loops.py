"""Transposes through shared memory and vectorised loops: values, coalescing, bank conflicts."""

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, run
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.backends.gpu.emitters.selection import Overrides
from xla_explorer.compiler.target.launch_time import threads_for_full_bandwidth
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(11)
TYPES = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "s8": np.int8,
    "f64": np.float64,
    "c64": np.complex64,
    "pred": bool,
}


def transpose(kind, shape, order):
    sizes, result = ",".join(map(str, shape)), ",".join([str(shape[d]) for d in order])
    return f"""HloModule m
ENTRY e {{ x = {kind}[{sizes}] parameter(0) ROOT r = {kind}[{result}] transpose(x), dimensions={{{",".join(map(str, order))}}} }}"""


def values(kind, *shape):
    x = RANDOM.standard_normal(shape) * 50
    return x > 0 if kind == "pred" else x.astype(TYPES[kind])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((64, 96), (1, 0)),
        ((100, 52), (1, 0)),
        ((3, 40, 50), (0, 2, 1)),
        ((33, 5, 47), (2, 1, 0)),
        ((256, 128), (1, 0)),
    ],
)
@pytest.mark.sampled(6)
def test_transpose(kind, shape, order):
    ran = check(transpose(kind, shape, order), values(kind, *shape), assemble=shape == (100, 52))
    assert ran.emitted.emitter == "transpose" and ran.conflicts() == 1
    if shape == (256, 128):
        assert ran.sector_use() == 1


@pytest.mark.parametrize(
    ("kind", "shape", "rows"),
    [
        ("s8", (2000, 4), True),
        ("f32", (5000, 3), True),
        ("s8", (4, 2000), False),
        ("f32", (40, 3), False),
    ],
)
def test_rows_of_few_elements_are_transposed_in_registers_where_the_estimate_says_so(
    kind, shape, rows
):
    ran = check(transpose(kind, shape, (1, 0)), values(kind, *shape), assemble=False)
    one = run(
        transpose(kind, shape, (1, 0)),
        values(kind, *shape),
        assemble=False,
        write=one_element_a_thread,
    )
    assert (ran.emitted.emitter == "transpose") is rows and ran.conflicts() == 1
    if rows:
        assert (
            f"{shape[1]} elements a thread, in registers" in ran.emitted.kernels[0].launch.reasoning
        )
        assert all(
            sum([row[name] or 0 for row in ran.rows]) < sum([row[name] or 0 for row in one.rows])
            for name in ("warp_instructions", "sectors")
        )


def one_element_a_thread(i, architecture):
    return write_gpu_kernels(
        i, architecture, overrides=Overrides(forbidden=frozenset({"transpose"}))
    )


def test_small_types_are_packed_where_tiles_of_that_size_fill_the_device():
    small = gpu_architecture("sm_90").on_device(dram_bytes_per_nanosecond=40.0)
    ran = check(transpose("s8", (256, 512), (1, 0)), values("s8", 256, 512), architecture=small)
    assert "ld.global.nc.b32" in ran.ptx and "st.global.b32" in ran.ptx


@pytest.mark.parametrize(
    ("kind", "shape", "side", "threads"),
    [("f32", (64, 64), 32, 1024), ("f32", (512, 512), 32, 512), ("f32", (1024, 1024), 32, 256), ("f32", (64, 256, 256), 32, 256),
     ("s8", (512, 512), 32, 512), ("s8", (1024, 1024), 32, 256), ("s8", (2048, 2048), 64, 256), ("s8", (4096, 4096), 128, 256)],
)  # fmt: skip
def test_a_transpose_has_the_threads_that_memory_waits_for(kind, shape, side, threads):
    order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    facts = gpu_architecture("sm_90")
    (kernel,) = write_gpu_kernels(
        parse_hlo(transpose(kind, shape, order)).entry.root, facts
    ).kernels
    launch, enough = kernel.launch, threads_for_full_bandwidth(facts)
    assert (launch.threads_per_block, f"tiles of {side} x {side} elements" in launch.reasoning) == (
        threads,
        True,
    )
    assert launch.blocks * threads >= enough or threads == 1024
    assert (f"fewer than the {enough} threads" in launch.reasoning) == (
        (side, threads) != (32 * 4 // TYPES[kind]().nbytes, 256)
    )


def test_transpose_inside_a_fusion():
    text = """HloModule m
f { x = f32[64,80] parameter(0) y = f32[80,64] parameter(1) b = f32[64] parameter(2) n = f32[64,80] negate(x)
  t = f32[80,64] transpose(n), dimensions={1,0} bb = f32[80,64] broadcast(b), dimensions={1}
  a = f32[80,64] add(t, y) ROOT r = f32[80,64] multiply(a, bb) }
ENTRY e { x = f32[64,80] parameter(0) y = f32[80,64] parameter(1) b = f32[64] parameter(2)
  ROOT r = f32[80,64] fusion(x, y, b), kind=kInput, calls=f }"""
    ran = check(text, values("f32", 64, 80), values("f32", 80, 64), values("f32", 64))
    assert ran.emitted.emitter == "transpose" and ran.conflicts() == 1


def test_copy_that_changes_the_layout():
    text = (
        "HloModule m\nENTRY e { x = f32[64,80]{0,1} parameter(0) ROOT r = f32[64,80]{1,0} copy(x) }"
    )
    assert check(text, values("f32", 64, 80)).emitted.emitter == "transpose"


def test_a_short_dimension_is_refused_with_its_size():
    ran = check(transpose("f32", (5, 300), (1, 0)), values("f32", 5, 300))
    assert ("transpose", "transposed-dimension-is-short") in [
        (name, reason.code) for name, reason in ran.emitted.refused
    ]


def test_vectorised_loop_with_two_results():
    text = """HloModule m
f { x = f32[512,260] parameter(0) b = f32[260] parameter(1) bb = f32[512,260] broadcast(b), dimensions={1}
  a = f32[512,260] add(x, bb) c = f32[512,260] multiply(a, x) d = pred[512,260] compare(a, c), direction=LT
  ROOT t = (f32[512,260], pred[512,260]) tuple(c, d) }
ENTRY e { x = f32[512,260] parameter(0) b = f32[260] parameter(1)
  ROOT r = (f32[512,260], pred[512,260]) fusion(x, b), kind=kLoop, calls=f }"""
    ran = check(text, values("f32", 512, 260), values("f32", 260))
    assert ran.emitted.emitter == "vector-loop"
    assert {"ld.global.nc.v4.b32", "st.global.v4.b32", "st.global.b32"} <= {
        row["opcode"] for row in ran.rows
    }


def test_bf16_takes_eight_at_once():
    text = "HloModule m\nENTRY e { x = bf16[300000] parameter(0) ROOT r = bf16[300000] multiply(x, x) }"
    ran = check(text, values("bf16", 300000), relative=1e-2)
    assert "ld.global.nc.v4.b32" in ran.ptx and ran.sector_use() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "HloModule m\nENTRY e { x = f32[1001] parameter(0) ROOT r = f32[1001] negate(x) }",
            "multiple",
        ),
        (
            "HloModule m\nENTRY e { x = f32[64] parameter(0) ROOT r = f32[64] negate(x) }",
            "multiprocessors",
        ),
    ],
)
def test_one_element_a_thread_has_a_reason(text, words):
    size = 1001 if "1001" in text else 64
    emitted = check(text, values("f32", size)).emitted
    assert (
        emitted.emitter == "loop"
        and emitted.refused == ()
        and words in emitted.kernels[0].launch.reasoning
    )


def test_a_transpose_that_is_also_read_elsewhere_than_in_its_tile():
    ran = check(
        """HloModule m
f { p = f64[40,24] parameter(0)
  t = f64[24,40] transpose(p), dimensions={1,0}
  back = f64[24,40] reverse(t), dimensions={0,1}
  ROOT s = f64[24,40] subtract(back, t) }
ENTRY e { x = f64[40,24] parameter(0) ROOT r = f64[24,40] fusion(x), kind=kLoop, calls=f }""",
        values("f64", 40, 24),
    )
    assert ("transpose", "several-tiles") in [
        (name, reason.code) for name, reason in ran.emitted.refused
    ]


def test_two_arrays_are_transposed_through_tiles_of_one_kernel():
    text = """HloModule m
f { x = f32[64,80] parameter(0) y = bf16[64,80] parameter(1) w = f32[64,80] convert(y) s = f32[64,80] add(x, w)
  ROOT t = f32[80,64] transpose(s), dimensions={1,0} }
ENTRY e { x = f32[64,80] parameter(0) y = bf16[64,80] parameter(1) ROOT r = f32[80,64] fusion(x, y), kind=kInput, calls=f }"""
    ran = check(text, values("f32", 64, 80), values("bf16", 64, 80))
    assert (
        ran.emitted.emitter == "transpose"
        and ran.conflicts() == 1
        and str(ran.emitted.nest).count("stage{") == 2
    )
