"""cholesky and triangular-solve by LAPACK and BLAS, against the evaluator."""

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.cpu.cpu_programs import check_program, compile_for_cpu, opcodes_on_evaluator
from xla_explorer.hlo.primitive_type import primitive_type

RANDOM = np.random.default_rng(3)
TOLERANCE = {"f32": 1e-5, "c64": 1e-5, "f64": 1e-13, "c128": 1e-13}


def random(kind, dimensions):
    dtype = primitive_type(kind).dtype
    x = RANDOM.standard_normal(dimensions)
    return (x + 1j * RANDOM.standard_normal(dimensions) if kind[0] == "c" else x).astype(dtype)


@pytest.mark.parametrize("kind", TOLERANCE)
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("size", [1, 5])
def test_cholesky(kind, lower, size):
    text = f"""HloModule m
ENTRY e {{
  x = {kind}[3,{size},{size}]{{2,1,0}} parameter(0)
  ROOT c = {kind}[3,{size},{size}]{{2,1,0}} cholesky(x), lower={lower}
}}"""
    half = random(kind, (3, size, size))
    x = half @ np.conj(half.swapaxes(1, 2)) + size * np.eye(size)
    x[1, 0, 0] = -1  # not positive definite: all NaN
    x[2] += (
        np.triu(np.ones((size, size)), 1) if lower == "true" else np.tril(np.ones((size, size)), -1)
    )  # not read
    found = check_program(text, x.astype(primitive_type(kind).dtype), relative=TOLERANCE[kind])[0]
    assert np.isnan(found[1]).all() and not np.isnan(found[[0, 2]]).any()


@pytest.mark.parametrize("kind", TOLERANCE)
@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.sampled(16)
def test_triangular_solve(kind, left, lower, transpose):
    b = "6,4" if left == "true" else "4,6"
    for unit in ("true", "false"):
        text = f"""HloModule m
ENTRY e {{
  a = {kind}[2,6,6]{{2,1,0}} parameter(0)
  b = {kind}[2,{b}]{{2,1,0}} parameter(1)
  ROOT s = {kind}[2,{b}]{{2,1,0}} triangular-solve(a, b), left_side={left}, lower={lower},
    unit_diagonal={unit}, transpose_a={transpose}
}}"""
        a = random(kind, (2, 6, 6)) * 0.3 + 2 * np.eye(6)
        check_program(
            text,
            a.astype(primitive_type(kind).dtype),
            random(kind, (2, *map(int, b.split(",")))),
            relative=10 * TOLERANCE[kind],
        )


def test_half_precision_is_factored_in_single_precision():
    text = """HloModule m
ENTRY e {
  x = bf16[4,4]{1,0} parameter(0)
  ROOT c = bf16[4,4]{1,0} cholesky(x), lower=true
}"""
    executable = compile_for_cpu(text)
    assert opcodes_on_evaluator(executable) == []
    a = random("f32", (4, 4))
    check_program(
        text, (a @ a.T + 4 * np.eye(4)).astype(primitive_type("bf16").dtype), relative=2e-2
    )


@pytest.mark.parametrize("kind", TOLERANCE)
def test_the_call_is_a_decision_with_the_estimates_of_both_ways(kind):
    text = f"""HloModule m
ENTRY e {{
  a = {kind}[3,64,64] parameter(0)
  b = {kind}[3,64,8] parameter(1)
  c = {kind}[3,64,64] cholesky(a), lower=true
  ROOT s = {kind}[3,64,8] triangular-solve(c, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
}}"""
    rows = xe.compile(text).decisions("native-code")
    assert list(rows["subjects"]) == [("%c",), ("%s",)] and set(rows["verdict"]) == {"accepted"}
    for facts in rows["facts"]:
        assert 0 < facts["library_cycles"] < facts["cycles"]


def test_a_transform_says_why_no_library_computes_it():
    text = """HloModule m
ENTRY e {
  a = c64[64] parameter(0)
  ROOT f = c64[64] fft(a), fft_type=FFT, fft_length={64}
}"""
    [row] = xe.compile(text).decisions("native-code").to_dict("records")
    assert (row["code"], row["verdict"]) == ("no-fft-library", "accepted") and row["facts"][
        "cycles"
    ] > 0
