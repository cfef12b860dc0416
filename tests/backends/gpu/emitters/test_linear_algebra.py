"""Blocked cholesky and triangular-solve: every form, sizes near a panel, indefinite matrices."""

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check

RANDOM = np.random.default_rng(9)
TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "f16": np.float16,
}


def numbers(kind, *dimensions):
    x = RANDOM.standard_normal(dimensions)
    return x + 1j * RANDOM.standard_normal(dimensions) if kind.startswith("c") else x


def cholesky(kind, batch, size, lower):
    shape = f"{kind}[{batch},{size},{size}]"
    return f"HloModule m\nENTRY e {{ x = {shape} parameter(0) ROOT r = {shape} cholesky(x), lower={lower} }}"


def definite(kind, batch, size):
    a = numbers(kind, batch, size, size)
    return (a @ np.conj(np.swapaxes(a, 1, 2)) + size * np.eye(size)).astype(TYPES[kind])


@pytest.mark.long
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize(
    ("kind", "batch", "size"),
    [("f32", 2, 5), ("f32", 1, 1), ("f64", 1, 20), ("c64", 2, 9), ("c128", 1, 3), ("f16", 2, 4)],
)
@pytest.mark.sampled(3)
def test_cholesky(kind, batch, size, lower):
    relative = 2e-2 if kind == "f16" else 1e-4
    ran = check(
        cholesky(kind, batch, size, lower),
        definite(kind, batch, size),
        relative=relative,
        assemble=lower == "true",
    )
    assert ran.emitted.emitter == "cholesky"


@pytest.mark.slow
def test_more_rows_than_threads():
    check(cholesky("f32", 1, 300, "true"), definite("f32", 1, 300), relative=1e-4, assemble=False)


def test_what_is_not_positive_definite_becomes_no_number_as_a_whole():
    matrices = definite("f32", 2, 5)
    matrices[1, 4, 4] = -1
    ran = check(cholesky("f32", 2, 5, "true"), matrices, relative=1e-4, assemble=False)
    assert np.isnan(ran.values[0][1]).all() and not np.isnan(ran.values[0][0]).any()


@pytest.mark.long
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.sampled(2)
def test_triangular_solve(left, lower, transpose):
    kind = "c64" if transpose == "ADJOINT" else "f32"
    size, sides = 11, 3  # two panels, the second one in part
    a = (numbers(kind, 2, size, size) / size / 4 + 2 * np.eye(size)).astype(TYPES[kind])
    dimensions = (2, size, sides) if left == "true" else (2, sides, size)
    shape = f"{kind}[{','.join(map(str, dimensions))}]"
    for unit in ("false", "true"):
        text = f"""HloModule m
ENTRY e {{ x = {kind}[2,{size},{size}] parameter(0) y = {shape} parameter(1)
  ROOT r = {shape} triangular-solve(x, y), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose} }}"""
        ran = check(
            text,
            a,
            numbers(kind, *dimensions).astype(TYPES[kind]),
            relative=1e-4,
            assemble=unit == "true" and transpose == "ADJOINT",
        )
        assert ran.emitted.emitter == "triangular-solve"


def test_many_right_sides_take_several_blocks():
    text = """HloModule m
ENTRY e { x = f64[4,4] parameter(0) y = f64[4,200] parameter(1)
  ROOT r = f64[4,200] triangular-solve(x, y), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE }"""
    ran = check(
        text,
        RANDOM.standard_normal((4, 4)) + 3 * np.eye(4),
        RANDOM.standard_normal((4, 200)),
        assemble=False,
    )
    assert ran.emitted.kernels[0].launch.blocks == 7, "a warp each, to spread over the device"
