"""f8e8m0fnu has no negative values: no rule may cancel or introduce a negation.

Minus one of its values is NaN.
"""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

ALL = np.arange(256, dtype=np.uint8)
TYPE = "f8e8m0fnu[256]"
BODIES = {
    "negate-negate": "n = {t} negate(x)\nROOT r = {t} negate(n)",
    "multiply-negates": "n = {t} negate(x)\nm = {t} negate(y)\nROOT r = {t} multiply(n, m)",
    "odd-function": "n = {t} negate(x)\nROOT r = {t} tanh(n)",
    "odd-function-of-a-product": "n = {t} negate(x)\nm = {t} multiply(n, y)\nROOT r = {t} tanh(m)",
    "subtract-constant": "c = f8e8m0fnu[] constant(2)\nb = {t} broadcast(c), dimensions={{}}\nROOT r = {t} subtract(x, b)",
    "divide-by-exponential": "e = {t} exponential(y)\nROOT r = {t} divide(x, e)",
    "divide-exponentials": "d = {t} exponential(x)\ne = {t} exponential(y)\nROOT r = {t} divide(d, e)",
    "divide-by-power": "p = {t} power(x, y)\nROOT r = {t} divide(x, p)",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_value_without_a_sign_is_not_negated(name: str) -> None:
    text = f"ENTRY e {{\nx = {TYPE} parameter(0)\ny = {TYPE} parameter(1)\n{BODIES[name].format(t=TYPE)}\n}}"
    dtype = PRIMITIVE_TYPES["f8e8m0fnu"].dtype
    x, y = ALL.view(dtype), np.roll(ALL, 7).view(dtype)
    want = xe.evaluate(text, x, y)
    for got in (xe.evaluate(xe.optimize(text, "algsimp").module, x, y), xe.compile(text)(x, y)):
        np.testing.assert_array_equal(
            np.asarray(got).astype(np.float32), np.asarray(want).astype(np.float32)
        )


def test_only_one_float_has_no_sign() -> None:
    assert [t.name for t in PRIMITIVE_TYPES.values() if t.is_float and not t.has_sign] == [
        "f8e8m0fnu"
    ]
