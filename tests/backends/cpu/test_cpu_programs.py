"""Programs that once failed on the CPU, whole."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program, compile_for_cpu
from xla_explorer.hlo.primitive_type import primitive_type


def test_modulus_of_a_complex_number_with_one_nan():
    text = """HloModule m
ENTRY e {
  x = c128[5]{0} parameter(0)
  s = c128[5]{0} sign(x)
  a = f64[5]{0} abs(x)
  ROOT t = (c128[5]{0}, f64[5]{0}) tuple(s, a)
}"""
    check_program(
        text, np.array([complex(np.nan, 0), complex(0, np.nan), 0, 3 + 4j, 2]), relative=1e-15
    )


def test_a_branch_that_two_conditionals_share():
    text = """HloModule m
f { a = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(a) }
g { a = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} exponential(a) }
ENTRY e {
  p = pred[] parameter(0)
  q = pred[] parameter(1)
  x = f32[4]{0} parameter(2)
  a = f32[4]{0} conditional(p, x, x), true_computation=f, false_computation=g
  ROOT b = f32[4]{0} conditional(q, a, a), true_computation=f, false_computation=g
}"""
    check_program(
        text, np.array(True), np.array(False), np.arange(4, dtype=np.float32), relative=1e-6
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [("f32", "u8"), ("f64", "s32"), ("u64", "bf16"), ("bf16", "s8"), ("u32", "f16")],
)
def test_bits_as_elements_of_another_width(source, target):
    wide, narrow = primitive_type(source), primitive_type(target)
    ratio = wide.bits // narrow.bits
    text = f"""HloModule m
ENTRY e {{
  x = {source}[5,7]{{1,0}} parameter(0)
  n = {target}[5,7,{ratio}]{{2,1,0}} bitcast-convert(x)
  y = {target}[5,7,{ratio}]{{2,1,0}} parameter(1)
  w = {source}[5,7]{{1,0}} bitcast-convert(y)
  ROOT t = ({target}[5,7,{ratio}]{{2,1,0}}, {source}[5,7]{{1,0}}) tuple(n, w)
}}"""
    raw = np.random.default_rng(1).integers(0, 100, (5, 7, wide.bits // 8), np.uint8)
    check_program(text, raw.view(wide.dtype)[..., 0], raw.view(narrow.dtype))
    check_program(text, raw.view(wide.dtype)[..., 0], raw.view(narrow.dtype), passes="none")


def test_a_scalar_reduction_of_complex_numbers_inside_a_fusion():
    text = """HloModule m
sum {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT s = c64[] add(a, b)
}
ENTRY e {
  x = c64[3,4]{1,0} parameter(0)
  z = c64[] constant((0, 0))
  r = c64[3]{0} reduce(x, z), dimensions={1}, to_apply=sum
  w = c64[3,5]{1,0} broadcast(r), dimensions={0}
  ROOT n = c64[3,5]{1,0} negate(w)
}"""
    x = (
        np.random.default_rng(1)
        .integers(-4, 5, (3, 4, 2))
        .astype(np.float32)
        .view(np.complex64)[..., 0]
    )
    check_program(text, x)


def test_a_control_edge_from_an_instruction_that_dies():
    text = """HloModule m
ENTRY e {
  p = f32[] parameter(0)
  a = f32[] copy(p)
  c = f32[] constant(2)
  ROOT b = f32[] copy(c), control-predecessors={a}
}"""
    check_program(text, np.float32(1))
    check_program(text, np.float32(1), passes="none")


def test_a_control_edge_against_an_update_in_place():
    text = """HloModule m
ENTRY e {
  p = f32[8]{0} parameter(0)
  z = s32[] constant(2)
  x = f32[8]{0} negate(p)
  u = f32[2]{0} slice(p), slice={[0:2]}
  d = f32[8]{0} dynamic-update-slice(x, u, z)
  r = f32[8]{0} exponential(x), control-predecessors={d}
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(d, r)
}"""
    for passes in ("default", "none"):
        check_program(text, np.arange(8, dtype=np.float32), relative=1e-6, passes=passes)


def test_a_given_fusion_with_what_only_stands_alone_inside():
    text = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
f {
  x = f32[4,6]{1,0} parameter(0)
  y = f32[6,5]{1,0} parameter(1)
  d = f32[4,5]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  w = f32[4,4]{1,0} reduce-window(d, z), window={size=1x2}, to_apply=add
  ROOT t = (f32[4,4]{1,0}, f32[4,5]{1,0}) tuple(w, d)
}
ENTRY e {
  x = f32[4,6]{1,0} parameter(0)
  y = f32[6,5]{1,0} parameter(1)
  ROOT r = (f32[4,4]{1,0}, f32[4,5]{1,0}) fusion(x, y), kind=kLoop, calls=f
}"""
    check_program(text, np.ones((4, 6), np.float32), np.ones((6, 5), np.float32), native=False)


def test_a_transpose_of_bf16_whose_shuffles_llvm_did_not_legalise():
    text = """HloModule m
ENTRY e {
  x = bf16[5,2,3,5]{3,2,1,0} parameter(0)
  ROOT t = bf16[5,3,5,2]{3,2,1,0} transpose(x), dimensions={3,2,0,1}
}"""
    check_program(text, np.arange(150).reshape(5, 2, 3, 5).astype(primitive_type("bf16").dtype))


def test_rounding_to_bf16_keeps_subnormals_and_needs_no_library():
    text = """HloModule m
ENTRY e {
  x = f32[8]{0} parameter(0)
  c = bf16[8]{0} convert(x)
  ROOT s = bf16[8]{0} add(c, c)
}"""
    numbers = [1e-40, -3e-39, 1.00390625, 1.01171875, 3.4e38, np.inf, np.nan, -0.0]
    check_program(text, np.array(numbers, np.float32))
    assert (
        "bfloat" not in compile_for_cpu(text).program.text
    )  # LLVM would call __truncsfbf2 on CPUs without AVX512-BF16


def test_a_reducer_without_a_complex_emitter_runs_on_the_evaluator():
    text = """HloModule m
larger {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT s = c64[] maximum(a, b)
}
ENTRY e {
  x = c64[3,4]{1,0} parameter(0)
  z = c64[] constant((0, 0))
  ROOT r = c64[3]{0} reduce(x, z), dimensions={1}, to_apply=larger
}"""
    x = (
        np.random.default_rng(1)
        .integers(-4, 5, (3, 4, 2))
        .astype(np.float32)
        .view(np.complex64)[..., 0]
    )
    check_program(text, x, native=False)


def test_one_parameter_in_two_result_layouts():
    text = """HloModule m, entry_computation_layout={(f32[2,1,2]{0,1,2})->(f32[2,1,2]{0,2,1}, f32[2,1,2]{2,0,1}, f32[2,1,2]{1,2,0})}
ENTRY e {
  x = f32[2,1,2]{0,1,2} parameter(0)
  ROOT t = (f32[2,1,2]{0,1,2}, f32[2,1,2]{0,1,2}, f32[2,1,2]{0,1,2}) tuple(x, x, x)
}"""
    check_program(text, np.arange(4, dtype=np.float32).reshape(2, 1, 2))
