"""Vector math against the 64-bit mantissas of x86's long double, and against C's special values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import pytest

from tests.compiler.codegen.vector_math.vector_math_loops import (
    BINARY_OPCODES,
    DTYPES,
    Array,
    compiled_loops,
)
from xla_explorer.compiler.codegen.vector_math import vector_math_function, vector_math_opcodes

LONG = numpy.longdouble
needs_long_double = pytest.mark.skipif(
    numpy.finfo(LONG).nmant < 63,
    reason="this platform's long double is no wider than double: no reference values",
)


def error_function(x: Array) -> Array:
    """Erf by its series of positive terms, 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!."""
    clipped = numpy.clip(x, -7, 7)
    term = clipped.copy()
    total = clipped.copy()
    for n in range(1, 260):
        term = term * (2 * clipped * clipped) / (2 * n + 1)
        total = total + term
    return (
        2
        / numpy.sqrt(LONG(numpy.pi) + LONG("1.2246467991473531772e-16"))
        * numpy.exp(-clipped * clipped)
        * total
    )


REFERENCES: dict[str, Callable[..., Array]] = {
    "exponential": numpy.exp,
    "exponential-minus-one": numpy.expm1,
    "logistic": lambda x: 1 / (1 + numpy.exp(-x)),
    "log": numpy.log,
    "log-plus-one": numpy.log1p,
    "tanh": numpy.tanh,
    "sinh": numpy.sinh,
    "cosh": numpy.cosh,
    "asinh": numpy.arcsinh,
    "acosh": numpy.arccosh,
    "atanh": numpy.arctanh,
    "sine": numpy.sin,
    "cosine": numpy.cos,
    "tan": numpy.tan,
    "asin": numpy.arcsin,
    "acos": numpy.arccos,
    "atan": numpy.arctan,
    "sqrt": numpy.sqrt,
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "cbrt": numpy.cbrt,
    "erf": error_function,
    "power": numpy.power,
    "atan2": numpy.arctan2,
    "remainder": numpy.fmod,
}


def special_values(dtype: numpy.dtype) -> Array:
    facts = numpy.finfo(dtype)
    positive = [
        0,
        facts.smallest_subnormal,
        facts.tiny,
        0.5,
        1,
        1.5,
        2,
        3,
        7,
        2.0**23,
        2.0**23 + 1,
        1e10,
        facts.max,
    ]
    positive += [float(numpy.nextafter(dtype.type(1), dtype.type(step))) for step in (0, 2)]
    return numpy.array(
        [*positive, *(-value for value in positive), -0.0, math.inf, -math.inf, math.nan], dtype
    )


def any_bits(generator: numpy.random.Generator, dtype: numpy.dtype, count: int) -> Array:
    unsigned = numpy.dtype(f"u{dtype.itemsize}")
    return generator.integers(0, numpy.iinfo(unsigned).max, count, unsigned, endpoint=True).view(
        dtype
    )


def unary_arguments(dtype: numpy.dtype) -> Array:
    generator = numpy.random.default_rng(7)
    count = 5000
    largest_exponent = 110 if dtype.itemsize == 4 else 750
    signs = generator.choice([-1.0, 1.0], count)
    samples = [
        numpy.linspace(-6.5, 6.5, 2 * count),
        generator.uniform(-1, 1, count),
        generator.uniform(-largest_exponent, largest_exponent, count),
        1 + generator.uniform(-1e-2, 1e-2, count),
        10 ** generator.uniform(-20, 0, count) * signs,
        10 ** generator.uniform(0, 38, count) * signs,
    ]
    return numpy.concatenate(
        [
            *(sample.astype(dtype) for sample in samples),
            any_bits(generator, dtype, count),
            special_values(dtype),
        ]
    )


def binary_arguments(opcode: str, dtype: numpy.dtype) -> tuple[Array, Array]:
    generator = numpy.random.default_rng(8)
    count = 5000
    special = special_values(dtype)
    first, second = (grid.ravel() for grid in numpy.meshgrid(special, special))
    pairs = [
        (first, second),
        (any_bits(generator, dtype, count), any_bits(generator, dtype, count)),
        (generator.uniform(-5, 5, count), generator.uniform(-5, 5, count)),
        (generator.integers(-20, 20, count), generator.integers(-20, 20, count)),
        (10 ** generator.uniform(-37, 38, count), 10 ** generator.uniform(-37, 38, count)),
    ]
    if opcode == "power":
        # Results over the whole range of exponents, where an error of the logarithm is magnified
        # most.
        base = numpy.exp(generator.uniform(-20, 20, count))
        largest = 88 if dtype.itemsize == 4 else 709
        pairs.append((base, generator.uniform(-1.05, 1.05, count) * largest / numpy.log(base)))
        pairs.append(
            (
                1 + generator.uniform(-1e-3, 1e-3, count),
                generator.uniform(-1, 1, count) * 1000 * largest,
            )
        )
    return (
        numpy.concatenate([numpy.asarray(pair[0], dtype) for pair in pairs]),
        numpy.concatenate([numpy.asarray(pair[1], dtype) for pair in pairs]),
    )


def errors_in_ulps(values: Array, reference: Array) -> Array:
    """Return errors in ulps of the reference; infinite if NaN, infinity or zero's sign differ."""
    dtype = values.dtype
    rounded = reference.astype(dtype)
    unit = numpy.spacing(numpy.maximum(numpy.abs(rounded), numpy.finfo(dtype).tiny))
    same = (values == rounded) | (numpy.isnan(values) & numpy.isnan(rounded))
    errors = numpy.abs(values.astype(LONG) - reference) / unit
    errors[same & ~numpy.isfinite(rounded)] = 0
    errors[~numpy.isfinite(errors)] = math.inf
    errors[(values == 0) & (rounded == 0) & (numpy.signbit(values) != numpy.signbit(rounded))] = (
        math.inf
    )
    return errors


