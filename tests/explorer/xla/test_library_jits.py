"""Functions that a JAX library jitted, and static arguments: leaves that are no JAX array."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.flag_sweeps import given

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
jnp = jax.numpy
W, X = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones(4, np.float32)


class Lowered:
    """A library's own, around JAX's."""

    def __init__(self, lowered: Any) -> None:
        self.lowered = lowered


class FilterJit:
    """As equinox's `filter_jit`: arrays are traced, all other leaves are static."""

    def __init__(self, function: Any, **options: Any) -> None:
        self.function, self.options, self.__name__ = function, options, function.__name__

    def _split(self, arguments: tuple[Any, ...]) -> tuple[Any, list[Any]]:
        leaves, tree = jax.tree_util.tree_flatten(arguments)
        places = [k for k, leaf in enumerate(leaves) if hasattr(leaf, "shape")]

        def of_arrays(*arrays: Any) -> Any:
            whole = list(leaves)
            for k, array in zip(places, arrays, strict=True):
                whole[k] = array
            return self.function(*jax.tree_util.tree_unflatten(tree, whole))

        return jax.jit(of_arrays, **self.options), [leaves[k] for k in places]

    def __call__(self, *arguments: Any) -> Any:
        jitted, arrays = self._split(arguments)
        return jitted(*arrays)

    def lower(self, *arguments: Any) -> Lowered:
        jitted, arrays = self._split(arguments)
        return Lowered(jitted.lower(*arrays))


def layer(parameters: dict[str, Any], x: Any) -> Any:
    return parameters["activation"](parameters["w"] @ x * parameters["scale"])


MODEL = {"activation": jnp.tanh, "scale": 0.01, "w": W}
RIGHT = np.tanh(W @ X * 0.01)


class Slotted:
    """As flax's `nnx.jit`: it has JAX's stages, in fields of its own."""

    __slots__ = ("lowered", "traced")

    def lower(self, **options: Any) -> Any:
        made = Slotted()
        made.lowered = self.traced.lower(**options)
        return made


class NnxJit(FilterJit):
    def trace(self, *arguments: Any) -> Slotted:
        jitted, arrays = self._split(arguments)
        made = Slotted()
        made.traced = jitted.trace(*arrays)
        return made

    def lower(self, *arguments: Any) -> Any:
        return self.trace(*arguments).lower()


class Methods:
    """Arrays of an object in jitted methods; two objects are never equal, and none has a hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.w = W

    def __call__(self, x: Any) -> Any:
        return self.w @ x

    @jax.jit
    def alone(x: Any) -> Any:  # type: ignore[misc]
        return x * 2

    def plain(self, x: Any) -> Any:
        return self.w @ x


class Hashed(Methods):
    __hash__ = object.__hash__

    @functools.partial(jax.jit, static_argnums=0)
    def jitted(self, x: Any) -> Any:
        return self.w @ x


@jax.tree_util.register_pytree_node_class
class Tree(Methods):
    def tree_flatten(self) -> Any:
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, _: Any, leaves: Any) -> Tree:
        made = cls()
        (made.w,) = leaves
        return made

    @jax.jit
    def apply(self, x: Any) -> Any:
        return self.w @ x


@pytest.mark.parametrize(
    ("function", "right"),
    [
        (Methods(), W @ X),
        (Methods.alone, X * 2),
        (Methods().plain, W @ X),
        (Hashed().jitted, W @ X),
        (Tree().apply, W @ X),
        (functools.partial(jax.jit(lambda w, x: w @ x), W), W @ X),
        (jnp.negative, -X),
    ],
)
def test_what_jax_calls_is_taken(function: Any, right: Any) -> None:
    module, leaves = given(function, (X,))
    np.testing.assert_allclose(np.asarray(xe.evaluate(module, *leaves)), right, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(xe.jit(function)(X)), right, rtol=1e-5)


@pytest.mark.parametrize("library", [FilterJit, NnxJit])
def test_arrays_of_a_library_keep_their_places(library: Any) -> None:
    """The model's arrays come after its other leaves, and two have one shape."""
    model = {"activation": jnp.tanh, "b": X, "scale": 0.01, "w": W}

    def function(model: Any, x: Any) -> Any:
        return model["activation"](model["w"] @ (x - model["b"]) * model["scale"])

    right = np.tanh(W @ (X * 5 - X) * 0.01)
    module, leaves = given(library(function), (model, X * 5))
    np.testing.assert_allclose(np.asarray(xe.evaluate(module, *leaves)), right, rtol=1e-5)
    jitted = xe.jit(library(lambda arrays, x: function({**model, **arrays}, x)))
    made = jitted({"b": X, "w": W}, X * 5)
    np.testing.assert_allclose(np.asarray(made), right, rtol=1e-5)


def test_the_program_and_its_arguments_are_those_of_the_library() -> None:
    for program in (
        FilterJit(layer),
        FilterJit(layer).lower(MODEL, X),
        NnxJit(layer).lower(MODEL, X),
    ):
        module, leaves = given(program, (MODEL, X))
        np.testing.assert_allclose(np.asarray(xe.evaluate(module, *leaves)), RIGHT, rtol=1e-5)
    np.testing.assert_allclose(
        np.asarray(xe.compile(FilterJit(layer).lower(MODEL, X))(W, X)), RIGHT, rtol=1e-5
    )


@pytest.mark.long
def test_questions_of_real_xla_take_them() -> None:
    donating = FilterJit(
        lambda model, x: {"w": model["w"] * x, "s": model["activation"](x)}, donate_argnums=0
    )
    assert xe.xla.why_memory(donating, MODEL, X).total_bytes > 0
    assert "loss" in str(xe.xla.why_slow(FilterJit(loss), MODEL, X, repeats=2))
    assert xe.xla.why_recompiled(FilterJit(layer), (MODEL, X)).compiles == 1


def loss(model: Any, x: Any) -> Any:
    return jnp.sum(layer(model, x) ** 2)


@pytest.mark.parametrize(("options", "arguments", "right"), [
    ({"static_argnums": 1}, (X, 3), X * 3), ({"static_argnums": 0}, (3, X), X * 3), ({"static_argnums": 0}, (3, 2.0), 6.0),
    ({"static_argnums": (0,)}, ("twice", X), X * 2),
], ids=str)  # fmt: skip
def test_static_arguments_are_no_parameters(
    options: dict[str, Any], arguments: tuple[Any, ...], right: Any
) -> None:
    def scaled(a: Any, b: Any) -> Any:
        return b * 2 if a == "twice" else a * b

    module, leaves = given(jax.jit(scaled, **options), arguments)
    np.testing.assert_allclose(np.asarray(xe.evaluate(module, *leaves)), right)
