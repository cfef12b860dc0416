"""Real functions in every float type, beside mpmath: up to f32 rounded once, f64 nearly.

mpmath computes with fifty digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.hlo.evaluator.evaluator_programs import dtype, run, shape

# opcode -> (the function, arguments inside its domain)
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], tuple[float, ...]]] = {
    "exponential": (mpmath.exp, (-87.0, -3.5, -1e-6, 0.0, 0.75, 10.0)),
    "exponential-minus-one": (mpmath.expm1, (-20.0, -1e-6, 0.0, 1e-6, 0.75, 10.0)),
    "log": (mpmath.log, (1e-30, 0.5, 0.999, 1.0, 1.001, 3e4)),
    "log-plus-one": (mpmath.log1p, (-0.75, -1e-6, 0.0, 1e-6, 3e4)),
    "logistic": (lambda x: 1 / (1 + mpmath.exp(-x)), (-10.0, -0.5, 0.0, 0.5, 20.0)),
    "sqrt": (mpmath.sqrt, (0.0, 0.25, 2.0, 3e4)),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), (0.25, 2.0, 3e4)),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (-27.0, -0.1, 0.0, 2.0, 1000.0)),
    "tanh": (mpmath.tanh, (-9.0, -0.5, 0.0, 1e-3, 2.0)),
    "erf": (mpmath.erf, (-3.0, -0.5, 0.0, 1e-3, 2.0)),
    "sine": (mpmath.sin, (-100.0, -1.5, 0.0, 1e-3, 3.140625, 30000.0)),
    "cosine": (mpmath.cos, (-100.0, -1.5, 0.0, 1.570313, 3.140625, 30000.0)),
    "tan": (mpmath.tan, (-1.5, -0.5, 0.0, 1e-3, 3.140625)),
    "asin": (mpmath.asin, (-1.0, -0.5, 0.0, 1e-3, 0.999, 1.0)),
    "acos": (mpmath.acos, (-1.0, -0.5, 0.0, 1e-3, 0.999, 1.0)),
    "atan": (mpmath.atan, (-1e4, -0.5, 0.0, 1e-3, 2.0)),
    "sinh": (mpmath.sinh, (-9.0, -0.5, 0.0, 1e-3, 2.0)),
    "cosh": (mpmath.cosh, (-9.0, -0.5, 0.0, 1e-3, 2.0)),
    "asinh": (mpmath.asinh, (-9.0, -0.5, 0.0, 1e-3, 3e4)),
    "acosh": (mpmath.acosh, (1.0, 1.25, 2.0, 3e4)),
    "atanh": (mpmath.atanh, (-0.875, -0.5, 0.0, 1e-3, 0.75)),
}
# In units of the last place of the type.
ALLOWED = {"f64": 4.0, "f32": 0.501, "bf16": 0.501, "f16": 0.501}


@pytest.mark.parametrize("kind", ALLOWED)
@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_function(opcode: str, kind: str) -> None:
    function, arguments = FUNCTIONS[opcode]
    with np.errstate(all="ignore"):
        x = np.array(arguments, dtype(kind))
    with mpmath.workdps(50):
        # bf16 and f16 round some arguments out of the domain, and some results out of the type.
        exact = {
            k: function(mpmath.mpf(float(v))) for k, v in enumerate(x) if opcode != "log" or v > 0
        }
        exact = {
            k: v
            for k, v in exact.items()
            if not isinstance(v, mpmath.mpc)
            and mpmath.mpf("1e-4") * (kind == "f16") <= abs(v) < 6e4
        }
        got = run(opcode, shape(kind, len(x)), x)
        for k, want in exact.items():
            unit = np.abs(np.spacing(np.array(float(want), dtype(kind)))) if want else 0
            error = abs(mpmath.mpf(float(got[k])) - want)
            assert error <= ALLOWED[kind] * float(unit), (
                opcode,
                float(x[k]),
                float(got[k]),
                float(want),
            )
    assert len(exact) >= 2


def test_what_is_finite() -> None:
    for kind in ("f64", "f32", "f16", "bf16", "f8e5m2"):
        x = np.array([0.0, -1.5, np.inf, -np.inf, np.nan], dtype(kind))
        assert list(run("is-finite", shape("pred", 5), x)) == [True, True, False, False, False]


def test_reshape_and_domain_move_nothing() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(run("reshape", shape("f32", 3, 1, 2), x), x.reshape(3, 1, 2))
    np.testing.assert_array_equal(run("domain", shape("f32", 2, 3), x, domain="{}"), x)
