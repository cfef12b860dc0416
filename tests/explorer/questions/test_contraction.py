"""Contracted products and sums (one rounding): `bisect` names them, an option disables them."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

BACKENDS = ["cpu", "gpu"]
FORMS = {
    "difference of squares": "a = T[64] multiply(u, u)\n b = T[64] multiply(x, x)\n ROOT d = T[64] subtract(a, b)",
    "sum and difference": "a = T[64] multiply(x, y)\n b = T[64] multiply(y, u)\n c = T[64] add(a, b)\n ROOT d = T[64] subtract(c, a)",
    "polynomial": "a = T[64] multiply(x, y)\n b = T[64] add(a, x)\n c = T[64] multiply(b, y)\n ROOT d = T[64] add(c, y)",
}


def program(element: str, form: str) -> str:
    body = FORMS[form].replace("T[", f"{element}[")
    return f"""ENTRY e {{
 x = {element}[64] parameter(0)
 y = {element}[64] parameter(1)
 s = {element}[] parameter(2)
 sb = {element}[64] broadcast(s), dimensions={{}}
 u = {element}[64] add(x, sb)
 {body} }}"""


def given(element: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = (np.arange(1, 65) / 10).astype(np.dtype(f"f{int(element[1:]) // 8}"))
    return x, np.sqrt(x), np.zeros((), x.dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
@pytest.mark.parametrize("form", FORMS)
def test_without_contraction_each_operation_is_rounded(
    form: str, element: str, backend: str
) -> None:
    text, arrays = program(element, form), given(element)
    found = np.asarray(xe.compile(text, backend=backend, contraction=False)(*arrays))
    np.testing.assert_array_equal(found, np.asarray(xe.evaluate(text, *arrays)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_bisect_names_the_kernel_that_rounds_once(backend: str) -> None:
    text, arrays = program("f32", "difference of squares"), given("f32")
    session = xe.compile(text, backend=backend)
    found = session.bisect(*arrays)
    if not found:
        pytest.skip("this CPU has no instruction for a product and a sum")
    (kernel,) = found.contracted
    assert kernel in str(session.kernels().iloc[0]["kernel"])
    assert (
        f"rounded once (LLVM's contract, one fma) in kernel %{kernel}; with contraction=False"
        in str(found)
    )
    exact = xe.compile(text, backend=backend, contraction=False)
    assert not exact.bisect(*arrays)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_product_minus_itself_is_zero(backend: str) -> None:
    text = "ENTRY e { x = f32[64] parameter(0)\n y = f32[64] parameter(1)\n a = f32[64] multiply(x, y)\n ROOT d = f32[64] subtract(a, a) }"
    x, y, _ = given("f32")
    np.testing.assert_array_equal(xe.compile(text, backend=backend)(x, y), np.zeros(64, np.float32))
