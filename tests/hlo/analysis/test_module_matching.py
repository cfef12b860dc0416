"""Instructions of two modules paired without a journal."""

from __future__ import annotations

import xla_explorer as xe
from xla_explorer.hlo.analysis.module_matching import match_modules

LEFT = """HloModule a
ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[8,8] parameter(1)
  d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,8] tanh(d)
  n = f32[4,8] negate(t)
  ROOT r = f32[4,8] add(n, t)
}"""
# Other names, one operation more, one with another attribute.
RIGHT = """HloModule b
ENTRY e {
  p0 = f32[4,8] parameter(0)
  p1 = f32[8,8] parameter(1)
  dot.7 = f32[4,8] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  th = f32[4,8] tanh(dot.7)
  c = f32[4,8] cosine(th)
  ne = f32[4,8] negate(th)
  s = f32[4,8] add(ne, c)
  ROOT q = f32[4,8] add(s, th)
}"""


def names(left: str, right: str, by_name: bool) -> dict[str, str]:
    a, b = xe.parse_hlo(left), xe.parse_hlo(right)
    return {x.name: y.name for x, y in match_modules(a, b, by_name=by_name).left_to_right.items()}


def test_structure_finds_what_names_hide() -> None:
    found = names(LEFT, RIGHT, by_name=False)
    assert found == {"x": "p0", "w": "p1", "d": "dot.7", "t": "th", "n": "ne", "r": "q"}


def test_a_module_matches_itself_wholly_by_either_evidence() -> None:
    for by_name in (True, False):
        assert names(LEFT, LEFT, by_name) == {n: n for n in ("x", "w", "d", "t", "n", "r")}


def test_a_name_on_another_opcode_is_no_evidence() -> None:
    other = LEFT.replace("n = f32[4,8] negate(t)", "n = f32[4,8] cosine(t)")
    assert "n" not in names(LEFT, other, by_name=True)


def test_bodies_of_matched_calls_are_matched() -> None:
    text = """HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[9] parameter(0)  z = f32[] constant(0)  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=f }"""
    renamed = (
        text.replace("f {", "g {")
        .replace("=f ", "=g ")
        .replace("s =", "total =")
        .replace("constant(0)", "constant(1)")
    )
    assert names(text, renamed, by_name=False) == {
        "x": "x",
        "z": "z",
        "r": "r",
        "a": "a",
        "b": "b",
        "s": "total",
    }
