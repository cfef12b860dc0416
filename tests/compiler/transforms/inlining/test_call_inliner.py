"""Replace calls by the bodies of their callees."""

from __future__ import annotations

from xla_explorer.compiler.pipeline import PassControl, optimize
from xla_explorer.hlo.text import parse_hlo

TEXT = """HloModule m
inner {
  a = f32[] parameter(0)
  ROOT n = f32[] negate(a), metadata={op_name="deep"}
}
outer {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] call(a), to_apply=inner
  ROOT s = f32[] add(c, b)
}
ENTRY e {
  x = f32[] parameter(0)
  f = f32[] call(x, x), to_apply=outer, metadata={op_name="here"}
  g = f32[] call(f, x), to_apply=outer
  h = f32[] abs(x), control-predecessors={f}
  ROOT r = f32[] add(g, h)
}
"""


def test_calls_are_inlined_callees_first() -> None:
    trace = optimize(parse_hlo(TEXT), "call-inliner", verify=True)
    assert list(trace.module.computations) == ["e"]
    assert [i.opcode.name for i in trace.module.entry.post_order()].count("negate") == 2
    names = [i.op_metadata.op_name for i in trace.module.entry.post_order()]
    assert "deep" in names and "here" in names


def test_control_edges_move_to_the_result() -> None:
    trace = optimize(parse_hlo(TEXT), "call-inliner")
    [predecessor] = trace.module.find("h").control_predecessors
    assert predecessor.opcode.name == "add"


def test_single_call_sites_only() -> None:
    trace = optimize(parse_hlo(TEXT), "call-inliner{single_call_site=true}", verify=True)
    assert sorted(trace.module.computations) == ["e", "outer"]


def test_the_user_forbids_one_inlining() -> None:
    trace = optimize(
        parse_hlo(TEXT), "call-inliner", control=PassControl(forbid={"inlining": [("%g",)]})
    )
    assert trace.module.find("g").opcode.name == "call"
    assert trace.journal is not None
    assert [e.reason.code for e in trace.journal.events if e.reason is not None] == [
        "forbidden-by-user"
    ]
