"""Variables of a function behind the large constants of its program."""

from __future__ import annotations

import numpy as np

import xla_explorer as xe
from xla_explorer.explorer.advice.captured_constants import captured_constants, captured_sentence
from xla_explorer.explorer.xla.captured_names import with_variables

TABLE = np.arange(1 << 18, dtype=np.float32)


def lookup(x):
    """Return a value that depends on a module's array."""
    return x + TABLE


def test_a_captured_array_has_its_variable_and_line():
    text = """ENTRY e { x = f32[1,262144] parameter(0) c = f32[1,262144] constant({...})
      ROOT r = f32[1,262144] add(x, c) }"""
    session = xe.compile(text, journal="off")
    [found] = captured_constants(session)
    constant = next(i for i in session.source.instructions() if i.opcode.name == "constant")
    held = np.asarray(constant.payload.array)

    def own(x):
        return x + held

    [named] = with_variables([found], session.source, own)
    assert named.variable == "held" and "test_captured_names.py:" in named.line
    assert "held f32[1,262144] at " in captured_sentence([named])
    [other] = with_variables([found], session.source, lookup)
    assert other == found
