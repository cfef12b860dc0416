"""Programs on several devices of this CPU: values, order, errors and times."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

from tests.backends.cpu.devices.device_programs import (
    REDUCERS,
    check,
    delay_arrivals,
    device_program,
)
from xla_explorer.backends.cpu.devices import exchanges
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator.devices.world import RendezvousError

FLOATS = np.random.default_rng(0)


def arrays(dtype: str, shape: tuple[int, ...], count: int) -> list[list[Any]]:
    made = FLOATS.integers(-4, 5, (count, *shape)) / 4
    if dtype == "pred":
        return [[one > 0] for one in made]
    from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

    return [[one.astype(PRIMITIVE_TYPES[dtype].dtype)] for one in made]


def program(body: str, shape: str, dtype: str = "f32") -> str:
    reducers = REDUCERS.format(t="f32" if dtype == "pred" else dtype)
    lines = f"ENTRY main {{\n  x = {dtype}{shape} parameter(0)\n  {body}\n}}"
    return "HloModule m\n" + reducers.split("or {")[0] + "or {" + reducers.split("or {")[1] + lines


KINDS = {
    "all-reduce": "ROOT r = {t}[6,4] all-reduce(x), channel_id=1, replica_groups={{}}, to_apply={f}",
    "all-gather": "ROOT r = {t}[6,{n4}] all-gather(x), channel_id=1, replica_groups={{}}, dimensions={{1}}",
    "broadcast": "ROOT r = {t}[6,4] collective-broadcast(x), channel_id=1, replica_groups={{}}",
    "ring": "ROOT r = {t}[6,4] collective-permute(x), channel_id=1, source_target_pairs={{{ring}}}",
    "holes": "ROOT r = {t}[6,4] collective-permute(x), channel_id=1, source_target_pairs={{{{0,1}}}}",
}


@pytest.mark.parametrize("count", [2, 3, 5, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_collectives_of_all_devices(kind: str, count: int) -> None:
    ring = ",".join([f"{{{k},{(k + 1) % count}}}" for k in range(count)])
    body = KINDS[kind].format(t="f32", f="add", n4=4 * count, ring=ring)
    check(program(body, "[6,4]"), arrays("f32", (6, 4), count), partitions=count)


@pytest.mark.parametrize("dtype", ["pred", "bf16", "c64", "s8", "u32", "f64"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("columns", [4, 0])
def test_blocks_of_every_type_along_every_dimension(dtype: str, axis: int, columns: int) -> None:
    shape, count = (4, columns), 2
    part = [*shape]
    part[axis] //= count
    reducer = "or" if dtype == "pred" else "add"
    body = f"""s = {dtype}{part} reduce-scatter(x), channel_id=1, replica_groups={{}}, dimensions={{{axis}}}, to_apply={reducer}
  a = {dtype}{[*shape]} all-to-all(x), channel_id=2, replica_groups={{}}, dimensions={{{axis}}}
  ROOT r = ({dtype}{part}, {dtype}{[*shape]}) tuple(s, a)"""
    check(program(body, f"[4,{columns}]", dtype), arrays(dtype, shape, count), partitions=count)


@pytest.mark.parametrize("reducer", ["max", "odd"])
def test_members_are_combined_in_ascending_order(reducer: str) -> None:
    body = (
        f"ROOT r = f32[6,4] all-reduce(x), replica_groups={{{{2,0}},{{1,3}}}}, to_apply={reducer}"
    )
    check(program(body, "[6,4]"), arrays("f32", (6, 4), 4), replicas=4)


def test_groups_may_be_strict_subsets_of_replicas_and_partitions() -> None:
    body = """a = f32[6,4] all-reduce(x), replica_groups={{0,1},{2}}, to_apply=add
  b = f32[6,4] all-to-all(a), channel_id=1, replica_groups={{1,0}}, dimensions={0}
  c = f32[6,4] all-reduce(b), channel_id=2, use_global_device_ids=true, replica_groups={{0,5},{1,2,3},{4}}, to_apply=add
  i = u32[] replica-id()
  j = u32[] partition-id()
  ROOT r = (f32[6,4], u32[], u32[]) tuple(c, i, j)"""
    check(program(body, "[6,4]"), arrays("f32", (6, 4), 6), replicas=3, partitions=2)


LOOP = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
inner_cond { p = (s32[], f32[300]) parameter(0) k = s32[] get-tuple-element(p), index=0
  n = s32[] constant(2) ROOT c = pred[] compare(k, n), direction=LT }
inner { p = (s32[], f32[300]) parameter(0) k = s32[] get-tuple-element(p), index=0
  x = f32[300] get-tuple-element(p), index=1 one = s32[] constant(1) m = s32[] add(k, one)
  s = f32[300] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2}}, to_apply=add
  h = f32[] constant(0.3) hs = f32[300] broadcast(h), dimensions={} y = f32[300] multiply(s, hs)
  ROOT t = (s32[], f32[300]) tuple(m, y) }
yes { p = f32[300] parameter(0)
  ROOT s = f32[300] collective-permute(p), channel_id=2, source_target_pairs={{0,1},{1,0}} }
no { p = f32[300] parameter(0) ROOT n = f32[300] negate(p) }
outer_cond { p = (s32[], f32[300]) parameter(0) k = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3) ROOT c = pred[] compare(k, n), direction=LT }
outer { p = (s32[], f32[300]) parameter(0) k = s32[] get-tuple-element(p), index=0
  x = f32[300] get-tuple-element(p), index=1 z = s32[] constant(0)
  w = (s32[], f32[300]) while((s32[], f32[300]) tuple(z, x)), condition=inner_cond, body=inner
  y = f32[300] get-tuple-element(w), index=1 one = s32[] constant(1) m = s32[] add(k, one)
  q = pred[] compare(k, one), direction=EQ
  v = f32[300] conditional(q, y, y), true_computation=yes, false_computation=no
  ROOT t = (s32[], f32[300]) tuple(m, v) }
ENTRY main { x = f32[300] parameter(0) z = s32[] constant(0)
  w = (s32[], f32[300]) while((s32[], f32[300]) tuple(z, x)), condition=outer_cond, body=outer
  ROOT r = f32[300] get-tuple-element(w), index=1 }
"""


