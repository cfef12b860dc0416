"""Groupings of instructions into kernels that compute the same values, and others."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.overrides.same_values import ResultNumbers

APART = """HloModule m
a { p = f32[8] parameter(0) s = f32[8] sine(p) c = f32[] constant(2)
  b = f32[8] broadcast(c), dimensions={} ROOT t = f32[8] add(s, b) }
b { q = f32[8] parameter(0) ROOT u = f32[8] exponential(q) }
ENTRY e { x = f32[8] parameter(0) k = f32[8] fusion(x), kind=kLoop, calls=a
  l = f32[8] fusion(k), kind=kLoop, calls=b ROOT r = (f32[8]) tuple(l) }"""
JOINED = """HloModule m
a { p = f32[8] parameter(0) s = f32[8] sine(p) c = f32[] constant(2)
  b = f32[8] broadcast(c), dimensions={} t = f32[8] add(s, b) ROOT u = f32[8] exponential(t) }
ENTRY e { x = f32[8] parameter(0) k = f32[8] fusion(x), kind=kLoop, calls=a
  ROOT r = (f32[8]) tuple(k) }"""


def test_a_grouping_keeps_the_values() -> None:
    numbers = ResultNumbers()
    one, two = [numbers.of_results(xe.parse_hlo(text)) for text in (APART, JOINED)]
    assert one == two


@pytest.mark.parametrize(
    "change",
    [("constant(2)", "constant(3)"), ("sine(p)", "cosine(p)"), ("add(s, b)", "add(b, s)")],
)
def test_another_operation_has_another_number(change: tuple[str, str]) -> None:
    numbers = ResultNumbers()
    one = numbers.of_results(xe.parse_hlo(APART))
    assert one != numbers.of_results(xe.parse_hlo(JOINED.replace(*change)))


def test_results_of_one_kernel_are_told_apart() -> None:
    text = """a { p = f32[8] parameter(0) s = f32[8] sine(p) c = f32[8] cosine(p)
      ROOT t = (f32[8], f32[8]) tuple(s, c) }
    ENTRY e { x = f32[8] parameter(0) k = (f32[8], f32[8]) fusion(x), kind=kLoop, calls=a
      g = f32[8] get-tuple-element(k), index=0 h = f32[8] get-tuple-element(k), index=1
      ROOT r = (f32[8], f32[8]) tuple(g, h) }"""
    alone = """ENTRY e { x = f32[8] parameter(0) s = f32[8] sine(x) c = f32[8] cosine(x)
      ROOT r = (f32[8], f32[8]) tuple(s, c) }"""
    numbers = ResultNumbers()
    one, two = [numbers.of_results(xe.parse_hlo(each)) for each in (text, alone)]
    assert one == two and one[0] != one[1]
