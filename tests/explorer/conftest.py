"""Sessions that tests start from, a fresh one for each test, since a session has a last profile."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.explorer.session import Session

SOFTMAX = """HloModule softmax

max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}

add {
  a.1 = f32[] parameter(0)
  b.1 = f32[] parameter(1)
  ROOT s = f32[] add(a.1, b.1)
}

ENTRY main {
  x = f32[64,96] parameter(0)
  one = f32[] constant(1)
  ones = f32[64,96] broadcast(one), dimensions={}
  scaled = f32[64,96] multiply(x, ones), metadata={op_name="scale" source_file="model.py" source_line=7}
  low = f32[] constant(-inf)
  top = f32[64] reduce(scaled, low), dimensions={1}, to_apply=max
  tops = f32[64,96] broadcast(top), dimensions={0}
  shifted = f32[64,96] subtract(scaled, tops)
  e = f32[64,96] exponential(shifted), metadata={op_name="softmax/exp" source_file="model.py" source_line=8}
  zero = f32[] constant(0)
  sum = f32[64] reduce(e, zero), dimensions={1}, to_apply=add
  sums = f32[64,96] broadcast(sum), dimensions={0}
  ROOT y = f32[64,96] divide(e, sums)
}
"""


@pytest.fixture
def softmax() -> Session:
    """Softmax over rows of f32[64,96], compiled for the CPU."""
    return xe.compile(SOFTMAX)


@pytest.fixture
def softmax_interpreted() -> Session:
    """Return the softmax session on the evaluator, with the passes of `xe.optimize`."""
    return xe.compile(SOFTMAX, backend="interpreter", passes="algsimp,cse,dce")
