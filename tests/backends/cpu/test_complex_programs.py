"""Complex numbers through kernels that reduce, move and contract."""

import numpy as np
from cpu_programs import check_program

RANDOM = np.random.default_rng(5)


def numbers(*dimensions):
    return (RANDOM.standard_normal(dimensions) + 1j * RANDOM.standard_normal(dimensions)).astype(np.complex64)


ADD = """add { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT c = c64[] add(a, b) }
"""


def test_running_sum_and_window_sum():
    text = "HloModule m\n" + ADD + """ENTRY e {
  x = c64[8,9]{1,0} parameter(0)
  z = c64[] constant((0, 0))
  s = c64[8,9]{1,0} reduce-window(x, z), window={size=8x1 pad=7_0x0_0}, to_apply=add
  p = c64[7,4]{1,0} reduce-window(x, z), window={size=2x3 stride=1x2}, to_apply=add
  ROOT t = (c64[8,9]{1,0}, c64[7,4]{1,0}) tuple(s, p)
}"""
    check_program(text, numbers(8, 9), relative=1e-6)


def test_scatter():
    text = "HloModule m\n" + ADD + """ENTRY e {
  x = c64[10,3]{1,0} parameter(0)
  i = s32[4,1]{1,0} parameter(1)
  u = c64[4,3]{1,0} parameter(2)
  ROOT s = c64[10,3]{1,0} scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}"""
    check_program(text, numbers(10, 3), np.array([[2], [9], [2], [10]], np.int32), numbers(4, 3), relative=1e-6)


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
