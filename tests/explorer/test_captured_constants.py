"""Pages about time and memory name the arrays that a function captured, with size and line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.advice.captured_constants import captured_constants
from xla_explorer.explorer.xla.captured_names import with_variables

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
jnp = jax.numpy
I = np.arange(4, dtype=np.int32)  # noqa: E741 - indices


def captured(kind: Any, mebibytes: int) -> np.ndarray:
    count = (mebibytes << 20) // np.dtype(kind).itemsize
    return (np.arange(count) % 7).astype(kind)


@pytest.mark.parametrize(
    "kind",
    [np.float32, np.int32, np.float16, np.bool_, np.complex64],
    ids=lambda kind: np.dtype(kind).name,
)
@pytest.mark.parametrize("where", ["closure", "jitted", "loop"])
def test_a_captured_array_is_named(kind: Any, where: str) -> None:
    table = captured(kind, 2)

    def look_up(i: Any) -> Any:
        if where == "loop":
            return jax.lax.map(lambda k: jnp.asarray(table)[k], i)
        return jnp.asarray(table)[i]

    session = xe.compile(xe.from_jax(jax.jit(look_up) if where == "jitted" else look_up, I))
    (found,) = captured_constants(session)
    assert found.bytes == 2 << 20 and "test_captured_constants.py:" in found.line
    text = str(session.explain())
    assert "MiB in 1 captured constant" in text
    assert f"%{found.name}" in text and "pass it as an argument" in text


def test_arguments_and_small_constants_are_not_named() -> None:
    session = xe.compile(xe.from_jax(lambda t, i: t[i] + np.arange(4), captured(np.float32, 2), I))
    assert captured_constants(session) == [] and "captured" not in str(session.explain())


def test_rows_of_a_captured_array_count_together() -> None:
    table = np.random.default_rng(0).standard_normal((12, 1 << 13)).astype(np.float32)

    def add_rows(x: Any) -> Any:
        for k in range(12):
            x = jnp.sin(x) + jnp.asarray(table)[k]
        return x

    session = xe.compile(xe.from_jax(add_rows, np.zeros(1 << 13, np.float32)))
    found = with_variables(captured_constants(session), session.source, add_rows)
    assert [(one.variable, one.parts, one.bytes) for one in found] == [("table", 12, 12 << 15)]
    assert "12 times f32[8192]" in str(session.explain())


@pytest.mark.long
def test_pages_of_real_xla_name_it() -> None:
    table = captured(np.float32, 2)

    def look_up(i: Any) -> Any:
        return jnp.asarray(table)[i] * 2

    for page in (xe.xla.why_memory(look_up, I), xe.xla.why_slow(look_up, I, repeats=2)):
        assert "captured constant" in str(page) and "test_captured_constants.py:" in str(page)
