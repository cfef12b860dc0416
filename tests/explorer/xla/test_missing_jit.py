"""A function that is not jitted: why_slow says what its call takes as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.missing_jit import missing_jit_note

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
X = np.ones(20, np.float32)
CALLS: list[int] = []


def many(x: Any, *, times: int = 50) -> Any:
    CALLS.append(1)
    for _ in range(times):
        x = x * 1.5 + 1
    return x


def said(program: Any, *arrays: Any, run_us: float = 10.0) -> str | None:
    module = xe.from_jax(program, *arrays)
    CALLS.clear()
    return missing_jit_note(program, arrays, {}, module, run_us)


def test_a_call_operation_by_operation_is_named() -> None:
    assert (
        "as called, not jitted, many takes" in (text := str(said(many, X)))
        and "put jax.jit on it" in text
    )
    assert "not jitted" in str(said(lambda xs: sum(many(x, times=9) for x in xs), [X, X]))


@pytest.mark.parametrize(
    ("program", "arrays", "run_us"),
    [
        (jax.jit(many), (X,), 10.0),
        (many, (jax.ShapeDtypeStruct((20,), np.float32),), 10.0),
        (many, (X,), 1e7),
    ],
    ids=["jitted", "specification", "long run"],
)
def test_nothing_is_called_where_it_would_not_answer(
    program: Any, arrays: tuple[Any, ...], run_us: float
) -> None:
    assert said(program, *arrays, run_us=run_us) is None
    assert not CALLS


def test_a_call_as_quick_as_a_run_and_one_that_raises_say_nothing() -> None:
    def only_traced(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            raise ValueError("outside of a trace")
        return x

    assert said(many, X, run_us=1e6) is None
    assert said(only_traced, X) is None


def test_python_callbacks_are_not_called() -> None:
    seen: list[Any] = []

    def with_print(x: Any) -> Any:
        jax.debug.callback(seen.append, x)
        return many(x)

    assert said(with_print, X) is None and not seen


@pytest.mark.long
def test_the_page_shows_it() -> None:
    """Use an array of JAX: numpy's would run numpy's operations, which are nearly as quick."""
    assert "put jax.jit on it" in str(xe.xla.why_slow(many, jax.numpy.asarray(X), repeats=3))
