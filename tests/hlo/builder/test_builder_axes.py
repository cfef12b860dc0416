"""Axes and sizes of the builder beside numpy: the same array, or a refusal in both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.builder import HloBuilder, HloBuilderError
from xla_explorer.hlo.primitive_type import F32

X = np.arange(12, dtype=np.float32).reshape(3, 4)[::-1].copy()
AXES = (
    None,
    0,
    1,
    -1,
    -2,
    2,
    -3,
    np.int64(1),
    1.0,
    "0",
    (),
    (0,),
    (0, 1),
    (-1, 0),
    (0, 0),
    (1, -1),
    (0, 5),
    (0, 1, 1),
)
ONE_AXIS = (None, 0, 1, -1, -2, 2, -3, np.int64(1), 1.0, "0", (0, 1))
ORDERS = (
    (0, 1),
    (1, 0),
    (-1, 0),
    (-2, -1),
    (0, 0),
    (1, 1),
    (1, -1),
    (0,),
    (0, 1, 0),
    (0, 2),
    (0, -3),
    (0.0, 1.0),
)
PAIRS = ((0, 1), (1, -2), (-1, -1), (0, 2), (-3, 0), (0.0, 1))
SIZES = (
    (12,),
    (-1,),
    (4, 3),
    (2, -1),
    (np.int64(4), 3),
    (5, -1),
    (-1, -1),
    (0, -1),
    (13,),
    (3.0, 4),
    (2, 3, 2),
    (3, 4, 1),
)
WIDER = ((3, 4), (2, 3, 4), (0, 3, 4), (3, 5), (-1, 4), (2, -1, 4), (4,), (-2, 3, 4), (3.0, 4))


def outcome(function: Callable[[], Any]) -> Any:
    try:
        return np.asarray(function())
    except (HloBuilderError, ValueError, TypeError, IndexError) as error:
        return error


def compare(
    of_numpy: Callable[[Any], Any], of_value: Callable[[Any], Any], array: np.ndarray = X
) -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[array.shape])
    expected, found = (
        outcome(lambda: of_numpy(array)),
        outcome(lambda: xe.evaluate(b.build(of_value(x)), array)),
    )
    if isinstance(expected, Exception):
        assert isinstance(found, HloBuilderError | IndexError), (
            f"numpy: {expected}; the builder: {found!r}"
        )
    else:
        assert not isinstance(found, Exception), found
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "std", "all", "any"])
def test_reductions(name: str, axis: Any, keepdims: bool) -> None:
    compare(
        lambda a: getattr(a, name)(axis=axis, keepdims=keepdims),
        lambda x: getattr(x, name)(axis=axis, keepdims=keepdims),
    )


@pytest.mark.parametrize("axis", ONE_AXIS, ids=repr)
@pytest.mark.parametrize("name", ["argmax", "argmin", "sort"])
def test_functions_of_one_axis(name: str, axis: Any) -> None:
    compare(lambda a: getattr(np, name)(a, axis), lambda x: getattr(x, name)(axis))
    compare(lambda a: getattr(np, name)(a, axis), lambda x: getattr(np, name)(x, axis))
    compare(lambda a: getattr(np, name)(a), lambda x: getattr(np, name)(x))


@pytest.mark.parametrize("axis", ONE_AXIS, ids=repr)
def test_concatenate(axis: Any) -> None:
    compare(lambda a: np.concatenate([a, a], axis), lambda x: np.concatenate([x, x], axis))
    if axis is not None:
        compare(
            lambda a: np.concatenate([a, a], axis), lambda x: x.builder.concatenate(x, x, axis=axis)
        )


@pytest.mark.parametrize("axis", [axis for axis in AXES if axis is not None], ids=repr)
def test_reverse(axis: Any) -> None:
    compare(lambda a: np.flip(a, axis), lambda x: x.reverse(axes=axis))


@pytest.mark.parametrize("axis", AXES, ids=repr)
def test_squeeze(axis: Any) -> None:
    compare(lambda a: a.squeeze(axis), lambda x: x.squeeze(axis), X.reshape(1, 12))
    compare(lambda a: a.squeeze(axis), lambda x: x.squeeze(axis), X[:1, :1])


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_transpose(order: Any) -> None:
    compare(lambda a: a.transpose(*order), lambda x: x.transpose(*order))
    compare(lambda a: np.transpose(a, order), lambda x: np.transpose(x, order))
    compare(lambda a: np.transpose(a, order), lambda x: x.builder.transpose(x, dimensions=order))


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_swapaxes(pair: Any) -> None:
    compare(lambda a: a.swapaxes(*pair), lambda x: x.swapaxes(*pair))


@pytest.mark.parametrize("sizes", SIZES, ids=repr)
def test_reshape(sizes: Any) -> None:
    compare(lambda a: a.reshape(sizes), lambda x: x.reshape(*sizes))
    compare(lambda a: a.reshape(sizes), lambda x: x.builder.reshape(x, list(sizes)))


@pytest.mark.parametrize("sizes", WIDER, ids=repr)
def test_broadcast_to(sizes: Any) -> None:
    compare(lambda a: np.broadcast_to(a, sizes), lambda x: x.broadcast_to(*sizes))
    compare(lambda a: np.broadcast_to(a, sizes), lambda x: np.broadcast_to(x, sizes))


@pytest.mark.parametrize("axis", [0, 1, -1, -2, 2, -3, 1.0], ids=repr)
def test_iota(axis: Any) -> None:
    compare(lambda a: np.indices(a.shape)[axis], lambda x: x.builder.iota(F32[3, 4], axis))


def test_the_refusal_names_the_axis_and_the_next_step() -> None:
    x = HloBuilder("m").parameter(F32[3, 4])
    with pytest.raises(
        HloBuilderError, match=r"transpose: axis 0 of f32\[3,4\] is given twice"
    ) as caught:
        x.transpose(0, 0)
    assert caught.value.hint


INDICES = (
    [0, 1], [-1, 0, 0], [], range(2), np.array([0, 2]), np.array([1]), np.array([[0, 1], [2, -1]]), np.array(1), np.int8(-1),
    [True, False, True], np.array([False, True, True]), [0, 3], [-4], [0.5], [True], (slice(None), [3, 0]), (slice(1), [3, 0]),
    (None, [1, 0]), (..., [1, -1]), (slice(None), None, [[0], [1]]), (slice(None, None, -1), np.array([1, 2])), 1.0, "a", ["a"],
)  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indices(index: Any) -> None:
    compare(lambda a: a[index], lambda x: x[index])


@pytest.mark.parametrize("index", [True, np.True_, ([0, 1], [1, 2]), (0, [1, 2])], ids=repr)
def test_indices_that_numpy_takes_and_the_builder_refuses(index: Any) -> None:
    with pytest.raises(HloBuilderError) as caught:
        HloBuilder("m").parameter(F32[3, 4])[index]
    assert caught.value.hint
