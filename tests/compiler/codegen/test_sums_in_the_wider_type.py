"""A dot or convolution that accumulates in a wider type and converts at the end.

Real XLA's result_caster does the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

GEOMETRIES = {
    "matrices": ("[3,4]", "[4,2]", "[3,2]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "outer": ("[3]", "[2]", "[3,2]", "lhs_contracting_dims={}, rhs_contracting_dims={}"),
    "one-term": ("[3,1]", "[1,2]", "[3,2]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    "vectors": ("[40]", "[40]", "[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    "batches": (
        "[5,4]",
        "[5,4]",
        "[5]",
        "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    ),
    "large": (
        "[40,64]",
        "[64,48]",
        "[40,48]",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
}


def _operand(kind: str, dimensions: str, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    sizes = [int(n) for n in dimensions.strip("[]").split(",") if n]
    values = generator.integers(-3, 4, sizes)
    return (
        values + 1j * generator.integers(-3, 4, sizes) if kind in ("c64", "c128") else values
    ).astype(PRIMITIVE_TYPES[kind].dtype)


@pytest.mark.parametrize(
    ("kind", "result", "geometry"),
    [
        *[("c64", "f32", geometry) for geometry in GEOMETRIES],
        *[
            (kind, result, "matrices")
            for kind, result in [("c128", "f64"), ("c64", "bf16"), ("c64", "s32"), ("s32", "pred")]
        ],
    ],
)
def test_dot_converts_its_sum(kind: str, result: str, geometry: str) -> None:
    left, right, made, attributes = GEOMETRIES[geometry]
    text = f"HloModule m\nENTRY e {{\n x = {kind}{left} parameter(0)\n y = {kind}{right} parameter(1)\n ROOT d = {result}{made} dot(x, y), {attributes}\n}}"
    x, y = _operand(kind, left, 1), _operand(kind, right, 2)
    product = {"outer": lambda: np.multiply.outer(x, y), "batches": lambda: (x * y).sum(1)}.get(
        geometry, lambda: x @ y
    )()
    want = (product.real if kind.startswith("c") else product).astype(PRIMITIVE_TYPES[result].dtype)
    np.testing.assert_array_equal(xe.evaluate(text, x, y), want)
    for passes in ("default", "none"):
        np.testing.assert_array_equal(xe.compile(text, passes=passes)(x, y), want, err_msg=passes)


@pytest.mark.parametrize("passes", ["default", "none"])
def test_dot_of_wider_floats_rounds_once(passes: str) -> None:
    text = """HloModule m
    ENTRY e {
      x = f64[3] parameter(0)
      y = f64[3] parameter(1)
      ROOT d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    }"""
    arguments = np.array([1e8, 1, -1e8]), np.ones(3)  # in f32 the 1 is lost
    assert xe.evaluate(text, *arguments) == 1
    assert xe.compile(text, passes=passes)(*arguments) == 1


@pytest.mark.parametrize("passes", ["default", "none"])
def test_convolution_converts_its_sum(passes: str) -> None:
    text = """HloModule m
    ENTRY e {
      x = c64[1,1,4] parameter(0)
      k = c64[1,1,2] parameter(1)
      ROOT c = f32[1,1,3] convolution(x, k), window={size=2}, dim_labels=bf0_io0->bf0
    }"""
    x, k = (
        np.array([1 + 2j, 3 - 1j, 2j, -1], np.complex64),
        np.array([2 + 1j, 1 - 3j], np.complex64),
    )
    want = np.array([(x[n] * k[0] + x[n + 1] * k[1]).real for n in range(3)], np.float32)
    np.testing.assert_array_equal(
        np.ravel(xe.evaluate(text, x.reshape(1, 1, 4), k.reshape(1, 1, 2))), want
    )
    np.testing.assert_array_equal(
        np.ravel(xe.compile(text, passes=passes)(x.reshape(1, 1, 4), k.reshape(1, 1, 2))), want
    )
