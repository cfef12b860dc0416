"""Elementwise kernels over every type and its edge cases, on both targets."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from tests.compiler.codegen.kernel_runner import check_kernels

INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
COMPLEX = ("c64", "c128")
DTYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "u8": np.uint8,
    "s16": np.int16,
    "u16": np.uint16,
    "s32": np.int32,
    "u32": np.uint32,
    "s64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}
TARGETS = ("cpu", "gpu")


def edge_values(element_type):
    """Values at which something special happens."""
    dtype = DTYPES[element_type]
    if element_type == "pred":
        return np.array([False, True])
    if element_type in INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.unique(
            np.array(
                [low, low + 1, high, high - 1, 0, 1, 2, 3, 5, 7, 31, 64, 100, low // 3, high // 3],
                dtype=dtype,
            )
            if low == 0
            else np.array(
                [low, low + 1, high, high - 1, 0, 1, -1, 2, -2, 3, 7, 8, 31, 64, -100, low // 3],
                dtype=dtype,
            )
        )
    if element_type in COMPLEX:
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, 3.25, -2.75, 1e-3]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    info = ml_dtypes.finfo(dtype)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.3,
        -0.7,
        3.0,
        7.25,
        100.0,
        -127.5,
        128.0,
        255.5,
        -1e4,
        6e4,
        np.inf,
        -np.inf,
        np.nan,
        float(info.max),
        float(info.min),
        float(info.tiny),
        float(info.smallest_subnormal),
    ]
    return np.array(values).astype(dtype)


def pairs(element_type):
    """Every edge value with every other, as two vectors."""
    values = edge_values(element_type)
    grid = np.array(list(itertools.product(range(len(values)), repeat=2)))
    return values[grid[:, 0]], values[grid[:, 1]]


def ordinary_pairs(element_type):
    """Return pairs without bf16 subnormals, which AVX512-BF16's conversion flushes to zero."""
    x, y = pairs(element_type)
    if element_type == "bf16":
        moderate = [
            (np.abs(v.astype(np.float64)) < 1e6)
            & ((np.abs(v.astype(np.float64)) > 1e-6) | (v.astype(np.float64) == 0))
            | ~np.isfinite(v.astype(np.float64))
            for v in (x, y)
        ]
        return x[moderate[0] & moderate[1]], y[moderate[0] & moderate[1]]
    return x, y


def module_of(instructions, parameters):
    """Return a module that returns every instruction (name -> (shape, text after it))."""
    lines = [f"  {name} = {shape} parameter({k})" for k, (name, shape) in enumerate(parameters)]
    lines += [f"  {name} = {shape} {rest}" for name, (shape, rest) in instructions.items()]
    shapes = ", ".join([shape for shape, _ in instructions.values()])
    return "\n".join(
        [
            "HloModule m",
            "ENTRY e {",
            *lines,
            f"  ROOT r = ({shapes}) tuple({', '.join(instructions)})",
            "}",
        ]
    )


def check_all(opcodes, element_type, operands, target, result=None, relative=0.0):
    shape = f"[{operands[0].size}]"
    names = ["x", "y", "z"][: len(operands)]
    text = module_of(
        {
            f"{opcode.replace('-', '_')}_result": (
                f"{result or element_type}{shape}",
                f"{opcode}({', '.join(names)}){attributes}",
            )
            for opcode, attributes in opcodes
        },
        [(name, f"{element_type}{shape}") for name in names],
    )
    check_kernels(text, *operands, target=target, relative=relative)


def plain(*opcodes):
    return [(opcode, "") for opcode in opcodes]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", INTEGERS)
