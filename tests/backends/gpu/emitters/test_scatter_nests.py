"""Scatters without atomics as loop nests: windows inside, outside and overlapping; row order."""

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check
from xla_explorer.backends.gpu.emitters.nests.scatters import scatter_nest
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.primitive_type import primitive_type
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(11)
ROWS = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
BLOCKS = "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1"
BATCHES = (
    "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
    "input_batching_dims={0}, scatter_indices_batching_dims={0}"
)


def module(kind, result, dimensions, indices, updates, attributes, index_kind="s32"):
    reducer = (
        f"b = {kind}[] parameter(1) ROOT r = {kind}[] {result}"
        if result
        else f"ROOT b = {kind}[] parameter(1)"
    )
    return f"""HloModule m
s {{ a = {kind}[] parameter(0) {reducer} }}
ENTRY e {{ x = {kind}[{dimensions}] parameter(0) i = {index_kind}[{indices}] parameter(1) u = {kind}[{updates}] parameter(2)
  ROOT r = {kind}[{dimensions}] scatter(x, i, u), {attributes}, to_apply=s }}"""


def checked(text, *inputs):
    """Check that the nest is well formed, round-trips as text, and has the evaluator's values.

    The values of its kernel must be the same.
    """
    root = parse_hlo(text).entry.root
    nest = scatter_nest(root, argument_slots(root))
    assert not isinstance(nest, Reason) and not why_not_well_formed(nest), nest
    assert nest_text(parse_nest(nest_text(nest))) == nest_text(nest)
    ran = check(text, *inputs, assemble=False)
    assert (
        ran.emitted.nest is not None
        and not isinstance(ran.emitted.nest, Reason)
        and "atom" not in ran.ptx
    )
    for found, wanted in zip(evaluate_nest(nest, list(inputs)), ran.wanted, strict=True):
        np.testing.assert_array_equal(found, wanted)
    return nest


@pytest.mark.parametrize("result", ["add(a, b)", "maximum(a, b)", "", "subtract(b, a)"])
@pytest.mark.parametrize(("kind", "dtype"), [("s32", np.int32), ("f32", np.float32)])
def test_rows(result, kind, dtype):
    x, u = [RANDOM.integers(-9, 9, shape).astype(dtype) for shape in ((6, 5), (7, 5))]
    i = np.array(
        [[2], [0], [-1], [2], [5], [6], [2]], np.int32
    )  # the third and the sixth miss; three meet
    nest = checked(module(kind, result, "6,5", "7,1", "7,5", ROWS), x, i, u)
    assert ("select-region : pred" in nest_text(nest)) is (
        result in ("", "subtract(b, a)")
    )  # without an identity element


@pytest.mark.parametrize(("kind", "dtype"), [("s8", np.int8), ("u8", np.uint8), ("s64", np.int64)])
def test_blocks_that_do_not_fit_are_left_out(kind, dtype):
    x, u = (
        RANDOM.standard_normal((5, 7)).astype(np.float32),
        RANDOM.standard_normal((4, 2, 3)).astype(np.float32),
    )
    i = np.array([[4, 3], [5, 3], [0, 4], [255 if dtype is np.uint8 else -1, 0]]).astype(
        dtype
    )  # (column, row): the first alone fits
    checked(module("f32", "add(a, b)", "5,7", "4,2", "4,2,3", BLOCKS, kind), x, i, u)


def test_batches_and_window_parts():
    x, u = [RANDOM.integers(-9, 9, shape).astype(np.int32) for shape in ((3, 8), (3, 4))]
    text = module("s32", "multiply(a, b)", "3,8", "3,1", "3,4", BATCHES)
    checked(text, x, np.array([[4], [5], [0]], np.int32), u)


def test_several_operands():
    text = """HloModule m
s { a = s32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = f32[] parameter(3)
  more = s32[] add(a, c)  last = f32[] minimum(b, d)  ROOT r = (s32[], f32[]) tuple(more, last) }
ENTRY e { x = s32[6] parameter(0) y = f32[6] parameter(1) i = s32[4,1] parameter(2) u = s32[4] parameter(3) v = f32[4] parameter(4)
  ROOT r = (s32[6], f32[6]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=s }"""
    x, u = RANDOM.integers(0, 9, 6).astype(np.int32), RANDOM.integers(0, 9, 4).astype(np.int32)
    y, v = (
        RANDOM.standard_normal(6).astype(np.float32),
        RANDOM.standard_normal(4).astype(np.float32),
    )
    checked(text, x, y, np.array([[1], [1], [9], [5]], np.int32), u, v)


def test_a_sum_of_nothing_keeps_minus_zero():
    text = module(
        "f32",
        "add(a, b)",
        "2",
        "1,1",
        "1",
        ROWS.replace("update_window_dims={1}", "update_window_dims={}"),
    )
    ran = check(
        text, np.float32([-0.0, 1.0]), np.array([[1]], np.int32), np.float32([2.0]), assemble=False
    )
    assert np.signbit(ran.values[0][0]) and ran.values[0][1] == 3.0


@pytest.mark.parametrize(("kind", "rows"), [("bf16", "7"), ("f16", "7"), ("f16", "7,1")])
def test_a_row_that_lies_elsewhere_adds_nothing(kind, rows):
    """A row that lies outside adds nothing, not even the identity element.

    Adding the identity and rounding would be most of the work of a thread of a segment sum.

    Adding the identity and rounding would be most of the work of a thread of a segment sum.
    """
    shape = [int(n) for n in rows.split(",")]
    x, u = [
        RANDOM.integers(-9, 9, shape).astype(primitive_type(kind).dtype)
        for shape in ((6, 5), (*shape, 5))
    ]
    i = np.array([2, 0, -1, 2, 5, 6, 2], np.int32).reshape(*shape, 1)
    attributes = ROWS.replace("window_dims={1}", f"window_dims={{{len(shape)}}}").replace(
        "vector_dim=1", f"vector_dim={len(shape)}"
    )
    ran = check(
        module(kind, "add(a, b)", "6,5", f"{rows},1", f"{rows},5", attributes),
        x,
        i,
        u,
        assemble=False,
    )
    assert not [word for word in ("0f80000000", "-32768", "0x8000") if word in ran.ptx]


def test_atomic_updates_stay_opaque():
    root = parse_hlo(module("f32", "add(a, b)", "6,5", "7,1", "7,5", ROWS)).entry.root
    reason = scatter_nest(root, (0, 1, 2, 0))
    assert isinstance(reason, Reason) and reason.code == "updates-by-atomics"