def check(opcode: str, element_type: str, fused: bool) -> None:
    dtype = DTYPES[element_type]
    function = vector_math_function(opcode, element_type, fused)
    arguments = (
        binary_arguments(opcode, dtype) if opcode in BINARY_OPCODES else (unary_arguments(dtype),)
    )
    if opcode == "remainder" and not fused and element_type == "f64":
        pytest.skip("without fma the f64 remainder is frem, a call")
    with numpy.errstate(all="ignore"):
        values = compiled_loops(element_type, fused).function(opcode)(*arguments)
        errors = errors_in_ulps(
            values, REFERENCES[opcode](*(argument.astype(LONG) for argument in arguments))
        )
    worst = int(numpy.argmax(errors))
    at = tuple(argument[worst] for argument in arguments)
    assert errors[worst] <= function.max_ulps, (
        f"{opcode} {element_type} at {at}: {values[worst]}, {errors[worst]} ulps"
    )


def test_every_function_has_a_reference() -> None:
    assert set(REFERENCES) == set(vector_math_opcodes())


@needs_long_double
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("opcode", sorted(REFERENCES))
@pytest.mark.sampled(14)
def test_errors_stay_below_the_claim(opcode: str, element_type: str) -> None:
    check(opcode, element_type, fused=True)


@needs_long_double
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("opcode", sorted(REFERENCES))
@pytest.mark.sampled(7)
def test_errors_stay_below_the_claim_without_fma(opcode: str, element_type: str) -> None:
    check(opcode, element_type, fused=False)


