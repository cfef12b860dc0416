"""Python callbacks of a JAX program run in `xe.jit` and `xe.from_jax`: values, order, errors."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = [pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed"), pytest.mark.codegen,
              pytest.mark.usefixtures("runs_here")]  # fmt: skip
X = np.array([1, 2, 3], np.float32)


def _pure(function: Any, x: Any, shape: tuple[int, ...] = (3,)) -> Any:
    import jax

    return jax.pure_callback(
        function, jax.ShapeDtypeStruct(shape, np.float32), x, vmap_method="sequential"
    )


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_values_come_back(backend: str) -> None:
    program = xe.jit(lambda x: _pure(lambda a: np.asarray(a) * 2, x) + 1, backend=backend)
    np.testing.assert_array_equal(program(X), 2 * X + 1)
    np.testing.assert_array_equal(program(X + 1), 2 * X + 3)


def test_a_module_of_from_jax_calls_them_too() -> None:
    module = xe.from_jax(lambda x: _pure(lambda a: np.asarray(a) * 2, x), X)
    np.testing.assert_array_equal(xe.compile(module)(X), 2 * X)


def test_a_call_for_each_element_of_a_batch() -> None:
    import jax

    program = xe.jit(jax.vmap(lambda x: _pure(lambda a: np.asarray(a) + 1, x, ())))
    np.testing.assert_array_equal(program(X), X + 1)


def test_ordered_effects_keep_their_order_in_loops_and_over_calls() -> None:
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[int] = []

    def note(i: Any) -> np.int32:
        log.append(int(i))
        return np.int32(10 * i)

    def step(total: Any, i: Any) -> Any:
        return total + io_callback(note, jax.ShapeDtypeStruct((), jnp.int32), i, ordered=True), i

    program = xe.jit(lambda x: jax.lax.scan(step, x, jnp.arange(3)))
    total, indices = program(np.int32(1))
    assert (int(total), indices.tolist(), log) == (31, [0, 1, 2], [0, 1, 2])
    assert int(program(total)[0]) == 61 and log == [0, 1, 2] * 2


def test_debug_print_prints(capfd: pytest.CaptureFixture[str]) -> None:
    import jax

    def step(x: Any) -> Any:
        jax.debug.print("sum {s}", s=x.sum())
        return x

    xe.jit(step)(X)
    assert "sum 6.0" in capfd.readouterr().out


def test_what_they_raise_is_named() -> None:
    with pytest.raises(xe.XlaExplorerError, match="division"):
        xe.jit(lambda x: _pure(lambda a: 1 // 0, x))(X)


def test_a_function_that_is_gone_is_said_to_be() -> None:
    program = xe.jit(lambda x: _pure(lambda a: a, x))
    module = program.lower(X)
    del program
    with pytest.raises(xe.XlaExplorerError, match="no longer exists"):
        xe.evaluate(module, X)


def test_a_module_from_a_file_says_that_the_function_is_not_in_it() -> None:
    text = 'HloModule m\nENTRY e { x = f32[3] parameter(0)\n ROOT r = f32[3] custom-call(x), custom_call_target="xla_ffi_python_cpu_callback" }'
    with pytest.raises(xe.XlaExplorerError, match=r"a Python function .* not in the module"):
        xe.evaluate(text, X)
