"""Programs with Python callbacks on real XLA, whose process lacks the callbacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.xla.host_callbacks import HostCallbackWarning, without_host_callbacks

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
X = np.ones((8, 8), np.float32)


def functions() -> dict[str, tuple[Any, bool]]:
    """Name -> (function, whether its value depends on the Python function)."""
    from jax.experimental import io_callback

    like = jax.ShapeDtypeStruct(X.shape, X.dtype)
    same = np.asarray
    return {
        "print": (lambda a: (jax.debug.print("{}", a.sum()), a * 2)[1], False),
        "ordered print": (
            lambda a: (jax.debug.print("{}", a.sum(), ordered=True), a * 2)[1],
            False,
        ),
        "callback": (lambda a: (jax.debug.callback(lambda: None), a * 2)[1], False),
        "pure": (lambda a: a + jax.pure_callback(same, like, a), True),
        "io": (lambda a: a + io_callback(same, like, a), True),
        "ordered io": (
            lambda a: (
                a
                + io_callback(same, like, a, ordered=True)
                + io_callback(same, like, a * 2, ordered=True)
            ),
            True,
        ),
        "in a loop": (
            lambda a: jax.lax.fori_loop(0, 3, lambda k, c: c + jax.pure_callback(same, like, c), a),
            True,
        ),
    }


NAMES = ("print", "ordered print", "callback", "pure", "io", "ordered io", "in a loop")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_questions_of_real_xla_are_answered(name: str) -> None:
    function, depends = functions()[name]
    with pytest.warns(
        HostCallbackWarning, match=r"test_host_callbacks.py:\d+ calls a Python function"
    ):
        assert xe.xla.why_slow(function, X, repeats=3).to_text()
    with pytest.warns(HostCallbackWarning):
        session = xe.compile(xe.from_jax(function, X), backend="xla")
    if depends:
        with pytest.raises(
            xe.XlaExplorerError,
            match="calls a Python function, which real XLA's process does not have",
        ):
            session(X)
    else:
        np.testing.assert_array_equal(session.run_flat([X])[0], 2 * X)


@pytest.mark.parametrize("name", NAMES)
def test_the_module_without_its_calls_is_well_formed(name: str) -> None:
    from xla_explorer.hlo.verifier import verify

    module = xe.from_jax(functions()[name][0], X)
    before = module.to_text()
    with pytest.warns(HostCallbackWarning):
        found, zeroed = without_host_callbacks(module)
    verify(found)
    assert '"xla_explorer_host_callback"' not in found.to_text() and module.to_text() == before
    assert bool(zeroed) == functions()[name][1]


def test_a_module_without_such_calls_is_left_as_it_is() -> None:
    module = xe.parse_hlo("ENTRY e { ROOT p = f32[4] parameter(0) }")
    assert without_host_callbacks(module) == (module, ())
