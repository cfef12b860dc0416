"""Shardings that do not fit: one message with place and next step, an unchanged module."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.spmd.partitioning.spmd_partitioning import partition_module
from xla_explorer.hlo.attributes.sharding_error import ShardingError
from xla_explorer.hlo.text.parser import parse_hlo

PROGRAM = """HloModule m
ENTRY e {
  x = f32[4,6] parameter(0), sharding=GIVEN
  ROOT y = f32[4,6] negate(x)
}"""


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("{devices=[8]<=[8]}", "splits 1 dimensions, f32[4,6] has 2", "for each dimension"),
        ("{devices=[2,2]<=[4]}", "has 4 tiles, the program has 8 devices", "num_partitions"),
        ("{devices=[2,4]0,1,2,3,4,5,6,6}", "see device 6", "from 0 to 7, each once"),
        ("{maximal device=9}", "names device 9 of 8", "numbered from 0 to 7"),
        ("{{replicated}, {replicated}}", "2 shardings for the 1 arrays", "each array"),
    ],
)
def test_the_message_names_place_problem_and_next_step(given: str, message: str, hint: str) -> None:
    module = parse_hlo(PROGRAM.replace("GIVEN", given))
    before = str(module)
    with pytest.raises(ShardingError) as caught:
        partition_module(module, 8, "cost")
    assert message in str(caught.value)
    assert hint in caught.value.hint
    assert "3:" in str(caught.value)
    assert "^^^^" in str(caught.value)
    assert str(module) == before


def test_a_group_stays_inside_its_manual_subgroup() -> None:
    text = """
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ENTRY e {
      x = f32[4] parameter(0), sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
      ROOT y = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, channel_id=1,
        use_global_device_ids=true, to_apply=add,
        sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}} }"""
    module = parse_hlo(text)
    before = str(module)
    with pytest.raises(ShardingError, match="different manual subgroups"):
        partition_module(module, 4, "cost")
    assert str(module) == before
