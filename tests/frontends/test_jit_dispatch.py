"""`xe.jit` on `cpu` runs in JAX's own dispatch: native code on its buffers, else Python."""

from __future__ import annotations

import gc
import importlib.util
import threading
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu.cpu_executable import CpuExecutable

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed"),
    pytest.mark.codegen,
    pytest.mark.usefixtures("runs_here"),
]


@pytest.fixture
def without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """No execution may come by Python."""

    def refuse(*_: Any) -> None:
        raise AssertionError("executed by Python")

    monkeypatch.setattr(CpuExecutable, "execute", refuse)


@pytest.mark.long
@pytest.mark.usefixtures("without_python")
def test_pytrees_weak_types_keys_and_static_arguments_go_through_jax() -> None:
    import jax
    import jax.numpy as jnp

    def step(
        state: dict[str, Any], key: Any, scale: float, times: int, *, flip: bool = False
    ) -> dict[str, Any]:
        noise = jax.random.uniform(key, (3,))
        value = state["x"] * scale + noise * times
        return {
            "x": -value if flip else value,
            "key": jax.random.split(key)[0],
            "flag": state["flag"],
            "n": state["n"] + 1,
        }

    state = {"x": jnp.arange(3.0), "flag": jnp.array([True, False]), "n": jnp.int8(3)}
    ours = xe.jit(step, static_argnums=3, static_argnames="flip")
    theirs = jax.jit(step, static_argnums=3, static_argnames="flip")
    for arguments, keywords in (((2.0, 4), {}), ((2, 4), {}), ((2.0, 5), {"flip": True})):
        found, wanted = (
            f(state, jax.random.key(7), *arguments, **keywords) for f in (ours, theirs)
        )
        assert jax.tree.map(lambda a: (a.shape, a.dtype), found) == jax.tree.map(
            lambda a: (a.shape, a.dtype), wanted
        )
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
                a, b = jax.random.key_data(a), jax.random.key_data(b)
            np.testing.assert_allclose(a, b, rtol=1e-6)
    assert len(ours.sessions) == 3


@pytest.mark.usefixtures("without_python")
def test_the_session_is_that_of_the_last_call_also_where_nothing_was_compiled() -> None:
    ours = xe.jit(lambda x: x + 1)
    short, long = np.ones(2, np.float32), np.ones(3, np.float32)
    ours(short), ours(long)
    assert ours.session is ours.compiled(long)
    ours(short)
    assert ours.session is ours.compiled(short) and len(ours.sessions) == 2


@pytest.mark.usefixtures("without_python")
def test_donated_arguments_are_gone_and_results_lie_in_their_memory() -> None:
    import jax.numpy as jnp

    ours = xe.jit(lambda w, g: (w - 0.5 * g, jnp.sum(g)), donate_argnums=0)
    weights = jnp.arange(1000, dtype=jnp.float32) * 1
    gradient = jnp.ones(1000)
    there = weights.unsafe_buffer_pointer()
    new, total = ours(weights, gradient)
    np.testing.assert_array_equal(new, np.arange(1000) - 0.5)
    assert weights.is_deleted() and not gradient.is_deleted() and float(total) == 1000
    assert new.unsafe_buffer_pointer() == there


@pytest.mark.usefixtures("without_python")
def test_calls_side_by_side_and_after_their_function_are_right() -> None:
    def run(number: int) -> None:
        ours = xe.jit(lambda x: (x * 2 + number).sum())
        values = [ours(np.full(1000, k, np.float32)) for k in range(20)]
        del ours
        gc.collect()
        results[number] = [float(v) for v in values]

    results: dict[int, list[float]] = {}
    shared = xe.jit(lambda x: x @ x)
    matrix = np.eye(64, dtype=np.float32) * 3

    def same() -> None:
        squares.extend([np.asarray(shared(matrix))[5, 5] for _ in range(20)])

    squares: list[float] = []
    threads = [threading.Thread(target=run, args=(k,)) for k in range(3)] + [
        threading.Thread(target=same) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [1000.0 * (2 * k + n) for k in range(20)] for n in range(3)}
    assert squares == [9.0] * 40


def test_what_the_evaluator_runs_is_called_by_python() -> None:
    import jax

    def cast(x: Any) -> Any:
        return x.astype(jax.numpy.int4) + jax.numpy.int4(1)

    ours = xe.jit(cast)
    np.testing.assert_array_equal(
        np.asarray(ours(np.arange(3, dtype=np.float32))).astype(int), [1, 2, 3]
    )
    np.testing.assert_array_equal(
        np.asarray(ours(np.arange(4, dtype=np.float32))).astype(int), [1, 2, 3, 4]
    )


def test_every_question_takes_the_arguments_of_the_function() -> None:
    ours = xe.jit(lambda tree, y: {"z": tree["a"][0] + y}, backend="cpu")
    arguments = ({"a": [np.ones(4, np.float32)]}, np.ones(4, np.float32))
    assert ours.lower(*arguments).entry.root.shape.text_without_layout in ("f32[4]", "(f32[4])")
    assert len(ours.profile(*arguments, repeats=2)) >= 1
    assert ours.compiled(*arguments) is ours.session or ours.session is None


def test_an_export_of_symbolic_shapes_is_refined_for_the_shapes_of_the_call() -> None:
    import jax
    from jax import export

    (b,) = export.symbolic_shape("b")
    exported = export.export(jax.jit(lambda x: jax.numpy.sin(x).sum(axis=0) + x.shape[0]))(
        jax.ShapeDtypeStruct((b, 3), np.float32)
    )
    ours = xe.jit(exported.call)
    for rows in (4, 2):
        x = np.ones((rows, 3), np.float32)
        np.testing.assert_allclose(ours(x), np.sin(x).sum(axis=0) + rows, rtol=1e-6)
    assert not any("?" in shape.text for shape in ours.session.module.parameter_shapes())


def test_a_function_that_was_called_directly_still_says_that_jax_cannot_trace_it() -> None:
    import jax

    ours, x = xe.jit(lambda x: (x * x).sum()), np.ones(2, np.float32)
    for _ in range(2):
        assert float(ours(x)) == 2.0
        for traced in (jax.jit(ours), jax.grad(ours)):
            with pytest.raises(xe.XlaExplorerError, match="cannot trace through"):
                traced(x)
    assert float(ours(np.ones(3, np.float32))) == 3.0 and ours.session is ours.compiled(
        np.ones(3, np.float32)
    )


@pytest.mark.parametrize("form", ["transpose", "tuple", "tree"])
def test_a_result_that_is_a_transpose_is_written_by_native_code(form: str) -> None:
    """Jaxlib states another layout for it, in which a call by Python would have to hand it over."""
    import jax
    import jax.numpy as jnp

    function = {
        "transpose": lambda x: x.T,
        "tuple": lambda x: (x.T, x + 1, jnp.swapaxes(x, 0, 1) * 2),
        "tree": lambda x: {"a": x.T @ x, "b": jnp.moveaxis(x.reshape(3, 2, 4), 0, -1)},
    }[form]
    x = jnp.arange(24.0).reshape(6, 4)
    jitted = xe.jit(function)
    for ours, theirs in zip(
        jax.tree.leaves(jitted(x)), jax.tree.leaves(jax.jit(function)(x)), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert jitted._dispatch and jitted.session.executable.native_calls() is not None
