"""GEMV and skinny GEMM: values in every form, coalesced reads, parts added in order."""

import random

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(17)
TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "s8": np.int8,
    "s32": np.int32,
    "c64": np.complex64,
    "f16": np.float16,
}


def numbers(kind, dimensions):
    x = RANDOM.integers(-3, 4, dimensions)
    return (x + 1j * RANDOM.integers(-3, 4, dimensions) if kind == "c64" else x).astype(TYPES[kind])


def dot(kind, left, right, contracted, result, batch=0, made=None):
    sizes = [",".join(map(str, d)) for d in (left, right, result)]
    dims = ",".join(map(str, range(batch)))
    batches = f", lhs_batch_dims={{{dims}}}, rhs_batch_dims={{{dims}}}" if batch else ""
    return f"""HloModule m
ENTRY e {{ a = {kind}[{sizes[0]}] parameter(0) b = {kind}[{sizes[1]}] parameter(1)
  ROOT r = {made or kind}[{sizes[2]}] dot(a, b), lhs_contracting_dims={{{contracted[0]}}}, rhs_contracting_dims={{{contracted[1]}}}{batches} }}"""


@pytest.mark.parametrize(
    ("left", "right", "contracted", "result", "kernels"),
    [
        ((40, 256), (256,), (1, 0), (40,), 1),  # matrix times vector
        ((40, 250), (250,), (1, 0), (40,), 1),
        ((3, 5000), (5000,), (1, 0), (3,), 1),
        ((256,), (256, 70), (0, 0), (70,), 2),  # vector times matrix
        ((3000,), (3000, 33), (0, 0), (33,), 2),
        ((100,), (100,), (0, 0), (), 1),
        ((64, 100), (100, 10), (1, 0), (64, 10), 1),
        ((8, 100), (100, 96), (1, 0), (8, 96), 1),
        ((100, 64), (100, 5), (0, 0), (64, 5), 1),
    ],
)
@pytest.mark.sampled(4)
def test_forms(left, right, contracted, result, kernels):
    ran = check(
        dot("f32", left, right, contracted, result),
        numbers("f32", left),
        numbers("f32", right),
        assemble=len(result) == 2,
    )
    assert ran.emitted.emitter == "skinny-dot" and len(ran.emitted.kernels) == kernels


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("f64", None),
        ("bf16", None),
        ("bf16", "f32"),
        ("s8", "s32"),
        ("s32", None),
        ("c64", None),
        ("f16", None),
    ],
)
def test_types(kind, made):
    text = dot(kind, (20, 64), (64, 3), (1, 0), (20, 3), 0, made)
    check(
        text,
        numbers(kind, (20, 64)),
        numbers(kind, (64, 3)),
        relative=2e-2 if kind in ("bf16", "f16") else 1e-5,
        assemble=kind == "c64",
    )


@pytest.mark.parametrize("contracted", [(2, 1), (1, 1)])
def test_batches(contracted):
    left = (3, 40, 64) if contracted[0] == 2 else (3, 64, 40)
    ran = check(
        dot("f32", left, (3, 64, 4), contracted, (3, 40, 4), 1),
        numbers("f32", left),
        numbers("f32", (3, 64, 4)),
        assemble=False,
    )
    assert ran.emitted.emitter == "skinny-dot"


def test_the_matrix_is_read_whole_sectors_at_a_time():
    for left, right, contracted, result in [
        ((64, 512), (512,), (1, 0), (64,)),
        ((512,), (512, 64), (0, 0), (64,)),
    ]:
        ran = check(
            dot("f32", left, right, contracted, result),
            numbers("f32", left),
            numbers("f32", right),
            assemble=False,
        )
        assert ran.sector_use() >= 1 and ran.conflicts() == 1


@pytest.mark.parametrize("kind", ["f32", "c64"])
@pytest.mark.parametrize("columns", [24, 4096])
def test_sums_of_sixteen_rows_fit_into_shared_memory(kind, columns):
    text = dot(kind, (16, 48), (48, columns), (1, 0), (16, columns))
    emitted = write_gpu_kernels(parse_hlo(text).entry.root, gpu_architecture("sm_90"))
    assert (
        emitted.emitter == "skinny-dot"
        and 0 < emitted.kernels[0].shared_bytes <= STATIC_SHARED_BYTES
    )


