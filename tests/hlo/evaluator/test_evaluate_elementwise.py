"""Elementwise opcodes: the edge cases that XLA:CPU was seen to have."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.hlo.evaluator.evaluator_programs import dtype, run, shape
from xla_explorer.hlo.evaluator import UnsupportedOpcodeError, evaluate
from xla_explorer.hlo.text import parse_hlo

INF, NAN = float("inf"), float("nan")


def values(name: str, *numbers: float) -> np.ndarray:
    return np.array(numbers, dtype(name))


def same(actual: np.ndarray, *expected: float) -> None:
    """Equal, NaN to NaN, and with the same sign of zero."""
    actual = np.asarray(actual)
    wanted = np.array(expected, np.float64 if actual.dtype.kind != "b" else bool)
    got = actual.astype(wanted.dtype)
    np.testing.assert_array_equal(got, wanted)
    if actual.dtype.kind not in "biu":
        number = wanted == wanted
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(wanted[number]))


UNARY = [
    ("abs", "s32", [-(2**31), -5], [-(2**31), 5]),
    ("abs", "s8", [-128], [-128]),
    ("negate", "s32", [-(2**31)], [-(2**31)]),
    ("negate", "u8", [1], [255]),
    ("sign", "f32", [NAN, -0.0, 0.0, -3, 5], [NAN, -0.0, 0.0, -1, 1]),
    ("not", "s8", [0, -1], [-1, 0]),
    ("not", "u4", [0, 15], [15, 0]),
    ("not", "pred", [True, False], [False, True]),
    ("popcnt", "s32", [-1, 5], [32, 2]),
    ("popcnt", "s4", [-1], [4]),
    ("count-leading-zeros", "s32", [0, 1, -1], [32, 31, 0]),
    ("count-leading-zeros", "u64", [0, 2**40], [64, 23]),
    ("count-leading-zeros", "u4", [0, 3], [4, 2]),
    ("ceil", "f32", [-0.5, 1.2], [-0.0, 2]),
    ("floor", "bf16", [-0.5, 1.2], [-1, 1]),
    ("round-nearest-afz", "f32", [0.5, -0.5, 2.5, 0.49999997, -0.2], [1, -1, 3, 0, -0.0]),
    ("round-nearest-even", "f32", [0.5, -0.5, 1.5, 2.5], [0, -0.0, 2, 2]),
    ("exponential", "f32", [-INF, 89, INF, 0], [0, INF, INF, 1]),
    ("exponential-minus-one", "f32", [-INF], [-1]),
    ("tanh", "f32", [INF, -INF], [1, -1]),
    ("sine", "f32", [INF, -INF], [NAN, NAN]),
    ("log", "f32", [0, -1, 1], [-INF, NAN, 0]),
    ("log-plus-one", "f32", [-1], [-INF]),
    ("sqrt", "f32", [-0.0, -1, 4], [-0.0, NAN, 2]),
    ("rsqrt", "f32", [0.0, -0.0, INF, 4], [INF, -INF, 0, 0.5]),
    ("cbrt", "f32", [-8], [-2]),
    ("logistic", "f32", [-1000, 1000, 0], [0, 1, 0.5]),
    ("logistic", "f64", [-1000, 1000], [0, 1]),
    ("erf", "f32", [0, -0.0, INF, -INF, NAN, 10], [0, -0.0, 1, -1, NAN, 1]),
    ("real", "f32", [-0.0, 2], [-0.0, 2]),
    ("imag", "f32", [3], [0]),
    ("imag", "f8e8m0fnu", [4], [NAN]),
    ("copy", "f32", [3], [3]),
]


@pytest.mark.parametrize(("opcode", "element", "argument", "expected"), UNARY)
def test_unary(opcode: str, element: str, argument: list[float], expected: list[float]) -> None:
    result = run(opcode, None, values(element, *argument))
    assert result.dtype == dtype(element)
    same(result, *expected)


BINARY = [
    ("add", "s8", [127], [1], [-128]),
    ("add", "pred", [True, False, True], [True, False, False], [True, False, True]),
    ("multiply", "pred", [True, True], [True, False], [True, False]),
    ("add", "s4", [7], [1], [-8]),
    ("subtract", "u8", [0], [1], [255]),
    ("multiply", "s32", [2**30], [4], [0]),
    ("divide", "s32", [-7, 7, 5, -(2**31), 0], [2, -2, 0, -1, 0], [-3, -3, -1, -(2**31), -1]),
    ("divide", "u32", [7, 5], [2, 0], [3, 2**32 - 1]),
    ("divide", "u4", [7], [0], [15]),
    ("divide", "s4", [7, -8], [0, -1], [-1, -8]),
    ("divide", "f32", [1, 0, -1], [0, 0, 0], [INF, NAN, -INF]),
    ("remainder", "s32", [-7, 7, 5, -(2**31)], [2, -2, 0, -1], [-1, 1, 5, 0]),
    ("remainder", "u8", [7, 9], [0, 4], [7, 1]),
    ("remainder", "f32", [5, INF, -4, 3], [0, 2, 2, INF], [NAN, NAN, -0.0, 3]),
    (
        "power",
        "s32",
        [0, 1, -1, -1, 2, 0, 3, 2],
        [-1, -5, -2, -3, -1, 0, 3, 32],
        [0, 1, 1, -1, 0, 1, 27, 0],
    ),
    ("power", "f32", [NAN, 1, -8, 0, -1], [0, NAN, 1 / 3, -1, INF], [1, 1, NAN, INF, 1]),
    (
        "maximum",
        "f32",
        [NAN, 1, -0.0, 0.0, -1],
        [1, NAN, 0.0, -0.0, 0.0],
        [NAN, NAN, 0.0, 0.0, 0.0],
    ),
    (
        "minimum",
        "f32",
        [NAN, 1, -0.0, 0.0, 1],
        [1, NAN, 0.0, -0.0, -0.0],
        [NAN, NAN, -0.0, -0.0, -0.0],
    ),
    ("maximum", "pred", [True, False], [False, False], [True, False]),
    ("maximum", "bf16", [NAN, 1], [1, 2], [NAN, 2]),
    ("atan2", "f32", [0.0, -0.0], [-0.0, -0.0], [np.float32(np.pi), -np.float32(np.pi)]),
    ("shift-left", "s32", [1, 1, 1, 3], [32, -1, 31, 1], [0, 0, -(2**31), 6]),
    ("shift-left", "u4", [15], [1], [14]),
    ("shift-right-logical", "s32", [-1, -1, -1], [31, 32, -1], [1, 0, 0]),
    ("shift-right-logical", "s4", [-1], [1], [7]),
    ("shift-right-arithmetic", "s32", [-8, -8, 8, -8], [1, 40, 40, -1], [-4, -1, 0, -1]),
    ("shift-right-arithmetic", "s4", [-8, -8], [2, 9 - 16], [-2, -1]),
    ("shift-right-arithmetic", "u8", [128], [1], [192]),
    ("and", "s8", [12], [10], [8]),
    ("or", "pred", [True], [False], [True]),
    ("xor", "u4", [12], [10], [6]),
    ("mulhi", "s32", [-(2**31), -1], [-(2**31), 1], [2**30, -1]),
    ("mulhi", "u64", [2**63], [4], [2]),
]


@pytest.mark.parametrize(("opcode", "element", "left", "right", "expected"), BINARY)
def test_binary(
    opcode: str, element: str, left: list[float], right: list[float], expected: list[float]
) -> None:
    result = run(opcode, None, values(element, *left), values(element, *right))
    assert result.dtype == dtype(element)
    same(result, *expected)


def test_mulhi_of_s64_is_exact() -> None:
    a, b = [-(2**63), 2**63 - 1, -3], [2**63 - 1, 2**63 - 1, 7]
    result = run("mulhi", None, np.array(a, np.int64), np.array(b, np.int64))
    assert [int(v) for v in result] == [(x * y) >> 64 for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("EQ", [False, True, False]),
        ("NE", [True, False, True]),
        ("LT", [False, False, True]),
        ("LE", [False, True, True]),
        ("GT", [False, False, False]),
        ("GE", [False, True, False]),
    ],
)
def test_compare_float(direction: str, expected: list[bool]) -> None:
    same(
        run(
            "compare",
            shape("pred", 3),
            values("f32", NAN, -0.0, 1),
            values("f32", NAN, 0.0, 2),
            direction=direction,
        ),
        *expected,
    )


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16"])
def test_compare_total_order(element: str) -> None:
    line = values(element, -NAN, -INF, -1, -0.0, 0.0, 1, INF, NAN)
    line[0] = np.copysign(line[0], dtype(element).type(-1)) if element != "bf16" else line[0]
    if element == "bf16":
        line.view(np.uint16)[0] = 0xFFC0
    a, b = np.meshgrid(line, line, indexing="ij")
    rank = np.arange(8)
    result = run("compare", shape("pred", 8, 8), a, b, direction="LT", type="TOTALORDER")
    np.testing.assert_array_equal(result, rank[:, None] < rank[None, :])


def test_select_with_a_scalar_predicate_chooses_the_whole_array() -> None:
    a, b = values("f32", 1, 2), values("f32", 3, 4)
    same(run("select", shape("f32", 2), np.asarray(False), a, b), 3, 4)
    same(run("select", shape("f32", 2), values("pred", True, False), a, b), 1, 4)


def test_clamp() -> None:
    low, high = np.float32(0), np.float32(1)
    same(run("clamp", shape("f32", 4), low, values("f32", -1, 0.5, 2, NAN), high), 0, 0.5, 1, NAN)
    same(run("clamp", shape("f32", 1), values("f32", 2), values("f32", 0), values("f32", 1)), 1)
    same(run("clamp", shape("f32", 1), values("f32", NAN), values("f32", 0), values("f32", 1)), NAN)


CONVERT = [
    (
        "f32",
        "s32",
        [3e9, -3e9, INF, -INF, NAN, -2.7, 2.7],
        [2147483647, -(2**31), 2147483647, -(2**31), 0, -2, 2],
    ),
    ("f32", "s8", [300, -200], [127, -128]),
    ("f32", "u8", [NAN, -1, -INF, 300], [0, 0, 0, 255]),
    ("f32", "u32", [5e9], [4294967295]),
    ("f32", "s4", [100, -100], [7, -8]),
    ("f64", "s32", [2147483647.9, -2147483648.9], [2147483647, -(2**31)]),
    ("f16", "s32", [INF, -INF, NAN, 5], [2147483647, -(2**31), 0, 5]),
    ("f32", "pred", [0, -0.0, NAN, 0.1], [False, False, True, True]),
    ("s32", "u8", [300], [44]),
    ("s32", "s8", [200], [-56]),
    ("s32", "s4", [8], [-8]),
    ("pred", "f32", [True, False], [1, 0]),
    ("f32", "f16", [65519, 65520, 70000], [65504, INF, INF]),
    ("f32", "bf16", [1.00390625, 1.01171875, 3.4e38], [1, 1.015625, INF]),
    ("f64", "f32", [1e300], [INF]),
    ("f32", "f8e4m3fn", [448, 464, 465, INF], [448, 448, NAN, NAN]),
    ("f32", "f8e5m2", [57344, 61440, INF], [57344, INF, INF]),
    ("f32", "f8e4m3fnuz", [1000, -0.0], [NAN, 0.0]),
    ("f32", "f8e5m2fnuz", [1000, -0.0], [1024, 0.0]),
    ("f32", "f4e2m1fn", [1000, 1], [6, 1]),
    ("f32", "f8e8m0fnu", [1000, 3, 0, -1], [1024, 4, NAN, NAN]),
    ("f64", "f8e8m0fnu", [1000, 3, 3 - 1e-15, 0, -1, INF, 1e300], [1024, 4, 2, NAN, NAN, NAN, NAN]),
    (
        "f64",
        "f8e8m0fnu",
        [5e-324, 1e-40, 2.0**-127, 1.01 * 2.0**-127],
        [2.0**-127, 2.0**-127, 2.0**-127, 2.0**-126],
    ),
    ("bf16", "s32", [3e9, NAN], [2147483647, 0]),
]


@pytest.mark.parametrize(("source", "target", "argument", "expected"), CONVERT)
def test_convert(source: str, target: str, argument: list[float], expected: list[float]) -> None:
    result = run("convert", shape(target, len(argument)), values(source, *argument))
    assert result.dtype == dtype(target)
    same(result, *expected)


def test_convert_large_integers() -> None:
    assert int(run("convert", shape("s64"), np.float32(1e30))) == 2**63 - 1
    assert int(run("convert", shape("u64"), np.float64(1e30))) == 2**64 - 1
    assert int(run("convert", shape("s64"), np.float64(-1e30))) == -(2**63)
    assert run("convert", shape("f32"), np.uint64(2**64 - 1)) == np.float32(2.0**64)


def test_complex_quotients_at_infinities_and_zeros() -> None:
    inf, nan = math.inf, math.nan
    a = np.array(
        [
            complex(1, -0.0),
            complex(inf, inf),
            complex(-3, -0.5),
            complex(nan, inf),
            complex(2e10, 1e10),
            complex(inf, 0),
        ],
        np.complex64,
    )
    b = np.array(
        [
            complex(inf, inf),
            complex(1, 0),
            complex(-0.0, 0),
            complex(-2, -0.0),
            complex(1e38, 1e38),
            complex(-0.0, 0),
        ],
        np.complex64,
    )
    wanted = [
        0,
        complex(inf, inf),
        complex(inf, inf),
        complex(nan, -inf),
        complex(1.5e-28, -5e-29),
        complex(-inf, nan),
    ]
    for kind in (np.complex64, np.complex128):
        result = run("divide", None, a.astype(kind), b.astype(kind))
        np.testing.assert_allclose(result.real, np.array(wanted).real, rtol=1e-5)
        np.testing.assert_allclose(result.imag, np.array(wanted).imag, rtol=1e-5)
    far = np.array([-800 + 1j], np.complex128)
    assert run("logistic", None, far)[0] == 0
    assert run("rsqrt", None, np.array([complex(0, inf)]))[0] == 0
    sign = run("sign", None, np.array([complex(inf, 1)]))[0]
    assert np.isnan(sign.real) and sign.imag == 0  # each part by itself


def test_complex() -> None:
    z = np.array([3 + 4j, 0], np.complex64)
    same(run("abs", shape("f32", 2), z), 5, 0)
    np.testing.assert_array_equal(run("sign", None, z), np.array([0.6 + 0.8j, 0], np.complex64))
    same(run("real", shape("f32", 2), z), 3, 0)
    np.testing.assert_array_equal(
        run("complex", shape("c64", 1), values("f32", 1), values("f32", 2)), [1 + 2j]
    )
    same(run("convert", shape("f32", 2), z), 3, 0)


@pytest.mark.parametrize(
    ("bits", "argument", "expected"),
    [
        ((5, 10), [1e-8, 70000, -1e-8], [0, INF, -0.0]),
        ((4, 3), [250, 1e-3, 1.0625, 1.1875, NAN], [INF, 0, 1.0, 1.25, NAN]),
        ((8, 0), [NAN, INF, 1.25, 1.75], [NAN, INF, 1.0, 2.0]),
    ],
)
def test_reduce_precision(
    bits: tuple[int, int], argument: list[float], expected: list[float]
) -> None:
    same(
        run(
            "reduce-precision",
            None,
            values("f32", *argument),
            exponent_bits=bits[0],
            mantissa_bits=bits[1],
        ),
        *expected,
    )


def test_stochastic_convert() -> None:
    bits = np.array([0, 0xFFFFFFFF], np.uint32)
    same(run("stochastic-convert", shape("s32", 2), values("f32", 1.5, 1.5), bits), 2, 1)


def test_erf_is_accurate() -> None:
    import math

    x = np.concatenate([np.linspace(-7, 7, 4001), np.logspace(-30, 0, 200)]).astype(np.float32)
    expected = np.array([math.erf(float(v)) for v in x]).astype(np.float32)
    np.testing.assert_array_max_ulp(run("erf", None, x), expected, 0)
    np.testing.assert_array_max_ulp(
        run("erf", None, x.astype(np.float64)), np.array([math.erf(float(v)) for v in x]), 0
    )


def test_large_arrays_pass_in_blocks() -> None:
    x = np.linspace(-80, 80, 100_001, dtype=np.float32).reshape(1, -1)
    np.testing.assert_array_equal(
        run("exponential", None, x), np.exp(x.astype(np.float64)).astype(np.float32)
    )


def test_what_complex_numbers_lack_is_said() -> None:
    for line in (
        "ROOT r = c64[4] remainder(p, p)",
        "ROOT r = (c64[2], s32[2]) topk(p), k=2, largest=true",
    ):
        module = parse_hlo(f"ENTRY e {{\n p = c64[4] parameter(0)\n {line}\n}}")
        with pytest.raises(UnsupportedOpcodeError, match="complex numbers have no"):
            evaluate(module, np.ones(4, np.complex64))


def test_a_reducer_that_rounds_each_step_rounds_each_step() -> None:
    text = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  s = f32[] add(a, b)
  n = bf16[] convert(s)
  ROOT c = f32[] convert(n) }
ENTRY e { x = f32[1] parameter(0)
  i = s32[1,1] constant({{0}})
  u = f32[1] parameter(1)
  ROOT r = f32[1] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }"""
    assert (
        evaluate(parse_hlo(text), np.array([256], np.float32), np.array([0.5], np.float32)) == 256
    )


