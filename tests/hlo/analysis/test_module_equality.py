"""Structural equality of modules, with and without names."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.text import parse_hlo

TEXT = """HloModule m
f {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  p = f32[4] parameter(0)
  c = f32[] constant(1)
  unused = f32[4] negate(p)
  ROOT r = f32[] reduce(p, c), dimensions={0}, to_apply=f, metadata={op_name="a"}
}
"""


def test_equal_to_itself_and_to_its_clone() -> None:
    module = parse_hlo(TEXT)
    assert modules_equal(module, parse_hlo(TEXT)) is None
    assert modules_equal(module, module.clone()) is None


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("constant(1)", "constant(2)", "value"),
        ("add(x, y)", "subtract(x, y)", "opcode"),
        ("add(x, y)", "add(y, x)", "name"),
        ("negate(p)", "abs(p)", "opcode"),
        ('op_name="a"', 'op_name="b"', "metadata"),
        ("f32[4] negate", "f32[4]{0:S(1)} negate", "shape"),
        ("  unused = f32[4] negate(p)\n", "", "number of instructions"),
        ("HloModule m", "HloModule m, replica_count=2", "header"),
        (", metadata=", ", sharding={replicated}, metadata=", "attributes"),
        ("f32[] constant(1)", "f32[] constant(nan)", "value"),
    ],
)
def test_one_difference(old: str, new: str, what: str) -> None:
    assert old in TEXT
    difference = modules_equal(parse_hlo(TEXT), parse_hlo(TEXT.replace(old, new)))
    assert difference is not None and difference.what == what


def test_names_can_be_ignored() -> None:
    other = (
        TEXT.replace("f {", "g {")
        .replace("to_apply=f", "to_apply=g")
        .replace("unused", "idle")
        .replace("x", "first")
        .replace("HloModule m", "HloModule n")
    )
    assert modules_equal(parse_hlo(TEXT), parse_hlo(other)) is not None
    assert modules_equal(parse_hlo(TEXT), parse_hlo(other), ignore_names=True) is None
    swapped = TEXT.replace("add(x, y)", "add(y, x)")
    difference = modules_equal(parse_hlo(TEXT), parse_hlo(swapped), ignore_names=True)
    assert difference is not None


def test_nan_equals_the_same_nan() -> None:
    text = TEXT.replace("constant(1)", "constant(nan)")
    assert modules_equal(parse_hlo(text), parse_hlo(text)) is None
