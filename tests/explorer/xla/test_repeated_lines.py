"""Lines that Python loops trace many times are counted, but no loops of JAX itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.repeated_lines import repeated_lines

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
jnp = jax.numpy
X = np.ones(16, np.float32)


def one_operation(x: Any) -> Any:
    for _ in range(40):
        x = jnp.sin(x)  # repeated
    return x


def two_alike_in_a_line(x: Any) -> Any:
    for k in range(40):
        x = jnp.sin(x + k) * jnp.sin(x - k)  # repeated
    return x


def updates(x: Any) -> Any:
    for k in range(40):
        x = x.at[k % 16].set(jnp.tanh(x[k % 8] + jnp.sum(x)))  # repeated
    return x


def layer(x: Any) -> Any:
    return jax.nn.relu(x * 2) + 1  # repeated


def calls_of_a_function(x: Any) -> Any:
    for _ in range(40):
        x = layer(x)
    return x


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=40)[0]


def mapped(x: Any) -> Any:
    return jax.vmap(lambda a: jnp.sin(a) + a)(x)


def few(x: Any) -> Any:
    for _ in range(3):
        x = jnp.sin(x)
    return x


def line_of(function: Callable[..., Any]) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if "# repeated" in line)


@pytest.mark.parametrize(
    "function", [one_operation, two_alike_in_a_line, updates, calls_of_a_function]
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "jitted"])
def test_an_unrolled_line_is_named_with_its_count(
    function: Callable[..., Any], wrapped: bool
) -> None:
    found = repeated_lines(xe.from_jax(jax.jit(function) if wrapped else function, X))
    holder = layer if function is calls_of_a_function else function
    assert (
        found[0].line.endswith(f"test_repeated_lines.py:{line_of(holder)}") and found[0].times == 40
    )
    assert found[0].share > 0.3


@pytest.mark.parametrize("function", [scanned, mapped, few])
def test_what_is_traced_once_is_not(function: Callable[..., Any]) -> None:
    assert repeated_lines(xe.from_jax(function, X)) == []


def test_the_page_of_compiles_says_it() -> None:
    page = xe.xla.why_recompiled(one_operation, (X,))
    assert page.repeated[0].times == 40 and "lines that were traced many times" in str(page)


@pytest.mark.long
def test_times_of_passes_of_real_xla_are_not_known() -> None:
    session = xe.compile(xe.from_jax(one_operation, X), backend="xla")
    frame = session.passes.to_frame()
    assert frame["seconds"][1:].isna().all() and len(frame) > 1
    assert (
        "not known" in str(session.passes)
        and "0.00 ms" not in repr(session.passes[1])
        and "not known" in repr(session.passes[1])
    )
