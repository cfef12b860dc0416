"""numpy's functions of several values, beside numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.builder import HloBuilder, HloBuilderError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1
Y = np.arange(12, dtype=np.float32).reshape(3, 4) / 5
Z = np.arange(20, dtype=np.float32).reshape(4, 5) - 3

CASES: dict[str, Callable[..., Any]] = {
    "split": lambda x, y, z: np.split(x, 2, axis=-1)[1],
    "split at borders": lambda x, y, z: np.split(y, [1, 3], axis=1)[1],
    "stack": lambda x, y, z: np.stack([y, y * 2], axis=1),
    "stack last": lambda x, y, z: np.stack([y, y], axis=-1),
    "cumsum": lambda x, y, z: np.cumsum(x, axis=1),
    "cumsum of all": lambda x, y, z: np.cumsum(y),
    "take": lambda x, y, z: np.take(x, np.array([[2, 0], [1, 1]], np.int32), axis=1),
    "take of all": lambda x, y, z: np.take(y, np.array([5, 0], np.int32)),
    "product": lambda x, y, z: np.einsum("ij,jk->ik", y, z),
    "product, implicit": lambda x, y, z: np.einsum("ij,jk", y, z),
    "turned result": lambda x, y, z: np.einsum("bij,jk->kbi", x, z),
    "batch": lambda x, y, z: np.einsum("bij,ij->ib", x, y),
    "outer": lambda x, y, z: np.einsum("ij,kl->iljk", y, z),
    "sum": lambda x, y, z: np.einsum("bij->j", x),
    "transpose": lambda x, y, z: np.einsum("bij->jbi", x),
    "sum in one operand": lambda x, y, z: np.einsum("bij,kl->bl", x, z),
    "number": lambda x, y, z: np.einsum("ij,ij->", y, y),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy(name: str) -> None:
    function = CASES[name]
    b = HloBuilder("m")
    result = function(*[b.parameter(xe.f32[a.shape]) for a in (X, Y, Z)])
    found = xe.evaluate(b.build(result), X, Y, Z)
    expected = function(X, Y, Z)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_updates_at_places() -> None:
    b = HloBuilder("m")
    x, i = b.parameter(xe.f32[3, 4]), b.parameter(xe.s32[3])
    built = b.build(b.tuple(x.at[1].set(0.5), x.at[i].add(1), x.at[i].set(x[2])))
    places = np.array([0, 2, 2], np.int32)
    one, added, rows = xe.evaluate(built, Y, places)
    expected = Y.copy()
    np.add.at(expected, places, 1)
    np.testing.assert_allclose(added, expected)
    assert (one[1] == 0.5).all() and (one[0] == Y[0]).all()
    assert (rows[0] == Y[2]).all() and (rows[1] == Y[1]).all()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: np.split(x, 5, axis=1), "not a multiple of 5"),
        (lambda x: np.stack([x, x[0]]), "differ"),
        (lambda x: np.einsum("ijk->i", x), "dimensions of f32"),
        (lambda x: np.einsum("ij,ij,ij->i", x, x, x), "names 3 operands"),
        (lambda x: np.einsum("ij,jk->ik", x, x), "'j' of"),
        (lambda x: np.einsum("ij->ik", x), "of no operand"),
        (lambda x: x.at[0, 1], "first dimension"),
    ],
)
def test_wrong_arguments_say_what_is_taken(function: Callable[[Any], Any], words: str) -> None:
    x = HloBuilder("m").parameter(xe.f32[3, 4])
    with pytest.raises(HloBuilderError, match=words) as caught:
        function(x)
    assert caught.value.hint
