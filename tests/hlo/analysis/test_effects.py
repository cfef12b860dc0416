"""Effects of instructions: random numbers, asynchronous pairs, marked calls, and calls."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.analysis.effects import has_own_effects, has_side_effect, is_observable
from xla_explorer.hlo.text import parse_hlo

MODULE = parse_hlo("""HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
pure { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }
marked { p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="t", custom_call_has_side_effect=true }
ENTRY e {
  x = f32[4] parameter(0)
  pure_start = ((f32[4]), f32[4], s32[]) async-start(x), calls=pure
  pure_done = f32[4] async-done(pure_start)
  marked_start = ((f32[4]), f32[4], s32[]) async-start(x), calls=marked
  marked_done = f32[4] async-done(marked_start)
  sum_start = f32[4] all-reduce-start(x), to_apply=add
  sum_done = f32[4] all-reduce-done(sum_start)
  low = f32[] constant(0)
  high = f32[] constant(1)
  random = f32[4] rng(low, high), distribution=rng_uniform
  plain = f32[4] custom-call(x), custom_call_target="t"
  called = f32[4] call(x), to_apply=marked
  ROOT r = (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) tuple(pure_done, marked_done, sum_done, random, plain, called)
}""")


@pytest.mark.parametrize(
    ("name", "side_effect", "observable", "own"),
    [
        ("x", False, False, False),
        ("pure_start", False, False, False),
        ("marked_start", True, True, False),
        ("sum_start", True, True, False),
        ("sum_done", True, True, False),
        ("random", True, False, True),
        ("plain", False, False, False),
        ("called", True, True, False),
    ],
)
def test_each_question_has_its_answer(
    name: str, side_effect: bool, observable: bool, own: bool
) -> None:
    i = MODULE.find(name)
    assert (has_side_effect(i), is_observable(i), has_own_effects(i)) == (
        side_effect,
        observable,
        own,
    )
