"""Tolerances between two correct results, as data."""

from __future__ import annotations

import ml_dtypes
import numpy as np

# Roundings of the type that one element may be off, relative to 1 + |element|. XLA and we
# approximate functions by other polynomials, contract multiplications and additions to other FMAs,
# and may keep what lies between two operations of a narrow type in a wider one.
WIDE_ROUNDINGS = 16
NARROW_ROUNDINGS = 4  # types below 32 bits, which both sides mostly compute in f32 and round once

# Complex functions that are more than one step: exp(w log z) has the rounding of w log z as often
# as that is large.
COMPLEX_ROUNDINGS = {"pow": 128}

# Primitives that add many terms in an order of their own choice: so many roundings of the largest
# element of the result besides. Terms that cancel leave an error of the size of what cancelled, not
# of what is left.
SUMS = {
    "dot_general": 8,
    "conv_general_dilated": 8,
    "fft": 8,
    "reduce_window_add": 8,
    "select_and_scatter_add": 8,
    "scatter_add": 8,
    "reduce": 8,
    "reduce_sum": 8,
    "cumsum": 8,
    "cumlogsumexp": 8,
    # Substitutions and eliminations, of the small random matrices that these harnesses have.
    "triangular_solve": 64,
    "custom_linear_solve": 512,
    "linear_solve": 512,
    "tridiagonal_solve": 64,
    "lu": 64,
}


def epsilon(kind: np.dtype) -> float | None:
    """Return the rounding of a float or complex type; None for exact types."""
    try:
        return float(ml_dtypes.finfo(kind).eps)
    except ValueError:
        return None


def limits(primitive: str, want: np.ndarray) -> np.ndarray | None:
    """For each element the error allowed; None: none."""
    unit = epsilon(want.dtype)
    if unit is None:
        return None
    size = np.abs(want.astype(np.complex128 if want.dtype.kind == "c" else np.float64))
    size = np.where(np.isfinite(size), size, 0)
    roundings = WIDE_ROUNDINGS if unit < 1e-4 else NARROW_ROUNDINGS
    if want.dtype.kind == "c":
        roundings = COMPLEX_ROUNDINGS.get(primitive, roundings)
    return unit * (roundings * (1 + size) + SUMS.get(primitive, 0) * np.max(size, initial=0))
