"""Matrix products by tensor cores: operand orders, edges, batches, no bank conflicts, refusals."""

import re

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(5)
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


def dot(kind, result, a, b, left, right, batch=0):
    dims = ",".join(map(str, range(batch)))
    m = next(a[d] for d in range(batch, len(a)) if d != left)
    n = next(b[d] for d in range(batch, len(b)) if d != right)
    shapes = [",".join(map(str, shape)) for shape in (a, b, (*a[:batch], m, n))]
    batches = f", lhs_batch_dims={{{dims}}}, rhs_batch_dims={{{dims}}}" if batch else ""
    return f"""HloModule m
ENTRY e {{ a = {kind}[{shapes[0]}] parameter(0) b = {kind}[{shapes[1]}] parameter(1)
  ROOT r = {result}[{shapes[2]}] dot(a, b){batches}, lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}} }}"""


@pytest.mark.parametrize(("kind", "result"), [("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")])
@pytest.mark.parametrize(
    ("a", "b", "left", "right", "batch"),
    [
        ((64, 64), (64, 64), 1, 0, 0),
        ((40, 72), (72, 56), 1, 0, 0),
        ((64, 96), (48, 96), 1, 1, 0),
        ((96, 64), (96, 72), 0, 0, 0),
        ((96, 64), (40, 96), 0, 1, 0),
        ((3, 40, 64), (3, 64, 48), 2, 1, 1),
        ((17, 200), (200, 24), 1, 0, 0),
        ((33, 64), (35, 64), 1, 1, 0),
    ],
)
@pytest.mark.sampled(5)
def test_products(kind, result, a, b, left, right, batch):
    x, y = (RANDOM.standard_normal(shape).astype(TYPES[kind]) for shape in (a, b))
    relative = 1e-3 if result == "f32" else 2e-2
    ran = check(
        dot(kind, result, a, b, left, right, batch),
        x,
        y,
        relative=relative,
        assemble=kind != result,
    )
    assert ran.emitted.emitter == "tensor-core-dot" and ran.conflicts() == 1
    assert "mma.sync" in ran.ptx and "ldmatrix" in ran.ptx and "cp.async" in ran.ptx


@pytest.mark.long
def test_large_tiles_where_there_are_enough_of_them():
    text = dot("bf16", "f32", (1500, 64), (64, 1504), 1, 0)
    x, y = (
        RANDOM.standard_normal(shape).astype(ml_dtypes.bfloat16)
        for shape in ((1500, 64), (64, 1504))
    )
    ran = check(text, x, y, relative=1e-3)
    assert ran.emitted.kernels[0].launch.threads_per_block == 256 and ran.conflicts() == 1
    assert ran.emitted.kernels[0].shared_bytes <= 48 * 1024
    assert ran.emitted.estimated_us > 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (dot("f32", "f32", (64, 64), (64, 64), 1, 0), "type-not-of-tensor-cores"),
        (dot("bf16", "f32", (64, 60), (60, 64), 1, 0), "rows-not-aligned"),
        (dot("bf16", "f32", (8, 64), (64, 64), 1, 0), "matrix-is-small"),
    ],
)
def test_refusals(text, code):
    assert dict(ptx_of(text)[1].refused)["tensor-core-dot"].code == code


@pytest.mark.parametrize(("a", "b"), [((64, 128), (48, 128)), ((33, 72), (64, 72))])
def test_tf32_where_the_dot_asks_for_it(a, b):
    text = dot("f32", "f32", a, b, 1, 1).replace(
        "rhs_contracting_dims={1}", "rhs_contracting_dims={1}, algorithm=dot_tf32_tf32_f32"
    )
    x, y = (RANDOM.standard_normal(shape).astype(np.float32) for shape in (a, b))
    ran = check(text, x, y, relative=3e-2, assemble=True)
    assert (
        ran.emitted.emitter == "tensor-core-dot" and "m16n8k8" in ran.ptx and ran.conflicts() == 1
    )
    other = dot("f32", "f32", (64, 64), (64, 64), 1, 0).replace(
        "={0}", "={0}, algorithm=dot_tf32_tf32_f32"
    )
    assert dict(ptx_of(other)[1].refused)["tensor-core-dot"].code == "reduced-is-not-minor"


