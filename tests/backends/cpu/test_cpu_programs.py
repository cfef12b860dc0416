"""Programs that once failed on the CPU, whole."""

import numpy as np
from cpu_programs import check_program


def test_modulus_of_a_complex_number_with_one_nan():
    text = """HloModule m
ENTRY e {
  x = c128[5]{0} parameter(0)
  s = c128[5]{0} sign(x)
  a = f64[5]{0} abs(x)
  ROOT t = (c128[5]{0}, f64[5]{0}) tuple(s, a)
}"""
    check_program(text, np.array([complex(np.nan, 0), complex(0, np.nan), 0, 3 + 4j, 2]), relative=1e-15)


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
    check_program(text, np.array(True), np.array(False), np.arange(4, dtype=np.float32), relative=1e-6)
