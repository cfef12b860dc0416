"""Deadlocks of collectives that a program's text shows."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.evaluator.devices.deadlocks import DeadlockError, check_deadlocks, deadlocks
from xla_explorer.hlo.text import parse_hlo

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"


def reduce(value: str, channel: int = 1, groups: str = "{}") -> str:
    return (
        f"f32[] all-reduce({value}), channel_id={channel}, use_global_device_ids=true, "
        f"replica_groups={groups}, to_apply=add"
    )


def branches(yes: str, no: str, predicate: str) -> str:
    return f"""HloModule m, num_partitions=4
{ADD}yes {{ p = f32[] parameter(0)
  {yes} }}
no {{ p = f32[] parameter(0)
  {no} }}
ENTRY main {{ x = f32[] parameter(0) q = pred[] parameter(1)
  i = u32[] partition-id() two = u32[] constant(2)
  e = pred[] compare(i, two), direction=LT
  ROOT v = f32[] conditional({predicate}, x, x), true_computation=yes, false_computation=no }}"""


ALL = f"ROOT s = {reduce('p')}"
NONE = "ROOT n = f32[] negate(p)"


def test_devices_that_take_another_branch_are_missing() -> None:
    (found,) = deadlocks(parse_hlo(branches(ALL, NONE, "e")), 1, 4)
    assert found.is_certain
    assert found.missing == (2, 3)
    assert "device 2 (replica 0, partition 2) never arrives" in found.message


def test_groups_within_a_branch_meet() -> None:
    groups = "{{0,1},{2,3}}"
    inside = f"ROOT s = {reduce('p', 1, groups)}"
    assert deadlocks(parse_hlo(branches(inside, NONE, "e")), 1, 4) == []


def test_an_unknown_predicate_is_a_possible_deadlock_unless_it_is_uniform() -> None:
    module = parse_hlo(branches(ALL, NONE, "q"))
    (found,) = deadlocks(module, 1, 4)
    assert not found.is_certain
    assert "depends on %q" in found.message
    assert deadlocks(module, 1, 4, [(0,) * 4, (0,) * 4]) == []
    # Groups whose devices have the same predicate.
    inside = branches(f"ROOT s = {reduce('p', 1, '{{0,1},{2,3}}')}", NONE, "q")
    assert deadlocks(parse_hlo(inside), 1, 4, [(0,) * 4, (0, 0, 1, 1)]) == []


def test_an_all_reduce_makes_a_predicate_uniform() -> None:
    text = branches(ALL, NONE, "u").replace(
        "ROOT v",
        f"t = {reduce('x', 7)} z = f32[] constant(0) u = pred[] compare(t, z), direction=GT\n ROOT v",
    )
    assert deadlocks(parse_hlo(text), 1, 4) == []


@pytest.mark.parametrize(("second", "count"), [(2, 1), (1, 0)])
def test_overlapping_groups_in_another_order(second: int, count: int) -> None:
    yes = f"a = {reduce('p', 1)}\n  ROOT b = {reduce('a', second)}"
    no = f"a = {reduce('p', second)}\n  ROOT b = {reduce('a', 1)}"
    found = deadlocks(parse_hlo(branches(yes, no, "e")), 1, 4)
    assert len(found) == count
    assert all("waits at" in one.message for one in found)


LOOP = f"""HloModule m, num_partitions=4
{ADD}cond {{ p = (u32[], u32[], f32[]) parameter(0) k = u32[] get-tuple-element(p), index=0
  n = u32[] get-tuple-element(p), index=1 ROOT c = pred[] compare(k, n), direction=LT }}
body {{ p = (u32[], u32[], f32[]) parameter(0) k = u32[] get-tuple-element(p), index=0
  n = u32[] get-tuple-element(p), index=1 x = f32[] get-tuple-element(p), index=2
  one = u32[] constant(1) m = u32[] add(k, one) y = {reduce("x")}
  ROOT t = (u32[], u32[], f32[]) tuple(m, n, y) }}
ENTRY main {{ x = f32[] parameter(0) z = u32[] constant(0) three = u32[] constant(3)
  i = u32[] partition-id()
  w = (u32[], u32[], f32[]) while((u32[], u32[], f32[]) tuple(z, LIMIT, x)), condition=cond, body=body
  ROOT r = f32[] get-tuple-element(w), index=2 }}"""


def test_loops_with_one_trip_count_meet_and_others_may_not() -> None:
    assert deadlocks(parse_hlo(LOOP.replace("LIMIT", "three")), 1, 4) == []
    (found,) = deadlocks(parse_hlo(LOOP.replace("LIMIT", "i")), 1, 4)
    assert not found.is_certain
    assert "%w (while)" in found.message
    assert "%i" in found.message


def test_a_target_without_its_source() -> None:
    permute = (
        "ROOT s = f32[] collective-permute(p), channel_id=1, source_target_pairs={{3,0},{0,1}}"
    )
    (found,) = deadlocks(parse_hlo(branches(permute, NONE, "e")), 1, 4)
    assert found.missing == (3,)


def test_a_certain_deadlock_is_an_error_with_its_place() -> None:
    with pytest.raises(DeadlockError) as caught:
        check_deadlocks(parse_hlo(branches(ALL, NONE, "e")), 1, 4, None)
    assert "^^^" in caught.value.message
    assert "ROOT s = f32[] all-reduce(p)" in caught.value.message
    assert "same order" in caught.value.hint
    check_deadlocks(parse_hlo(branches(ALL, NONE, "q")), 1, 4, None)


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ("{{0,1}}", "no replica group holds device 2"),
        ("{{0,1},{2,3},{4,7}}", "names device 7, but there are 6"),
    ],
)
def test_groups_that_do_not_fit_the_devices(groups: str, problem: str) -> None:
    text = f"HloModule m, num_partitions=6\n{ADD}ENTRY main {{ x = f32[] parameter(0)\n"
    if "4" in groups:
        groups = groups.replace("4,7", "4,7,5")
    module = parse_hlo(text + f"  ROOT r = {reduce('x', 1, groups)} }}")
    with pytest.raises(DeadlockError, match=problem) as caught:
        check_deadlocks(module, 1, 6, None)
    assert "^^^" in caught.value.message
    assert "replica" in caught.value.hint or "group" in caught.value.hint