@pytest.mark.parametrize(
    ("left", "right", "contracted", "result"),
    [
        ((5,), (7,), ("", ""), (5, 7)),  # nothing is added
        (
            (5, 1),
            (1, 7),
            (1, 0),
            (5, 7),
        ),  # one product for each element, of what is loaded outside of the sum
        ((0, 4), (4, 40), (1, 0), (0, 40)),
        ((3, 0), (0, 4), (1, 0), (3, 4)),
    ],
)
def test_sums_of_one_product_or_none_are_left_to_others(left, right, contracted, result):
    ran = check(
        dot("f32", left, right, contracted, result),
        numbers("f32", left),
        numbers("f32", right),
        assemble=False,
    )
    assert ran.emitted.emitter != "skinny-dot"


def test_square_products_say_why_not():
    text = dot("f32", (64, 64), (64, 64), (1, 0), (64, 64))
    ran = check(text, numbers("f32", (64, 64)), numbers("f32", (64, 64)), assemble=False)
    assert ("skinny-dot", "neither-side-is-skinny") in [
        (name, reason.code) for name, reason in ran.emitted.refused
    ]


def random_dot(choice):
    """Return (text, operand shapes) with batch, contracted and kept dimensions in any order."""
    kind = choice.choice(sorted(TYPES))
    batch = [
        ("batch", number, choice.choice((1, 2, 3))) for number in range(choice.choice((0, 0, 1, 2)))
    ]
    contracted = [
        ("contracting", number, extent)
        for number, extent in enumerate(choice.choice(((32,), (100,), (257,), (40, 3))))
    ]
    sides, kept = [], []
    for extents in ((1, 2, 5, 17, 70), (1, 3, 16, 40)):
        kept.append(
            [
                ("kept", number, choice.choice(extents))
                for number in range(choice.choice((0, 1, 1, 2)))
            ]
        )
        places = [*batch, *contracted, *kept[-1]]
        choice.shuffle(places)
        own = iter(kept[-1])
        sides.append([next(own) if place[0] == "kept" else place for place in places])
    given = ", ".join([f"{side}_{what}_dims={{{','.join([str(order.index(place)) for place in places])}}}"
                       for side, order in zip(("lhs", "rhs"), sides, strict=True)
                       for what, places in (("batch", batch), ("contracting", contracted)) if places])  # fmt: skip
    shapes = [[extent for _, _, extent in order] for order in sides]
    left, right, result = [
        ",".join(map(str, s))
        for s in (*shapes, [extent for _, _, extent in (*batch, *kept[0], *kept[1])])
    ]
    made = "s32" if kind == "s8" else kind
    text = f"ENTRY e {{ a = {kind}[{left}] parameter(0) b = {kind}[{right}] parameter(1) ROOT r = {made}[{result}] dot(a, b), {given} }}"
    return (
        text,
        [numbers(kind, shape) for shape in shapes],
        2e-2 if kind in ("bf16", "f16") else 1e-5,
    )


@pytest.mark.parametrize("seed", range(80))
@pytest.mark.sampled(4)
def test_random_dots(seed):
    text, operands, relative = random_dot(random.Random(seed))
    check(text, *operands, relative=relative, assemble=False)


def test_the_skinny_side_is_read_by_vectors():
    """Rows of the large matrix that a thread adds in turn are contiguous in the skinny one."""
    text = dot("f32", (16, 128), (128, 512), (1, 0), (16, 512))
    ran = check(text, numbers("f32", (16, 128)), numbers("f32", (128, 512)), assemble=False)
    assert (
        ran.emitted.emitter == "skinny-dot"
        and ran.ptx.count("ld.global.nc.v4.b32") == 16
        and ran.ptx.count("ld.global.nc.b32") == 4
    )
