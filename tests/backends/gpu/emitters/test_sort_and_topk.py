"""sort and topk: values and stability, in shared memory, over tiles, along any dimension."""

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import assemble_everywhere, check

RANDOM = np.random.default_rng(3)
KEY_ONLY = "c { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }"
KEY_AND_PAYLOAD = """c { a = f32[] parameter(0) b = f32[] parameter(1) p = s32[] parameter(2) q = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT }"""


def shape_text(dimensions):
    return ",".join(map(str, dimensions))


def sort(dimensions, axis=0, pairs=False):
    d = shape_text(dimensions)
    if not pairs:
        return f"""HloModule m
{KEY_ONLY}
ENTRY e {{ x = f32[{d}] parameter(0) ROOT r = f32[{d}] sort(x), dimensions={{{axis}}}, to_apply=c }}"""
    return f"""HloModule m
{KEY_AND_PAYLOAD}
ENTRY e {{ x = f32[{d}] parameter(0) y = s32[{d}] parameter(1)
  ROOT r = (f32[{d}], s32[{d}]) sort(x, y), dimensions={{{axis}}}, is_stable=true, to_apply=c }}"""


def topk(dimensions, k, largest="true", kind="f32"):
    d, o = shape_text(dimensions), shape_text((*dimensions[:-1], k))
    return f"""HloModule m
ENTRY e {{ x = {kind}[{d}] parameter(0) ROOT r = ({kind}[{o}], s32[{o}]) topk(x), k={k}, largest={largest} }}"""


@pytest.mark.parametrize(
    ("dimensions", "axis", "kernels"),
    [((1,), 0, 1), ((2,), 0, 1), ((17,), 0, 1), ((2048,), 0, 1), ((2049,), 0, 2), ((9000,), 0, 4), ((5, 64), 1, 1), ((17, 40), 0, 1), ((3, 300), 1, 1),
     ((3, 5, 4), 1, 1)],
)  # fmt: skip
@pytest.mark.sampled(4)
def test_values(dimensions, axis, kernels):
    x = RANDOM.integers(0, 10**6, dimensions).astype(np.float32)
    ran = check(sort(dimensions, axis), x, assemble=False)
    assert ran.emitted.emitter == "sort" and len(ran.emitted.kernels) == kernels


@pytest.mark.parametrize(("dimensions", "axis"), [((5, 17), 1), ((2, 5001), 1), ((8, 1000), 0)])
def test_equal_records_keep_their_order(dimensions, axis):
    x = RANDOM.integers(0, 7, dimensions).astype(np.float32)
    check(
        sort(dimensions, axis, True),
        x,
        RANDOM.permutation(x.size).reshape(dimensions).astype(np.int32),
        assemble=False,
    )


def test_many_operands_of_other_sizes():
    text = """HloModule m
c { a = s8[] parameter(0) b = s8[] parameter(1) c = f64[] parameter(2) d = f64[] parameter(3) p = pred[] parameter(4) q = pred[] parameter(5)
  l = pred[] compare(a, b), direction=LT e = pred[] compare(a, b), direction=EQ g = pred[] compare(c, d), direction=GT
  f = pred[] and(e, g) ROOT r = pred[] or(l, f) }
ENTRY e { x = s8[3,50] parameter(0) y = f64[3,50] parameter(1) z = pred[3,50] parameter(2)
  ROOT r = (s8[3,50], f64[3,50], pred[3,50]) sort(x, y, z), dimensions={1}, to_apply=c }"""
    check(
        text,
        RANDOM.integers(-2, 2, (3, 50)).astype(np.int8),
        RANDOM.standard_normal((3, 50)),
        RANDOM.random((3, 50)) > 0.5,
    )


def test_rows_side_by_side_are_read_together():
    ran = check(
        sort((16, 512)), RANDOM.standard_normal((16, 512)).astype(np.float32), assemble=False
    )
    assert ran.sector_use() == 1


def test_passes_assemble():
    assemble_everywhere(sort((2, 5001), 1, True))


@pytest.mark.long
@pytest.mark.parametrize(
    ("dimensions", "k"),
    [((5, 17), 4), ((3,), 3), ((4, 1000), 16), ((2, 9000), 16), ((1, 3000), 2000), ((1, 30000), 5), ((2, 2500), 1500)],
)  # fmt: skip
@pytest.mark.sampled(3)
def test_topk(dimensions, k):
    ran = check(
        topk(dimensions, k),
        RANDOM.integers(0, 500, dimensions).astype(np.float32),
        assemble=k == 16,
    )
    assert ran.emitted.emitter == "topk"


@pytest.mark.parametrize("kind", ["f32", "s32", "u8", "pred", "f16"])
def test_smallest_of_other_types(kind):
    dtypes = {"f32": np.float32, "s32": np.int32, "u8": np.uint8, "pred": bool, "f16": np.float16}
    check(
        topk((3, 40), 7, "false", kind),
        RANDOM.integers(0, 30, (3, 40)).astype(dtypes[kind]),
        assemble=False,
    )


def test_not_a_number_is_the_largest_of_all():
    x = np.array([[1.0, np.nan, -np.inf, -0.0, 0.0, np.inf]], np.float32)
    ran = check(topk((1, 6), 6), x, assemble=False)
    assert ran.values[1].tolist() == [[1, 5, 0, 4, 3, 2]]


def test_the_choice_is_reasoned():
    ran = check(sort((9000,)), RANDOM.standard_normal(9000).astype(np.float32), assemble=False)
    first, *merges = [k.launch.reasoning for k in ran.emitted.kernels]
    assert "5 tiles of 2048" in first and [
        m.split(": ")[1].split(" merged")[0] for m in merges
    ] == ["runs of 2048", "runs of 4096", "runs of 8192"]


@pytest.mark.parametrize("rows", [64, 500])
def test_columns_lie_in_different_banks(rows):
    ran = check(
        sort((rows, 40)), RANDOM.standard_normal((rows, 40)).astype(np.float32), assemble=False
    )
    shared = [
        row["bank_conflict"]
        for row in ran.rows
        if row["opcode"].startswith("st.shared") and row["bank_conflict"]
    ]
    assert shared[0] <= 2, shared  # where the columns are put side by side