INF, NAN = math.inf, math.nan
SPECIAL_RESULTS = {
    "exponential": [((-INF,), 0.0), ((INF,), INF), ((0.0,), 1.0), ((89.0,), None), ((NAN,), NAN)],
    "exponential-minus-one": [((-INF,), -1.0), ((INF,), INF), ((-0.0,), -0.0), ((NAN,), NAN)],
    "logistic": [
        ((1000.0,), 1.0),
        ((-1000.0,), 0.0),
        ((0.0,), 0.5),
        ((INF,), 1.0),
        ((-INF,), 0.0),
        ((NAN,), NAN),
    ],
    "log": [
        ((0.0,), -INF),
        ((-0.0,), -INF),
        ((-1.0,), NAN),
        ((INF,), INF),
        ((-INF,), NAN),
        ((1.0,), 0.0),
    ],
    "log-plus-one": [
        ((-1.0,), -INF),
        ((-2.0,), NAN),
        ((INF,), INF),
        ((-0.0,), -0.0),
        ((-INF,), NAN),
    ],
    "tanh": [((INF,), 1.0), ((-INF,), -1.0), ((-0.0,), -0.0), ((NAN,), NAN), ((1e30,), 1.0)],
    "sinh": [((INF,), INF), ((-INF,), -INF), ((-0.0,), -0.0)],
    "cosh": [((INF,), INF), ((-INF,), INF), ((0.0,), 1.0)],
    "asinh": [((INF,), INF), ((-INF,), -INF), ((-0.0,), -0.0)],
    "acosh": [((INF,), INF), ((1.0,), 0.0), ((0.5,), NAN), ((-INF,), NAN), ((-3.0,), NAN)],
    "atanh": [((1.0,), INF), ((-1.0,), -INF), ((2.0,), NAN), ((INF,), NAN), ((-0.0,), -0.0)],
    "sine": [((INF,), NAN), ((-INF,), NAN), ((-0.0,), -0.0), ((NAN,), NAN)],
    "cosine": [((INF,), NAN), ((-0.0,), 1.0), ((NAN,), NAN)],
    "tan": [((INF,), NAN), ((-0.0,), -0.0), ((NAN,), NAN)],
    "asin": [((2.0,), NAN), ((-INF,), NAN), ((-0.0,), -0.0)],
    "acos": [((2.0,), NAN), ((1.0,), 0.0), ((-INF,), NAN)],
    "atan": [((-0.0,), -0.0), ((NAN,), NAN)],
    "sqrt": [((-0.0,), -0.0), ((-1.0,), NAN), ((INF,), INF)],
    "rsqrt": [((0.0,), INF), ((-0.0,), -INF), ((INF,), 0.0), ((-1.0,), NAN)],
    "cbrt": [((-8.0,), -2.0), ((-0.0,), -0.0), ((INF,), INF), ((-INF,), -INF), ((27.0,), 3.0)],
    "erf": [((INF,), 1.0), ((-INF,), -1.0), ((-0.0,), -0.0), ((NAN,), NAN)],
    "power": [
        ((NAN, 0.0), 1.0),
        ((1.0, NAN), 1.0),
        ((-8.0, 1 / 3), NAN),
        ((0.0, -1.0), INF),
        ((-0.0, -1.0), -INF),
        ((-0.0, -2.0), INF),
        ((-0.0, 3.0), -0.0),
        ((-1.0, INF), 1.0),
        ((-INF, 3.0), -INF),
        ((-INF, 0.5), INF),
        ((-INF, -3.0), -0.0),
        ((0.5, -INF), INF),
        ((2.0, -INF), 0.0),
        ((-2.0, 3.0), -8.0),
        ((NAN, 1.0), NAN),
    ],
    "atan2": [
        ((-0.0, 1.0), -0.0),
        ((0.0, 0.0), 0.0),
        ((1.0, INF), 0.0),
        ((NAN, 1.0), NAN),
        ((1.0, NAN), NAN),
    ],
    "remainder": [
        ((-7.0, 2.0), -1.0),
        ((7.0, -2.0), 1.0),
        ((1.0, 0.0), NAN),
        ((INF, 2.0), NAN),
        ((-4.0, 2.0), -0.0),
        ((3.0, INF), 3.0),
        ((3.0, NAN), NAN),
    ],
}


@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("opcode", sorted(SPECIAL_RESULTS))
def test_special_values(opcode: str, element_type: str) -> None:
    function = compiled_loops(element_type).function(opcode)
    for arguments, expected in SPECIAL_RESULTS[opcode]:
        if expected is None:  # beyond f32's range, within f64's
            expected = INF if element_type == "f32" else math.exp(arguments[0])
        (value,) = function(*([argument] for argument in arguments))
        agrees = (
            math.isnan(value)
            if math.isnan(expected)
            else value == pytest.approx(expected, rel=1e-15, abs=0)
        )
        assert agrees, f"{opcode}{arguments} is {value}, not {expected}"
        if expected == 0:
            assert math.copysign(1, value) == math.copysign(1, expected), (
                f"{opcode}{arguments} is {value}"
            )


def test_half_turns_of_atan2() -> None:
    pi = numpy.float32(math.pi)
    infinity, zero, one = numpy.float32(INF), numpy.float32(0), numpy.float32(1)
    y = [zero, -zero, infinity, -infinity, one, -one]
    x = [-zero, -zero, infinity, -infinity, zero, -infinity]
    expected = [pi, -pi, pi / 4, -3 * pi / 4, pi / 2, -pi]
    numpy.testing.assert_allclose(
        compiled_loops("f32").function("atan2")(y, x), expected, rtol=1e-7
    )


def test_the_double_closest_to_a_multiple_of_half_pi() -> None:
    # W. Kahan, "Minimizing q*m - n", 1983: the argument at which reduction loses most.
    argument = [6381956970095103 * 2.0**797]
    assert compiled_loops("f64").function("cosine")(argument)[0] == pytest.approx(
        -4.687165924254624e-19, rel=1e-15
    )
    assert compiled_loops("f64").function("sine")(argument)[0] == 1.0


def test_exponential_reaches_the_denormals() -> None:
    function = compiled_loops("f32").function("exponential")
    arguments = numpy.linspace(-103.9, -87.4, 200, dtype=numpy.float32)
    with numpy.errstate(under="ignore"):
        expected = numpy.exp(arguments.astype(numpy.float64)).astype(numpy.float32)
    assert numpy.abs(function(arguments).view(numpy.int32) - expected.view(numpy.int32)).max() <= 1
    assert function([-104.0])[0] == 0
