"""Values of public reports and random programs in which infinities, NaN or precisions differed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import flatten_value
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

FOLDER = Path(__file__).parents[1] / "data" / "hunt"
BACKENDS = ["cpu", "gpu", "interpreter"]


def leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(leaf) for leaf in flatten_value(value)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_overflows_on_the_way_is_infinite(backend: str) -> None:
    """log(exp x) and sqrt(|y * y|): simplified, they would be finite."""
    x, y = np.float32([88, 89, 200, -200]), np.float32([1e19, 1e20, 3.4e38, 1e-30])
    session = xe.compile((FOLDER / "07_log_of_exp.hlo").read_text(), backend=backend)
    logarithm, root = leaves(session(x, y))
    np.testing.assert_allclose(logarithm, np.float32([88, np.inf, np.inf, -np.inf]), rtol=1e-6)
    np.testing.assert_allclose(root, np.float32([1e19, np.inf, np.inf, 0]), rtol=1e-6)


SCALED = """ENTRY e {
  x = T[4] parameter(0)
  y = T[4] parameter(1)
  ca = T[] constant(A)
  a = T[4] broadcast(ca), dimensions={}
  s = T[4] OP(x, a)
  t = T[4] OP(y, a)
  ROOT r = T[4] multiply(s, t)
}"""
LARGE = [
    ("f16", "multiply", 0.001, 3000, 3000),
    ("f16", "divide", 100, 3000, 3000),
    ("f16", "multiply", 0.015625, 400, 400),
    ("f16", "multiply", 2048, 0, 0),
    ("f16", "multiply", 0.001, 100, 1),
    ("bf16", "multiply", 1e-20, 1e20, 1e20),
    ("f32", "multiply", 1e-20, 1e20, 1e20),
    ("f32", "multiply", 1e30, 0, 0),
    ("f64", "divide", 1e200, 1e200, 1e200),
]


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize(("element", "opcode", "factor", "x", "y"), LARGE)
def test_a_product_of_scaled_numbers_stays_in_range(
    element: str, opcode: str, factor: float, x: float, y: float, backend: str
) -> None:
    dtype = PRIMITIVE_TYPES[element].dtype
    text = SCALED.replace("T[", f"{element}[").replace("OP", opcode).replace("(A)", f"({factor})")
    given = [np.full(4, value, dtype) for value in (x, y)]
    found, wanted = xe.compile(text, backend=backend)(*given), xe.evaluate(text, *given)
    np.testing.assert_allclose(
        found.astype(np.float64),
        wanted.astype(np.float64),
        rtol=4 * float(ml_dtypes.finfo(dtype).eps),
    )


NORMALISED = """ENTRY e {
  x = T[3000,2] parameter(0)
  s = T[2] parameter(1)
  o = T[2] parameter(2)
  ROOT r = (T[3000,2], T[2], T[2]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1
}"""


@pytest.mark.parametrize("scale", [1, 50])
@pytest.mark.parametrize("element", ["f16", "bf16", "f8e5m2"])
def test_a_batch_norm_of_a_narrow_type_sums_in_f32(element: str, scale: float) -> None:
    dtype = PRIMITIVE_TYPES[element].dtype
    x = (np.random.default_rng(0).integers(-3, 4, (3000, 2)) * scale + scale).astype(dtype)
    one = np.ones(2, dtype)
    text = NORMALISED.replace("T[", f"{element}[")
    unit = float(ml_dtypes.finfo(dtype).eps)
    for found, wanted in zip(
        leaves(xe.compile(text)(x, one, one)), leaves(xe.evaluate(text, x, one, one)), strict=True
    ):
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        np.testing.assert_allclose(a, b, rtol=2 * unit, atol=2 * unit)


@pytest.mark.parametrize("name", ["map_mixed_0", "sort_nan_0", "trsv_0", "bn_0"])
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_a_random_program_has_the_value_of_the_evaluator(name: str, backend: str) -> None:
    module = xe.parse_hlo((FOLDER / f"{name}.hlo").read_text())
    given = xe.random_arguments(module)
    found = leaves(xe.compile(module, backend=backend, cache=False)(*given))
    for got, wanted in zip(found, leaves(xe.evaluate(module, *given)), strict=True):
        exact = got.dtype.kind in "iub"
        np.testing.assert_allclose(
            got.astype(np.float64),
            wanted.astype(np.float64),
            rtol=0 if exact else 1e-2,
            atol=0 if exact else 1e-2,
        )


def test_a_sort_whose_comparator_has_no_place_for_nan_moves_whole_records() -> None:
    """A sort whose comparator `a > b` ignores NaN moves whole records.

    `a > b` of numbers and NaN is no strict weak order, so their order is open (XLA's operation
    semantics, Sort).
    """
    module = xe.parse_hlo((FOLDER / "sort_nan_0.hlo").read_text())
    keys, tags, values = [np.asarray(x).copy() for x in xe.random_arguments(module)]
    keys[:, :, ::3] = np.nan
    found = leaves(xe.compile(module)(keys, tags, values))

    def records(arrays: list[np.ndarray[Any, Any]]) -> list[bytes]:
        rows = [np.moveaxis(x, 2, -1).reshape(-1, x.shape[2]) for x in arrays]
        return [
            b"".join(
                sorted(
                    a.tobytes() + b.tobytes() + c.tobytes() for a, b, c in zip(*lines, strict=True)
                )
            )
            for lines in zip(*rows, strict=True)
        ]

    assert records(found) == records([keys, tags, values])
    without = np.where(np.isnan(keys), keys.dtype.type(0), keys)
    wanted = leaves(xe.evaluate(module, without, tags, values))
    for got, want in zip(leaves(xe.compile(module)(without, tags, values)), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
