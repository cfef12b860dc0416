"""bf16 on GPUs: LLVM's own conversions, native arithmetic, and the values of the evaluator."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe

# Ties, both neighbours of ties, subnormals of both formats, overflow, infinities, NaNs.
EDGES = np.array(
    [0.0, -0.0, 1.0, 1.00390625, 1.01171875, 1.0039063, 1.0039062, 3.3895314e38, 3.3961775e38, 3.4e38, 1e-38, 1e-40, 4.6e-41, 4.5e-41,
     9.2e-41, -9.2e-41, 1e-45, np.inf, -np.inf, np.nan, -2.5, 65504.0],
    np.float32,
)  # fmt: skip


def program(operations: list[str], elements: int = 1 << 20) -> str:
    """Return a module that applies binary operations in a chain to two bf16 parameters."""
    lines, value = [], "a"
    for k, operation in enumerate(operations):
        root = "ROOT " if k == len(operations) - 1 else ""
        lines.append(f"  {root}v{k} = bf16[{elements}] {operation}({value}, b)")
        value = f"v{k}"
    parameters = "\n".join(
        f"  {name} = bf16[{elements}] parameter({k})" for k, name in enumerate("ab")
    )
    return f"HloModule m\n\nENTRY e {{\n{parameters}\n" + "\n".join(lines) + "\n}\n"


def instructions(ptx: str) -> list[str]:
    """Return the instructions of PTX text, without directives."""
    return re.findall(r"^\s+([a-z][a-z0-9]*\.?[a-z0-9.]*)\s[^\n]*;$", ptx, re.MULTILINE)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_two_operations_on_eight_elements_take_few_instructions(architecture):
    ptx = str(
        xe.compile(program(["add", "multiply"]), backend="gpu", architecture=architecture).ptx()
    )
    assert len(instructions(ptx)) <= 60  # 180 if integer arithmetic rounds
    assert not re.search(r"bfe\.u32|setp\.nan", ptx)


def test_an_older_gpu_rounds_without_the_instruction():
    ptx = str(xe.compile(program(["add"]), backend="gpu", architecture="sm_75").ptx())
    assert "cvt.rn.bf16" not in ptx and "add.bf16" not in ptx


def test_functions_round_pairs_in_one_instruction():
    text = program(["divide"])
    ptx = str(xe.compile(text, backend="gpu", architecture="sm_90").ptx())
    assert ptx.count("cvt.rn.bf16x2.f32") == 4


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide", "maximum"])
def test_operations_have_the_values_of_the_evaluator(operation, architecture):
    a, b = [x.ravel().astype(ml_dtypes.bfloat16) for x in np.meshgrid(EDGES, EDGES)]
    text = program([operation], a.size)
    session = xe.compile(text, backend="gpu", architecture=architecture, contraction=False)
    expected = np.asarray(xe.evaluate(text, a, b)).astype(np.float32)
    found = np.asarray(session(a, b)).astype(np.float32)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    # A quotient of the device may be two units of f32 off, which can turn a tie of bf16.
    near = 2.0**-7 if operation == "divide" else 0.0
    kept = ~np.isnan(expected)
    np.testing.assert_allclose(found[kept], expected[kept], rtol=near, atol=1e-40 if near else 0.0)
    if not near:
        np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(expected[kept]))


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_conversions_round_to_nearest_even(architecture):
    text = f"HloModule m\n\nENTRY e {{\n  x = f32[{EDGES.size}] parameter(0)\n  ROOT y = bf16[{EDGES.size}] convert(x)\n}}\n"
    found = np.asarray(xe.compile(text, backend="gpu", architecture=architecture)(EDGES))
    with np.errstate(over="ignore"):
        expected = EDGES.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


def test_contraction_can_be_forbidden():
    text = program(["multiply", "add"])
    contracted, separate = [
        str(xe.compile(text, backend="gpu", architecture="sm_90", contraction=c).ptx())
        for c in (True, False)
    ]
    assert "fma.rn.bf16" in contracted and "fma.rn.bf16" not in separate
