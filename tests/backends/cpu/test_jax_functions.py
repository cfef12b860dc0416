"""Public functions of JAX's numerical modules: native code has JAX's values, LLVM never crashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")

from tests.backends.cpu.jax_functions import (  # noqa: E402
    NOT_OF_ARRAYS,
    Case,
    all_cases,
    public_functions,
)

CASES = all_cases()
# Of the largest value of a result: the series of JAX differ by what is contracted.
TOLERANCE = 1e-4


@pytest.mark.filterwarnings("error::xla_explorer.backends.llvm.crashed_code.LlvmFallbackWarning")
@pytest.mark.sampled(16)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_public_function_has_jaxs_values(case: Case) -> None:
    session = xe.compile(xe.from_jax(case.function, *case.arguments))
    expected = jax.tree.leaves(jax.jit(case.function)(*case.arguments))
    results = session.run_flat([np.asarray(x) for x in case.arguments])
    assert len(results) == len(expected)
    for result, right in zip(results, expected, strict=True):
        assert np.shape(result) == np.shape(right)
        assert_near(np.asarray(result), np.asarray(right))


def assert_near(result: Any, right: Any) -> None:
    assert result.dtype == right.dtype
    if right.dtype.kind in "biu":
        assert (result == right).all()
        return
    finite = np.isfinite(right)
    largest = np.abs(right[finite]).max(initial=1.0)
    np.testing.assert_allclose(result, right, rtol=TOLERANCE, atol=TOLERANCE * largest)


def test_every_public_function_has_a_case() -> None:
    tried = {case.name for case in CASES}
    offered = {f"random.{name}" for name in public_functions(jax.random)}
    offered |= {f"special.{name}" for name in public_functions(jax.scipy.special)}
    offered |= {f"linalg.{name}" for name in public_functions(jax.numpy.linalg)}
    offered |= {f"stats.{name}" for name in public_functions(jax.scipy.stats)}
    assert offered - tried - NOT_OF_ARRAYS == set()
