"""The check of values after each pass, and closeness by element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import EvaluationError, evaluate, flatten_value
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]

# (relative, absolute over the largest value) by element type.
TOLERANCES = {
    "float64": (1e-9, 1e-11),
    "complex128": (1e-9, 1e-11),
    "float32": (1e-3, 1e-4),
    "complex64": (1e-3, 1e-4),
    "float16": (1e-2, 5e-3),
    "bfloat16": (2e-2, 1e-2),
}
NARROWER = (2e-2, 1e-2)


def largest_error(reference: Sequence[Array], values: Sequence[Array]) -> tuple[float, bool]:
    """Return the largest relative error, and True if every leaf is within its type's tolerance.

    The error is the largest |a - b| over the largest |reference| of its leaf. Tolerances (rtol,
    atol) for |a - b| <= rtol |b| + atol max|b|: (1e-9, 1e-11) for f64 and c128; (1e-3, 1e-4) for
    f32 and c64; (1e-2, 5e-3) for f16; (2e-2, 1e-2) for bf16 and narrower. Integers and pred must be
    equal. NaN equals NaN.
    """
    worst, good = 0.0, len(reference) == len(values)
    for want, got in zip(reference, values, strict=False):
        want, got = np.asarray(want), np.asarray(got)
        if want.shape != got.shape or want.dtype != got.dtype:
            return float("inf"), False
        if want.size == 0:
            continue
        if want.dtype.kind in "iub" or want.dtype.name.startswith(("int", "uint")):
            if not np.array_equal(want, got):
                good, worst = (
                    False,
                    max(
                        worst, float(np.abs(want.astype(np.float64) - got.astype(np.float64)).max())
                    ),
                )
            continue
        relative, absolute = TOLERANCES.get(want.dtype.name, NARROWER)
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        a, b = got.astype(wide), want.astype(wide)
        with np.errstate(all="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            finite = np.isfinite(b)
            scale = float(np.abs(b[finite]).max()) if finite.any() else 1.0
            error = np.where(same, 0.0, np.abs(a - b))
            fine = same | (finite & (error <= relative * np.abs(b) + absolute * scale))
        good = good and bool(fine.all())
        largest = (
            float(np.nanmax(np.where(np.isfinite(error), error, np.inf))) if not same.all() else 0.0
        )
        worst = max(worst, largest / scale if scale else largest)
    return worst, good


class ValuesDifferError(XlaExplorerError):
    """A pass changed the values that the module computes.

    Attributes
    ----------
    pass_name
        The pass after which the values differ.
    error
        The largest relative error; infinity when the module can no longer be evaluated.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> str(xe.errors.ValuesDifferError("algsimp", 0.5)).splitlines()[0]  # doctest: +ELLIPSIS
    '...algsimp...'
    """

    def __init__(self, pass_name: str, error: float, problem: str = "") -> None:
        what = problem or f"the largest error is {error:.3g} of the largest value"
        super().__init__(
            f"the pass {pass_name} is the first after which the values differ from those of the "
            f"module as written: {what}",
            "session.bisect(*inputs) finds the rewrite",
        )
        self.pass_name, self.error = pass_name, error


class ValueCheck:
    """A comparison of values: a module on fixed inputs, and the module as written.

    leaves: one array per leaf of the parameters.
    """

    def __init__(self, module: HloModule, leaves: Sequence[Any]) -> None:
        self.leaves = list(leaves)
        self.reference = flatten_value(evaluate(module, *self.leaves))
        self.evaluations = 0

    def compare(self, module: HloModule) -> tuple[float, bool, str]:
        """Return the largest error, True if within tolerance, and why evaluation failed, or ""."""
        self.evaluations += 1
        try:
            error, fine = largest_error(
                self.reference, flatten_value(evaluate(module, *self.leaves))
            )
        except EvaluationError as problem:
            return float("inf"), False, f"it cannot be evaluated any more: {problem}"
        return error, fine, ""

    def require(self, module: HloModule, pass_name: str) -> None:
        """Raise ValuesDifferError if the values differ."""
        error, fine, problem = self.compare(module)
        if not fine:
            raise ValuesDifferError(pass_name, error, problem)