@pytest.mark.long
@pytest.mark.parametrize(
    ("a", "b", "left", "right", "batch", "splits"),
    [
        ((32, 4096), (4096, 40), 1, 0, 0, 16),
        ((2, 40, 4000), (2, 4000, 24), 2, 1, 1, 14),
        ((33, 1000), (35, 1000), 1, 1, 0, 4),
    ],
)
def test_small_results_use_split_k(a, b, left, right, batch, splits):
    text = dot("bf16", "f32", a, b, left, right, batch)
    x, y = (RANDOM.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in (a, b))
    ran = check(text, x, y, relative=1e-2, assemble=splits == 16)
    first, second = ran.emitted.kernels
    assert (
        f"split-K over {splits} slices" in first.launch.reasoning
        and first.scratch
        and second.scratch
        and ran.conflicts() == 1
    )
    m, n = ran.values[0].shape[-2:]
    assert ran.emitted.scratch_bytes == 4 * splits * m * n * (a[0] if batch else 1)


def assembly(*sizes):
    return ptx_of(dot(*sizes), "sm_80")[3].partition("_combine(")[0]


@pytest.mark.parametrize(("k", "m", "n"), [(224, 64, 128), (72, 40, 56), (1030, 40, 48)])
def test_what_is_computed_of_an_address_is_not_widened(k, m, n):
    # Of 32 bits are the numbers of the thread and the block alone; LLVM adds no constant to an
    # address through a conversion.
    text = assembly("bf16", "f32", (k, m), (k, n), 0, 0)
    assert "mma.sync" in text and text.count("cvt.u64.u32") + text.count("cvt.s64.s32") <= 2


def test_of_rows_that_all_exist_none_is_asked_for():
    # Tiles of 32 rows, of which the last one has 24: of the four groups of eight, whose stores
    # stand apart, one may be outside.
    assert assembly("f16", "f32", (40, 152), (40, 192), 0, 0).count("bra") == 1


def test_operands_share_the_number_of_the_step():
    text = assembly("bf16", "f32", (707, 32), (707, 48), 0, 0)
    assert (
        len(re.findall(r"add\.s64 \s*(%rd\d+), \1, \d+;", text)) == 2
    )  # the loop's, and where both operands are


def test_old_devices_have_no_such_instruction():
    root = parse_hlo(dot("bf16", "f32", (64, 64), (64, 64), 1, 0)).entry.root
    refused = dict(write_gpu_kernels(root, gpu_architecture("sm_75")).refused)
    assert refused["tensor-core-dot"].code == "gpu-lacks-instruction"


@pytest.mark.parametrize(
    ("kind", "dtype"), [("f32", np.float32), ("f64", np.float64), ("s32", np.int32)]
)
@pytest.mark.parametrize(
    ("a", "b", "left", "right", "batch"),
    [
        ((64, 64), (64, 64), 1, 0, 0),
        ((40, 71), (71, 53), 1, 0, 0),
        ((50, 30), (47, 30), 1, 1, 0),
        ((33, 64), (33, 70), 0, 0, 0),
        ((30, 64), (40, 30), 0, 1, 0),
        ((3, 40, 20), (3, 20, 48), 2, 1, 1),
    ],
)
@pytest.mark.sampled(4)
def test_tiles_without_tensor_cores(kind, dtype, a, b, left, right, batch):
    random = np.random.default_rng(
        5
    )  # of its own: a sum that cancels has few digits, so each test must have the same numbers every time
    x, y = ((random.standard_normal(shape) * 9).astype(dtype) for shape in (a, b))
    ran = check(dot(kind, kind, a, b, left, right, batch), x, y, relative=1e-4, assemble=batch == 1)
    assert ran.emitted.emitter == "simt-dot" and ran.conflicts() == 1
    assert ran.emitted.estimated_us > 0


@pytest.mark.slow
def test_eight_by_eight_a_thread_where_there_are_enough_tiles():
    x, y = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((1500, 20), (20, 1501)))
    ran = check(dot("f32", "f32", (1500, 20), (20, 1501), 1, 0), x, y, relative=1e-4)
    assert (
        ran.emitted.emitter == "simt-dot"
        and "8 x 8" in ran.emitted.kernels[0].launch.reasoning
        and ran.conflicts() == 1
    )
