"""GEMM by dot-product instructions: integers exact, also if sums overflow; bf16 in f32 sums."""

import ml_dtypes
import numpy as np
import pytest

from tests.compiler.codegen.kernel_runner import run_kernels
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import (
    DotInstructionPlan,
    plan_dot_instruction,
)
from xla_explorer.compiler.target import HOST_LIKE, cpu_target, dot_product_instruction
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

WITH_VNNI = cpu_target(bits=512, features=frozenset(["avx512vnni", "avx512vl"]))
HERE = described_cpu(libraries=True)
DTYPES = {"s8": np.int8, "u8": np.uint8, "s16": np.int16}
PAIRS = [("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8"), ("s16", "s16")]
MULTIPLY = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
LEFT_TRANSPOSED = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
RIGHT_TRANSPOSED = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
needs_groups = pytest.mark.skipif(
    dot_product_instruction(HERE, "s8", "s8") is None,
    reason="this CPU has no instruction for groups of integers",
)
needs_bf16 = pytest.mark.skipif(
    dot_product_instruction(HERE, "bf16", "bf16") is None,
    reason="this CPU has no instruction for pairs of bf16",
)


def dot(left, right, result, attributes=MULTIPLY):
    return parse_hlo(
        f"HloModule m\nENTRY e {{ a = {left} parameter(0)\n b = {right} parameter(1)\n ROOT d = {result} dot(a, b), {attributes} }}"
    )


def operands(module, fill, seed=0):
    """Random numbers of the whole range, or the least or the greatest number everywhere."""
    random, found = np.random.default_rng(seed), []
    for parameter, which in zip(module.entry.parameters(), fill, strict=True):
        dtype, dimensions = DTYPES[parameter.shape.element_type.name], parameter.shape.dimensions
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max + 1, dimensions).astype(dtype)
        found.append(
            values if which == "any" else np.full(dimensions, getattr(limits, which), dtype)
        )
    return found


@needs_groups
@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.parametrize(
    ("rows", "depth", "columns", "transposed"),
    [
        (4, 4, 4, False),
        (5, 7, 4, False),
        (37, 33, 19, False),
        (40, 6, 70, False),
        (9, 64, 100, True),
        (13, 36, 21, True),
    ],
)
@pytest.mark.sampled(5)
def test_sums_are_exact(monkeypatch, left, right, rows, depth, columns, transposed):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    b = f"{columns},{depth}" if transposed else f"{depth},{columns}"
    module = dot(
        f"{left}[{rows},{depth}]",
        f"{right}[{b}]",
        f"s32[{rows},{columns}]",
        RIGHT_TRANSPOSED if transposed else MULTIPLY,
    )
    assert isinstance(plan_dot_instruction(module.entry.root, HERE), DotInstructionPlan)
    for fill in [("any", "any"), ("min", "min"), ("min", "max"), ("max", "min"), ("max", "max")]:
        x, y = operands(module, fill)
        wanted = x.astype(np.int64) @ (y.T if transposed else y).astype(np.int64)
        np.testing.assert_array_equal(run_kernels(module, x, y)[0], wanted.astype(np.int32))


@needs_groups
@pytest.mark.parametrize(
    ("left", "right", "depth"), [("s16", "s16", 6), ("s8", "s8", 135_000), ("u8", "u8", 70_000)]
)
def test_sums_that_overflow_wrap(monkeypatch, left, right, depth):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    module = dot(f"{left}[4,{depth}]", f"{right}[{depth},5]", "s32[4,5]")
    for fill in [("min", "min"), ("max", "max"), ("any", "any")]:
        x, y = operands(module, fill)
        wanted = (x.astype(np.int64) @ y.astype(np.int64)).astype(np.int32)
        np.testing.assert_array_equal(run_kernels(module, x, y)[0], wanted)
    assert depth * np.iinfo(DTYPES[left]).max * np.iinfo(DTYPES[right]).max > 2**31


@needs_groups
@pytest.mark.parametrize("result", ["f32", "bf16", "f64", "s64", "s16", "pred"])
def test_sums_of_another_type_use_no_dot_product_instruction(monkeypatch, result):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    module = dot("s8[6,8]", "s8[8,7]", f"{result}[6,7]")
    x, y = operands(module, ("min", "any"))
    np.testing.assert_array_equal(run_kernels(module, x, y)[0], np.asarray(evaluate(module, x, y)))