@pytest.mark.parametrize(
    "exponents",
    [
        "s = f64[] constant(0.5)\n  y = f64[4] broadcast(s), dimensions={}",
        "y = f64[4] constant({0.5, 0.5, 0.5, 0.5})",
    ],
)
def test_power_is_no_square_root(exponents: str) -> None:
    text = f"HloModule m\nENTRY e {{\n  x = f64[4] parameter(0)\n  {exponents}\n  ROOT r = f64[4] power(x, y)\n}}"
    same(evaluate(parse_hlo(text), np.array([-INF, -0.0, 4, INF])), INF, 0, 2, INF)


@pytest.mark.parametrize(
    "element", ["bf16", "f16", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4", "f4e2m1fn"]
)
def test_f64_is_rounded_once(element: str) -> None:
    half = float(ml_dtypes.finfo(dtype(element)).eps) / 2
    x = np.array([1 + half + 2.0**-40, 1 + half - 2.0**-40, 1 + half, 1 + 3 * half - 2.0**-40])
    text = f"HloModule m\nENTRY e {{ x = f64[4] parameter(0)\n ROOT r = {element}[4] convert(x) }}"
    same(evaluate(parse_hlo(text), x), 1 + 2 * half, 1, 1, 1 + 2 * half)


def test_total_order_has_the_payloads_of_narrow_nans() -> None:
    bits = np.array([0x7D, 0x7F, 0xFF, 0x7E, 0xFD, 0x7C], np.uint8)
    text = "HloModule m\nENTRY e { x = f8e5m2[6] parameter(0)\n ROOT t = (f8e5m2[6], s32[6]) topk(x), k=6, largest=true }"
    _, order = evaluate(parse_hlo(text), bits.view(dtype("f8e5m2")))
    np.testing.assert_array_equal(order, [1, 3, 0, 5, 4, 2])
