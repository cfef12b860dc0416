"""Complex functions: compiled code equals the evaluator at zeros, infinities, NaN, overflow."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import compile_for_cpu
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

UNARY = (
    "exponential", "exponential-minus-one", "log", "log-plus-one", "sqrt", "rsqrt", "sine", "cosine", "tan", "tanh", "logistic", "abs", "sign",
    "sinh", "cosh", "asin", "acos", "asinh", "acosh", "atanh",
)  # fmt: skip
PARTS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.75,
    1e-30,
    3.0,
    -20.0,
    100.0,
    800.0,
    -800.0,
    1e20,
    np.inf,
    -np.inf,
    np.nan,
)
TYPES = {"c64": np.complex64, "c128": np.complex128}
inf, nan = np.inf, np.nan


def plane(element_type, parts=PARTS):
    real, imaginary = [v.reshape(-1) for v in np.meshgrid(parts, parts, indexing="ij")]
    z = np.empty(len(real), TYPES[element_type])
    z.real, z.imag = real, imaginary
    return z


def by_both(opcode, element_type, *operands):
    t = f"{element_type}[{len(operands[0])}]"
    result = t.replace("c64", "f32").replace("c128", "f64") if opcode == "abs" else t
    lines = "".join(f" p{k} = {t} parameter({k})\n" for k in range(len(operands)))
    text = f"HloModule m\nENTRY e {{\n{lines} ROOT r = {result} {opcode}({', '.join(f'p{k}' for k in range(len(operands)))})\n}}"
    return np.asarray(compile_for_cpu(text).execute(list(operands))[0]), np.asarray(
        evaluate(parse_hlo(text), *operands)
    )


def differing(a, b, tolerance):
    """Return where a part differs by more than `tolerance` of the larger part.

    The same infinity, and any two NaNs, agree.
    """
    parts = [(a.real, b.real), (a.imag, b.imag)] if a.dtype.kind == "c" else [(a, b)]
    size = np.max([np.where(np.isfinite(y), np.abs(y), 0) for _, y in parts], axis=0)
    with np.errstate(all="ignore"):
        same = [
            (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= tolerance * size)
            for x, y in parts
        ]
    return ~np.all(same, axis=0)


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("opcode", UNARY)
@pytest.mark.sampled(14)
def test_every_pair_of_special_parts(opcode, element_type):
    z = plane(element_type)
    found, wanted = by_both(opcode, element_type, z)
    wrong = differing(found, wanted, 1e-6 if element_type == "c64" else 1e-12)
    assert not wrong.any(), [(z[k], found[k], wanted[k]) for k in np.flatnonzero(wrong)[:5]]


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("opcode", ["power", "atan2", "divide"])
def test_pairs_of_special_operands(opcode, element_type):
    few = (0.0, -0.0, 1.0, -0.75, 3.0, inf, -inf, nan)
    z = plane(element_type, few)
    a, b = np.repeat(z, len(z)), np.tile(z, len(z))
    found, wanted = by_both(opcode, element_type, a, b)
    wrong = differing(found, wanted, 1e-6 if element_type == "c64" else 1e-12)
    assert not wrong.any(), [(a[k], b[k], found[k], wanted[k]) for k in np.flatnonzero(wrong)[:5]]


# Values of real XLA:CPU (jaxlib 0.10.2).
CHOSEN = {
    ("exponential", inf, inf): (nan, nan), ("exponential", -inf, inf): (nan, nan), ("exponential", -inf, nan): (nan, nan),
    ("exponential", inf, 0.0): (inf, 0.0), ("exponential", nan, 0.0): (nan, 0.0), ("exponential", -inf, 1.0): (0.0, 0.0),
    ("exponential-minus-one", -inf, inf): (nan, nan), ("exponential-minus-one", inf, inf): (nan, nan),
    ("exponential-minus-one", -inf, 0.0): (-1.0, 0.0),
    ("tan", -inf, 0.0): (nan, nan), ("tan", inf, inf): (0.0, 1.0), ("tan", -inf, -inf): (0.0, -1.0), ("tan", nan, inf): (0.0, 1.0),
    ("tanh", 0.0, inf): (nan, nan), ("tanh", inf, inf): (1.0, 0.0), ("tanh", nan, 0.0): (nan, 0.0),
    ("sine", inf, inf): (nan, nan), ("sine", inf, 0.0): (nan, nan), ("sine", 0.0, nan): (nan, nan),
    ("cosine", inf, inf): (nan, nan), ("cosine", -inf, 0.0): (nan, nan), ("cosine", 0.0, nan): (nan, nan),
}  # fmt: skip


@pytest.mark.parametrize(("opcode", "real", "imaginary"), CHOSEN)
@pytest.mark.sampled(8)
def test_an_angle_without_end_makes_both_parts_nan(opcode, real, imaginary):
    for element_type in TYPES:
        z = np.array([complex(real, imaginary)], TYPES[element_type])
        for value in by_both(opcode, element_type, z):
            np.testing.assert_array_equal(
                [value[0].real, value[0].imag],
                CHOSEN[opcode, real, imaginary],
                err_msg=element_type,
            )


@pytest.mark.parametrize("element_type", TYPES)
def test_powers_with_a_meaning_of_their_own(element_type):
    z = plane(element_type)
    for value in by_both("power", element_type, z, np.zeros_like(z)):
        np.testing.assert_array_equal(value, np.ones_like(z))
    bases = np.array([0, 0, 0, inf, inf, inf, 2j], TYPES[element_type])
    exponents = np.array([2, 2 + 1j, -1, 3, -3, 0.5, 2], TYPES[element_type])
    for value in by_both("power", element_type, bases, exponents):
        np.testing.assert_allclose(
            value, np.array([0, 0, complex(nan, nan), inf, 0, inf, -4]), rtol=1e-6, atol=1e-6
        )


def test_real_powers_of_large_numbers_are_accurate():
    """Real powers use |z|^c, not the exponential of c log |z|.

    The latter loses as many digits as the product has.
    """
    z, c = np.array([1e10 + 1j, 3 + 4j, 1.001 + 0j]), np.array([29.5 + 0j, 400 + 0j, 300000 + 0j])
    for value in by_both("power", "c128", z, c):
        np.testing.assert_allclose(np.abs(value), np.abs(z) ** c.real, rtol=1e-14)