@needs_groups
@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.sampled(2)
def test_a_left_operand_with_contiguous_rows(monkeypatch, left, right):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    module = dot(f"{left}[36,21]", f"{right}[36,19]", "s32[21,19]", LEFT_TRANSPOSED)
    assert isinstance(plan_dot_instruction(module.entry.root, HERE), DotInstructionPlan)
    for fill in [("any", "any"), ("min", "max"), ("max", "min")]:
        x, y = operands(module, fill)
        wanted = x.T.astype(np.int32) @ y.astype(np.int32)
        np.testing.assert_array_equal(run_kernels(module, x, y)[0], wanted)


@needs_bf16
@pytest.mark.parametrize("result", ["f32", "bf16"])
@pytest.mark.parametrize(
    ("left", "right", "attributes"),
    [
        ("5,7", "7,4", MULTIPLY),
        ("37,33", "33,19", MULTIPLY),
        ("9,64", "100,64", RIGHT_TRANSPOSED),
        ("36,21", "36,19", LEFT_TRANSPOSED),
    ],
)
@pytest.mark.sampled(3)
def test_exact_sums_of_bf16(monkeypatch, left, right, attributes, result):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    module = dot(f"bf16[{left}]", f"bf16[{right}]", f"{result}[1,1]", attributes)
    x, y = [
        np.random.default_rng(k).integers(-9, 10, p.shape.dimensions).astype(ml_dtypes.bfloat16)
        for k, p in enumerate(module.entry.parameters())
    ]
    a = x.T if attributes == LEFT_TRANSPOSED else x
    b = y.T if attributes == RIGHT_TRANSPOSED else y
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    rows, columns = wanted.shape
    module = dot(f"bf16[{left}]", f"bf16[{right}]", f"{result}[{rows},{columns}]", attributes)
    assert isinstance(plan_dot_instruction(module.entry.root, HERE), DotInstructionPlan)
    dtype = module.entry.root.shape.element_type.dtype
    np.testing.assert_array_equal(run_kernels(module, x, y)[0], wanted.astype(dtype))


@needs_bf16
def test_bf16_keeps_infinities_and_nans_and_takes_subnormals_as_zero(monkeypatch):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    module = dot("bf16[4,4]", "bf16[4,4]", "bf16[4,4]")
    x = np.eye(4, dtype=ml_dtypes.bfloat16)
    y = np.zeros((4, 4), ml_dtypes.bfloat16)
    y[0, 0], y[1, 1], y[2, 2], y[3, 3] = np.inf, np.nan, 1e-39, 2e-38
    found = run_kernels(module, x, y)[0].astype(np.float32)
    assert np.isnan(found[1, 1]) and np.isinf(found[0, 0]) and found[2, 2] == 0
    assert found[3, 3] == np.float32(y[3, 3])


@needs_groups
def test_batches(monkeypatch):
    monkeypatch.setattr("tests.compiler.codegen.kernel_runner.HOST_LIKE", HERE)
    module = dot("s8[3,9,10]", "u8[3,10,20]", "s32[3,9,20]",
                 "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}")  # fmt: skip
    x, y = operands(module, ("any", "any"))
    np.testing.assert_array_equal(
        run_kernels(module, x, y)[0], x.astype(np.int32) @ y.astype(np.int32)
    )


def test_the_instruction_needs_vectors_of_every_width():
    def found(bits, *features):
        return (
            dot_product_instruction(cpu_target(bits=bits, features=frozenset(features)), "s8", "s8")
            is not None
        )

    assert (
        found(512, "avx512vnni", "avx512vl")
        and found(256, "avxvnni")
        and found(512, "avx512vnni", "avx512vl", "avxvnni")
    )
    assert not found(512, "avx512vnni") and not found(512, "avxvnni") and not found(512)


@pytest.mark.parametrize(
    ("left", "right", "attributes", "target", "code"),
    [
        ("s8[9,8]", "s8[8,9]", MULTIPLY, HOST_LIKE, "no-dot-product-instruction"),
        ("s8[9,8]", "s16[8,9]", MULTIPLY, WITH_VNNI, "no-dot-product-instruction"),
        ("s8[9,8]", "s8[8,2]", MULTIPLY, WITH_VNNI, "product-too-skinny"),
        (
            "s8[9,9]",
            "s8[9,9]",
            LEFT_TRANSPOSED,
            WITH_VNNI,
            "irregular-strides",
        ),
        ("s8[9,7]", "s8[9,7]", RIGHT_TRANSPOSED, WITH_VNNI, "irregular-strides"),
    ],
)
def test_a_refusal_says_why(left, right, attributes, target, code):
    columns = 2 if right == "s8[8,2]" else 9
    reason = plan_dot_instruction(
        dot(left, right, f"s32[9,{columns}]", attributes).entry.root, target
    )
    assert isinstance(reason, Reason) and reason.code == code
