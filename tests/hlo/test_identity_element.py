"""Identity elements: the laws for all types."""

import ml_dtypes  # noqa: F401  numpy's dtypes of small floats
import numpy as np
import pytest

from xla_explorer.hlo.evaluator.combiner import _COMBINERS
from xla_explorer.hlo.evaluator.elementwise import apply_binary
from xla_explorer.hlo.identity_element import highest_value, identity_element, lowest_value
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType

TYPES = [t for t in PRIMITIVE_TYPES.values() if (t.is_array_type and t.bits > 1) or t.is_pred]


def _some(t: PrimitiveType) -> np.ndarray:
    """Values of a type: all of a small one; zeros, limits and NaN of a float."""
    if t.bits <= 8:
        codes = np.arange(2 if t.is_pred else 1 << t.bits, dtype=np.uint8)
        return codes.astype(np.int8).astype(t.dtype) if t.is_integer else codes.view(t.dtype)
    if t.is_integer:
        return np.array([lowest_value(t), 0, 1, 5, highest_value(t)], t.dtype)
    real = np.array([-np.inf, -2.5, -0.0, 0.0, 3.0, np.inf, np.nan])
    if not t.is_complex:
        return real.astype(t.dtype)
    return np.array(
        [complex(a, b) for a in (-2.5, -0.0, 0.0, 3.0) for b in (-1.0, -0.0, 0.0)], t.dtype
    )


def _bits(x: np.ndarray) -> list[bytes]:
    return [b"nan" if np.isnan(np.asarray(v, np.complex128)) else v.tobytes() for v in x]


@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.name)
def test_the_identity_leaves_every_value_as_it_is(t):
    values = _some(t)
    found = 0
    for name, ufunc in _COMBINERS.items():
        identity = identity_element(name, t)
        if identity is None:
            continue
        found += 1
        result = apply_binary(ufunc, np.full_like(values, identity), values)
        if t.is_complex and name == "multiply":
            assert (result == values).all()  # of zeros the sign may change
        else:
            assert _bits(result) == _bits(values), name
    expected = {True: 2, False: 4}[t.is_complex] if t.is_float or t.is_complex else 7
    assert found == expected - (t.name == "f8e8m0fnu")  # which has no zero


@pytest.mark.parametrize("name", ["f8e4m3fn", "f4e2m1fn", "f8e5m2", "bf16"])
def test_limits_of_floats(name):
    t = PRIMITIVE_TYPES[name]
    high = {"f8e4m3fn": 448.0, "f4e2m1fn": 6.0}.get(name, np.inf)
    assert (lowest_value(t), highest_value(t)) == (-high, high)
