"""`%tuple#1`: a tuple element in jaxlib 0.11 and newer, without a get-tuple-element."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

FORMS = {
    "bare": "add(t#0, t#1)", "percent": "add(%t#0, %t#1)", "shapes": "add(f32[4] %t#0, f32[4]{0} %t#1)", "spaces": "add( %t#0 ,%t#1 )",
    "same twice": "add(%t#0, %t#0)", "nested": "add(%n#0#1, %n#1)",
}  # fmt: skip


def program(root: str) -> str:
    return f"""HloModule m
ENTRY e {{
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  t = (f32[4], f32[4]) tuple(a, b)
  n = ((f32[4], f32[4]), f32[4]) tuple(t, b)
  ROOT r = f32[4] {root}
}}"""


@pytest.mark.parametrize("form", FORMS)
def test_an_operand_names_an_element_of_a_tuple(form: str) -> None:
    module = xe.parse_hlo(program(FORMS[form]))
    a, b = np.full(4, 2, np.float32), np.full(4, 5, np.float32)
    want = {"same twice": 4, "nested": 10}.get(form, 7)
    for again in (module, xe.parse_hlo(module.to_text())):
        assert np.asarray(xe.evaluate(again, a, b)).tolist() == [want] * 4
        assert np.asarray(xe.compile(again)(a, b)).tolist() == [want] * 4
    elements = [
        i for i in module.entry.instructions.values() if i.opcode.name == "get-tuple-element"
    ]
    assert len(elements) == {"same twice": 1, "nested": 3}.get(form, 2)


def test_a_loop_as_jaxlib_prints_it() -> None:
    text = """HloModule loop
body { %arg = (f32[4], s32[]) parameter(0)
  %one = s32[] constant(1)
  %s = f32[4] sine(%arg#0)
  %k = s32[] add(%arg#1, %one)
  ROOT %t = (f32[4], s32[]) tuple(%s, %k) }
cond { %arg.1 = (f32[4], s32[]) parameter(0)
  %n = s32[] constant(3)
  ROOT %c = pred[] compare(%arg.1#1, %n), direction=LT }
ENTRY e { %x = f32[4] parameter(0)
  %z = s32[] constant(0)
  %t.1 = (f32[4], s32[]) tuple(%x, %z)
  %w = (f32[4], s32[]) while(%t.1), condition=cond, body=body
  ROOT %r = f32[4] negate(%w#0) }"""
    x = np.linspace(0, 1, 4, dtype=np.float32)
    got = np.asarray(xe.compile(text)(x))
    np.testing.assert_allclose(got, -np.sin(np.sin(np.sin(x))), rtol=1e-6)


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("negate(%t#2)", "does not have"),
        ("negate(%a#0)", "does not have"),
        ("negate(%t#)", "expects"),
    ],
)
def test_an_element_that_is_not_there_is_refused_in_its_place(root: str, said: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=said):
        xe.parse_hlo(program(root))
