"""Pages about time and memory name the arrays that a function captured, with size and line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.advice.captured_constants import captured_constants

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


@pytest.mark.long
def test_pages_of_real_xla_name_it() -> None:
    table = captured(np.float32, 2)

    def look_up(i: Any) -> Any:
        return jnp.asarray(table)[i] * 2

    for page in (xe.xla.why_memory(look_up, I), xe.xla.why_slow(look_up, I, repeats=2)):
        assert "captured constant" in str(page) and "test_captured_constants.py:" in str(page)
