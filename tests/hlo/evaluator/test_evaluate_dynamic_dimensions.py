"""Dynamic dimensions: elements beyond the actual size take no part, in either execution.

The executions are the evaluator's and those of compiled programs.
"""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import compile_for_cpu
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.errors import HloParseError
from xla_explorer.hlo.text.parser import parse_hlo

ADD = """add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
same { p = (f32[<=5]) parameter(0)
 ROOT q = (f32[<=5]) copy(p) }
twice { p = (f32[<=5]) parameter(0)
 d = f32[<=5] get-tuple-element(p), index=0
 e = f32[<=5] add(d, d)
 ROOT q = (f32[<=5]) tuple(e) }
"""
X = np.array([1, 2, 3, 4, 5], np.float32)


def both(body, *inputs):
    text = f"HloModule m\n{ADD}ENTRY e {{\n{body}\n}}"
    compiled = compile_for_cpu(text).execute(list(inputs))[0]
    evaluated = np.asarray(evaluate(parse_hlo(text), *inputs))
    np.testing.assert_array_equal(compiled, evaluated)
    return evaluated


def total(steps, *inputs, size):
    """Return the sum of %e, which `steps` make of %d, the first `size` of %x."""
    return both(
        " x = f32[5] parameter(0)\n n = s32[] parameter(1)\n z = f32[] constant(0)\n"
        f" d = f32[<=5] set-dimension-size(x, n), dimensions={{0}}\n{steps}\n ROOT r = f32[] reduce(e, z), dimensions={{0}}, to_apply=add",
        X, np.int32(size), *inputs,
    )  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 3, 5])
def test_a_static_operand_is_cut_to_the_dynamic_one(size):
    y = np.arange(10, 15, dtype=np.float32)
    assert (
        total(" y = f32[5] parameter(2)\n e = f32[<=5] multiply(y, d)", y, size=size)
        == (X * y)[:size].sum()
    )
    p = np.array([True, False, True, False, True])
    chosen = np.where(p, X, y)[:size].sum()
    assert (
        total(
            " p = pred[5] parameter(2)\n y = f32[5] parameter(3)\n e = f32[<=5] select(p, d, y)",
            p,
            y,
            size=size,
        )
        == chosen
    )
    clamped = np.clip(X, 2, 3)[:size].sum()
    assert (
        total(
            " l = f32[] constant(2)\n h = f32[] constant(3)\n e = f32[<=5] clamp(l, d, h)",
            size=size,
        )
        == clamped
    )
    assert (
        total(
            " o = f32[] constant(2)\n b = f32[<=5] broadcast(o), dimensions={}\n e = f32[<=5] multiply(d, b)",
            size=size,
        )
        == 2 * X[:size].sum()
    )


def test_two_dynamic_sizes_are_cut_to_the_smaller_and_one_is_spread():
    """As XLA: the shorter of two decides, but a size of one is a broadcast."""
    other = " y = f32[5] parameter(2)\n k = s32[] parameter(3)\n g = f32[<=5] set-dimension-size(y, k), dimensions={0}\n e = f32[<=5] add(d, g)"
    y = np.arange(10, 15, dtype=np.float32)
    assert total(other, y, np.int32(2), size=3) == (X[:2] + y[:2]).sum()
    assert total(other, y, np.int32(2), size=1) == (X[0] + y[:2]).sum()
    assert total(other, y, np.int32(1), size=4) == (X[:4] + y[0]).sum()
    assert total(other, y, np.int32(1), size=0) == 0