def test_collectives_in_nested_loops_and_branches_have_the_same_bits_in_any_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = [[FLOATS.standard_normal(300).astype(np.float32)] for _ in range(3)]
    compiled = check(LOOP, given, partitions=3)
    first = compiled.run(given)
    delay_arrivals(monkeypatch, 1)
    for _ in range(10):
        for one, other in zip(compiled.run(given), first, strict=True):
            assert one[0].tobytes() == other[0].tobytes()


@pytest.mark.slow
def test_a_hundred_runs_in_random_order_have_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = [[FLOATS.standard_normal(300).astype(np.float32)] for _ in range(8)]
    text = LOOP.replace("{{0,1},{2}}", "{{0,3,5,7},{1,2,4},{6}}")
    compiled = check(text, given, partitions=8)
    first = compiled.run(given)
    delay_arrivals(monkeypatch, 2)
    for _ in range(100):
        for one, other in zip(compiled.run(given), first, strict=True):
            assert one[0].tobytes() == other[0].tobytes()


@pytest.mark.parametrize("kind", ["all-reduce", "reduce-scatter", "all-gather", "all-to-all"])
def test_long_collectives_are_divided_among_the_members(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "SHARED_WORK_BYTES", 1)
    delay_arrivals(monkeypatch, 3)
    of = {
        "all-reduce": ("[6,4]", ", use_global_device_ids=true, to_apply=odd"),
        "reduce-scatter": (
            "[2,4]",
            ", use_global_device_ids=true, dimensions={0}, to_apply=odd",
        ),
        "all-gather": ("[18,4]", ", use_global_device_ids=true, dimensions={0}"),
        "all-to-all": ("[6,4]", ", dimensions={0}"),
    }
    shape, rest = of[kind]
    body = f"ROOT r = f32{shape} {kind}(x), channel_id=1, replica_groups={{{{1,2,0}}}}{rest}"
    check(program(body, "[6,4]"), arrays("f32", (6, 4), 3), partitions=3)


