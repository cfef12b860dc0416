"""`xe.xla.first_nan`: origins of infinities and NaNs by source line, operand and iteration."""

from __future__ import annotations

import math

import numpy as np
import pytest

import xla_explorer as xe

LOOP = """HloModule m

body {
  s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[] constant(0.5)
  halves = f32[3] broadcast(half), dimensions={}
  smaller = f32[3] subtract(x, halves)
  root = f32[3] sqrt(smaller)
  ROOT t = (s32[], f32[3]) tuple(next, root)
}

condition {
  s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT p = pred[] compare(i, n), direction=LT
}

ENTRY e {
  zero = s32[] constant(0)
  x = f32[3] parameter(0)
  t = (s32[], f32[3]) tuple(zero, x)
  w = (s32[], f32[3]) while(t), condition=condition, body=body
  ROOT r = f32[3] get-tuple-element(w), index=1
}
"""


@pytest.mark.parametrize(
    ("operation", "values", "kind", "cause"),
    [
        ("log(x)", [1, -1], "NaN", "log of -1 is NaN; clamp"),
        ("log(x)", [1, 0], "infinity", "log of 0 is infinity"),
        ("sqrt(x)", [1, -4], "NaN", "sqrt of -4 is NaN"),
        ("exponential(x)", [1, 200], "infinity", "exponential of 200 is infinity; subtract"),
        ("divide(x, z)", [1, 0], "infinity", "1 / 0 is infinity; add a small number"),
        ("multiply(x, x)", [1, 1e30], "infinity", "1e+30 * 1e+30 is infinity"),
    ],
)
def test_the_operands_are_the_cause(operation, values, kind, cause):
    text = (
        "ENTRY e { x = f32[2] parameter(0) k = f32[] constant(0) z = f32[2] broadcast(k), "
        f"dimensions={{}} ROOT r = f32[2] {operation} }}"
    )
    found = xe.xla.first_nan(text, np.array(values, np.float32))
    one = found.first
    assert (one.kind, one.instruction) == (kind, "r") and one.cause.startswith(cause)
    assert cause in found.headline() and found.results == 1
    assert found.to_frame()["kind"][0] == kind


def test_an_infinity_that_becomes_a_nan_has_both_origins():
    text = """ENTRY e { x = f32[2] parameter(0) a = f32[2] exponential(x)
      b = f32[2] negate(a) ROOT c = f32[2] add(a, b) }"""
    found = xe.xla.first_nan(text, np.array([1.0, 100.0], np.float32))
    assert (found.infinity.instruction, found.nan.instruction) == ("a", "c")
    assert found.infinity.element == (1,) and found.infinity.operands == (("x", 100.0),)
    assert found.nan.operands == (("a", math.inf), ("b", -math.inf))


def test_the_iteration_of_a_loop_is_named():
    found = xe.xla.first_nan(LOOP, np.array([4.0, 1.2, 9.0], np.float32))
    x, iteration = 1.2, 0
    while x >= 0.5:
        x, iteration = math.sqrt(x - 0.5), iteration + 1
    assert found.nan.instruction == "root" and found.nan.loops == (f"%w iteration {iteration + 1}",)


def test_a_finite_program_has_no_origin():
    found = xe.xla.first_nan(LOOP.replace("constant(0.5)", "constant(0)"), np.ones(3, np.float32))
    assert found.first is None and found.results == 0
    assert found.headline() == "m: every value is finite" and "finite" in str(found)


def test_an_argument_that_is_not_finite_is_named_first():
    text = "ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] negate(x) }"
    found = xe.xla.first_nan(text, np.array([1.0, np.nan], np.float32))
    assert found.arguments == ("%x",) and found.first is None
    assert "the argument %x is not finite on entry" in found.headline()


def test_a_mask_of_minus_infinity_is_not_a_fault():
    text = """ENTRY e { x = f32[2] parameter(0) k = f32[] constant(-inf)
      m = f32[2] broadcast(k), dimensions={} p = pred[2] parameter(1)
      s = f32[2] select(p, x, m) ROOT r = f32[2] exponential(s) }"""
    found = xe.xla.first_nan(text, np.ones(2, np.float32), np.array([True, False]))
    assert found.first is None and found.results == 0


def test_the_search_has_an_end():
    endless = LOOP.replace("direction=LT", "direction=NE").replace("constant(5)", "constant(-1)")
    with pytest.raises(xe.XlaExplorerError, match="the time is over"):
        xe.xla.first_nan(endless.replace("constant(0.5)", "constant(0)"), np.ones(3, np.float32), seconds=0.5)  # fmt: skip


@pytest.mark.jax
def test_lines_of_a_jax_function_are_named():
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    def loss(w, x):
        norm = jnp.sqrt(jnp.sum(w * w))
        return jnp.sum(x * w) / norm

    found = xe.xla.first_nan(jax.grad(loss), np.zeros(4, np.float32), np.ones(4, np.float32))
    line = loss.__code__.co_firstlineno
    assert found.first.line in (
        f"xla/test_first_nan.py:{line + 1}",
        f"xla/test_first_nan.py:{line + 2}",
    )
