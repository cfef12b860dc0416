"""`tridiagonal_solve_perturbed_ffi` as native code has the evaluator's bits.

Systems are regular and singular; no step runs on the evaluator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = [pytest.mark.codegen, pytest.mark.usefixtures("runs_here")]


def _program(kind: str, batch: tuple[int, ...], size: int) -> str:
    diagonal, sides = [",".join(map(str, (*batch, size, *more))) for more in ((), (2,))]
    return f"""HloModule m
ENTRY e {{
  lower = {kind}[{diagonal}] parameter(0)
  main = {kind}[{diagonal}] parameter(1)
  upper = {kind}[{diagonal}] parameter(2)
  b = {kind}[{sides}] parameter(3)
  ROOT x = {kind}[{sides}] custom-call(lower, main, upper, b), custom_call_target="tridiagonal_solve_perturbed_ffi", api_version=API_VERSION_TYPED_FFI
}}"""


def _cases(diagonals: list[Any]) -> dict[str, list[Any]]:
    with_nan = [d.copy() for d in diagonals]
    with_nan[1][..., 0] = np.nan
    return {
        "regular": diagonals,
        "zero": [0 * d for d in diagonals],
        "singular": [np.ones_like(d) for d in diagonals],
        "some zeros": [np.round(d) for d in diagonals],
        "subnormal": [d * d.dtype.type(1e-38) for d in diagonals],
        "NaN": with_nan,
    }


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(("batch", "size"), [((), 1), ((), 2), ((3,), 3), ((), 8)])
def test_the_bits_of_the_evaluator(kind: str, batch: tuple[int, ...], size: int) -> None:
    text, random = _program(kind, batch, size), np.random.default_rng(size)
    native, evaluated = xe.compile(text), xe.compile(text, "interpreter")
    assert not native.executable.program.evaluator_steps
    shapes = [*[(*batch, size)] * 3, (*batch, size, 2)]
    *diagonals, b = [
        random.standard_normal(s).astype({"f32": np.float32, "f64": np.float64}[kind])
        for s in shapes
    ]
    for name, given in _cases(diagonals).items():
        np.testing.assert_array_equal(native(*given, b), evaluated(*given, b), err_msg=name)


def test_other_types_are_evaluated() -> None:
    session = xe.compile(_program("c64", (), 3))
    ones = np.ones(3, np.complex64)
    assert session.executable.program.evaluator_steps
    assert np.isfinite(session(ones, ones * 3, ones, np.ones((3, 2), np.complex64))).all()
