"""Whole programs from the builder against numpy, through the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.primitive_type import F32, PRED, S32
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import verify

RANDOM = np.random.default_rng(7)


def array(*sizes: int) -> np.ndarray:
    return RANDOM.standard_normal(sizes).astype(np.float32)


def run(function: object, *arrays: np.ndarray) -> object:
    """Build a module from a function of values, send it through text, evaluate it."""
    builder = HloBuilder("program")
    values = [builder.parameter(a) for a in arrays]
    module = builder.build(function(*values))  # type: ignore[operator]
    again = parse_hlo(module.to_text())
    verify(again)
    return evaluate(again, *arrays)


def softmax(x: HloValue) -> HloValue:
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    return e / e.sum(axis=-1, keepdims=True)


def test_softmax() -> None:
    x = array(8, 16)
    e = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(run(softmax, x), e / e.sum(-1, keepdims=True), rtol=1e-5)


def test_softmax_graph_has_no_needless_reshapes() -> None:
    builder = HloBuilder("softmax")
    module = builder.build(softmax(builder.parameter(F32[128, 256], "x")))
    names = [i.opcode.name for i in module.entry.instructions.values()]
    assert "reshape" not in names and names.count("broadcast") == 2


def test_multilayer_perceptron() -> None:
    x, w1, b1, w2, b2 = array(4, 8), array(8, 16), array(16), array(16, 3), array(3)
    got = run(lambda x, w1, b1, w2, b2: (x @ w1 + b1).maximum(0) @ w2 + b2, x, w1, b1, w2, b2)
    np.testing.assert_allclose(got, np.maximum(x @ w1 + b1, 0) @ w2 + b2, rtol=1e-4, atol=1e-5)


def test_layer_norm() -> None:
    x, gain = array(4, 32), array(32)
    got = run(
        lambda x, g: (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5).sqrt() * g,
        x,
        gain,
    )
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gain
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


UNARY = [
    "exp",
    "expm1",
    "tanh",
    "sin",
    "cos",
    "tan",
    "abs",
    "sign",
    "floor",
    "ceil",
    "square",
    "isfinite",
    "cbrt",
]


@pytest.mark.parametrize("name", UNARY)
def test_unary_methods(name: str) -> None:
    x = array(3, 5)
    np.testing.assert_allclose(
        run(lambda v: getattr(v, name)(), x), getattr(np, name)(x), rtol=1e-5
    )
    np.testing.assert_allclose(
        run(lambda v: getattr(np, name)(v), x), getattr(np, name)(x), rtol=1e-5
    )


@pytest.mark.parametrize("name", ["log", "log1p", "sqrt"])
def test_unary_methods_of_positive_numbers(name: str) -> None:
    x = np.abs(array(3, 5)) + 0.1
    np.testing.assert_allclose(
        run(lambda v: getattr(v, name)(), x), getattr(np, name)(x), rtol=1e-5
    )


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std"])
def test_reductions(name: str, axis: object, keepdims: bool) -> None:
    x = array(2, 3, 4)
    got = run(lambda v: getattr(v, name)(axis=axis, keepdims=keepdims), x)
    np.testing.assert_allclose(
        got, getattr(np, name)(x, axis=axis, keepdims=keepdims), rtol=1e-4, atol=1e-6
    )


def test_all_any() -> None:
    x = array(3, 4) > 0
    np.testing.assert_array_equal(run(lambda v: v.all(1), x), x.all(1))
    np.testing.assert_array_equal(run(lambda v: v.any(0), x), x.any(0))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg(name: str, axis: int) -> None:
    x = np.round(array(5, 7))
    np.testing.assert_array_equal(
        run(lambda v: getattr(v, name)(axis), x), getattr(np, name)(x, axis)
    )
    x[2, 3] = x[2, 5] = np.nan
    np.testing.assert_array_equal(
        run(lambda v: getattr(v, name)(axis), x), getattr(np, name)(x, axis)
    )


OPERATORS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor divide": lambda a, b: a // b,
    "less": lambda a, b: a < b,
    "less equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not equal": lambda a, b: a != b,
}


@pytest.mark.parametrize(
    "sizes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 3, 4), (3, 1)), ((1,), (5, 1))]
)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_broadcast_as_numpy(
    name: str, sizes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    a, b = array(*sizes[0]), array(*sizes[1])
    np.testing.assert_allclose(run(OPERATORS[name], a, b), OPERATORS[name](a, b), rtol=1e-6)


def test_integer_operators() -> None:
    a = np.array([-7, 7, -7, 7, 0], np.int32)
    b = np.array([2, -2, -2, 2, 3], np.int32)
    np.testing.assert_array_equal(run(lambda a, b: a // b, a, b), a // b)
    np.testing.assert_array_equal(run(lambda a, b: a % b, a, b), np.fmod(a, b))
    np.testing.assert_array_equal(
        run(lambda a, b: (a & b) | (a ^ 3) | ~b, a, b), (a & b) | (a ^ 3) | ~b
    )
    np.testing.assert_array_equal(
        run(lambda a: (a << 2) + (a >> 1) - (-a), a), (a << 2) + (a >> 1) + a
    )
    np.testing.assert_array_equal(run(lambda a: 20 // (a + 8), a), 20 // (a + 8))


def test_numbers_on_the_left() -> None:
    x = np.abs(array(4)) + 1
    got = run(
        lambda v: 1 + v - (2 - v) * 3 / v + 2**v + np.float32(3) * v + np.ones(4, np.float32) * v, x
    )
    np.testing.assert_allclose(got, 1 + x - (2 - x) * 3 / x + 2**x + 3 * x + x, rtol=1e-5)


@pytest.mark.parametrize(
    "sizes",
    [
        ((3, 4), (4, 5)),
        ((4,), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((7, 1, 3, 4), (2, 4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
    ],
)
def test_matmul(sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = array(*sizes[0]), array(*sizes[1])
    np.testing.assert_allclose(run(lambda a, b: a @ b, a, b), a @ b, rtol=1e-4, atol=1e-5)


INDICES = [
    (0,),
    (-1,),
    (slice(1, 3),),
    (slice(None), 2),
    (Ellipsis, 1),
    (slice(None, None, -1),),
    (slice(4, 0, -2), slice(1, None, 2)),
    (None, 1),
    (slice(None), None, slice(0, 2)),
    (slice(2, 2),),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing(index: tuple[object, ...]) -> None:
    x = array(5, 4, 3)
    np.testing.assert_array_equal(run(lambda v: v[index], x), x[index])


def test_index_by_value() -> None:
    x, i = array(5, 4), np.int32(3)
    np.testing.assert_array_equal(run(lambda v, i: v[i], x, i), x[3])
    np.testing.assert_array_equal(run(lambda v, i: v[1:4, i], x, i), x[1:4, 3])


def test_placement() -> None:
    x = array(2, 3, 4)
    np.testing.assert_array_equal(run(lambda v: v.T, x), x.T)
    np.testing.assert_array_equal(
        run(lambda v: v.transpose(1, 0, 2).reshape(3, -1), x), x.transpose(1, 0, 2).reshape(3, -1)
    )
    np.testing.assert_array_equal(
        run(lambda v: v.swapaxes(0, -1).ravel(), x), x.swapaxes(0, -1).ravel()
    )
    np.testing.assert_array_equal(
        run(lambda v: v[None].squeeze().broadcast_to(5, 2, 3, 4), x),
        np.broadcast_to(x, (5, 2, 3, 4)),
    )
    np.testing.assert_array_equal(run(lambda v: v.sort(1), x), np.sort(x, 1))


def test_clip_and_where_and_astype() -> None:
    x = array(4, 4)
    np.testing.assert_array_equal(run(lambda v: v.clip(-0.5, 0.5), x), x.clip(-0.5, 0.5))
    np.testing.assert_array_equal(run(lambda v: v.clip(0), x), x.clip(0))
    np.testing.assert_array_equal(
        run(lambda v: v.builder.where(v > 0, v, 0), x), np.where(x > 0, x, np.float32(0))
    )
    np.testing.assert_array_equal(run(lambda v: (v > 0).astype(S32).astype(PRED), x), x > 0)


def test_while_loop_with_several_values() -> None:
    got = run(
        lambda x: x.builder.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * 2), (0, x)),
        array(3) * 0 + 1,
    )
    assert int(got[0]) == 5 and np.all(got[1] == 32)  # type: ignore[index]


def test_while_loop_with_one_value() -> None:
    assert (
        float(
            run(
                lambda x: x.builder.while_loop(lambda v: v < 100, lambda v: v * 3, x), np.float32(1)
            )
        )
        == 243
    )  # type: ignore[arg-type]


def test_fori_loop() -> None:
    x = array(4)
    got = run(lambda v: v.builder.fori_loop(0, 4, lambda i, s: s + v_at(i), v * 0), x)
    assert np.all(got == 6)


def v_at(i: HloValue) -> HloValue:
    return i.astype(F32)


def test_cond_and_switch() -> None:
    x = array(3)
    for flag in (True, False):
        got = run(
            lambda v, p: v.builder.cond(p, lambda a: a + 1, lambda a: a * 2, v), x, np.bool_(flag)
        )
        np.testing.assert_allclose(got, x + 1 if flag else x * 2)
    for selector, want in ((0, x + 1), (1, x * 3 + 1), (7, -x)):
        got = run(
            lambda v, i: v.builder.switch(
                i, (lambda a, b: a + 1, lambda a, b: a * b + 1, lambda a, b: -a), v, v * 0 + 3
            ),
            x,
            np.int32(selector),
        )
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_map_call_reduce_with_python_functions() -> None:
    x = array(3, 4)

    def scaled(v: HloValue) -> HloValue:
        return v * 2

    np.testing.assert_allclose(
        run(lambda v: v.builder.map(lambda a, b: a * b + 1, v, v), x), x * x + 1, rtol=1e-6
    )
    np.testing.assert_allclose(run(lambda v: v.builder.call(scaled, v), x), x * 2)
    np.testing.assert_allclose(
        run(lambda v: v.reduce(lambda a, b: a + b, init=0, axes=1), x), x.sum(1), rtol=1e-5
    )
    fused = run(lambda v: v.builder.fusion(v, kind="kLoop", calls=scaled), x)
    np.testing.assert_allclose(fused, x * 2)


def test_several_results_and_nested_tuples() -> None:
    x = array(3)
    got = run(lambda v: (v, (v + 1, [v * 2, v])), x)
    np.testing.assert_allclose(got[1][1][0], x * 2)  # type: ignore[index]


def test_numpy_functions_and_names_on_the_builder() -> None:
    x, y = array(3, 4), array(3, 4)
    np.testing.assert_allclose(
        run(lambda v: np.sum(v, axis=1) + np.mean(v), x), x.sum(1) + x.mean(), rtol=1e-5
    )
    np.testing.assert_allclose(
        run(lambda v, w: np.concatenate([v, w], axis=-1), x, y), np.concatenate([x, y], axis=-1)
    )
    np.testing.assert_allclose(run(lambda v, w: np.where(v > w, v, w), x, y), np.maximum(x, y))
    np.testing.assert_allclose(
        run(lambda v: np.transpose(np.reshape(v, (4, 3))), x), x.reshape(4, 3).T
    )
    np.testing.assert_allclose(
        run(lambda v: v.builder.exp(v) + v.builder.sum(v, axis=0), x),
        np.exp(x) + x.sum(0),
        rtol=1e-5,
    )
    with pytest.raises(TypeError):
        run(lambda v: np.linalg.norm(v), x)
