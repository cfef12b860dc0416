"""Complex numbers through kernels that reduce, move and contract."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program, compile_for_cpu, opcodes_on_evaluator
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(5)


def numbers(*dimensions):
    return (RANDOM.standard_normal(dimensions) + 1j * RANDOM.standard_normal(dimensions)).astype(
        np.complex64
    )


ADD = """add { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT c = c64[] add(a, b) }
"""


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_quotients_of_infinities_zeros_and_large_numbers(kind):
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e30]
    numbers = np.array(
        [complex(x, y) for x in parts for y in parts],
        np.complex64 if kind == "c64" else np.complex128,
    )
    a, b = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    text = f"""HloModule m
ENTRY e {{
  a = {kind}[{a.size}] parameter(0)
  b = {kind}[{a.size}] parameter(1)
  ROOT q = {kind}[{a.size}] divide(a, b)
}}"""
    [got], wanted = compile_for_cpu(text).execute([a, b]), evaluate(parse_hlo(text), a, b)
    for x, y in ((got.real, wanted.real), (got.imag, wanted.imag)):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_running_sum_and_window_sum():
    text = (
        "HloModule m\n"
        + ADD
        + """ENTRY e {
  x = c64[8,9]{1,0} parameter(0)
  z = c64[] constant((0, 0))
  s = c64[8,9]{1,0} reduce-window(x, z), window={size=8x1 pad=7_0x0_0}, to_apply=add
  p = c64[7,4]{1,0} reduce-window(x, z), window={size=2x3 stride=1x2}, to_apply=add
  ROOT t = (c64[8,9]{1,0}, c64[7,4]{1,0}) tuple(s, p)
}"""
    )
    check_program(text, numbers(8, 9), relative=1e-6)


def test_scatter():
    text = (
        "HloModule m\n"
        + ADD
        + """ENTRY e {
  x = c64[10,3]{1,0} parameter(0)
  i = s32[4,1]{1,0} parameter(1)
  u = c64[4,3]{1,0} parameter(2)
  ROOT s = c64[10,3]{1,0} scatter(x, i, u),
    update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}"""
    )
    check_program(
        text,
        numbers(10, 3),
        np.array([[2], [9], [2], [10]], np.int32),
        numbers(4, 3),
        relative=1e-6,
    )


def test_sort_by_real_part_with_a_complex_payload():
    text = """HloModule m
c { a = c64[] parameter(0)
  b = c64[] parameter(1)
  r = f32[] real(a)
  s = f32[] real(b)
  ROOT l = pred[] compare(r, s), direction=LT, type=TOTALORDER }
ENTRY e {
  x = c64[4,LENGTH]{1,0} parameter(0)
  ROOT s = c64[4,LENGTH]{1,0} sort(x), dimensions={1}, to_apply=c
}"""
    for length in (20, 500):
        check_program(text.replace("LENGTH", str(length)), numbers(4, length))


def test_convolution():
    text = """HloModule m
ENTRY e {
  x = c64[2,9,3]{2,1,0} parameter(0)
  k = c64[4,3,5]{2,1,0} parameter(1)
  ROOT c = c64[2,6,5]{2,1,0} convolution(x, k), window={size=4}, dim_labels=b0f_0io->b0f
}"""
    check_program(text, numbers(2, 9, 3), numbers(4, 3, 5), relative=1e-5)


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("opcode", ["exponential", "log", "sqrt", "sine", "cosine", "tanh"])
def test_functions(opcode, kind):
    part = np.float32 if kind == "c64" else np.float64
    special = np.array(
        [0.0, -0.0, 1.0, -2.5, 0.3, 30.0, -40.0, np.inf, -np.inf, np.nan, 1e-30, 3.0], part
    )
    a, b = np.meshgrid(special, special)
    random = RANDOM.standard_normal((2, 300)).astype(part) * 3
    near_one = np.exp(1j * RANDOM.standard_normal(50)) * (1 + 1e-6 * RANDOM.standard_normal(50))
    z = np.concatenate([(a + 0).ravel(), random[0], near_one.real.astype(part)]).astype(
        np.complex64 if kind == "c64" else np.complex128
    )
    z.imag = np.concatenate([b.ravel(), random[1], near_one.imag.astype(part)])
    z.real[: a.size] = a.ravel()
    text = f"HloModule m\nENTRY e {{\n  x = {kind}[{z.size}]{{0}} parameter(0)\n"
    text += f"  ROOT r = {kind}[{z.size}]{{0}} {opcode}(x)\n}}"
    executable = compile_for_cpu(text)
    assert not opcodes_on_evaluator(executable)
    (found,) = executable.execute([z])
    (wanted,) = flatten_value(evaluate(parse_hlo(text), z))
    tolerance = 3e-7 if kind == "c64" else 2e-15
    for x, y, value in zip(z, found, wanted, strict=True):
        for mine, theirs in ((y.real, value.real), (y.imag, value.imag)):
            if np.isnan(x) or (np.isinf(x.real) and np.isinf(x.imag)):  # what C99 leaves open
                continue
            size = (
                max(abs(theirs), (0.1 if kind == "c128" else 1e-3) * abs(value))
                if np.isfinite(value)
                else abs(theirs)
            )
            assert (
                mine == theirs
                or (np.isnan(mine) and np.isnan(theirs))
                or abs(mine - theirs) <= tolerance * 4 * size + 1e-40
            ), (x, y, value)


@pytest.mark.parametrize("element_type", ["c64", "c128"])
@pytest.mark.parametrize("opcode", ["tan", "exponential-minus-one", "log-plus-one", "rsqrt"])
def test_functions_of_one_number(element_type, opcode):
    x = np.concatenate([numbers(500), numbers(100) * 1e-4, numbers(50) * 8]).astype(
        {"c64": np.complex64, "c128": np.complex128}[element_type]
    )
    text = f"HloModule m\nENTRY e {{ x = {element_type}[{len(x)}] parameter(0)\n ROOT r = {element_type}[{len(x)}] {opcode}(x) }}"
    found = compile_for_cpu(text).execute([x])[0]
    wanted = flatten_value(evaluate(parse_hlo(text), x))[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if element_type == "c64" else 1e-13)


@pytest.mark.parametrize("opcode", ["power", "atan2", "maximum", "minimum"])
def test_functions_of_two_numbers(opcode):
    x, y = numbers(400), numbers(400)
    x[:6] = [0, 0, 0, 1, np.nan, 2 + 1j]
    y[:6] = [0, 2, 1j - 1, np.nan, 1, 2 + 3j]
    text = f"HloModule m\nENTRY e {{ x = c64[400] parameter(0)\n y = c64[400] parameter(1)\n ROOT r = c64[400] {opcode}(x, y) }}"
    executable = compile_for_cpu(text)
    assert not opcodes_on_evaluator(executable)
    found, wanted = executable.execute([x, y])[0], flatten_value(evaluate(parse_hlo(text), x, y))[0]
    if opcode == "atan2":
        found, wanted = found[6:], wanted[6:]
    np.testing.assert_allclose(found[6:], wanted[6:], rtol=2e-6)
    assert (np.isnan(found) == np.isnan(wanted)).all()
