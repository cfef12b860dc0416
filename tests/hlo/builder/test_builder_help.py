"""Help of the builder: signatures and sentences of methods, and hints that can be followed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe


def values() -> tuple[xe.HloBuilder, Any, Any]:
    b = xe.HloBuilder("help", locations=False)
    return b, b.parameter(xe.f32[4, 8], "x"), b.parameter(xe.s32, "k")


def test_every_method_of_a_value_has_a_sentence_and_a_signature() -> None:
    _, x, _ = values()
    methods = [getattr(x, name) for name in dir(x) if not name.startswith("_")]
    for method in filter(callable, methods):
        assert inspect.getdoc(method), method
        assert "self" not in inspect.signature(method).parameters


@pytest.mark.parametrize(
    "name", ["scatter", "gather", "reduce_window", "pad", "dynamic_slice", "sort"]
)
def test_a_method_of_a_value_has_the_options_of_the_builders(name: str) -> None:
    b, x, _ = values()
    of_builder, of_value = getattr(b, name), getattr(x, name)
    named = [p for p in inspect.signature(of_builder).parameters if p not in ("operands",)]
    if name != "sort":  # numpy's, of a value
        assert [
            p for p in inspect.signature(of_value).parameters if p not in ("operands",)
        ] == named
        assert of_value.__doc__ == of_builder.__doc__ and of_value.__name__ == name


@pytest.mark.parametrize(("sizes", "dimension", "index"), [
    ((4, 8), 0, (3,)), ((4, 8), 1, (3,)), ((2, 3, 4), 1, (2, 2)), ((5,), 0, (3,)), ((2, 3, 4), 2, (1,)),
])  # fmt: skip
def test_the_hint_for_an_array_of_indices_takes_them(
    sizes: tuple[int, ...], dimension: int, index: tuple[int, ...]
) -> None:
    b = xe.HloBuilder("take")
    x, i = b.parameter(xe.f32[sizes]), b.parameter(xe.s32[index])
    with pytest.raises(xe.XlaExplorerError, match=r"np\.take") as refused:
        x[(slice(None),) * dimension + (i,)]
    call = refused.value.hint[refused.value.hint.index("np.take") :]
    made = eval(call, {"np": np, "x": x, "i": i})
    array = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    indices = np.arange(np.prod(index), dtype=np.int32).reshape(index) % sizes[dimension]
    np.testing.assert_array_equal(
        np.asarray(xe.evaluate(b.build(made), array, indices)), np.take(array, indices, dimension)
    )


def test_masks_and_floats_as_indices_have_their_own_hints() -> None:
    _, x, k = values()
    with pytest.raises(xe.XlaExplorerError, match=r"b\.where"):
        x[x > 0]
    with pytest.raises(xe.XlaExplorerError, match=r"astype\(xe\.s32\)"):
        x[k.astype(xe.f32)]


REGIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "condition as JAX writes it": lambda b, x, k: b.while_loop(
        lambda s: s[0] < 3, lambda i, y: (i + 1, y), (0, x)
    ),
    "body as JAX writes it": lambda b, x, k: b.while_loop(
        lambda i, y: i < 3, lambda s: (s[0] + 1, s[1]), (0, x)
    ),
    "reducer of one": lambda b, x, k: x.reduce(lambda a: a, 0.0, 0),
    "body of fori_loop as JAX writes it": lambda b, x, k: b.fori_loop(0, 3, lambda i, s: s, (x, x)),
    "body of fori_loop without the index": lambda b, x, k: b.fori_loop(0, 3, lambda y: y, x),
    "branch of none": lambda b, x, k: b.cond(k > 0, lambda: 1, lambda y: y, x),
    "comparator of one": lambda b, x, k: b.sort(x, dimensions=[0], to_apply=lambda a: a),
}


@pytest.mark.parametrize("name", list(REGIONS))
def test_a_function_of_another_number_of_values_is_refused_by_its_role(name: str) -> None:
    with pytest.raises(
        xe.XlaExplorerError, match=r"the function for \w+ must take \d value"
    ) as refused:
        REGIONS[name](*values())
    assert "parameter" in refused.value.hint or "*state" in refused.value.hint


CLOSURES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "loop": lambda b, x, k: b.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + x), (0, x)),
    "fori": lambda b, x, k: b.fori_loop(0, 3, lambda i, y: y + x, x),
    "branch": lambda b, x, k: b.cond(k > 0, lambda y: y + x, lambda y: y, x),
    "branch that returns it": lambda b, x, k: b.cond(k > 0, lambda: x, lambda: x),
    "reducer": lambda b, x, k: x.reduce(lambda a, c: a + k.astype(xe.f32), 0.0, 0),
}


@pytest.mark.parametrize("name", list(CLOSURES))
def test_a_closure_is_refused_with_the_way_through_the_state(name: str) -> None:
    with pytest.raises(
        xe.XlaExplorerError, match=r"(?s)is in %main.*state and return it unchanged"
    ):
        CLOSURES[name](*values())


WRONG: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "state": (
        lambda b, x, k: b.while_loop(lambda i, y: i < 3, lambda i, y: (i,), (0, x)),
        "body must return the next state",
    ),
    "condition": (
        lambda b, x, k: b.while_loop(lambda i, y: y, lambda i, y: (i, y), (0, x)),
        "condition a pred scalar",
    ),
    "branches": (
        lambda b, x, k: b.cond(k > 0, lambda y: y, lambda y: y[0], x),
        "every branch must return",
    ),
    "sizes": (lambda b, x, k: x.reshape(7), "one size may be -1"),
    "an opcode's attributes": (
        lambda b, x, k: x.slice(slice=((0, 9, 1), (0, 8, 1))),
        r"b\.slice\(x",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_a_hint_says_what_must_hold_or_what_to_write(name: str) -> None:
    build, hint = WRONG[name]
    with pytest.raises(xe.XlaExplorerError) as refused:
        build(*values())
    assert re.search(hint, refused.value.hint)
