"""A triangular solve as a loop of rows reads one triangle, and no diagonal if that is unit."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe


@pytest.mark.parametrize("passes", ["default", "triangular_solve_expander,default"])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE"])
@pytest.mark.parametrize(
    ("unit", "pivot"), [(True, np.nan), (True, np.inf), (False, np.inf), (False, 2.0)]
)
def test_what_is_not_read_may_be_anything(
    unit: bool, pivot: float, transpose: str, passes: str
) -> None:
    text = f"""ENTRY e {{
      a = f32[2,9,9] parameter(0)
      b = f32[2,9,3] parameter(1)
      ROOT r = f32[2,9,3] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal={str(unit).lower()}, transpose_a={transpose}
    }}"""
    generator = np.random.default_rng(0)
    a = (generator.standard_normal((2, 9, 9)) / 10 + np.eye(9)).astype(np.float32)
    a[:, 2, 2], a[:, 1, 5] = pivot, np.nan
    b = generator.standard_normal((2, 9, 3)).astype(np.float32)
    wanted = np.asarray(xe.evaluate(text, a, b))
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(xe.compile(text, passes=passes)(a, b), wanted, rtol=1e-4, atol=1e-5)
