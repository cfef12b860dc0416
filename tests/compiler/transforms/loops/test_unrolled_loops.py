"""Several iterations in one step of a loop: the state after the loop stays."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.analysis.backend_config import known_trip_count
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

LOOP = """HloModule m
b {{
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  z = f32[4] add(x, y)
  ROOT t = (s32[], f32[4], f32[4]) tuple(n, y, z)
}}
c {{
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant({trips})
  ROOT l = pred[] compare(i, end), direction=LT
}}
ENTRY e {{
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4], f32[4]) tuple(zero, x, x)
  ROOT w = (s32[], f32[4], f32[4]) while(t), condition=c, body=b,
    backend_config={{"known_trip_count":{{"n":"{trips}"}}}}
}}
"""


@pytest.mark.parametrize(
    ("trips", "strategy", "steps", "adds"),
    [
        (6, "double_buffer", 3, 2),
        (7, "double_buffer", 3, 2),
        (5, "full_unroll", 1, 5),
    ],
)
def test_the_state_after_the_loop_stays(trips: int, strategy: str, steps: int, adds: int) -> None:
    module = parse_hlo(LOOP.format(trips=trips))
    passes = f"loop-double-buffer-transformer{{unroll_strategy={strategy}}}"
    trace = optimize(module, passes, verify=True)
    [loop] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    body = [i for i in loop.called[1].instructions.values() if i.opcode.name == "add"]
    assert known_trip_count(loop) == steps
    assert len([i for i in body if i.shape.rank]) == adds
    given = np.arange(4, dtype=np.float32)
    pairs = zip(
        flatten_value(evaluate(module, given)),
        flatten_value(evaluate(trace.module, given)),
        strict=True,
    )
    for wanted, got in pairs:
        np.testing.assert_array_equal(wanted, got)


@pytest.mark.parametrize(("trips", "strategy"), [(1, "double_buffer"), (6, "auto")])
def test_one_iteration_and_loops_without_exchange_stay(trips: int, strategy: str) -> None:
    passes = f"loop-double-buffer-transformer{{unroll_strategy={strategy}}}"
    assert not optimize(parse_hlo(LOOP.format(trips=trips)), passes).changed
