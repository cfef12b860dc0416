"""Matrix products by wgmma and tensor maps: values, edges, tile bands, refusals, planted faults."""

import dataclasses
import re

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of, run
from tests.backends.gpu.emitters.test_tensor_core_dot import RANDOM, TYPES, dot
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.occupancy import occupancy
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas

HOPPER = gpu_architecture("sm_90a")
TF32 = "algorithm=dot_tf32_tf32_f32"
ONE_BLOCK = dataclasses.replace(HOPPER, multiprocessors=1)


def operands(kind, *shapes):
    return [RANDOM.standard_normal(shape).astype(TYPES[kind]) for shape in shapes]


@pytest.mark.parametrize(
    ("kind", "result", "a", "b", "left", "right", "batch"),
    [
        ("bf16", "f32", (128, 64), (64, 64), 1, 0, 0),
        ("bf16", "f32", (200, 200), (200, 136), 1, 0, 0),
        ("f16", "f16", (200, 200), (136, 200), 1, 1, 0),
        ("bf16", "bf16", (136, 200), (136, 264), 0, 0, 0),
        ("f16", "f32", (200, 72), (136, 200), 0, 1, 0),
        ("bf16", "f32", (3, 72, 80), (3, 80, 136), 2, 1, 1),
        ("bf16", "bf16", (2, 2, 72, 64), (2, 2, 64, 72), 3, 2, 2),
        ("bf16", "f32", (65, 64), (67, 64), 1, 1, 0),
    ],
)
@pytest.mark.sampled(3)
def test_products(kind, result, a, b, left, right, batch):
    text = dot(kind, result, a, b, left, right, batch)
    ran = check(
        text,
        *operands(kind, a, b),
        relative=1e-3 if result == "f32" else 2e-2,
        assemble=False,
        architecture=ONE_BLOCK,
    )
    assert ran.emitted.emitter == "warpgroup-dot"
    assert (
        "wgmma.mma_async" in ran.ptx
        and "cp.async.bulk.tensor" in ran.ptx
        and "setmaxnreg.inc" in ran.ptx
    )


@pytest.mark.long
@pytest.mark.parametrize(("right", "b"), [(0, (192, 760)), (1, (760, 192))])
@pytest.mark.sampled(1)
def test_widest_tiles_and_several_tiles_a_block(right, b):
    """One multiprocessor: its block takes all tiles, and runs round its stages more than once."""
    text = dot("bf16", "f32", (300, 192), b, 1, right)
    ran = check(
        text,
        *operands("bf16", (300, 192), b),
        relative=1e-3,
        assemble=False,
        architecture=ONE_BLOCK,
    )
    launch = ran.emitted.kernels[0].launch
    assert (
        launch.blocks == 1
        and "9 tiles of 128 x 256" in launch.reasoning
        and "4 stages" in launch.reasoning
    )
    assert ran.sector_use() == 1


def test_small_results_use_split_k():
    devices = dataclasses.replace(HOPPER, multiprocessors=8)
    a, b = (136, 2080), (2080, 72)
    ran = check(
        dot("bf16", "bf16", a, b, 1, 0),
        *operands("bf16", a, b),
        relative=2e-2,
        assemble=False,
        architecture=devices,
    )
    first, second = ran.emitted.kernels
    assert (
        ran.emitted.emitter == "warpgroup-dot"
        and first.scratch
        and second.scratch
        and first.launch.blocks == 8
    )
    assert (
        "split-K over 4 slices" in first.launch.reasoning
        and ran.emitted.scratch_bytes == 4 * 4 * 136 * 72
    )


def test_bands_of_which_the_last_is_lower():
    shape = (128 * 18, 64)
    ran = check(dot("bf16", "f32", shape, (64, 128), 1, 0), *operands("bf16", shape, (64, 128)), relative=1e-3, assemble=False,
                architecture=dataclasses.replace(HOPPER, multiprocessors=4))  # fmt: skip
    assert "18 tiles of 128 x 128" in ran.emitted.kernels[0].launch.reasoning


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (dot("f32", "f32", (64, 64), (64, 64), 1, 0), "type-not-of-tensor-cores"),
        (dot("bf16", "f32", (64, 68), (68, 64), 1, 0), "rows-not-aligned"),
        (dot("bf16", "f32", (32, 64), (64, 64), 1, 0), "matrix-is-small"),
        (
            dot("bf16", "f32", (1, 1, 1, 1, 64, 64), (1, 1, 1, 1, 64, 64), 5, 4, 4),
            "too-many-batch-dimensions",
        ),
    ],
)
def test_refusals(text, code):
    assert dict(ptx_of(text, HOPPER)[1].refused)["warpgroup-dot"].code == code


