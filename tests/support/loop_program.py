"""A program for the views of loop nests: one kernel that is a nest, one that is opaque."""

from __future__ import annotations

TEXT = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[8,64] parameter(0)
  e = f32[8,64] exponential(x)
  t = f32[8,64] tanh(e)
  z = f32[] constant(0)
  sums = f32[8] reduce(t, z), dimensions={1}, to_apply=add
  ROOT sorted = f32[8] sort(sums), dimensions={0}, to_apply=less
}"""
