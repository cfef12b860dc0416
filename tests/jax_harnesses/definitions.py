"""Results that HLO and JAX leave open in part, checked by their definition.

NOT_UNIQUE: primitive -> (reason, check). A check raises WrongResultError if none of the correct
results is ours. It runs only if an element is further from JAX's than the tolerance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Wrong(Exception):
    """An error that says which condition does not hold."""


def wide(a: Any) -> np.ndarray:
    a = np.asarray(a)
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -1, -2))


def hold(what: str, found: np.ndarray, wanted: np.ndarray, unit: float) -> None:
    """Check that the error is at most 100 roundings of the largest element times a root.

    It is the root of the number of terms in a row.

    The terms are those of a row.
    """
    scale = float(np.max(np.abs(wanted), initial=0)) or 1.0
    error = float(np.max(np.abs(found - wanted), initial=0)) / scale
    if not error <= 100 * unit * max(1, wanted.shape[-1]) ** 0.5:
        raise Wrong(f"{what}: off by {error:.1e} of the largest element")


def unit_of(a: np.ndarray) -> float:
    return float(np.finfo(a.dtype).eps)


def orthonormal(what: str, vectors: np.ndarray, unit: float) -> None:
    size = vectors.shape[-1]
    hold(
        f"{what} has orthonormal columns",
        adjoint(vectors) @ vectors,
        np.broadcast_to(np.eye(size), (*vectors.shape[:-2], size, size)),
        unit,
    )


def singular_vectors(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    a, unit = wide(arguments[0]), unit_of(got[0])
    hold("singular values", wide(got[0]), wide(want[0]), unit)
    if len(got) == 3:
        values, u, vt = map(wide, got)
        thin = values.shape[-1]
        hold("U S V^H = A", u[..., :thin] * values[..., None, :] @ vt[..., :thin, :], a, unit)
        orthonormal("U", u, unit)
        orthonormal("V", adjoint(vt), unit)


def eigenvectors_of_hermitian(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    a, lower = wide(arguments[0]), harness.params["lower"]
    triangle = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = (
        triangle
        + adjoint(triangle)
        + np.real(np.einsum("...ii->...i", a))[..., None] * np.eye(a.shape[-1])
    )
    vectors, values, unit = wide(got[0]), wide(got[1]), unit_of(got[0])
    hold("eigenvalues", values, wide(want[1]), unit)
    hold("V diag(w) V^H = A", vectors * values[..., None, :] @ adjoint(vectors), whole, unit)
    orthonormal("V", vectors, unit)


def eigenvectors(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    a, unit = wide(arguments[0]), unit_of(got[0])
    values, wanted = wide(got[0]), wide(want[0])
    for index in np.ndindex(*values.shape[:-1]):
        left = list(wanted[index])
        order = [
            left.pop(int(np.argmin(np.abs(np.asarray(left) - value)))) for value in values[index]
        ]
        hold("eigenvalues, in any order", values[index], np.asarray(order), 10 * unit)
    vectors = [wide(v) for v in got[1:]]
    sides = [side for side in ("left", "right") if harness.params[f"compute_{side}_eigenvectors"]]
    for side, v in zip(sides, vectors, strict=True):
        mine, spread = (v, values) if side == "right" else (adjoint(v), values)
        found, wanted = (
            (a @ mine, mine * spread[..., None, :])
            if side == "right"
            else (mine @ a, spread[..., :, None] * mine)
        )
        hold(f"{side} eigenvectors", found, wanted, 10 * unit)
        hold(
            f"{side} eigenvectors have length 1",
            np.linalg.norm(v, axis=-2),
            np.ones(values.shape),
            unit,
        )


def triangle_of_cholesky(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    lower = np.tril(wide(got[0]))
    a = np.tril(wide(arguments[0]))
    hold("the lower triangle of L L^H", np.tril(lower @ adjoint(lower)), a, unit_of(got[0]))
    if not (np.einsum("...ii->...i", lower).real > 0).all():
        raise Wrong("the diagonal of L is positive")


def orthogonal_factors(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    q, r, unit = wide(got[0]), wide(got[1]), unit_of(got[0])
    hold("Q R = A", q @ r, wide(arguments[0]), unit)
    orthonormal("Q", q, unit)
    if np.tril(r, -1).any():
        raise Wrong("R is upper triangular")


def rows_of_unstable_sort(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    """Keys as JAX has them, and each row that went in comes out once, along with its keys."""
    if harness.params["is_stable"]:
        raise Wrong("a stable sort has one result")
    found = re.search(r"num_keys_(\d+)", harness.fullname)
    keys = int(found[1]) if found else len(got)
    if (
        not all(np.array_equal(a, b) for a, b in zip(got[:keys], want[:keys], strict=True))
        or np.ndim(got[0]) != 1
    ):
        raise Wrong("sorted keys differ")
    if sorted(zip(*[a.tolist() for a in got], strict=True)) != sorted(
        zip(*[np.asarray(a).tolist() for a in arguments], strict=True)
    ):
        raise Wrong("rows are torn")


def places_of_equal_values(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    """Check that the values are JAX's and each index is another place of its value."""
    values, places = got
    if values.tobytes() != want[0].tobytes():
        raise Wrong("the values differ")
    if not np.array_equal(np.take_along_axis(np.asarray(arguments[0]), places, -1), values):
        raise Wrong("an index is not that of its value")
    if any(len({*row}) < row.size for row in places.reshape(-1, places.shape[-1])):
        raise Wrong("two values have one index")


def nearest_logarithm(
    harness: Any, arguments: Sequence[Any], got: list[np.ndarray], want: list[np.ndarray]
) -> None:
    """Check values to two ulps of the logarithm in extended precision.

    For a complex logarithm, to two ulps of its magnitude.

    For a complex one, of its magnitude.
    """
    extended = np.clongdouble if got[0].dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        exact = np.log1p(np.asarray(arguments[0]).astype(extended))
        error = np.abs(got[0] - exact) / np.spacing(np.abs(exact.astype(got[0].dtype)))
    worst = float(np.max(error, where=np.isfinite(exact), initial=0))
    if not worst <= 2 or not np.array_equal(np.isnan(exact), np.isnan(got[0])):
        raise Wrong(f"off by {worst:.1f} units in the last place")


Check = Callable[[Any, Sequence[Any], list[np.ndarray], list[np.ndarray]], None]

NOT_UNIQUE: dict[str, tuple[str, Check]] = {
    "svd": (
        "singular vectors are unique up to a sign or phase, and those past the rank up to a rotation",
        singular_vectors,
    ),
    "eigh": ("eigenvectors are unique up to a sign or phase", eigenvectors_of_hermitian),
    "eig": ("eigenvectors are unique up to a phase, and eigenvalues have no order", eigenvectors),
    "qr": (
        "an element of Q or R moves with the condition of the matrix, Q past the rank is any completion",
        orthogonal_factors,
    ),
    "cholesky": (
        "LAPACK leaves the other triangle as it was; an element of the factor moves with the condition of the matrix",
        triangle_of_cholesky,
    ),
    "sort": (
        "rows with equal keys come in any order unless the sort is stable",
        rows_of_unstable_sort,
    ),
    "approx_top_k": (
        "of equal values any index is right: JAX sorts without `is_stable`",
        places_of_equal_values,
    ),
    "log1p": (
        "XLA's CPU is up to 127 units in the last place off in f64, so the exact value decides",
        nearest_logarithm,
    ),
}
