"""Tails of register blocks: the last one overlaps if steps may repeat; small kernels stay small."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.test_loop_vectorization import needs_fixed_width
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

ONE_STEP = "h = f32[] constant(0.5) hb = f32[SHAPE] broadcast(h), dimensions={} m = f32[SHAPE] multiply(x, hb)"
APART = f"HloModule m\nENTRY e {{ x = f32[SHAPE] parameter(0) {ONE_STEP} ROOT r = f32[SHAPE] subtract(hb, m) }}"
IN_PLACE = f"""HloModule m
body {{ t = (s32[], f32[SHAPE]) parameter(0) k = s32[] get-tuple-element(t), index=0 x = f32[SHAPE] get-tuple-element(t), index=1
  o = s32[] constant(1) n = s32[] add(k, o) {ONE_STEP} r = f32[SHAPE] subtract(hb, m) ROOT u = (s32[], f32[SHAPE]) tuple(n, r) }}
more {{ t = (s32[], f32[SHAPE]) parameter(0) k = s32[] get-tuple-element(t), index=0 c = s32[] constant(3) ROOT l = pred[] compare(k, c), direction=LT }}
ENTRY e {{ x = f32[SHAPE] parameter(0) z = s32[] constant(0) t = (s32[], f32[SHAPE]) tuple(z, x)
  w = (s32[], f32[SHAPE]) while(t), condition=more, body=body ROOT g = f32[SHAPE] get-tuple-element(w), index=1 }}"""


def _kernels(session: xe.Session) -> dict[str, str]:
    rows = session.decisions("loop-nest").to_dict("records")
    return {row["subjects"][0]: row["facts"].get("schedule", "") for row in rows}


@needs_fixed_width
@pytest.mark.parametrize(
    ("shape", "threads"),
    [("3", 1), ("37", 1), ("61,10", 1), ("1003", 1), ("5,67", 1), ("20011", 2)],
)
def test_steps_are_done_twice_unless_the_operand_is_the_result(shape: str, threads: int) -> None:
    x = (
        np.random.default_rng(1)
        .standard_normal([int(n) for n in shape.split(",")])
        .astype(np.float32)
    )
    apart = xe.compile(APART.replace("SHAPE", shape), threads=threads, cache=False)
    np.testing.assert_array_equal(apart(x), np.float32(0.5) - x * np.float32(0.5))
    in_place = xe.compile(IN_PLACE.replace("SHAPE", shape), threads=threads, cache=False)
    expected = x
    for _ in range(3):
        expected = np.float32(0.5) - expected * np.float32(0.5)
    np.testing.assert_array_equal(in_place(x), expected)
    if shape in ("37", "1003", "20011"):
        assert ",overlap}" in str(_kernels(apart))
    assert ",overlap}" not in str(_kernels(in_place))


@needs_fixed_width
def test_few_rows_are_not_repeated_and_few_registers_are_not_copied() -> None:
    def schedule(shape: str) -> str:
        return str(_kernels(xe.compile(APART.replace("SHAPE", shape), threads=1, cache=False)))

    assert "unroll" not in schedule("96") and "unroll" in schedule("65536")
    row = "ENTRY e { x = f32[ROWS,10] parameter(0) y = f32[10] parameter(1) b = f32[ROWS,10] broadcast(y), dimensions={1} ROOT r = f32[ROWS,10] add(x, b) }"
    few, many = [
        str(_kernels(xe.compile("HloModule m\n" + row.replace("ROWS", n), threads=1, cache=False)))
        for n in ("8", "4096")
    ]
    assert "repeating" not in few and "repeating" in many


@pytest.mark.parametrize("columns", [2, 3, 5])
@pytest.mark.parametrize("rows", [65, 67, 70])
@pytest.mark.parametrize("kind", ["f64", "f32", "s16"])
def test_rows_that_periods_leave_over_are_whole_where_the_result_lies_on_the_operand(
    kind: str, rows: int, columns: int
) -> None:
    shape = f"{kind}[{rows},{columns}]"
    text = f"""HloModule rows
add {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)  ROOT c = {kind}[] add(a, b) }}
ENTRY e {{ x = {kind}[{columns}] parameter(0)  zero = {kind}[] constant(0)
  b = {shape} broadcast(x), dimensions={{1}}  i = {shape} iota(), iota_dimension=0  p = {shape} add(b, i)
  s = {kind}[{columns}] reduce(p, zero), dimensions={{0}}, to_apply=add
  w = {kind}[{rows}] reduce(p, zero), dimensions={{1}}, to_apply=add
  d = {shape} broadcast(w), dimensions={{0}}
  q = {shape} subtract(p, d)
  ROOT r = ({shape}, {kind}[{columns}], {kind}[{rows}]) tuple(q, s, w) }}"""
    x = np.arange(columns).astype(PRIMITIVE_TYPES[kind].dtype)
    p = x + np.arange(rows, dtype=x.dtype)[:, None]
    np.testing.assert_array_equal(
        xe.compile(text, threads=1)(x)[0], p - p.sum(1, keepdims=True, dtype=x.dtype)
    )


def test_pieces_that_store_apart_are_parallel_though_their_tails_overlap() -> None:
    text = """HloModule m
ENTRY e { x = f32[300,45,170] parameter(0)  z = f32[] constant(2)
  ROOT r = f32[303,45,174] pad(x, z), padding=1_2x0_0x3_1 }"""
    session = xe.compile(text, threads=4, cache=False)
    (schedule,) = _kernels(session).values()
    assert "overlap" in schedule and "parallel" in schedule
    x = np.arange(300 * 45 * 170, dtype=np.float32).reshape(300, 45, 170)
    wanted = np.pad(x, ((1, 2), (0, 0), (3, 1)), constant_values=2)
    np.testing.assert_array_equal(session(x), wanted)