@pytest.mark.parametrize("size", [0, 1, 3, 5])
@pytest.mark.parametrize("chosen", [True, False])
def test_a_conditional_gives_what_its_branch_gives(size, chosen):
    steps = (
        " p = pred[] parameter(2)\n t = (f32[<=5]) tuple(d)\n"
        " q = (f32[<=5]) conditional(p, t, t), true_computation=same, false_computation=twice\n e = f32[<=5] get-tuple-element(q), index=0"
    )
    assert total(steps, np.bool_(chosen), size=size) == X[:size].sum() * (1 if chosen else 2)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_reshapes_keep_the_dynamic_dimension(size):
    x = np.arange(18, dtype=np.float32).reshape(6, 3)
    begin = " x = f32[6,3] parameter(0)\n n = s32[] parameter(1)\n z = f32[] constant(0)\n d = f32[<=6,3] set-dimension-size(x, n), dimensions={0}\n"
    flat = both(
        begin
        + " t = f32[<=18] reshape(d)\n ROOT r = f32[] reduce(t, z), dimensions={0}, to_apply=add",
        x,
        np.int32(size),
    )
    assert flat == x[:size].sum()
    deep = both(
        begin
        + " t = f32[1,<=6,3] reshape(d)\n ROOT r = f32[3] reduce(t, z), dimensions={0,1}, to_apply=add",
        x,
        np.int32(size),
    )
    np.testing.assert_array_equal(deep, x[:size].sum(axis=0))
    two = both(
        begin + " y = f32[6,<=3] set-dimension-size(x, n), dimensions={1}\n c = f32[<=6,<=3] set-dimension-size(y, n), dimensions={0}\n"
        " t = f32[<=6,1,<=3] reshape(c)\n ROOT r = f32[] reduce(t, z), dimensions={0,1,2}, to_apply=add", x, np.int32(size),
    )  # fmt: skip
    assert two == x[:size, :size].sum()


def test_a_dynamic_reshape_of_all_elements_takes_those_within_its_sizes():
    x = np.arange(18, dtype=np.float32)
    body = " x = f32[18] parameter(0)\n m = s32[] parameter(1)\n k = s32[] parameter(2)\n ROOT r = f32[<=6,3] dynamic-reshape(x, m, k)"
    np.testing.assert_array_equal(both(body, x, np.int32(6), np.int32(3)), x.reshape(6, 3))
    np.testing.assert_array_equal(both(body, x, np.int32(2), np.int32(3)), x.reshape(6, 3)[:2])
    assert both(body, x, np.int32(-1), np.int32(3)).size == 0
    narrow = body.replace("f32[18]", "f32[12]")
    with pytest.raises(
        HloParseError, match="differ in their number of elements"
    ):  # as XLA's parser
        both(narrow, x[:12], np.int32(2), np.int32(3))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_what_is_static_again_has_its_stated_shape(size):
    begin = " x = f32[5] parameter(0)\n n = s32[] parameter(1)\n d = f32[<=5] set-dimension-size(x, n), dimensions={0}\n i = s32[] constant(0)\n"
    for root in (
        "f32[2] slice(d), slice={[0:2]}",
        "f32[2] dynamic-slice(d, i), dynamic_slice_sizes={2}",
    ):
        text = f"HloModule m\nENTRY e {{\n{begin} ROOT r = {root}\n}}"
        for found in (
            compile_for_cpu(text).execute([X, np.int32(size)])[0],
            np.asarray(evaluate(parse_hlo(text), X, np.int32(size))),
        ):
            assert found.shape == (2,)
            np.testing.assert_array_equal(found[: min(2, size)], X[: min(2, size)])


@pytest.mark.parametrize("size", ["<=8", "?"])
@pytest.mark.parametrize("given", [0, 6, 9])
def test_a_size_without_a_bound_has_that_of_what_is_given(size: str, given: int) -> None:
    """An unbounded size is that of the argument.

    XLA's CPU and our compiler give 6 of `f32[?]`; the evaluator gave 0, because no bound counted as
    one of -1.
    """
    text = (
        f"ENTRY e {{ x = f32[8] parameter(0)  n = s32[] parameter(1)  y = f32[{size}] set-dimension-size(x, n), dimensions={{0}}\n"
        " ROOT g = s32[] get-dimension-size(y), dimensions={0} }"
    )
    assert evaluate(parse_hlo(text), np.ones(8, np.float32), np.int32(given)) == min(given, 8)
