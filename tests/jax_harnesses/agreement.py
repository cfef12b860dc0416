"""Correctness of our results: JAX's tolerance, or the definition if several results are correct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.jax_harnesses.definitions import NOT_UNIQUE, Wrong
from tests.jax_harnesses.tolerances import limits


def compare(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> dict[str, Any]:
    """Return `status` (agrees or differs), `by`, and `note`, the distance from JAX's result.

    `by` is definition if JAX chose another of the correct results.

    `by` is definition if JAX chose another of the correct results.
    """
    if [(a.dtype, a.shape) for a in got] != [(b.dtype, b.shape) for b in want]:
        return {
            "status": "differs",
            "note": f"results {[f'{a.dtype}{a.shape}' for a in got]} for {[f'{b.dtype}{b.shape}' for b in want]}",
        }
    worst, note = 0.0, ""
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        used, said = off(harness.group_name, a, b)
        worst = max(worst, used)
        note = note or (said and f"result {k} ({a.dtype}{list(a.shape)}): {said}")
    if not note:
        return {"status": "agrees", "worst": round(worst, 3)}
    if harness.group_name not in NOT_UNIQUE:
        return {"status": "differs", "note": note}
    try:
        NOT_UNIQUE[harness.group_name][1](harness, arguments, got, want)
    except Wrong as wrong:
        return {"status": "differs", "note": f"{wrong}; {note}"}
    return {"status": "agrees", "by": "definition", "note": note}


def off(primitive: str, a: np.ndarray, b: np.ndarray) -> tuple[float, str]:
    """Return (the largest error as a share of the allowed one, the cause)."""
    if a.size == 0 or a.tobytes() == b.tobytes():
        return 0.0, ""
    allowed = limits(primitive, b)
    if allowed is None:
        bad = a != b
        return 0.0, f"{int(bad.sum())} of {a.size} elements differ" if bad.any() else ""
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    with np.errstate(all="ignore"):
        error = np.abs(x - y)
        error = np.where(
            (x == y) | (np.isnan(x) & np.isnan(y)), 0, np.where(np.isnan(error), np.inf, error)
        )
        share = error / allowed
    bad = share > 1
    if not bad.any():
        return float(np.max(share)), ""
    at = tuple(int(n) for n in np.argwhere(bad)[0])
    return float(
        np.max(share)
    ), f"{int(bad.sum())} of {a.size} elements, {x[at]:.9g} for {y[at]:.9g} at {at}"
