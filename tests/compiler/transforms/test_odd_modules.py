"""Modules that are well formed, but in a way that no front end writes: the passes and the code take them all the same."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.verifier import HloVerifyError, verify

REDUCER = "add {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = {0}[] add(a, b){1}\n}}\n"
SCATTER = """ENTRY e {{
  x = {0}[5] parameter(0)
  i = s32[{1},1] parameter(1)
  u = {0}[{1}] parameter(2)
  ROOT r = {0}[5] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add{2}
}}"""


def agrees(text: str, *arguments: np.ndarray) -> None:
    module = xe.parse_hlo(text)
    verify(module)
    for passes in ("default", "none"):
        found = xe.compile(module, passes=passes, cache=False, check_passes=True)(*arguments)
        np.testing.assert_array_equal(np.asarray(found, np.float64), np.asarray(xe.evaluate(module, *arguments), np.float64))


@pytest.mark.parametrize("unique", ["", ", unique_indices=true"])
def test_an_attribute_that_nobody_knows_is_not_in_the_way_of_a_pass(unique: str) -> None:
    # What XLA may write tomorrow is kept by the parser; passes that write an operation anew leave it out.
    text = "HloModule m\n" + REDUCER.format("f32", ", what_comes_next=7") + SCATTER.format("f32", 2, unique)
    agrees(text, np.ones(5, np.float32), np.array([[1], [3]], np.int32), np.array([2, 4], np.float32))
    text = "HloModule m\n" + REDUCER.format("f32", ", what_comes_next=7") + "ENTRY e {\n x = f32[4] parameter(0)\n ROOT r = f32[4] map(x, x), dimensions={0}, to_apply=add\n}"
    agrees(text, np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("rows", [2, 40])
@pytest.mark.parametrize("unique", ["", ", unique_indices=true"])
def test_a_scatter_combines_in_the_precision_of_its_computation(rows: int, unique: str) -> None:
    text = "HloModule m\n" + REDUCER.format("f32", "") + SCATTER.format("bf16", rows, unique if rows == 2 else "")
    bf16 = ml_dtypes.bfloat16
    agrees(text, (np.arange(5) * 100.0).astype(bf16), (np.arange(rows)[:, None] % 5).astype(np.int32), np.full(rows, 0.5, bf16))


def test_a_select_and_scatter_does_too() -> None:
    text = (
        "HloModule m\n" + REDUCER.format("f32", "")
        + "ge {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE\n}\n"
        + "ENTRY e {\n x = bf16[6] parameter(0)\n u = bf16[3] parameter(1)\n z = bf16[] constant(0)\n"
        + " ROOT r = bf16[6] select-and-scatter(x, u, z), window={size=2 stride=2}, select=ge, scatter=add\n}"
    )
    agrees(text, np.array([1, 2, 4, 3, 0, 7], ml_dtypes.bfloat16), np.array([0.5, 0.25, 3], ml_dtypes.bfloat16))


@pytest.mark.parametrize("body", ["f32[2] reduce(x, z), dimensions={1}", "f32[2,4] reduce-window(x, z), window={size=1x1}"])
def test_a_reduction_in_another_precision_is_refused_as_xla_refuses_it(body: str) -> None:
    text = "HloModule m\n" + REDUCER.format("f32", "") + f"ENTRY e {{\n x = bf16[2,4] parameter(0)\n z = bf16[] constant(0)\n ROOT r = {body}, to_apply=add\n}}"
    with pytest.raises(HloVerifyError, match="mixed precision"):
        verify(xe.parse_hlo(text.replace("f32[2]", "bf16[2]").replace("f32[2,4]", "bf16[2,4]")))


@pytest.mark.parametrize("kind", ["s8", "s16", "u32", "s64"])
def test_a_dynamic_size_may_be_any_integer(kind: str) -> None:
    text = (
        "HloModule m\n" + REDUCER.format("s32", "")
        + f"ENTRY e {{\n x = s32[4] parameter(0)\n n = {kind}[] parameter(1)\n y = s32[<=4] set-dimension-size(x, n), dimensions={{0}}\n"
        + " z = s32[] constant(0)\n g = s32[] get-dimension-size(y), dimensions={0}\n s = s32[] reduce(y, z), dimensions={0}, to_apply=add\n ROOT r = s32[] add(g, s)\n}"
    )
    dtype = {"s8": np.int8, "s16": np.int16, "u32": np.uint32, "s64": np.int64}[kind]
    agrees(text, np.arange(1, 5, dtype=np.int32), np.asarray(2, dtype))


def test_a_root_with_control_edges_goes_when_another_takes_its_place() -> None:
    # Two elements of the state do nothing: the body gets another root, and the old one must not keep them.
    text = """HloModule m
cond { p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  u = s32[] get-tuple-element(p), index=1
  v = s32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = s32[] add(u, v)
  f = s32[] multiply(v, v)
  ROOT t = (s32[], s32[], s32[]) tuple(j, f, w), control-predecessors={w} }
ENTRY e { z = s32[] constant(0)
  x = s32[] parameter(0)
  t = (s32[], s32[], s32[]) tuple(z, x, x)
  l = (s32[], s32[], s32[]) while(t), condition=cond, body=body
  ROOT r = s32[] get-tuple-element(l), index=0 }"""
    agrees(text, np.int32(2))
    dead = xe.optimize(text, "while-loop-simplifier", verify=True).module
    assert all(i.users or i.is_root for c in dead.computations.values() for i in c.instructions.values() if i.opcode.name == "tuple")