@pytest.mark.usefixtures("runs_here")
def test_one_device_that_fails_ends_all_with_one_error_naming_it() -> None:
    text = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
yes { p = f32[] parameter(0) t = token[] after-all()
  f = (f32[], token[]) infeed(t) ROOT v = f32[] get-tuple-element(f), index=0 }
no { p = f32[] parameter(0) ROOT n = f32[] negate(p) }
ENTRY main { x = f32[] parameter(0) i = u32[] partition-id() two = u32[] constant(2)
  q = pred[] compare(i, two), direction=EQ
  v = f32[] conditional(q, x, x), true_computation=yes, false_computation=no
  ROOT r = f32[] all-reduce(v), channel_id=1, replica_groups={}, to_apply=add }
"""
    compiled = device_program(text, partitions=4)
    given = [[np.float32(k)] for k in range(4)]
    with pytest.raises(XlaExplorerError, match=r"device 2 .*the infeed queue is empty") as caught:
        compiled.run(given)
    assert not isinstance(caught.value, RendezvousError)
    with pytest.raises(XlaExplorerError, match="device 2"):  # a second run starts anew
        compiled.run(given)


def test_a_missing_device_is_named_at_once() -> None:
    text = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
yes { p = f32[] parameter(0)
  ROOT v = f32[] all-reduce(p), channel_id=1, replica_groups={}, to_apply=add }
no { p = f32[] parameter(0) ROOT n = f32[] negate(p) }
ENTRY main { x = f32[] parameter(0) q = pred[] parameter(1)
  ROOT v = f32[] conditional(q, x, x), true_computation=yes, false_computation=no }
"""
    compiled = device_program(text, partitions=3)
    given = [[np.float32(k), np.bool_(k != 1)] for k in range(3)]
    with pytest.raises(RendezvousError, match=r"missing: device 1 .* has finished") as caught:
        compiled.run(given)
    assert caught.value.missing == (1,)
    given = [[np.float32(k), np.bool_(True)] for k in range(3)]
    assert [one[0] for one in compiled.run(given)] == [3, 3, 3]


def test_times_of_kernels_and_collectives_of_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = device_program(LOOP, partitions=3)
    given = [[FLOATS.standard_normal(300).astype(np.float32)] for _ in range(3)]
    delay_arrivals(monkeypatch, 4, 0.002)
    rows = compiled.timed(given)
    steps = compiled.executable.steps
    assert len(rows) == 3 * len(steps)
    met = [r for r in rows if steps[r.step].opcode == "all-reduce"]
    assert [r.device for r in met] == [0, 1, 2]
    assert {r.calls for r in met} == {6}
    assert all(r.total_us > 0 for r in met)
    assert any(r.waited_us > 100 for r in met)
    assert all(0 <= r.waited_us <= 1.05 * r.total_us + 50 for r in rows)


@pytest.mark.usefixtures("runs_here")
def test_wrong_numbers_of_devices() -> None:
    body = "ROOT r = f32[6,4] all-reduce(x), replica_groups={{0,5}}, to_apply=add"
    compiled = device_program(program(body, "[6,4]"), replicas=2)
    with pytest.raises(XlaExplorerError, match="needs arguments for 2 devices, got 3"):
        compiled.run(arrays("f32", (6, 4), 3))
    with pytest.raises(XlaExplorerError, match="names device 5, but there are 2"):
        compiled.run(arrays("f32", (6, 4), 2))


@pytest.mark.long
def test_repeated_runs_leave_no_threads_and_no_memory() -> None:
    body = KINDS["all-reduce"].format(t="f32", f="add")
    compiled = device_program(program(body, "[6,4]"), partitions=3)
    given = arrays("f32", (6, 4), 3)
    for _ in range(20):
        compiled.run(given)
    gc.collect()
    threads, objects = threading.active_count(), len(gc.get_objects())
    for _ in range(200):
        compiled.run(given)
    gc.collect()
    assert threading.active_count() <= threads
    assert len(gc.get_objects()) < objects + 200