def test_few_tiles_are_left_to_warps():
    _, emitted, _, _ = ptx_of(dot("bf16", "f32", (64, 4096), (4096, 64), 1, 0), HOPPER)
    reason = dict(emitted.refused)["warpgroup-dot"]
    assert (
        emitted.emitter == "tensor-core-dot"
        and reason.code == "warps-are-faster"
        and reason.facts["by_warps_us"] < reason.facts["us"]
    )
    _, emitted, _, _ = ptx_of(dot("bf16", "f32", (8192, 4096), (4096, 8192), 1, 0), HOPPER)
    assert (
        emitted.emitter == "warpgroup-dot"
        and "one a multiprocessor" in emitted.kernels[0].launch.reasoning
    )


def test_tf32_where_the_dot_asks_for_it():
    text = dot("f32", "f32", (200, 100), (136, 100), 1, 1).replace(
        "rhs_contracting_dims={1}", "rhs_contracting_dims={1}, " + TF32
    )
    ran = check(
        text,
        *operands("f32", (200, 100), (136, 100)),
        relative=3e-2,
        assemble=False,
        architecture=ONE_BLOCK,
    )
    assert ran.emitted.emitter == "warpgroup-dot" and "k8.f32.tf32.tf32" in ran.ptx
    (left, right) = ran.emitted.kernels[0].tensor_maps
    assert (left.element_type, left.element_bytes, left.dimensions, left.box) == (
        "f32",
        4,
        (100, 200),
        (32, 128),
    ) and right.swizzle == 128


@pytest.mark.slow
def test_epilogue():
    text = """HloModule m
after { a = bf16[200,64] parameter(0) b = bf16[64,136] parameter(1) c = bf16[136] parameter(2) s = f32[200,136] parameter(3)
  d = bf16[200,136] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  cb = bf16[200,136] broadcast(c), dimensions={1}  x = bf16[200,136] add(d, cb)  t = bf16[200,136] tanh(x)
  w = f32[200,136] convert(t)  ROOT o = f32[200,136] multiply(w, s) }
ENTRY e { a = bf16[200,64] parameter(0) b = bf16[64,136] parameter(1) c = bf16[136] parameter(2) s = f32[200,136] parameter(3)
  ROOT r = f32[200,136] fusion(a, b, c, s), kind=kOutput, calls=after }"""
    given = [*operands("bf16", (200, 64), (64, 136), (136,)), *operands("f32", (200, 136))]
    for architecture, emitter in ((ONE_BLOCK, "warpgroup-dot"), ("sm_80", "tensor-core-dot")):
        ran = check(text, *given, relative=3e-2, assemble=False, architecture=architecture)
        assert ran.emitted.emitter == emitter and len(ran.emitted.kernels) == 1
        narrow = check(text.replace("f32[", "bf16["), *given[:3], given[3].astype(TYPES["bf16"]), relative=3e-2, assemble=False,
                       architecture=architecture)  # fmt: skip
        assert "st.global.v4.b32" in narrow.ptx


def test_other_devices_take_what_warps_do():
    _, emitted, _, _ = ptx_of(dot("bf16", "f32", (64, 64), (64, 64), 1, 0), "sm_90")
    assert (
        emitted.emitter == "tensor-core-dot"
        and dict(emitted.refused)["warpgroup-dot"].code == "gpu-lacks-instruction"
    )


def test_tensor_maps_describe_the_operands():
    _, emitted, _, _ = ptx_of(dot("bf16", "f32", (5, 256, 96), (5, 96, 512), 2, 1, 1), ONE_BLOCK)
    left, right = emitted.kernels[0].tensor_maps
    assert (left.parameter, left.dimensions, left.strides, left.box) == (
        0,
        (96, 256, 5),
        (192, 49152),
        (64, 128, 1),
    )
    columns = int(re.search(r"128 x (\d+)", emitted.kernels[0].launch.reasoning)[1])
    assert (right.parameter, right.dimensions, right.strides, right.box) == (
        1,
        (512, 96, 5),
        (1024, 98304),
        (64, 64, 1),
    )
    assert emitted.kernels[0].dynamic_shared_bytes >= 4 * 2 * 64 * (128 + columns)


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize(("n", "right"), [(8192, 0), (8192, 1), (128, 0), (64, 1)])
def test_assembled_without_spills_or_warnings(n, right):
    b = (8192, n) if right == 0 else (n, 8192)
    _, emitted, _, ptx = ptx_of(dot("bf16", "bf16", (8192, 8192), b, 1, right), ONE_BLOCK)
    (row,) = assemble_ptx(ptx, "sm_90a").resources
    assert (row.spill_stores, row.spill_loads, row.stack) == (0, 0, 0)
    fits = occupancy(384, row.registers, emitted.kernels[0].dynamic_shared_bytes, HOPPER)
    assert fits.blocks == 1 and row.registers <= 168
    # The registers of the roles must be there: 128 threads with 40, 256 with 232.
    assert HOPPER.registers_per_multiprocessor >= 128 * 40 + 256 * 232


