"""Arrays that a loop fills row by row start without zeros, if every row is written."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.text import parse_hlo

LOOP = """HloModule m
b {{
  s = (s32[], f32[4,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,8] get-tuple-element(s), index=1
  u = f32[1,8] constant({{{{1,2,3,4,5,6,7,8}}}})
  z = s32[] constant(0)
  d = f32[4,8] dynamic-update-slice(x, u, {start}, z)
  one = s32[] constant(1)
  n = s32[] add(i, one)
  ROOT t = (s32[], f32[4,8]) tuple(n, d)
}}
c {{
  s = (s32[], f32[4,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant({trips})
  ROOT l = pred[] compare(i, end), direction=LT
}}
ENTRY e {{
  zero = s32[] constant(0)
  f = f32[] constant(0)
  x = f32[4,8] broadcast(f), dimensions={{}}
  t = (s32[], f32[4,8]) tuple(zero, x)
  ROOT w = (s32[], f32[4,8]) while(t), condition=c, body=b
}}
"""


@pytest.mark.parametrize(
    ("start", "trips", "changed"),
    [("i", 4, True), ("i", 3, False), ("z", 4, False)],
    ids=["every-row", "a-row-is-left", "one-row-again-and-again"],
)
def test_zeros_are_left_out_if_every_row_is_written(start: str, trips: int, changed: bool) -> None:
    module = parse_hlo(LOOP.format(start=start, trips=trips))
    trace = optimize(module, "dus-accumulator-zero-init-elimination", verify=True)
    assert trace.changed == changed
    opcodes = {i.opcode.name for i in trace.module.entry.instructions.values()}
    assert ("broadcast" in opcodes) != changed
