"""Value graphs: equal through fusion, calls, copies and tuples; different for another operation."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from tests.properties.random_modules import random_module
from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.compiler.pipeline.value_graph import NoValueGraphError, same_value_graph
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

PLAIN = """ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1)
  s = f32[4] subtract(x, y) ROOT e = f32[4] exponential(s) }"""
EQUAL = {
    "a fusion": """f { a = f32[4] parameter(0) b = f32[4] parameter(1)
      s = f32[4] subtract(b, a) ROOT e = f32[4] exponential(s) }
      ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1)
      ROOT r = f32[4] fusion(y, x), kind=kLoop, calls=f }""",
    "a copy, a tuple and dead code": """ENTRY e { y = f32[4] parameter(1) x = f32[4] parameter(0)
      c = f32[4] copy(y) t = (f32[4], f32[4]) tuple(c, x) d = f32[4] negate(x)
      g = f32[4] get-tuple-element(t), index=1 h = f32[4] get-tuple-element(t), index=0
      s = f32[4] subtract(g, h) ROOT e = f32[4] exponential(s) }""",
}
OTHER = {
    "swapped operands": PLAIN.replace("subtract(x, y)", "subtract(y, x)"),
    "swapped parameters": PLAIN.replace("parameter(0)", "parameter(2)")
    .replace("parameter(1)", "parameter(0)")
    .replace("parameter(2)", "parameter(1)"),
    "another operation": PLAIN.replace("exponential", "tanh"),
    "an operation less": PLAIN.replace("exponential(s)", "copy(s)"),
}
FORMS = {
    "two transposes, and a layout": (
        """ENTRY e { x = f32[2,3,4]{2,1,0} parameter(0)
        t = f32[4,2,3] transpose(x), dimensions={2,0,1} r = f32[4,1,2,3] reshape(t)
        ROOT u = f32[4,3,2]{2,1,0} transpose(t), dimensions={0,2,1} }""",
        """ENTRY e { x = f32[2,3,4]{2,1,0} parameter(0)
        ROOT b = f32[4,3,2]{0,1,2} bitcast(x) }""",
    ),
    "a reshape before or after": (
        """ENTRY e { x = f32[2,6] parameter(0) r = f32[12] reshape(x) two = f32[] constant(2)
        b = f32[12] broadcast(two), dimensions={} ROOT m = f32[12] multiply(r, b) }""",
        """ENTRY e { x = f32[2,6] parameter(0) two = f32[] constant(2)
        b = f32[2,6] broadcast(two), dimensions={} m = f32[2,6] multiply(b, x)
        ROOT r = f32[12] reshape(m) }""",
    ),
    "constants computed": (
        """ENTRY e { x = f32[3] parameter(0) i = s32[3] iota(), iota_dimension=0
        f = f32[3] convert(i) h = f32[3] negate(f) ROOT r = f32[3] add(x, h) }""",
        """ENTRY e { x = f32[3] parameter(0) h = f32[3] constant({-0, -1, -2})
        ROOT r = f32[3] add(x, h) }""",
    ),
    "a dot of transposes": (
        """ENTRY e { x = f32[5,4,3] parameter(0) y = f32[5,3,6] parameter(1)
        t = f32[5,3,4] transpose(x), dimensions={0,2,1} u = f32[6,5,3] transpose(y), dimensions={2,0,1}
        ROOT d = f32[5,4,6] dot(t, u), lhs_batch_dims={0}, rhs_batch_dims={1},
        lhs_contracting_dims={1}, rhs_contracting_dims={2} }""",
        """ENTRY e { x = f32[5,4,3] parameter(0) y = f32[5,3,6] parameter(1)
        ROOT d = f32[5,4,6] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
        lhs_contracting_dims={2}, rhs_contracting_dims={1} }""",
    ),
}
OTHER_FORMS = {
    "elements in another order": (
        "ENTRY e { x = f32[3,3] parameter(0) ROOT r = f32[3,3] copy(x) }",
        "ENTRY e { x = f32[3,3] parameter(0) ROOT r = f32[3,3] transpose(x), dimensions={1,0} }",
    ),
    "equal bytes in another layout": (
        "ENTRY e { x = f32[3,3]{1,0} parameter(0) ROOT r = f32[3,3]{0,1} copy(x) }",
        "ENTRY e { x = f32[3,3]{1,0} parameter(0) ROOT r = f32[3,3]{0,1} bitcast(x) }",
    ),
    "free dimensions in another order": (
        """ENTRY e { x = f32[4,4,3] parameter(0) y = f32[3] parameter(1)
        ROOT d = f32[4,4] dot(x, y), lhs_contracting_dims={2}, rhs_contracting_dims={0} }""",
        """ENTRY e { x = f32[4,4,3] parameter(0) y = f32[3] parameter(1)
        t = f32[4,4,3] transpose(x), dimensions={1,0,2}
        ROOT d = f32[4,4] dot(t, y), lhs_contracting_dims={2}, rhs_contracting_dims={0} }""",
    ),
    "a broadcast along another dimension": (
        """ENTRY e { x = f32[3] parameter(0)
        ROOT b = f32[3,3] broadcast(x), dimensions={0} }""",
        """ENTRY e { x = f32[3] parameter(0)
        ROOT b = f32[3,3] broadcast(x), dimensions={1} }""",
    ),
}
SHARD = """HloModule m, num_partitions=4
ENTRY e {{ x = f32[4,4] parameter(0) ROOT c = f32[2,2] custom-call(x),
  custom_call_target="SPMDFullToShardShape", sharding={{devices=[2,2]<={order}}} }}"""
SUM = """HloModule m, replica_count={count}
  add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
  ENTRY e {{ x = f32[2] parameter(0) ROOT r = f32[2] all-reduce(x),
  replica_groups={{}}, to_apply=add }}"""
MAPPED = """f {{ a = u32[] parameter(0) d = u32[] partition-id() ROOT s = u32[] add({of}, a) }}
  ENTRY e {{ c = u32[2] constant({{1, 2}}) ROOT r = u32[2] map(c), dimensions={{0}}, to_apply=f }}"""
ELSEWHERE = {
    "the number of this device and zero": (
        "ENTRY e { ROOT p = u32[] partition-id() }",
        "ENTRY e { ROOT p = u32[] constant(0) }",
    ),
    "the number of this device within a called computation": (
        MAPPED.format(of="d"),
        "ENTRY e { ROOT r = u32[2] constant({1, 2}) }",
    ),
    "the same bytes under two layouts": (
        "ENTRY e { x = f32[2,3]{0,1} parameter(0) ROOT r = f32[3,2]{1,0} bitcast(x) }",
        "ENTRY e { x = f32[2,3]{0,1} parameter(0) ROOT r = f32[3,2]{0,1} bitcast(x) }",
    ),
    "the parts of an array in another order of devices": (
        SHARD.format(order="[4]"),
        SHARD.format(order="[2,2]T(1,0)"),
    ),
    "a sum over more devices": (SUM.format(count=2), SUM.format(count=4)),
    "a parameter less": (
        "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) ROOT n = f32[] negate(x) }",
        "ENTRY e { x = f32[] parameter(0) ROOT n = f32[] negate(x) }",
    ),
}
LOOP = """c {{ p = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(p), index=0
    n = s32[] constant({trips}) ROOT l = pred[] compare(i, n), direction=LT }}
  b {{ p = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(p), index=0
    x = f32[4] get-tuple-element(p), index=1 one = s32[] constant(1) j = s32[] add(i, one)
    m = f32[4] multiply(x, x) ROOT t = (s32[], f32[4]) tuple(j, m) }}
  ENTRY e {{ x = f32[4] parameter(0) z = s32[] constant(0) t = (s32[], f32[4]) tuple(z, x)
    w = (s32[], f32[4]) while(t), condition=c, body=b
    ROOT r = f32[4] get-tuple-element(w), index=1 }}"""


@pytest.mark.parametrize("name", EQUAL)
def test_one_graph_has_many_forms(name: str) -> None:
    assert same_value_graph(parse_hlo(PLAIN), parse_hlo(EQUAL[name]))


@pytest.mark.parametrize("name", OTHER)
def test_another_computation_has_another_graph(name: str) -> None:
    assert not same_value_graph(parse_hlo(PLAIN), parse_hlo(OTHER[name]))


@pytest.mark.parametrize("name", FORMS)
def test_dimensions_and_constants_have_many_forms(name: str) -> None:
    assert same_value_graph(*map(parse_hlo, FORMS[name]))


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_elements_that_move_make_another_graph(name: str) -> None:
    assert not same_value_graph(*map(parse_hlo, OTHER_FORMS[name]))


@pytest.mark.parametrize("name", ELSEWHERE)
def test_devices_layouts_and_parameters_make_another_graph(name: str) -> None:
    left, right = map(parse_hlo, ELSEWHERE[name])
    assert same_value_graph(left, left) and not same_value_graph(left, right)


def test_a_loop_over_constants_is_not_run() -> None:
    endless = """c { i = s32[] parameter(0) n = s32[] constant(5) ROOT l = pred[] compare(i, n), direction=LT }
      b { i = s32[] parameter(0) ROOT j = s32[] copy(i) }
      ENTRY e { z = s32[] constant(0) ROOT w = s32[] while(z), condition=c, body=b }"""
    assert same_value_graph(parse_hlo(endless), parse_hlo(endless.replace("ROOT j", "ROOT k")))


def test_bodies_of_loops_are_compared() -> None:
    three, four = (LOOP.format(trips=trips) for trips in (3, 4))
    renamed = three.replace("one = s32[]", "first = s32[]").replace("add(i, one)", "add(first, i)")
    assert same_value_graph(parse_hlo(three), parse_hlo(renamed))
    assert not same_value_graph(parse_hlo(three), parse_hlo(four))


def test_a_random_number_and_an_effect_have_no_value() -> None:
    draw = parse_hlo("""ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1)
      ROOT r = f32[4] rng(a, b), distribution=rng_uniform }""")
    send = parse_hlo("""ENTRY e { x = f32[4] parameter(0) t = token[] after-all()
      o = token[] outfeed(x, t), outfeed_shape=f32[4] ROOT r = f32[4] negate(x) }""")
    note = parse_hlo("""ENTRY e { x = f32[4] parameter(0) o = f32[0] custom-call(x),
      custom_call_target="Note", custom_call_has_side_effect=true ROOT r = f32[4] negate(x) }""")
    call = parse_hlo("""f { x = f32[4] parameter(0) t = token[] after-all()
      o = token[] outfeed(x, t), outfeed_shape=f32[4] ROOT r = f32[0] constant({}) }
      ENTRY e { x = f32[4] parameter(0) c = f32[0] call(x), to_apply=f ROOT r = f32[4] negate(x) }""")
    for module in (draw, send, note, call):
        with pytest.raises(NoValueGraphError, match="effects"):
            same_value_graph(module, module)


@pytest.mark.parametrize("seed", range(6))
def test_modules_with_one_graph_have_the_same_bits(seed: int) -> None:
    made = random_module(seed)
    for step in xe.compile(made.module).passes.record.steps:
        if not step.changed or step.before is None or step.after is None:
            continue
        before, after = (HloModule.from_snapshot(one) for one in (step.before, step.after))
        if not same_value_graph(before, after):
            assert step.name != "fusion"
            continue
        expected, actual = (
            flatten_value(evaluate(module, *made.arguments)) for module in (before, after)
        )
        assert largest_error(expected, actual) == (0.0, True)


def test_a_scalar_may_be_transposed_without_dimensions() -> None:
    """A pass may make one so."""
    moved = parse_hlo(
        "ENTRY e { x = f32[] parameter(0) ROOT t = f32[] transpose(x), dimensions={} }"
    )
    for i in moved.instructions():
        i.attributes = i.attributes.with_values(dimensions=None)
    assert same_value_graph(moved, parse_hlo("ENTRY e { ROOT x = f32[] parameter(0) }"))