@pytest.mark.sampled(6)
def test_integer_binary(element_type, target):
    opcodes = plain(
        "add",
        "subtract",
        "multiply",
        "divide",
        "remainder",
        "maximum",
        "minimum",
        "and",
        "or",
        "xor",
        "shift-left",
        "shift-right-logical",
        "shift-right-arithmetic",
        "power",
    )
    if element_type.startswith("u"):
        opcodes = [o for o in opcodes if o[0] != "shift-right-arithmetic"]
    check_all(opcodes, element_type, pairs(element_type), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", INTEGERS)
def test_integer_unary(element_type, target):
    opcodes = plain("negate", "abs", "sign", "not", "popcnt", "count-leading-zeros", "copy")
    if element_type.startswith("u"):
        opcodes = [o for o in opcodes if o[0] != "abs"]
    check_all(opcodes, element_type, [edge_values(element_type)], target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", FLOATS)
def test_float_binary(element_type, target):
    check_all(
        plain("add", "subtract", "multiply", "divide", "maximum", "minimum"),
        element_type,
        ordinary_pairs(element_type),
        target,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", FLOATS)
def test_float_remainder(element_type, target):
    check_all(plain("remainder"), element_type, ordinary_pairs(element_type), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", FLOATS)
def test_float_unary(element_type, target):
    opcodes = plain(
        "negate", "abs", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "copy"
    )
    check_all(opcodes, element_type, [edge_values(element_type)], target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", FLOATS)
def test_is_finite(element_type, target):
    check_all(plain("is-finite"), element_type, [edge_values(element_type)], target, result="pred")


@pytest.mark.parametrize("target", TARGETS)
def test_pred(target):
    check_all(
        plain("and", "or", "xor", "maximum", "minimum", "add", "multiply"),
        "pred",
        pairs("pred"),
        target,
    )
    check_all(plain("not"), "pred", [edge_values("pred")], target)


TOLERANCE = {"f16": 1e-3, "bf16": 8e-3, "f32": 4e-6, "f64": 1e-14}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.sampled(4)
def test_transcendental(element_type, target):
    opcodes = plain(
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "logistic",
        "tanh",
        "sqrt",
        "rsqrt",
        "cbrt",
        "erf",
        "sine",
        "cosine",
        "tan",
    )
    # The huge values are left out: their sine is the vector-math tests' business.
    values = edge_values(element_type)
    values = values[
        ~(np.isfinite(values.astype(np.float64)) & (np.abs(values.astype(np.float64)) > 7e4))
    ]
    tiny = np.abs(values.astype(np.float64)) < float(ml_dtypes.finfo(DTYPES[element_type]).tiny)
    values = values[~tiny | (values.astype(np.float64) == 0)]
    check_all(opcodes, element_type, [values], target, relative=TOLERANCE[element_type])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", FLOATS)
def test_inverse_and_hyperbolic(element_type, target):
    values = np.array(
        [0.0, -0.0, 0.25, -0.5, 0.75, 1.0, -1.0, 1.5, 3.0, -4.0, np.inf, -np.inf, np.nan],
        DTYPES[element_type],
    )
    opcodes = plain("asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh")
    check_all(opcodes, element_type, [values], target, relative=2 * TOLERANCE[element_type])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", INTEGERS)
def test_upper_half_of_a_product(element_type, target):
    check_all(plain("mulhi"), element_type, pairs(element_type), target)


@pytest.mark.parametrize("target", TARGETS)
def test_values_passed_on(target):
    text = module_of(
        {"kept": ("f32[26]", "opt-barrier(x)"), "same": ("f32[2,13]", "bitcast(x)")},
        [("x", "f32[26]")],
    )
    check_kernels(text, edge_values("f32"), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", ["f32", "f64"])
def test_two_operand_transcendental(element_type, target):
    values = np.array(
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 7.5, np.inf, -np.inf, np.nan], DTYPES[element_type]
    )
    grid = np.array(list(itertools.product(range(len(values)), repeat=2)))
    check_all(
        plain("atan2", "power"),
        element_type,
        [values[grid[:, 0]], values[grid[:, 1]]],
        target,
        relative=TOLERANCE[element_type],
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", COMPLEX)
def test_complex_arithmetic(element_type, target):
    relative = 1e-6 if element_type == "c64" else 1e-14
    x, y = pairs(element_type)
    kept = y != 0
    check_all(
        plain("add", "subtract", "multiply", "divide"),
        element_type,
        (x[kept][:900], y[kept][:900]),
        target,
        relative=relative,
    )
    check_all(
        plain("negate", "sign", "copy"),
        element_type,
        [edge_values(element_type)],
        target,
        relative=relative,
    )
    part = {"c64": "f32", "c128": "f64"}[element_type]
    check_all(
        plain("abs", "real", "imag"),
        element_type,
        [edge_values(element_type)],
        target,
        result=part,
        relative=relative,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", ["f32", "f64"])
def test_make_complex(element_type, target):
    x, y = pairs(element_type)
    check_all(
        plain("complex"),
        element_type,
        (x, y),
        target,
        result={"f32": "c64", "f64": "c128"}[element_type],
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", ["pred", *INTEGERS, *FLOATS])
@pytest.mark.sampled(8)
def test_compare(element_type, target):
    x, y = pairs(element_type)
    instructions = {
        f"is_{d.lower()}": (f"pred[{x.size}]", f"compare(x, y), direction={d}")
        for d in ("EQ", "NE", "LT", "LE", "GT", "GE")
    }
    if element_type in FLOATS:
        instructions |= {
            f"total_{d.lower()}": (
                f"pred[{x.size}]",
                f"compare(x, y), direction={d}, type=TOTALORDER",
            )
            for d in ("EQ", "NE", "LT", "LE", "GT", "GE")
        }
    text = module_of(
        instructions, [("x", f"{element_type}[{x.size}]"), ("y", f"{element_type}[{x.size}]")]
    )
    check_kernels(text, x, y, target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", ["pred", *INTEGERS, *FLOATS, "c64"])
@pytest.mark.sampled(6)
def test_convert(element_type, target):
    x = edge_values(element_type)
    others = [t for t in ("pred", *INTEGERS, *FLOATS, *COMPLEX) if t != element_type]
    if element_type in COMPLEX:
        others = ["c128"]
    text = module_of(
        {f"to_{t}": (f"{t}[{x.size}]", "convert(x)") for t in others},
        [("x", f"{element_type}[{x.size}]")],
    )
    check_kernels(text, x, target=target)


SAME_WIDTH = (
    ("s8", "u8"),
    ("f16", "bf16"),
    ("f16", "u16"),
    ("bf16", "s16"),
    ("f32", "s32"),
    ("u32", "f32"),
    ("f64", "u64"),
    ("s64", "f64"),
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("source", "result"), SAME_WIDTH)
def test_bitcast_convert(source, result, target):
    x = edge_values(source)
    if source[0] in "fb":
        x = x[~np.isnan(x.astype(np.float64))]
    check_kernels(
        module_of(
            {"r0": (f"{result}[{x.size}]", "bitcast-convert(x)")}, [("x", f"{source}[{x.size}]")]
        ),
        x,
        target=target,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element_type", ["s32", "u8", "f32", "f16"])
def test_select_and_clamp(element_type, target):
    x, y = pairs(element_type)
    p = np.arange(x.size) % 3 == 0
    n = x.size
    instructions = {
        "chosen": (f"{element_type}[{n}]", "select(p, x, y)"),
        "kept": (f"{element_type}[{n}]", "clamp(y, x, high)"),
        "between": (f"{element_type}[{n}]", "clamp(low, x, top)"),
    }
    rotated = np.roll(x, 7)
    text = module_of(
        instructions,
        [
            ("x", f"{element_type}[{n}]"),
            ("y", f"{element_type}[{n}]"),
            ("p", f"pred[{n}]"),
            ("high", f"{element_type}[{n}]"),
            ("low", f"{element_type}[]"),
            ("top", f"{element_type}[]"),
        ],
    )
    dtype = DTYPES[element_type]
    check_kernels(text, x, y, p, rotated, dtype(1), dtype(5), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("exponent", "mantissa"), [(8, 7), (5, 10), (4, 3), (5, 2), (8, 23), (11, 3)]
)
@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.sampled(16)
def test_reduce_precision(element_type, exponent, mantissa, target):
    check_all(
        [("reduce-precision", f", exponent_bits={exponent}, mantissa_bits={mantissa}")],
        element_type,
        [edge_values(element_type)],
        target,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "shape",
    [
        "f32[]",
        "f32[1]",
        "f32[1,1,3]",
        "f32[0]",
        "f32[3,0,2]",
        "f32[2,3,4]{0,1,2}",
        "f32[4,5]{0,1}",
        "f32[2,3,4]{1,2,0}",
    ],
)
def test_shapes_and_layouts(shape, target):
    dimensions = [int(d) for d in shape[shape.index("[") + 1 : shape.index("]")].split(",") if d]
    x = np.arange(np.prod(dimensions, dtype=int), dtype=np.float32).reshape(dimensions)
    check_kernels(
        f"HloModule m\nENTRY e {{ x = {shape} parameter(0)  y = {shape.split('{')[0]} parameter(1)"
        f"  ROOT r = {shape} add(x, y) }}",
        x,
        x * 3,
        target=target,
    )
