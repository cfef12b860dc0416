"""`xe.jit` beside `jax.jit`: effects happen as often, in the same order, never at tracing."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(
        find_spec("jax") is None, reason="jax is not installed: effects of xe.jit are NOT tested"
    ),
]
SCALAR = ((), np.float32)
Make = Callable[[list[float]], Callable[..., Any]]


def counting(log: list[float]) -> Callable[..., np.float32]:
    """Return a host function that counts its calls and returns the count."""

    def count(*given: Any) -> np.float32:
        log.append(float(np.sum([np.sum(value) for value in given])))
        return np.float32(len(log))

    return count


def io(log: list[float], *given: Any, ordered: bool = False) -> Any:
    import jax
    from jax.experimental import io_callback

    return io_callback(counting(log), jax.ShapeDtypeStruct(*SCALAR), *given, ordered=ordered)


def forms() -> dict[str, tuple[Make, tuple[Any, ...]]]:
    import jax
    import jax.numpy as jnp

    def shown(log: list[float], *given: Any) -> None:
        jax.debug.callback(
            lambda *values: log.append(float(np.sum([np.sum(v) for v in values]))), *given
        )

    def pure(log: list[float], *given: Any) -> Any:
        return jax.pure_callback(counting(log), jax.ShapeDtypeStruct(*SCALAR), *given)

    def loop(log: list[float], x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (c + io(log, ordered=True), None), x, None, length=4)[0]

    def repeated(log: list[float], x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c < 3, lambda c: c + 1 + 0 * io(log), x)

    x, ones = np.float32(1), jnp.ones((4, 4))
    return {
        "ordered callback of a constant": (lambda log: lambda x: x + io(log, jnp.float32(1), ordered=True), (x,)),
        "callback of nothing": (lambda log: lambda x: x + io(log), (x,)),
        "callback of the argument": (lambda log: lambda x: x + io(log, x), (x,)),
        "two ordered callbacks": (lambda log: lambda x: io(log, x, ordered=True) - 2 * io(log, x * 2, ordered=True), (x,)),
        "pure callback of a constant": (lambda log: lambda x: x + pure(log, jnp.float32(1)), (x,)),
        "debug callback of nothing": (lambda log: lambda x: (shown(log), x * 2)[1], (x,)),
        "debug callback of a constant": (lambda log: lambda x: (shown(log, jnp.arange(3.0)), x * 2)[1], (x,)),
        "branch that is not taken": (lambda log: lambda x: jax.lax.cond(x > 5, lambda: io(log), lambda: jnp.float32(0)), (x,)),
        "branch that is taken": (lambda log: lambda x: jax.lax.cond(x > 0, lambda: io(log), lambda: jnp.float32(0)), (x,)),
        "check that does not fail": (lambda log: lambda x: jax.lax.cond(x > 5, lambda y: io(log, y), lambda y: y * 4, x), (x,)),
        "scan": (lambda log: lambda x: loop(log, x), (x,)),
        "while": (lambda log: lambda x: repeated(log, x), (x,)),
        "inside of a jitted function": (lambda log: lambda x: jax.jit(lambda y: y + io(log))(x), (x,)),
        "no argument": (lambda log: lambda: io(log), ()),
        "random numbers": (lambda log: lambda x: x + jax.random.normal(jax.random.key(0), (8, 8)), (x,)),
        "gradient with random numbers": (
            lambda log: jax.grad(lambda x: jnp.sum(jnp.sin(x) * jax.random.uniform(jax.random.key(1), (5,)))), (x,)
        ),
        "captured array": (lambda log: lambda x: (x * ones).sum(), (x,)),
        "constants made inside": (lambda log: lambda x: x * jnp.linspace(0, 1, 5) + jnp.eye(5)[2], (x,)),
        "keyword and tree": (lambda log: lambda x: {"a": x + io(log, x), "b": (x, jnp.arange(2))}, (x,)),
    }  # fmt: skip


@pytest.mark.parametrize("name", [
    "ordered callback of a constant", "callback of nothing", "callback of the argument", "two ordered callbacks",
    "pure callback of a constant", "debug callback of nothing", "debug callback of a constant", "branch that is not taken",
    "branch that is taken", "check that does not fail", "scan", "while", "inside of a jitted function", "no argument", "random numbers",
    "gradient with random numbers", "captured array", "constants made inside", "keyword and tree",
])  # fmt: skip
def test_effects_and_values_are_those_of_jax_jit(name: str) -> None:
    import jax

    make, arguments = forms()[name]
    seen: list[tuple[list[float], list[Any]]] = []
    for jit in (jax.jit, xe.jit):
        log: list[float] = []
        function = jit(make(log))
        results = [
            [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(function(*arguments))]
            for _ in range(3)
        ]
        jax.effects_barrier()
        seen.append((log, results))
    assert seen[0][0] == seen[1][0]
    for ours, theirs in zip(seen[1][1], seen[0][1], strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_what_depends_on_no_argument_is_in_the_module() -> None:
    import jax
    import jax.numpy as jnp

    def noisy(x: Any) -> Any:
        return x + jax.random.normal(jax.random.key(0), (16,))

    x = jnp.zeros(16)
    lowered, from_jax = xe.jit(noisy).lower(x), xe.from_jax(noisy, x)
    assert lowered.instruction_count() == from_jax.instruction_count() > 50


def test_kernels_of_pallas_with_constants_inside_are_computed() -> None:
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas

    def kernel(x: Any, out: Any) -> None:
        out[...] = x[...] * 2 + jnp.ones(8) * 3

    def call(x: Any) -> Any:
        return pallas.pallas_call(
            kernel, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32), interpret=True
        )(x)

    x = jnp.arange(8.0)
    np.testing.assert_allclose(np.asarray(xe.jit(call)(x)), np.asarray(jax.jit(call)(x)))


@pytest.mark.parametrize(("options", "arguments", "keywords"), [
    ({"static_argnums": 1}, (3.0,), {}), ({"static_argnames": "n"}, (), {"n": 3}), ({"donate_argnums": 0}, (2.0,), {}),
    ({"donate_argnames": "x"}, (2.0,), {}), ({"keep_unused": True}, (2.0,), {}),
], ids=str)  # fmt: skip
def test_options_mean_what_they_mean_in_jax_jit(
    options: dict[str, Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    import jax
    import jax.numpy as jnp

    def scaled(x: Any, n: Any) -> Any:
        return {"a": x * n, "b": (x + jnp.arange(4.0), None)}

    seen = []
    for jit in (jax.jit, xe.jit):
        x = jnp.ones(4) * 2
        result = jit(scaled, **options)(x, *arguments, **keywords)
        seen.append(
            (
                jax.tree_util.tree_structure(result),
                [np.asarray(leaf).tolist() for leaf in jax.tree_util.tree_leaves(result)],
            )
        )
    assert seen[0] == seen[1]
