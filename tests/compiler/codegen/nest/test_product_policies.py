"""Products as loop nests: register tiles, packed panels, rows side by side, refusals."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.llvm_bodies import text_of_body
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import describe_target
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.nest.accesses import MOST_SCRATCH
from xla_explorer.compiler.codegen.nest.directives import InterchangeReduction, Stage
from xla_explorer.compiler.codegen.nest.ir import Allocate, For, LoopNest, walk
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.products import product_policy
from xla_explorer.compiler.codegen.nest.policies.reductions import reduction_policy
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import parse_directives
from xla_explorer.compiler.codegen.nest.tuning import tuning_of
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.compiler.codegen.nest_kernels import NestCode, nest_code
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.text.parser import parse_hlo

CPU = described_cpu(
    describe_target("x86_64-unknown-linux-gnu", "x86-64-v4")
)  # whatever machine this is
PLAIN, LEFT_TRANSPOSED, RIGHT_TRANSPOSED = ((1, 0), (0, 0), (1, 1))


def _dot(left, right, result, contracted):
    lines = [f"a = f32[{left}] parameter(0)", f"b = f32[{right}] parameter(1)"]
    lines.append(
        f"ROOT d = f32[{result}] dot(a, b), lhs_contracting_dims={{{contracted[0]}}}, rhs_contracting_dims={{{contracted[1]}}}"
    )
    return parse_hlo("\n".join(["HloModule m", "ENTRY e {", *lines, "}"])).entry.root


def _made(*dot) -> Schedule | Reason:
    i = _dot(*dot)
    found = nest_code(i, CPU, argument_slots(i))
    return found.schedule if isinstance(found, NestCode) else found


@pytest.mark.parametrize(
    ("dot", "wanted"),
    [
        (
            ("64,64", "64,64", "64,64", PLAIN),
            "split{i,5,overlap},reorder{ii,jo},reorder{io,jo},unroll{ii},unroll{jio},vectorize{jii}",
        ),
        (("64,32", "96,32", "64,96", RIGHT_TRANSPOSED), "stage{%b,"),  # contiguous columns
        (("512,256", "256,1024", "512,1024", PLAIN), "stage{%b,"),  # rows a page apart
        (("40,24", "24,10", "40,10", PLAIN), "split{j,16}"),  # masked
        (
            ("40,24", "24,5", "40,5", PLAIN),
            "split{j,8}",
        ),  # in registers that are no wider than the columns need
        (("50,40", "40", "50", (1, 0)), "unroll{imi}"),  # rows of the matrix side by side
        (
            ("1000", "1000,3000", "3000", (0, 0)),
            "interchange-reduction{",
        ),  # a large matrix in the order of its addresses
    ],
)
def test_what_policies_write(dot, wanted):
    schedule = _made(*dot)
    assert isinstance(schedule, Schedule) and wanted in str(schedule), schedule
    assert not why_not_well_formed(schedule.nest)


def test_schedules_of_products_can_be_written_by_a_user():
    for dot in (
        ("64,64", "64,64", "64,64", PLAIN),
        ("64,32", "96,32", "64,96", RIGHT_TRANSPOSED),
        ("512,256", "256,1024", "512,1024", PLAIN),
    ):
        schedule = _made(*dot)
        again = Schedule(schedule.start, schedule.start).then(*parse_directives(str(schedule)))
        assert str(again) == str(schedule)


@pytest.mark.parametrize(
    ("dot", "copied"),
    [
        (("1024,96", "1024,256", "96,256", LEFT_TRANSPOSED), ""),  # contiguous columns of few lines
        (
            ("512,1024", "512,256", "1024,256", LEFT_TRANSPOSED),
            "stage{%a,ioo,scratch,0,ioi.k.ii}",
        ),  # a page from row to row
        (
            ("60,1024", "1024,20", "60,20", PLAIN),
            "stage{%a,ioo,scratch,1040,ioi.ii.k}",
        ),  # rows a page apart
        (("60,1000", "1000,20", "60,20", PLAIN), ""),
    ],
)
def test_left_operands_that_collide_are_copied(dot, copied):
    schedule = _made(*dot)
    assert ("stage{%a," in str(schedule)) is bool(copied) and copied in str(schedule)
    assert not why_not_well_formed(schedule.nest)


@pytest.mark.parametrize(
    ("dot", "blocks"),
    [
        (
            ("512,2000", "2000,512", "512,512", PLAIN),
            "split{k,500},interchange-reduction{ko,jo},stage{%b,ko,",
        ),
        (
            ("64,2000", "2000,512", "64,512", PLAIN),
            "split{k,500},interchange-reduction{ko,jo},stage{%a,ko,",
        ),  # few rows read the right operand in place
        (
            ("24,3000", "800,3000", "24,800", RIGHT_TRANSPOSED),
            "interchange-reduction{ko,jo},stage{%b,jot,scratch,0,ki.jiot.jiit}",
        ),  # each block transposes one panel at a time
        (
            ("512,1601", "1601,33", "512,33", PLAIN),
            "split{k,400,cut},interchange-reduction{kmo,",
        ),  # one step is left over
        (("8,9000", "9000,32", "8,32", PLAIN), ""),  # too few tiles
        (("64,1500", "1500,512", "64,512", PLAIN), ""),
    ],
)
def test_long_contractions_go_by_in_blocks(dot, blocks):
    schedule = _made(*dot)
    assert ("interchange-reduction{" in str(schedule)) is bool(blocks) and blocks in str(schedule)
    assert not why_not_well_formed(schedule.nest)
    if blocks:
        assert any(
            step.facts.get("reorders-sum")
            for step in schedule.steps
            if step.directive.name == "interchange-reduction"
        )


@pytest.mark.parametrize(("columns", "cuts"), [(15, 0), (23, 1), (31, 1), (63, 2)])
def test_transposed_columns_that_tiles_leave_over_are_one_vector_with_a_mask(columns, cuts):
    """Each piece of the columns reads the whole left operand: 31 must not be 16, 8, 4, 2 and 1."""
    nest = nest_of(_dot("64,33", f"{columns},33", f"64,{columns}", RIGHT_TRANSPOSED))
    assert isinstance(nest, LoopNest)
    schedule = product_policy(nest, replace(tuning_of(CPU), overlaps_tails=False))
    assert isinstance(schedule, Schedule) and len(re.findall(r"cut\{j", str(schedule))) == cuts
    assert not why_not_well_formed(schedule.nest)
    a, b = [
        np.random.default_rng(k).integers(-9, 10, (n, 33)).astype(np.float32)
        for k, n in enumerate((64, columns))
    ]
    np.testing.assert_array_equal(
        evaluate_nest(schedule.nest, [a, b])[0].reshape(64, columns), a @ b.T
    )


@pytest.mark.parametrize("contracted", [PLAIN, LEFT_TRANSPOSED, RIGHT_TRANSPOSED])
@pytest.mark.parametrize(
    ("rows", "columns", "depth"), [(61, 92, 33), (61, 64, 1025), (203, 92, 1700), (16, 92, 9)]
)
def test_tiles_that_do_not_come_out_even_overlap(rows, columns, depth, contracted):
    """Each piece of the rows and columns was code of its own: up to four products."""
    left, right = (
        f"{rows},{depth}" if contracted[0] else f"{depth},{rows}",
        f"{columns},{depth}" if contracted[1] else f"{depth},{columns}",
    )
    schedule = _made(left, right, f"{rows},{columns}", contracted)
    assert (
        isinstance(schedule, Schedule)
        and ",overlap}" in str(schedule)
        and not re.search(r"cut\{[ij]", str(schedule))
    )
    assert not why_not_well_formed(schedule.nest)
    a, b = [
        np.random.default_rng(k).integers(-9, 10, [*map(int, x.split(","))]).astype(np.float32)
        for k, x in enumerate((left, right))
    ]
    wanted = (a if contracted[0] else a.T) @ (b.T if contracted[1] else b)
    np.testing.assert_array_equal(
        evaluate_nest(schedule.nest, [a, b])[0].reshape(rows, columns), wanted
    )


@pytest.mark.parametrize("columns", [17, 33, 49, 65, 401])
@pytest.mark.parametrize("contracted", [PLAIN, RIGHT_TRANSPOSED])
def test_one_column_that_is_left_over_by_what_is_left_over(columns, contracted):
    """A refused directive made the whole product plain loops, 12 times as slow."""
    i = _dot(
        "64,33",
        f"{columns},33" if contracted == RIGHT_TRANSPOSED else f"33,{columns}",
        f"64,{columns}",
        contracted,
    )
    assert product_policy(nest_of(i), tuning_of(CPU)).directives


def test_lanes_that_no_packing_wrote_are_not_read():
    """Unwritten memory may hold subnormal numbers, which slow a product down 25 times."""
    i = _dot("64,33", "12,33", "64,12", RIGHT_TRANSPOSED)
    found = nest_code(i, CPU, argument_slots(i))
    assert isinstance(found, NestCode) and "stage{%b,joo,scratch" in str(found.schedule)
    assert re.search(r"call .*llvm\.masked\.load\.v16f32", text_of_body(found.body))


@pytest.mark.parametrize("rows", [5, 16, 20, 33])
def test_columns_of_the_left_operand_are_vectors_where_nothing_else_is_contiguous(rows):
    """The result is written with gaps; step by step it took 15 times as long."""
    schedule = _made(f"24,{rows}", "7,24", f"{rows},7", (0, 1))
    assert isinstance(schedule, Schedule) and re.search(r"vectorize\{i\w*,strided\}", str(schedule))
    assert not why_not_well_formed(schedule.nest)
    a, b = [
        np.random.default_rng(k).integers(-9, 10, shape).astype(np.float32)
        for k, shape in enumerate([(24, rows), (7, 24)])
    ]
    np.testing.assert_array_equal(
        evaluate_nest(schedule.nest, [a, b])[0].reshape(rows, 7), a.T @ b.T
    )


def test_sums_of_separate_products_are_reductions():
    """The product of an instruction may have other uses, and is rounded by itself."""
    text = """HloModule m
    add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }
    f { a = f32[64,32] parameter(0) b = f32[32] parameter(1) z = f32[] parameter(2) c = f32[64,32] broadcast(b), dimensions={1}
     p = f32[64,32] multiply(a, c) ROOT r = f32[64] reduce(p, z), dimensions={1}, to_apply=add }
    ENTRY e { a = f32[64,32] parameter(0) b = f32[32] parameter(1) z = f32[] constant(0)
     ROOT r = f32[64] fusion(a, b, z), kind=kLoop, calls=f }"""
    nest, tuning = nest_of(parse_hlo(text).entry.root), tuning_of(CPU)
    assert isinstance(nest, LoopNest)
    assert str(product_policy(nest, tuning)) == str(reduction_policy(nest, tuning))


@pytest.mark.skipif(
    not described_cpu(libraries=True).vector.fma,
    reason="without multiply-adds, a library multiplies",
)
@pytest.mark.parametrize("contracted", [0, 1])
@pytest.mark.parametrize("size", [64, 1024, 1584])
def test_a_matrix_by_itself_and_by_its_transpose(size: int, contracted: int) -> None:
    """One array is both operands: each copy is for one of its two reads."""
    text = (
        f"HloModule m\nENTRY e {{ x = f32[{size},{size}] parameter(0)\n"
        f" ROOT r = f32[{size},{size}] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{contracted}}} }}"
    )
    x = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
    session = xe.compile(text)
    decided = session.decisions("loop-nest")
    assert set(decided.verdict) == {"accepted"}, decided.message.tolist()
    np.testing.assert_allclose(session(x), x @ (x.T if contracted else x), rtol=1e-3, atol=1e-2)


def test_one_of_two_reads_of_an_array_is_copied():
    text = "HloModule m\nENTRY e { x = f32[8,16] parameter(0)\n ROOT r = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} }"
    nest = nest_of(parse_hlo(text).entry.root)
    assert isinstance(nest, LoopNest)
    plain = Schedule(nest, nest)
    assert plain.why_not(Stage("%x", "i", "scratch")).code == "not-staged"
    made = plain.then(Stage("%x", "i", "scratch", read=1))
    assert str(made) == "stage{%x,i,scratch,0,,1}" and str(plain.then(str(made))) == str(made)
    x = np.random.default_rng(1).standard_normal((8, 16)).astype(np.float32)
    np.testing.assert_array_equal(evaluate_nest(made.nest, [x])[0], evaluate_nest(nest, [x])[0])


def test_sums_of_several_loops_are_accumulated_in_one_tile():
    i = _dot("8,32", "32,24", "8,24", PLAIN)
    nest = nest_of(i)
    assert isinstance(nest, LoopNest)
    made = Schedule(nest, nest).then("split{k,8},interchange-reduction{ko,i}")
    (sums,) = [s.array for s, _ in walk(made.nest.body) if isinstance(s, Allocate)]
    assert sums.shape.dimensions == (8, 24) and [
        s.axis.name for s in made.nest.body if isinstance(s, For)
    ] == ["ic", "ko", "i"]
    assert "not-interchangeable" in made.why_not(InterchangeReduction("ki", "it")).code


def test_what_is_copied_all_together_does_not_overflow_a_stack():
    i = _dot("128,2275", "426,2275", "128,426", RIGHT_TRANSPOSED)
    made = nest_code(i, CPU, argument_slots(i))
    text = text_of_body(made.body)
    arrays = [int(n) for n in re.findall(r"= alloca \[(\d+) x float\]", text)]
    assert made.scratch_bytes and 4 * sum(arrays) <= MOST_SCRATCH
