"""Dataflow on one time line, reachability, in-place pairs, peak memory."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.analysis.call_graph import (
    call_sites,
    sequential_computations,
    shared_sequential_computations,
)
from xla_explorer.hlo.analysis.coalescing import BufferSets, interfere
from xla_explorer.hlo.analysis.dataflow import Dataflow
from xla_explorer.hlo.analysis.in_place import in_place_pairs, may_overwrite
from xla_explorer.hlo.analysis.liveness import LiveRange, peak_live_bytes
from xla_explorer.hlo.analysis.reachability import Reachability, depends_on
from xla_explorer.hlo.text.parser import parse_hlo

_LOOP = """HloModule m
body {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  k = f32[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  n = f32[8] add(a, k)
  ROOT t = (s32[], f32[8], f32[8]) tuple(j, n, k)
}
condition {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  m = s32[] constant(3)
  ROOT c = pred[] compare(i, m), direction=LT
}
ENTRY e {
  x = f32[8] parameter(0)
  z = s32[] constant(0)
  y = f32[8] negate(x)
  u = (s32[], f32[8], f32[8]) tuple(z, y, x)
  w = (s32[], f32[8], f32[8]) while(u), condition=condition, body=body
  g = f32[8] get-tuple-element(w), index=1
  h = f32[8] get-tuple-element(w), index=2
  v = f32[2,4] bitcast(h)
  ROOT r = (f32[8], f32[2,4]) tuple(g, v)
}"""


def test_values_flow_through_tuples_bitcasts_and_loops() -> None:
    module = parse_hlo(_LOOP)
    flow = Dataflow(module)
    find = module.find
    assert flow.value_of(find("v")) is flow.value_of(
        find("x")
    )  # carried unchanged through the loop
    assert flow.value_of(find("k")) is flow.value_of(find("x"))
    assert flow.value_of(find("x")).read_only
    assert flow.value_of(find("r"), (0,)) is flow.value_of(find("g"))
    phi = next(p for p in flow.loops if p.index == (1,))
    assert flow.resolve(phi.initial) is flow.value_of(find("y"))
    assert flow.resolve(phi.next) is flow.value_of(find("n"))
    assert phi.result is flow.value_of(find("g"))
    assert [p.index for p in flow.loops] == [(0,), (1,)]
    x = flow.value_of(find("x"))
    assert x.end >= phi.finish  # needed in every iteration


def test_the_order_on_the_time_line_is_that_of_execution() -> None:
    module = parse_hlo(_LOOP)
    flow = Dataflow(module)
    position = {i.name: p for i, p in flow.positions.items()}
    assert position["y"] < position["w"] < position["c"] < position["n"] < position["g"]
    assert next(flow.instructions()).opcode.name in ("parameter", "constant")


def test_interference_and_joining() -> None:
    module = parse_hlo(_LOOP)
    flow = Dataflow(module)
    sets = BufferSets(flow)
    y, n, x, a = (flow.value_of(module.find(name)) for name in ("y", "n", "x", "a"))
    assert not interfere(y, n) and not interfere(a, n)  # n is computed over a, element by element
    assert sets.why_not_shared(y, n) is None
    refusal = sets.why_not_shared(x, n)
    assert refusal is not None and refusal.code == "read-only-parameter"
    sets.join(y, n)
    assert sets.set_of(y) is sets.set_of(n)


def test_a_shared_body_is_refused() -> None:
    module = parse_hlo("""HloModule m
f {
  x = f32[8] parameter(0)
  ROOT n = f32[8] negate(x)
}
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] call(x), to_apply=f
  ROOT b = f32[8] call(a), to_apply=f
}""")
    assert [c.name for c in shared_sequential_computations(module)] == ["f"]
    assert [c.name for c in sequential_computations(module)] == ["f", "e"]
    assert len(call_sites(module)[module.computations["f"]]) == 2
    with pytest.raises(ValueError, match="flatten-call-graph"):
        Dataflow(module)


def test_in_place() -> None:
    module = parse_hlo("""HloModule m
f {
  p0 = f32[64] parameter(0)
  p1 = s32[] parameter(1)
  s = f32[4] dynamic-slice(p0, p1), dynamic_slice_sizes={4}
  n = f32[4] negate(s)
  ROOT d = f32[64] dynamic-update-slice(p0, n, p1)
}
g {
  q0 = f32[64] parameter(0)
  q1 = s32[] parameter(1)
  q2 = s32[] parameter(2)
  t = f32[4] dynamic-slice(q0, q2), dynamic_slice_sizes={4}
  ROOT d2 = f32[64] dynamic-update-slice(q0, t, q1)
}
h {
  o0 = f32[64] parameter(0)
  o1 = f32[64] parameter(1)
  v = f32[64] reverse(o1), dimensions={0}
  b = f32[64] negate(o0)
  c = f32[64] add(b, v)
  ROOT tt = (f32[64], f32[64]) tuple(b, c)
}
ENTRY e {
  x = f32[64] parameter(0)
  i = s32[] parameter(1)
  in_step = f32[64] fusion(x, i), kind=kLoop, calls=f
  out_of_step = f32[64] fusion(x, i, i), kind=kLoop, calls=g
  two = (f32[64], f32[64]) fusion(x, in_step), kind=kLoop, calls=h
  g0 = f32[64] get-tuple-element(two), index=0
  m = f32[64] multiply(g0, out_of_step)
  ROOT plain = f32[64] dynamic-update-slice(m, x, i)
}""")
    find = module.find
    assert in_place_pairs(find("in_step")) == ((0, ()),)
    assert in_place_pairs(find("out_of_step")) == ()
    assert in_place_pairs(find("plain")) == ((0, ()),)
    assert may_overwrite(find("two"), 0) and not may_overwrite(find("two"), 1)
    assert may_overwrite(find("m"), 0) and may_overwrite(find("m"), 1)


def test_reachability() -> None:
    module = parse_hlo(_LOOP)
    reach = Reachability(module.entry)
    find = module.find
    assert reach.reaches(find("x"), find("g")) and not reach.reaches(find("g"), find("x"))
    assert reach.connected(find("g"), find("w")) and not reach.connected(find("y"), find("z"))
    assert depends_on(find("g"), find("y")) and not depends_on(find("y"), find("g"))


def test_peak_memory() -> None:
    assert peak_live_bytes([LiveRange(0, 2, 10), LiveRange(1, 3, 5), LiveRange(3, 4, 20)]) == (
        25,
        3,
    )
    assert peak_live_bytes([]) == (0, 0.0)