def planted(change, k=512):
    """Kinds of faults in a kernel of several rounds, after a change of its text."""
    findings = []
    text = dot("bf16", "f32", (128, k), (k, 64), 1, 0)
    ran = run(
        text,
        *operands("bf16", (128, k), (k, 64)),
        assemble=False,
        architecture=ONE_BLOCK,
        change=change,
        findings=findings,
    )
    right = np.allclose(ran.values[0], ran.wanted[0], rtol=1e-3, atol=1e-2)
    return {f.kind for f in findings}, right, findings


WAIT = re.compile(r"\{ \.reg \.pred %over; again_(\d+): mbarrier\.try_wait[^}]*\}")


def without_wait(ptx, before):
    """Return the text without the last wait before a pattern."""
    at = ptx.index(before)
    last = [m for m in WAIT.finditer(ptx) if m.start() < at][-1]
    return ptx[: last.start()] + ptx[last.end() :]


def test_the_kernel_as_it_is():
    assert planted(lambda ptx: ptx)[:2] == (set(), True)


def test_multiplying_before_the_copy_is_there():
    kinds, _, findings = planted(lambda ptx: without_wait(ptx, "wgmma.fence"))
    assert kinds & {"race: read after write", "uninitialised read", "race: write while an asynchronous operation still reads",
                    "race: write after read"}  # fmt: skip
    assert any("wgmma" in f.text or "cp.async.bulk" in f.text for f in findings)


def test_copying_into_a_stage_that_is_still_read():
    def change(ptx):
        half = ptx.index("setmaxnreg.inc")
        return WAIT.sub("", ptx[:half]) + ptx[half:]

    assert "race: write after write" in planted(change)[0]


def test_giving_a_stage_back_before_the_product_is_done():
    kinds, _, _ = planted(
        lambda ptx: ptx.replace(
            "wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"
        )
    )
    assert kinds == {"race: write while an asynchronous operation still reads"}


def test_storing_before_the_last_product_is_done():
    kinds, _, _ = planted(lambda ptx: ptx.replace("wgmma.wait_group.sync.aligned 0;", ""))
    assert "result of a product read before wgmma.wait_group" in kinds


def test_missing_fence_of_a_product():
    assert (
        "product on registers without wgmma.fence"
        in planted(lambda ptx: ptx.replace("wgmma.fence.sync.aligned;", ""))[0]
    )


def test_missing_fence_of_the_barriers():
    def without(ptx: str) -> str:
        ptx = ptx.replace("fence.mbarrier_init.release.cluster;", "")
        return ptx.replace("fence.proxy.async.shared::cta;", "")

    assert planted(without)[0] == {"mbarrier used by the copy engine before fence.mbarrier_init"}


def test_barriers_used_before_everybody_knows_them():
    assert "race: read after write" in planted(lambda ptx: ptx.replace("bar.sync \t0;", ""))[0]


def test_too_few_bytes_expected():
    kinds, _, findings = planted(
        lambda ptx: re.sub(r"(expect_tx\S* _, \[%r\d+\]), \d+;", r"\1, 4096;", ptx)
    )
    assert kinds == {"wait for an mbarrier that never ends"}
    assert any("-20480 bytes" in f.example for f in findings)


def test_wrong_phase():
    """A parity that never changes: the second round finds the phase of the first over."""
    kinds, _, findings = planted(
        lambda ptx: re.sub(r"%over, \[(%r\d+)\], %r\d+;", r"%over, [\1], 0;", ptx)
    )
    assert kinds == {"wait for an mbarrier that never ends"} and len(findings) == 2


def test_wrong_swizzle_in_the_descriptor_shows_in_the_values():
    _, right, _ = planted(
        lambda ptx: ptx.replace(
            str((1 << 62) + (64 << 32) + (512 << 16)), str((64 << 32) + (512 << 16))
        )
    )
    assert not right


def test_bulk_bytes_are_counted_by_line():
    text = dot("bf16", "f32", (128, 128), (128, 64), 1, 0)
    ran = run(
        text, *operands("bf16", (128, 128), (128, 64)), assemble=False, architecture=ONE_BLOCK
    )
    copied = sum(row["bulk_bytes"] for row in ran.rows if row["bulk_bytes"])
    assert copied == 2 * (128 * 128 + 128 * 64)
