"""A partitioned program has causes, times and traffic for each collective."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.compiler.costs.machines import MACHINES
from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.annotating import annotated, read_specs
from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram
from xla_explorer.compiler.spmd.explanation.device_work import is_fused, work_of
from xla_explorer.compiler.spmd.explanation.mesh_groups import axes_between, axes_of_groups
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import (
    is_propagated,
    recorded_partitioning,
)
from xla_explorer.compiler.spmd.explanation.step_schedule import hiding_work
from xla_explorer.hlo.analysis.collective_traffic import traffic_of
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.attributes.sharding_error import ShardingError
from xla_explorer.hlo.module import HloModule

MATMUL = """HloModule m
ENTRY main {
  x = f32[64,128] parameter(0)
  w = f32[128,256] parameter(1)
  ROOT d = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
LOOP = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
condition { s = (s32[], f32[64,128]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(k, n), direction=LT }
body { s = (s32[], f32[64,128]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(k, one)
  v = f32[64,128] get-tuple-element(s), index=1
  zero = f32[] constant(0)
  total = f32[128] reduce(v, zero), dimensions={0}, to_apply=add
  wide = f32[64,128] broadcast(total), dimensions={1}
  sum = f32[64,128] add(v, wide)
  ROOT t = (s32[], f32[64,128]) tuple(next, sum) }
ENTRY main { x = f32[64,128] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[64,128]) tuple(zero, x)
  loop = (s32[], f32[64,128]) while(s), condition=condition, body=body
  ROOT r = f32[64,128] get-tuple-element(loop), index=1 }"""


def placed(module: HloModule, machine: str = "h100", policy: str = "cost") -> PlacedProgram:
    program = recorded_partitioning(module, policy)
    return PlacedProgram(program, Topology.named(program.mesh, machine))


def matmul(x: str, w: str, mesh: str = "data=2,model=4") -> HloModule:
    return annotated(xe.parse_hlo(MATMUL), mesh, {"x": x, "w": w})


def test_an_all_gather_leads_to_its_annotation() -> None:
    (one,) = placed(matmul("data,model", "-,-"), policy="xla").collectives
    assert (one.traffic.kind, one.axes, one.link) == ("all-gather", ("model",), "NVLink")
    assert one.sent == 64 // 2 * 128 * 4 * 3 / 4
    cause = one.cause
    assert (cause.kind, cause.operation, cause.value) == ("reshard", "%d", "%x")
    assert (cause.source, cause.target) == ("P('data', 'model')", "P('data', None)")
    assert [note.value for note in cause.annotations] == ["%x"]
    assert cause.choice is not None
    assert {way.name for way in cause.choice.alternatives} >= {"all-gather"}


def test_partial_results_lead_to_the_strategy_of_the_dot() -> None:
    (one,) = placed(matmul("-,model", "model,-")).collectives
    assert (one.traffic.kind, one.cause.kind) == ("all-reduce", "dot-strategy")
    assert {note.value for note in one.cause.annotations} == {"%x", "%w"}
    choice = one.cause.choice
    assert choice is not None
    assert choice.chosen == "contracting by 4"
    assert len(choice.alternatives) >= 2
    assert one.sent == 2 * 64 * 256 * 4 * 3 / 4


def test_collectives_of_a_loop_count_its_trips() -> None:
    found = placed(annotated(xe.parse_hlo(LOOP), "data=8", {"x": "data,-"})).collectives
    (one,) = [row for row in found if row.traffic.kind == "all-reduce"]
    assert (one.slot.trips, one.sent) == (5, 5 * 2 * 128 * 4 * 7 / 8)
    assert [note.value for note in one.cause.annotations] == ["%x"]


def test_a_step_is_compute_and_exposed_time() -> None:
    for module in (matmul("data,model", "-,-"), annotated(xe.parse_hlo(LOOP), "d=8", "x=d,-")):
        step = placed(module).schedule
        assert step.us == pytest.approx(step.compute_us + step.exposed_us)
        assert step.exposed_us > 0


def test_independent_work_hides_a_collective() -> None:
    text = """HloModule m
    ENTRY main {
      x = f32[64,128] parameter(0)
      big = f32[4096,4096] parameter(1)
      y = f32[4096,4096] dot(big, big), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      c = f32[64,128] custom-call(x), custom_call_target="Sharding", sharding={replicated}
      n = f32[64,128] negate(c)
      ROOT t = (f32[64,128], f32[4096,4096]) tuple(n, y)
    }"""
    found = placed(annotated(xe.parse_hlo(text), "d=8", "x=d,-; big=-,-"))
    (one,) = [row for row in found.collectives if row.cause.value == "%x"]
    assert one.slot.exposed_us == 0
    free, names = hiding_work(one.instruction, MACHINES["h100"])
    assert names[0].startswith("%dot")
    assert free > one.slot.us


def test_elementwise_values_are_computed_where_they_are_read() -> None:
    text = """ENTRY e { x = f32[1024] parameter(0)
      a = f32[1024] exponential(x)
      ROOT b = f32[1024] negate(a) }"""
    b = xe.parse_hlo(text).entry.root
    assert is_fused(b.operands[0]) and not is_fused(b)
    assert work_of(b.operands[0]).bytes == 0
    assert work_of(b).bytes == 2 * 4096


def test_groups_are_named_by_axes() -> None:
    mesh = Mesh((("x", 2), ("y", 4)))
    assert axes_of_groups(mesh, [(0, 1, 2, 3), (4, 5, 6, 7)]) == ("y",)
    assert axes_of_groups(mesh, [(0, 2), (1, 3), (4, 6), (5, 7)]) == ("y:(1)2",)
    assert axes_of_groups(mesh, [tuple(range(8))]) == ("x", "y")
    assert axes_of_groups(mesh, [(0, 5), (1, 4), (2, 7), (3, 6)]) == ()
    assert axes_between(mesh, [(0, 4), (4, 0)]) == ("x",)


def test_groups_of_collectives_in_their_modes() -> None:
    text = """HloModule m, num_partitions=4
    add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[6] parameter(0)
      p = f32[6] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0},{2,3}}
      a = f32[6] all-reduce(p), channel_id=2, replica_groups={{0}}, to_apply=add
      ROOT s = f32[3] reduce-scatter(a), channel_id=3, replica_groups={{0,1},{2,3}}, dimensions={0}, use_global_device_ids=true, to_apply=add }"""
    entry = xe.parse_hlo(text).entry
    permute, reduce, scatter = [
        traffic_of(i, 4) for i in entry.instructions.values() if traffic_of(i, 4)
    ]
    assert permute and permute.groups == ((0, 1), (2, 3)) and permute.sent == 24
    assert reduce and reduce.groups == ((0, 1, 2, 3),) and reduce.sent == 36
    assert scatter and (scatter.n, scatter.size, scatter.sent) == (2, 24, 12)


def test_shardings_as_text() -> None:
    assert read_specs("x=data,-; %w1=-,data+model") == {"x": "data,-", "w1": "-,data+model"}
    module = annotated(xe.parse_hlo(MATMUL), {"data": 2, "model": 4}, "x=-,data+model")
    assert "devices=[1,8]" in module.entry.parameters()[0].attributes["sharding"]


def test_a_constraint_on_an_instruction() -> None:
    program = placed(annotated(matmul("data,-", "-,-"), None, {"d": "-,model"})).program
    assert program.module.entry.root.shape.dimensions == (64, 64)


COUNTED = """HloModule m, num_partitions=2
condition { s = (s32[], f32[8]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(k, n), direction=LT }
body { s = (s32[], f32[8]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(k, one)
  x = f32[8] get-tuple-element(s), index=1
  y = f32[8] negate(x)
  ROOT t = (s32[], f32[8]) tuple(next, y) }
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  zero = s32[] constant(0)
  s = (s32[], f32[8]) tuple(zero, x)
  w = (s32[], f32[8]) while(s), condition=condition, body=body
  ROOT r = f32[8] get-tuple-element(w), index=1, sharding={devices=[2]<=[2]}
}"""


def test_propagated_modules_are_partitioned_as_they_are() -> None:
    text = """HloModule m, num_partitions=2
    ENTRY main {
      x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
      ROOT y = f32[8] negate(x), sharding={replicated}
    }"""
    module = xe.parse_hlo(text)
    assert is_propagated(module)
    assert not is_propagated(matmul("data", "-"))
    # Parameters and elements of a loop say nothing about its body.
    assert not is_propagated(xe.parse_hlo(COUNTED))
    assert recorded_partitioning(module).module.entry.root.shape.dimensions == (8,)


@pytest.mark.parametrize(
    ("mesh", "shardings", "problem", "hint"),
    [
        ("x=3,y=4", "a=x,-", r"12 devices, the program has 8", "product of the axes"),
        ("x=2,y=4", "b=x", "no value %b", "near|name"),
        ("x=2,y=4", "a=z,-", "names the axis 'z'", "axes: x, y"),
        ("x=2,y=4", "a=x,x", "split along 'x' twice", "one dimension"),
        ("x=2,y=4", "a=x,-,y", "has 3 dimensions, the value has 2", "each dimension"),
        ("x=2,y=4", "a=-,x+y", "has 4 elements for 8 devices", "at least 8"),
        ("x=2,y=4", "a", "states no shardings", "x=data"),
        ("x", "a=x,-", "no axis with a size", "data=2"),
    ],
)
def test_what_does_not_fit_is_one_error_with_a_next_step(
    mesh: str, shardings: str, problem: str, hint: str
) -> None:
    text = "HloModule m, num_partitions=8\nENTRY e { ROOT a = f32[8,4] parameter(0) }"
    with pytest.raises(ShardingError, match=problem) as error:
        annotated(xe.parse_hlo(text), mesh, shardings)
    assert hint.split("|")[0] in error.value.hint or hint.split("|")[-1] in error.value.hint


def test_a_mesh_of_other_devices_has_a_caret() -> None:
    text = """HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
    ENTRY e { ROOT a = f32[8] parameter(0) }"""
    with pytest.raises(ShardingError, match=r"(?s)\^+\nmesh @mesh \(x=2\) has 2 devices"):
        recorded_partitioning(xe.parse_hlo(text))
    with pytest.raises(ShardingError, match="program of one device"):
        recorded_partitioning(xe.parse_hlo(MATMUL))
