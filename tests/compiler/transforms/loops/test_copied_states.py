"""Loops with copied state: every pass about loops, copies and tuples keeps their value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import flatten_value

_STATE = "(s32[], s32[])"
_LOOP = """HloModule m
cond {{
  p = (s32[], s32[]) parameter(0)
  {copy_condition}
  i = s32[] get-tuple-element({condition}), index=0
  n = s32[] get-tuple-element({condition}), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}}
body {{
  p = (s32[], s32[]) parameter(0)
  {copy_body}
  i = s32[] get-tuple-element({body}), index=0
  n = s32[] get-tuple-element({body}), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  t = (s32[], s32[]) tuple(j, n)
  ROOT r = (s32[], s32[]) {root}(t)
}}
ENTRY e {{
  t = (s32[], s32[]) {start}
  s = (s32[], s32[]) {before}(t)
  w = (s32[], s32[]) while(s), condition=cond, body=body
  ROOT r = (s32[], s32[]) {after}(w)
}}
"""
_SCALAR = """HloModule m
cond {
  p = s32[] parameter(0)
  c = s32[] copy(p)
  n = s32[] constant(5)
  ROOT r = pred[] compare(c, n), direction=LT
}
body {
  p = s32[] parameter(0)
  c = s32[] copy(p)
  o = s32[] constant(1)
  ROOT j = s32[] add(c, o)
}
ENTRY e {
  z = s32[] parameter(0)
  c = s32[] copy(z)
  w = s32[] while(c), condition=cond, body=body
  ROOT r = s32[] copy(w)
}
"""
_NESTED = """HloModule m
cond {
  p = ((s32[]), s32[], ()) parameter(0)
  c = ((s32[]), s32[], ()) copy(p)
  a = (s32[]) get-tuple-element(c), index=0
  b = (s32[]) copy(a)
  i = s32[] get-tuple-element(b), index=0
  n = s32[] get-tuple-element(c), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  p = ((s32[]), s32[], ()) parameter(0)
  c = ((s32[]), s32[], ()) copy(p)
  a = (s32[]) get-tuple-element(c), index=0
  i = s32[] get-tuple-element(a), index=0
  n = s32[] get-tuple-element(c), index=1
  e = () get-tuple-element(c), index=2
  o = s32[] constant(1)
  j = s32[] add(i, o)
  k = (s32[]) tuple(j)
  ROOT r = ((s32[]), s32[], ()) tuple(k, n, e)
}
ENTRY e {
  z = s32[] constant(0)
  n = s32[] parameter(0)
  y = (s32[]) tuple(z)
  e = () tuple()
  t = ((s32[]), s32[], ()) tuple(y, n, e)
  s = ((s32[]), s32[], ()) copy(t)
  w = ((s32[]), s32[], ()) while(s), condition=cond, body=body
  ROOT r = ((s32[]), s32[], ()) copy(w)
}
"""


def loop(where: str) -> str:
    """Return a loop with copies of its state at the given places.

    Places: b(efore), c(ondition), l(oop's body), r(oot), a(fter); p: it begins with a parameter.
    """
    name = lambda letter: "copy" if letter in where else "opt-barrier"  # noqa: E731
    return _LOOP.format(
        copy_condition=f"c = {_STATE} copy(p)" if "c" in where else "", condition="c" if "c" in where else "p",
        copy_body=f"c = {_STATE} copy(p)" if "l" in where else "", body="c" if "l" in where else "p",
        root=name("r"), before=name("b"), after=name("a"),
        start="parameter(0)" if "p" in where else "constant((0, 5))",
    )  # fmt: skip


TEXTS = {
    **{
        where: loop(where)
        for where in ("b", "c", "l", "r", "a", "cl", "bclra", "pb", "pbclra", "pa", "")
    },
    "scalar": _SCALAR,
    "nested": _NESTED,
}
PASSES = (
    "simplify-while-loops", "tuple-simplifier", "copy-insertion", "while-loop-trip-count-annotator", "while_loop_unroller",
    "while-loop-invariant-code-motion", "dce", "cse", "flatten-call-graph", "double-buffer-loop-unrolling", "default", "none",
)  # fmt: skip


def numbers(value: Any) -> list[int]:
    return [int(np.asarray(leaf)) for leaf in flatten_value(value)]


@pytest.mark.parametrize("name", TEXTS)
def test_every_pass_keeps_a_loop_whose_state_is_copied(name: str) -> None:
    module = xe.parse_hlo(TEXTS[name])
    arguments = xe.random_arguments(module)
    expected = numbers(xe.evaluate(module, *arguments))
    for passes in PASSES:
        made = xe.optimize(module, passes, verify=True).module
        assert numbers(xe.evaluate(made, *arguments)) == expected, passes
    for backend in ("cpu", "gpu"):
        assert numbers(xe.compile(module, backend=backend, cache=False)(*arguments)) == expected
