"""JAX's own test cases for its primitives, compiled by us, against what JAX computes on a CPU.

The ordinary suite takes a few; `pytest -m slow tests/jax_harnesses -k five_hundred` and `-k
all_of_them` take more of them.
"""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.jax_harnesses.agreement import compare
from tests.jax_harnesses.pool import Pool
from tests.jax_harnesses.results import in_mixed_order, sample, table, wrong

# Found, not imported: this process only compares.
for package, why in (
    ("jax", "needs the extra `jax`"),
    ("absl", "needs absl-py, which jax's harnesses import"),
):
    if importlib.util.find_spec(package) is None:
        pytest.skip(why, allow_module_level=True)

pytestmark = pytest.mark.jax
BACKENDS = ("cpu", "interpreter")


def agree(count: int | None, backends: tuple[str, ...] = BACKENDS) -> None:
    with Pool(",".join(backends), seed=42) as pool:
        chosen = sample(pool.harnesses, count) if count else in_mixed_order(pool.harnesses)
        rows = list(pool.run(chosen))
    said = table(rows, backends)
    print(said)
    lines = wrong(rows, backends)
    assert not lines, "\n".join([said, *lines])
    compared = sum(row[backends[0]]["status"] == "agrees" for row in rows)
    assert compared >= 0.9 * len(rows), f"JAX itself did not run enough of them:\n{said}"


@pytest.mark.slow
def test_a_few_harnesses() -> None:
    agree(40)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_five_hundred_harnesses() -> None:
    agree(500)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_all_of_them() -> None:
    agree(None)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_all_of_them_through_the_plugin() -> None:
    agree(None, ("pjrt",))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_sample_through_the_plugin() -> None:
    agree(100, ("pjrt",))


def harness(primitive: str, **parameters: Any) -> Any:
    return SimpleNamespace(
        group_name=primitive, fullname=f"{primitive}_num_keys_1", params=parameters
    )


def status(
    primitive: str, argument: Any, got: list[Any], want: list[Any], **parameters: Any
) -> str:
    made = compare(
        harness(primitive, **parameters),
        argument,
        [np.asarray(a) for a in got],
        [np.asarray(a) for a in want],
    )
    return str(made["status"])


def test_a_comparison_sees_what_is_wrong() -> None:
    y = np.linspace(-3, 3, 7, dtype=np.float32)
    assert status("sin", [], [y * np.float32(1 + 1e-7)], [y]) == "agrees"
    assert status("sin", [], [y * np.float32(1 + 1e-5)], [y]) == "differs"
    assert status("sin", [], [y.astype(np.float64)], [y]) == "differs"
    assert status("sin", [], [np.where(y == 0, np.nan, y).astype(np.float32)], [y]) == "differs"
    assert status("argmax", [], [np.array([1, 2])], [np.array([1, 3])]) == "differs"


def test_definitions_accept_any_correct_result_and_no_other() -> None:
    a = np.random.default_rng(0).standard_normal((4, 4))
    whole = a + a.T
    values, vectors = np.linalg.eigh(whole)
    signs = np.array([1, -1, 1, -1])
    assert (
        status("eigh", [whole], [vectors * signs, values], [vectors, values], lower=True)
        == "agrees"
    )
    assert (
        status("eigh", [whole], [vectors[:, ::-1], values], [vectors, values], lower=True)
        == "differs"
    )
    u, s, vt = np.linalg.svd(a)
    assert status("svd", [a], [s, u * signs, signs[:, None] * vt], [s, u, vt]) == "agrees"
    assert status("svd", [a], [s, u * signs, vt], [s, u, vt]) == "differs"
    w, v = np.linalg.eig(a)
    sides = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": True}
    order = [2, 0, 3, 1]
    assert status("eig", [a], [w[order], v[:, order] * 1j], [w, v], **sides) == "agrees"
    assert status("eig", [a], [w[order], v], [w, v], **sides) == "differs"
    q, r = np.linalg.qr(a)
    assert status("qr", [a], [q * signs, signs[:, None] * r], [q, r]) == "agrees"
    assert status("qr", [a], [q * signs, r], [q, r]) == "differs"
    positive = a @ a.T
    lower = np.linalg.cholesky(positive)
    assert status("cholesky", [positive], [lower], [lower + np.triu(positive, 1)]) == "agrees"
    assert status("cholesky", [positive], [lower * 1.001], [lower]) == "differs"
    keys, rest = np.array([1, 0, 1, 0]), np.array([5, 6, 7, 8])
    assert (
        status(
            "sort",
            [keys, rest],
            [np.sort(keys), [8, 6, 5, 7]],
            [np.sort(keys), [6, 8, 5, 7]],
            is_stable=False,
        )
        == "agrees"
    )
    assert (
        status(
            "sort",
            [keys, rest],
            [np.sort(keys), [5, 6, 8, 7]],
            [np.sort(keys), [6, 8, 5, 7]],
            is_stable=False,
        )
        == "differs"
    )
    assert (
        status(
            "sort",
            [keys, rest],
            [np.sort(keys), [8, 6, 5, 7]],
            [np.sort(keys), [6, 8, 5, 7]],
            is_stable=True,
        )
        == "differs"
    )
    row, best = np.array([[3.0, 1, 3, 2]], np.float32), np.array([[3.0, 3]], np.float32)
    assert status("approx_top_k", [row], [best, [[2, 0]]], [best, [[0, 2]]]) == "agrees"
    assert status("approx_top_k", [row], [best, [[2, 2]]], [best, [[0, 2]]]) == "differs"
    assert status("approx_top_k", [row], [best, [[2, 3]]], [best, [[0, 2]]]) == "differs"
    x = np.array([-0.40014808712197975, np.nan, -1, -0.0])
    with np.errstate(all="ignore"):
        exact, off = np.log1p(x), np.log1p(x) + np.array([1.1e-14, 0, 0, 0])
    assert status("log1p", [x], [exact], [off]) == "agrees"
    assert status("log1p", [x], [off], [exact]) == "differs"
