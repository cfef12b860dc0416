"""Dots by register tiles: edge sizes, both types, batches, strides, packing; selection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.kernel_runner import run_kernels
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import DotSizes
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import blocks_of_tiles
from xla_explorer.compiler.codegen.kernels.products.dot_plan import (
    plan_dot,
    plan_product,
)
from xla_explorer.compiler.codegen.library_calls import dot_by_library
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.products import product_policy
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, product_limits, tile_for
from xla_explorer.compiler.codegen.nest.tuning import tuning_of
from xla_explorer.compiler.target import HOST_LIKE, NVPTX, cpu_target
from xla_explorer.hlo.text.parser import parse_hlo

NUMPY = {"f32": np.float32, "f64": np.float64}


def dot_text(dots):
    """Return a module of dots: (type, left shape, right shape, result shape, attributes) each."""
    lines = ["HloModule dots", "ENTRY main {"]
    for n, (t, left, right, result, attributes) in enumerate(dots):
        a, b, c = [
            f"{t}[{','.join(map(str, dims))}]" if isinstance(dims, tuple) else f"{t}{dims}"
            for dims in (left, right, result)
        ]
        lines.append(f"  a{n} = {a} parameter({2 * n})")
        lines.append(f"  b{n} = {b} parameter({2 * n + 1})")
        lines.append(f"  d{n} = {c} dot(a{n}, b{n}), {attributes}")
    lines.append(f"  ROOT all = tuple({', '.join([f'd{n}' for n in range(len(dots))])})")
    return "\n".join([*lines, "}"])


def check(dots, equations, seed=0):
    """Run all the dots in one module and compare each with numpy in f64."""
    module = parse_hlo(dot_text(dots))
    rng = np.random.default_rng(seed)
    inputs = [
        rng.standard_normal(p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in module.entry.parameters()
    ]
    found = run_kernels(module, *inputs)
    for n, (result, equation) in enumerate(zip(found, equations, strict=True)):
        a, b = inputs[2 * n].astype(np.float64), inputs[2 * n + 1].astype(np.float64)
        wanted = np.einsum(equation, a, b)
        bound = (
            np.einsum(equation, np.abs(a), np.abs(b)) * (1e-5 if dots[n][0] == "f32" else 1e-13)
            + 1e-30
        )
        assert (np.abs(result - wanted) <= bound).all(), dots[n]
    return module


MULTIPLY = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
LEFT_TRANSPOSED = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
RIGHT_TRANSPOSED = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_every_small_size_is_right(t):
    rng = np.random.default_rng(5)
    sizes = [
        *rng.integers(1, 41, (14, 3)).tolist(),
        (1, 40, 3),
        (33, 1, 17),
        (29, 2, 1),
        (2, 17, 9),
        (40, 31, 40),
    ]
    check([(t, (m, k), (k, n), (m, n), MULTIPLY) for m, n, k in sizes], ["mk,kn->mn"] * len(sizes))


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_transposed_operands_of_any_size(t):
    rng = np.random.default_rng(6)
    sizes = [*rng.integers(1, 41, (7, 3)).tolist(), (40, 37, 3), (64, 5, 33)]
    dots = [(t, (k, m), (k, n), (m, n), LEFT_TRANSPOSED) for m, n, k in sizes]
    dots += [(t, (m, k), (n, k), (m, n), RIGHT_TRANSPOSED) for m, n, k in sizes]
    check(dots, ["km,kn->mn"] * len(sizes) + ["mk,nk->mn"] * len(sizes))


def test_batches_and_strides():
    batch = (
        "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"
    )
    heads = "lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={3}"
    values = "lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={1}"
    check(
        [
            ("f32", (5, 13, 9), (5, 9, 21), (5, 13, 21), batch),
            ("f64", (3, 6, 4), (3, 4, 10), (3, 6, 10), batch),
            ("f32", (2, 30, 3, 8), (2, 19, 3, 8), (2, 3, 30, 19), heads),
            ("f32", (2, 3, 30, 19), (2, 19, 3, 8), (2, 3, 30, 8), values),
            ("f32", "[20,6]{0,1}", "[6,18]{1,0}", "[20,18]{1,0}", MULTIPLY),
            ("f32", "[20,6]{1,0}", "[6,18]{0,1}", "[20,18]{1,0}", MULTIPLY),
            ("f32", "[20,6]{1,0}", "[6,18]{1,0}", "[20,18]{0,1}", MULTIPLY),
        ],
        [
            "bmk,bkn->bmn",
            "bmk,bkn->bmn",
            "bmhd,bnhd->bhmn",
            "bhmn,bnhd->bhmd",
            "mk,kn->mn",
            "mk,kn->mn",
            "mk,kn->mn",
        ],
    )


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_matrix_times_vector(t):
    sizes = [(m, k) for m in (1, 2, 3, 7, 8, 9, 20, 33) for k in (1, 2, 5, 16, 31, 40, 77)]
    forms = [
        ((0, 1), (1,), "mk,k->m", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((1, 0), (1,), "km,k->m", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((1,), (1, 0), "k,km->m", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((1,), (0, 1), "k,mk->m", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
    ]
    dots, equations = [], []
    for number, size in enumerate(sizes):
        left, right, equation, attributes = forms[number % 4]
        dots.append(
            (t, tuple(size[d] for d in left), tuple(size[d] for d in right), (size[0],), attributes)
        )
        equations.append(equation)
    batch = (
        "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"
    )
    check([*dots, (t, (3, 10, 6), (3, 6), (3, 10), batch)], [*equations, "bmk,bk->bm"])


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_vector_times_large_matrix(t):
    sizes = [(1000, 131), (37, 4111), (8, 9000), (1023, 300)]
    module = check(
        [
            (t, (k,), (k, n), (n,), "lhs_contracting_dims={0}, rhs_contracting_dims={0}")
            for k, n in sizes
        ]
        + [
            (t, (k, n), (k,), (n,), "lhs_contracting_dims={0}, rhs_contracting_dims={0}")
            for k, n in sizes
        ],
        ["k,kn->n"] * 4 + ["kn,k->n"] * 4,
    )
    plans = [plan_dot(i, HOST_LIKE) for i in module.entry.sequence() if i.opcode.name == "dot"]
    assert {plan.code for plan in plans} == {"matrix-vector"}


def test_packed_panels_and_blocks_of_rows():
    module = check(
        [
            ("f64", (61, 40), (40, 512), (61, 512), MULTIPLY),
            ("f32", (300, 700), (700, 48), (300, 48), MULTIPLY),
        ],
        ["mk,kn->mn", "mk,kn->mn"],
    )
    packed = plan_dot(next(i for i in module.entry.sequence() if i.name == "d0"), HOST_LIKE)
    assert packed.packing == "panels"


def test_a_left_operand_whose_columns_collide_is_packed_by_blocks():
    dots = [
        ("f32", (40, 1024), (40, 70), (1024, 70), LEFT_TRANSPOSED),
        ("f64", (9, 1536), (9, 33), (1536, 33), LEFT_TRANSPOSED),
        ("f32", (700, 256), (700, 96), (256, 96), LEFT_TRANSPOSED),
        ("f64", (515, 130), (515, 48), (130, 48), LEFT_TRANSPOSED),
        (
            "f32",
            (3, 20, 1024),
            (3, 20, 64),
            (3, 1024, 64),
            "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        ),
    ]
    check(dots, ["km,kn->mn"] * 4 + ["bkm,bkn->bmn"])


@pytest.mark.parametrize("t", ["s32", "u32", "s64", "u64"])
def test_integers_wrap(t):
    sizes = [(7, 9, 40), (33, 17, 5), (1, 20, 300), (20, 30, 1), (2, 1, 3)]
    module = parse_hlo(dot_text([(t, (m, k), (k, n), (m, n), MULTIPLY) for m, k, n in sizes]))
    random, dtype = np.random.default_rng(2), module.entry.parameters()[0].shape.element_type.dtype
    limits = np.iinfo(dtype)
    inputs = [
        random.integers(limits.min, limits.max, p.shape.dimensions, dtype, endpoint=True)
        for p in module.entry.parameters()
    ]
    for n, result in enumerate(run_kernels(module, *inputs)):
        np.testing.assert_array_equal(result, inputs[2 * n] @ inputs[2 * n + 1])


def test_long_contractions_are_cut_into_blocks():
    dots = [
        ("f32", (37, 2100), (2100, 101), (37, 101), MULTIPLY),
        ("f64", (50, 1603), (1603, 70), (50, 70), MULTIPLY),
        ("f32", (1600, 40), (1600, 90), (40, 90), LEFT_TRANSPOSED),
        ("f32", (1601, 512), (1601, 33), (512, 33), LEFT_TRANSPOSED),
        (
            "f32",
            (29, 1601),
            (90, 1601),
            (29, 90),
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        ),
        (
            "f32",
            (2, 41, 1700),
            (2, 1700, 70),
            (2, 41, 70),
            "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        ),
        ("f32", (8, 9000), (9000, 32), (8, 32), MULTIPLY),
    ]
    check(dots, ["mk,kn->mn"] * 2 + ["km,kn->mn"] * 2 + ["mk,nk->mn", "bmk,bkn->bmn", "mk,kn->mn"])


def test_left_rows_that_collide_are_copied():
    check(
        [
            ("f32", (60, 1024), (1024, 20), (60, 20), MULTIPLY),
            ("f32", (60, 1000), (1000, 20), (60, 20), MULTIPLY),
        ],
        ["mk,kn->mn"] * 2,
    )


def test_blocks_of_tiles_repeat_little():
    for down in range(1, 200):
        for tile_bytes in (1 << 10, 24 << 10, 96 << 10, 1 << 20):
            blocks, each = blocks_of_tiles(down, tile_bytes)
            assert blocks * each >= down and (
                each == 1 or each * tile_bytes <= LIMITS.block_bytes or blocks == 1
            )
            assert blocks * each - down <= max(1, down // 8), (down, tile_bytes, blocks, each)


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_tiles_fit_the_registers(bits):
    target = cpu_target(bits=bits, triple="x86_64-unknown-linux-gnu")
    for rows, columns, depth in (
        (1, 2, 3),
        (16, 512, 128),
        (37, 29, 11),
        (1000, 1000, 1000),
        (3, 700, 9),
        (500, 2, 80),
    ):
        for size in (4, 8):
            tile = tile_for(
                rows, columns, depth, bits // (8 * size), target.vector.registers, overlaps=True
            )
            assert tile.rows <= rows and tile.columns <= columns and tile.width * size * 8 <= bits
            assert tile.rows * tile.vectors + tile.vectors + 1 <= target.vector.registers <= 32


@pytest.mark.parametrize(
    ("rows", "columns", "depth"),
    [(64, 64, 100), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (96, 500, 300)],
)
def test_of_tiles_that_multiply_as_fast_the_one_with_fewer_loads_is_taken(rows, columns, depth):
    """Of equally fast tiles the one with fewer loads is chosen.

    8 rows of 2 vectors took a tenth longer than 8 of 3, or 6 of 4, though all of them keep both
    units busy.
    """
    for lanes in (8, 16):
        tile = tile_for(rows, columns, depth, lanes, 32)
        assert (tile.rows + tile.vectors) / (tile.rows * tile.vectors) < 0.5


def test_what_tiles_leave_over_is_counted():
    """Remainders of tiles count as smaller tiles, or as another read of the other operand.

    The latter applies if a cache does not hold the operand.
    """
    for lanes in (8, 16):
        assert (
            tile_for(100, 13 * lanes, 60, lanes, 32).cycles
            < tile_for(100, 13 * lanes, 60, lanes, 32, overlaps=True).cycles
        )
        again = tile_for(6272, 8 * lanes, 256, lanes, 32)
        assert 8 % again.vectors == 0


@pytest.mark.parametrize(
    ("step", "depth", "columns", "tiles", "word"),
    [
        (4096, 100, 1024, 4, "page size"),
        (4096, 8, 1024, 400, ""),  # too few rows
        (4096, 100, 1024, 3, ""),  # read too few times
        (3136, 784, 784, 4, "larger"),
        (2048, 784, 512, 8, "sets of L2"),
        (2048, 512, 512, 8, ""),  # as many lines as the sets hold
        (2000, 300, 500, 8, "crosses a cache line"),
        (2000, 64, 500, 8, ""),  # L1 holds a panel
        (2048, 300, 512, 40, "sets of L1"),
        (1984, 300, 496, 400, ""),
    ],
)
def test_why_a_right_operand_is_copied(step, depth, columns, tiles, word):
    reason = LIMITS.copied_right(step, 64, depth, depth * columns * 4, tiles)
    assert word in reason and bool(word) is bool(reason)
    assert "crosses a cache line" not in LIMITS.copied_right(
        step, 16, depth, depth * columns * 4, tiles
    )  # most of shorter vectors lie in one


def first_dot(text):
    return next(i for i in parse_hlo(text).entry.sequence() if i.opcode.name == "dot")


def test_the_choice_gives_its_figures():
    flat = first_dot(dot_text([("f32", (16, 128), (128, 512), (16, 512), MULTIPLY)]))
    reason = dot_by_library(flat, HOST_LIKE)
    assert reason.code == "register-tile-faster"
    assert reason.facts["cycles"] > 0 and reason.facts["packing"] == "none"
    assert dot_by_library(flat) is None, "without a target the library serves it"
    crossing = first_dot(dot_text([("f32", (128, 300), (300, 500), (128, 500), MULTIPLY)]))
    assert (
        dot_by_library(crossing, HOST_LIKE).facts["copied"]
        == "each of its vectors crosses a cache line"
    )
    large = first_dot(dot_text([("f32", (512, 9000), (512, 9000), (512, 512), RIGHT_TRANSPOSED)]))
    assert plan_dot(large, HOST_LIKE).code == "dot-too-large"
    assert dot_by_library(large, HOST_LIKE) is None
    deep = first_dot(dot_text([("f32", (512, 9000), (9000, 512), (512, 512), MULTIPLY)]))
    assert dot_by_library(deep, HOST_LIKE).facts["packing"] == "panels", "block by block"


EPILOGUE = """HloModule dense
ENTRY e {
  x = f32[64,300] parameter(0)
  w = f32[300,80] parameter(1)
  b = f32[80] parameter(2)
  only_here = f32[64,80] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[64,80] broadcast(b), dimensions={1}
  ROOT s = f32[64,80] add(only_here, bb)
}"""


ALONE = EPILOGUE.replace("ROOT s", "s").replace("  only_here", "  ROOT only_here")


@pytest.mark.parametrize("text", [EPILOGUE, ALONE], ids=["fused", "alone"])
def test_a_product_is_planned_once(text):
    plan_product.cache_clear()
    session = xe.compile(text, backend="cpu", threads=2)
    assert session.executable.host is not None
    assert plan_product.cache_info().misses == 1


def test_dots_without_a_tile():
    def code(*dot, target=HOST_LIKE):
        return plan_dot(first_dot(dot_text([dot])), target).code

    assert code("f32", (8, 8), (8, 8), (8, 8), MULTIPLY, target=NVPTX) == "no-vectors"
    assert code("s16", (8, 8), (8, 8), (8, 8), MULTIPLY) == "type-without-tile"
    assert code("f32", (8, 8), (8, 0), (8, 0), MULTIPLY) == "empty-dot"
    assert code("f32", (2, 8), (90, 8), (2, 90), RIGHT_TRANSPOSED) == "too-few-rows-to-transpose"
    separate = cpu_target(bits=512, fma=False)
    assert code("f32", (8, 8), (8, 8), (8, 8), MULTIPLY, target=separate) == "no-fused-multiply-add"


def test_irregular_left_rows_repeat_the_product():
    """[5,9,6] contracted in the middle has irregular left rows: the product runs five times."""
    dots = [
        ("f32", (5, 9, 6), (7, 9), (5, 6, 7), "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        (
            "f64",
            (2, 5, 9, 6),
            (2, 9, 20),
            (2, 5, 6, 20),
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
            "rhs_contracting_dims={1}",
        ),
        ("f32", (5, 9, 6), (9,), (5, 6), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    ]
    module = check(dots, ["edh,bd->ehb", "nedh,ndb->nehb", "edh,d->eh"])
    assert plan_dot(module.entry.root.operands[1], HOST_LIKE).sizes == DotSizes(6, 20, 9, 10)


def test_a_large_skinny_product_is_written_a_few_rows_at_a_time():
    """A result of more than 4 MiB whose rows are 4 KiB apart, uneven in tiles; values only."""
    check([("f32", (1037, 9), (9, 1024), (1037, 1024), MULTIPLY)], ["mk,kn->mn"])


@pytest.mark.parametrize(("rows", "columns"), [(64, 3072), (16, 3072), (64, 1000)])
def test_a_skinny_product_copies_its_weights_once_at_most(rows: int, columns: int) -> None:
    text = f"""ENTRY e {{
  x = f32[{rows},768] parameter(0)
  w = f32[768,{columns}] parameter(1)
  ROOT y = f32[{rows},{columns}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""
    assert xe.compile(text, threads=2).buffers().scratch_bytes <= 1.1 * 4 * 768 * columns


def test_limits_follow_from_the_caches_of_the_target():
    """The same product is packed for a core whose L2 it exceeds, and read in place for another."""
    dot = first_dot(dot_text([("f32", (64, 784), (784, 384), (64, 384), MULTIPLY)]))
    (first, second, last), before = HOST_LIKE.caches, plan_dot(dot, HOST_LIKE)
    small = replace(HOST_LIKE, caches=(first, replace(second, bytes=second.bytes // 4), last))
    assert before.packing == "none"
    assert plan_dot(dot, small).copied == "it is larger than L2"
    assert product_limits(small.caches).block_bytes * 4 == LIMITS.block_bytes
    nest = nest_of(dot)
    default, narrow = [str(product_policy(nest, tuning_of(t, dot))) for t in (HOST_LIKE, small)]
    assert default != narrow
