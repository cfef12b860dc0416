"""Data movement, bitcasts, gather and scatter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.hlo.evaluator.evaluator_programs import (
    dtype,
    module_text,
    run,
    run_text,
    shape,
    tuple_of,
)
from xla_explorer.hlo.attributes import PaddingDimension, SliceDimension

F = np.float32


def test_iota_of_every_kind() -> None:
    text = "ROOT r = {} iota(), iota_dimension=1"
    np.testing.assert_array_equal(run_text(module_text(text.format("s32[2,3]"))), [[0, 1, 2]] * 2)
    np.testing.assert_array_equal(run_text(module_text(text.format("c64[1,2]"))), [[0, 1]])
    result = run_text(module_text(text.format("bf16[1,300]")))
    assert result.dtype == dtype("bf16") and float(result[0, 257]) == 256.0


def test_broadcast_maps_dimensions() -> None:
    x = np.arange(6, dtype=F).reshape(2, 3)
    result = run("broadcast", shape("f32", 2, 4, 3), x, dimensions=(0, 2))
    np.testing.assert_array_equal(result, np.broadcast_to(x[:, None, :], (2, 4, 3)))
    np.testing.assert_array_equal(run("broadcast", shape("f32", 2), F(3)), [3, 3])


def test_transpose_reverse_slice_concatenate() -> None:
    x = np.arange(24, dtype=F).reshape(2, 3, 4)
    np.testing.assert_array_equal(
        run("transpose", shape("f32", 4, 2, 3), x, dimensions=(2, 0, 1)), x.transpose(2, 0, 1)
    )
    np.testing.assert_array_equal(run("reverse", None, x, dimensions=(0, 2)), x[::-1, :, ::-1])
    cut = (SliceDimension(0, 2), SliceDimension(1, 3), SliceDimension(0, 4, 3))
    np.testing.assert_array_equal(run("slice", shape("f32", 2, 2, 2), x, slice=cut), x[:, 1:3, ::3])
    np.testing.assert_array_equal(
        run("concatenate", shape("f32", 2, 6, 4), x, x, dimensions=(1,)), np.concatenate([x, x], 1)
    )


@pytest.mark.parametrize(
    ("start", "first"),
    [(np.int32(4), 2), (np.int32(-7), 0), (np.uint32(4294967295), 2), (np.int64(1), 1)],
)
def test_dynamic_slices_clamp(start: np.generic, first: int) -> None:
    x = np.arange(5, dtype=F)
    np.testing.assert_array_equal(
        run("dynamic-slice", shape("f32", 3), x, start, dynamic_slice_sizes=(3,)),
        x[first : first + 3],
    )
    wanted = x.copy()
    wanted[first : first + 3] = -1
    np.testing.assert_array_equal(
        run("dynamic-update-slice", None, x, np.full(3, -1, F), start), wanted
    )
    np.testing.assert_array_equal(x, np.arange(5))


@pytest.mark.parametrize(
    ("padding", "expected"),
    [
        ((1, 0, 1), [-1, 1, -1, 2, -1, 3]),
        ((-1, 0, 0), [2, 3]),
        ((0, -1, 0), [1, 2]),
        ((-1, 1, 1), [-1, 2, -1, 3, -1]),
        ((-2, -2, 1), [2]),
        ((2, -4, 0), [-1]),
        ((-4, 4, 0), [-1, -1, -1]),
        ((0, 0, 2), [1, -1, -1, 2, -1, -1, 3]),
    ],
)
def test_pad(padding: tuple[int, int, int], expected: list[float]) -> None:
    result = run(
        "pad",
        shape("f32", len(expected)),
        np.array([1, 2, 3], F),
        F(-1),
        padding=(PaddingDimension(*padding),),
    )
    np.testing.assert_array_equal(result, expected)


def test_pad_agrees_with_a_loop() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        n, low, high, interior = (
            int(random.integers(0, 6)),
            *map(int, random.integers(-4, 5, 2)),
            int(random.integers(0, 3)),
        )
        size = low + high + n + max(n - 1, 0) * interior
        if size < 0:
            continue
        expected = np.full(size, -1.0)
        for k in range(n):
            if 0 <= (at := low + k * (interior + 1)) < size:
                expected[at] = k
        result = run(
            "pad",
            shape("f32", size),
            np.arange(n, dtype=F),
            F(-1),
            padding=(PaddingDimension(low, high, interior),),
        )
        np.testing.assert_array_equal(result, expected)


def test_bitcast_convert_changes_the_minor_dimension() -> None:
    x = np.array([1.0, -2.0], F)
    octets = run("bitcast-convert", shape("u8", 2, 4), x)
    np.testing.assert_array_equal(octets[0], [0, 0, 128, 63])
    np.testing.assert_array_equal(run("bitcast-convert", shape("f32", 2), octets), x)
    np.testing.assert_array_equal(run("bitcast-convert", shape("s32", 2), x), x.view(np.int32))
    nibbles = run("bitcast-convert", shape("u4", 2), np.uint8(0xA5))
    np.testing.assert_array_equal(nibbles.astype(int), [5, 10])
    assert run("bitcast-convert", shape("u8"), nibbles) == 0xA5


def test_bitcast_follows_the_layouts() -> None:
    text = """x = f32[2,3]{1,0} parameter(0)
              ROOT r = f32[3,2]{0,1} bitcast(x)"""
    x = np.arange(6, dtype=F).reshape(2, 3)
    np.testing.assert_array_equal(run_text(module_text(text), x), x.T)


def test_dynamic_dimension() -> None:
    text = """x = f32[5] parameter(0)
              n = s32[] parameter(1)
              d = f32[<=5] set-dimension-size(x, n), dimensions={0}
              e = f32[<=5] multiply(d, d)
              zero = f32[] constant(0)
              sum = f32[] reduce(e, zero), dimensions={0}, to_apply=add
              size = s32[] get-dimension-size(e), dimensions={0}
              ROOT r = (f32[], s32[]) tuple(sum, size)"""
    total, size = run_text(module_text(text, "f32", "add"), np.arange(1, 6, dtype=F), np.int32(3))
    assert (float(total), int(size)) == (14.0, 3)


# -- gather and scatter ----------------------------------------
GATHER = """x = f32[5,3] parameter(0)
            i = INDEX[4] parameter(1)
            ROOT r = f32[4,2,3] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={2,3}"""


def test_gather_clamps() -> None:
    x = np.arange(15, dtype=F).reshape(5, 3)
    result = run_text(
        module_text(GATHER.replace("INDEX", "s32")), x, np.array([-3, 0, 4, 99], np.int32)
    )
    np.testing.assert_array_equal(result, np.stack([x[s : s + 2] for s in (0, 0, 3, 3)]))
    result = run_text(
        module_text(GATHER.replace("INDEX", "u8")), x, np.array([200, 0, 1, 255], np.uint8)
    )
    np.testing.assert_array_equal(result[:, 0, 0], x[[3, 0, 1, 3], 0])


def test_gather_with_batching_dimensions() -> None:
    text = """x = f32[2,4] parameter(0)
              i = s32[2,3,1] parameter(1)
              ROOT r = f32[2,3] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}"""
    x = np.arange(8, dtype=F).reshape(2, 4)
    i = np.array([[[0], [3], [1]], [[2], [2], [9]]], np.int32)
    np.testing.assert_array_equal(run_text(module_text(text), x, i), [[0, 3, 1], [6, 6, 7]])


SCATTER = """x = T[5] parameter(0)
             i = s32[N,1] parameter(1)
             u = T[N,2] parameter(2)
             ROOT r = T[5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=F"""


@pytest.mark.parametrize("element", ["f32", "s32", "bf16"])
def test_scatter_skips_windows_out_of_bounds(element: str) -> None:
    text = module_text(
        SCATTER.replace("T[", f"{element}[").replace("N", "4").replace("=F", "=add"), element, "add"
    )
    x, i = np.zeros(5, dtype(element)), np.array([[-1], [4], [1], [1]], np.int32)
    updates = np.array([[9, 9], [9, 9], [1, 2], [3, 4]], dtype(element))
    np.testing.assert_array_equal(run_text(text, x, i, updates).astype(int), [0, 4, 6, 0, 0])


def test_scatter_overwrite_keeps_the_last() -> None:
    text = module_text(
        SCATTER.replace("T[", "f32[").replace("N", "3").replace("=F", "=second"), "f32", "second"
    )
    result = run_text(
        text,
        np.zeros(5, F),
        np.array([[1], [1], [2]], np.int32),
        np.array([[1, 2], [3, 4], [5, 6]], F),
    )
    np.testing.assert_array_equal(result, [0, 3, 5, 6, 0])


def test_scatter_of_a_two_dimensional_window_is_all_or_nothing() -> None:
    text = module_text(
        """x = f32[3,3] parameter(0)
        i = s32[2] parameter(1)
        u = f32[2,2] parameter(2)
        ROOT r = f32[3,3] scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=second""",
        "f32",
        "second",
    )
    x, update = np.zeros((3, 3), F), np.ones((2, 2), F)
    assert not run_text(text, x, np.array([2, 1], np.int32), update).any()
    assert run_text(text, x, np.array([1, 1], np.int32), update)[1:, 1:].all()


def test_scatter_with_an_order_dependent_combiner() -> None:
    text = """HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  c = f32[] multiply(a, two)
  ROOT r = f32[] add(c, b)
}
ENTRY main {
  x = f32[3] parameter(0)
  i = s32[6,1] parameter(1)
  u = f32[6] parameter(2)
  ROOT r = f32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
}
"""
    i, u = np.array([0, 2, 0, 0, 2, 1], np.int32), np.arange(1, 7, dtype=F)
    expected = np.ones(3)
    for k, value in zip(i, u, strict=True):
        expected[k] = expected[k] * 2 + value
    np.testing.assert_array_equal(run_text(text, np.ones(3, F), i[:, None], u), expected)


def test_tuple_operands() -> None:
    assert run("tuple", tuple_of(shape("f32"), shape("s32")), F(1), np.int32(2)) == (1, 2)


DYNAMIC = """HloModule dynamic
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY main {
  p = f32[3,4] parameter(0)
  n = s32[] parameter(1)
  d = f32[3,<=4] set-dimension-size(p, n), dimensions={1}
  zero = f32[] constant(0)
  OPERATION
}
"""


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("ROOT r = f32[3] reduce(d, zero), dimensions={1}, to_apply=add", [1, 9, 17]),
        (
            "ROOT r = f32[3,3] dot(d, d), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
            [[1, 5, 9], [5, 41, 77], [9, 77, 145]],
        ),
        (
            "ROOT r = f32[3,<=4] reduce-window(d, zero), window={size=1x2 pad=0_0x1_0}, to_apply=add",
            [[0, 1], [4, 9], [8, 17]],
        ),
        (
            "t = f32[<=4,3] transpose(d), dimensions={1,0}\n  ROOT r = s32[] get-dimension-size(t), dimensions={0}",
            2,
        ),
        (
            "c = f32[3,<=8] concatenate(d, p), dimensions={1}\n  ROOT r = s32[] get-dimension-size(c), dimensions={1}",
            6,
        ),
        (
            "six = s32[] constant(6)\n  ROOT r = f32[<=12] dynamic-reshape(d, six)",
            [0, 1, 4, 5, 8, 9],
        ),
        (
            "ROOT r = f32[3,<=6] pad(d, zero), padding=0_0x1_1",
            [[0, 0, 1, 0], [0, 4, 5, 0], [0, 8, 9, 0]],
        ),
        (
            "four = s32[] constant(4)\n  ROOT r = f32[3,4] set-dimension-size(d, four), dimensions={1}",
            [[0, 1, 0, 0], [4, 5, 0, 0], [8, 9, 0, 0]],
        ),
    ],
)
def test_dynamic_dimensions_have_their_actual_size(operation: str, expected: object) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(
        run_text(DYNAMIC.replace("OPERATION", operation), x, np.int32(2)), expected
    )
