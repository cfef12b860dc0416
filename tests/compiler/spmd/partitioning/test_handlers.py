"""Single operations after partitioning: their collectives, their choices, and their values."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tests.support.sharded_runs import compare, partitioned
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.spmd.partitioning.spmd_partitioning import (
    SpmdPartitioning,
    partition_module,
)
from xla_explorer.foundation.journal import Journal, Level
from xla_explorer.hlo.evaluator import evaluate_replicated
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-permute",
    "reduce-scatter",
)


def _collectives(module: HloModule) -> dict[str, int]:
    return dict(
        Counter([i.opcode.name for i in module.instructions() if i.opcode.name in COLLECTIVES])
    )


def _numbers(*sizes: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(1).integers(-4, 5, sizes).astype(np.float32)


CONTRACTION = """ENTRY e {
  x = f32[8,16] parameter(0), sharding={devices=[1,4]<=[4]}
  y = f32[16,12] parameter(1), sharding={devices=[4,1]<=[4]}
  ROOT d = f32[8,12] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding=OUT
}"""


def test_a_contraction_over_split_dimensions_is_summed() -> None:
    text = CONTRACTION.replace("OUT", "{replicated}")
    arguments = [_numbers(8, 16), _numbers(16, 12)]
    for policy in ("cost", "xla"):
        assert _collectives(compare(text, 4, arguments, policy)) == {"all-reduce": 1}


def test_a_sum_that_is_split_again_is_scattered_by_policy_cost() -> None:
    text = CONTRACTION.replace("OUT", "{devices=[4,1]<=[4]}")
    arguments = [_numbers(8, 16), _numbers(16, 12)]
    assert _collectives(compare(text, 4, arguments)) == {"reduce-scatter": 1}
    assert _collectives(compare(text, 4, arguments, "xla")) == {"all-reduce": 1}


def test_a_grouped_convolution_keeps_the_batch_split() -> None:
    text = """ENTRY e {
      x = f32[8,6,4] parameter(0), sharding={devices=[4,1,1]<=[4]}
      w = f32[3,2,6] parameter(1), sharding={replicated}
      ROOT y = f32[8,6,6] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f,
        feature_group_count=2, sharding={devices=[4,1,1]<=[4]} }"""
    assert not _collectives(compare(text, 4, [_numbers(8, 6, 4), _numbers(3, 2, 6)]))


def test_rows_of_a_split_table_come_from_their_owners() -> None:
    text = """ENTRY e {
      table = f32[16,3] parameter(0), sharding={devices=[4,1]<=[4]}
      rows = s32[5] parameter(1), sharding={replicated}
      ROOT g = f32[5,3] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}, sharding={replicated} }"""
    rows = np.array([3, 15, -2, 99, 0], np.int32)
    assert _collectives(compare(text, 4, [_numbers(16, 3), rows])) == {"all-reduce": 1}


def test_a_rotation_sends_each_element_once() -> None:
    text = """ENTRY e {
      x = f32[16,3] parameter(0), sharding={devices=[4,1]<=[4]}
      a = f32[13,3] slice(x), slice={[3:16], [0:3]}, sharding={devices=[4,1]<=[4]}
      b = f32[3,3] slice(x), slice={[0:3], [0:3]}, sharding={devices=[4,1]<=[4]}
      ROOT y = f32[16,3] concatenate(a, b), dimensions={0}, sharding={devices=[4,1]<=[4]} }"""
    assert _collectives(compare(text, 4, [_numbers(16, 3)])) == {"collective-permute": 1}


def test_one_layer_of_a_split_stack_is_sent_by_its_owner() -> None:
    text = """ENTRY e {
      x = f32[4,32] parameter(0), sharding={devices=[4,1]<=[4]}
      k = s32[] parameter(1)
      zero = s32[] constant(0)
      ROOT y = f32[1,32] dynamic-slice(x, k, zero), dynamic_slice_sizes={1,32},
        sharding={replicated} }"""
    module = compare(text, 4, [_numbers(4, 32), np.int32(2)])
    assert _collectives(module) == {"all-reduce": 1}


def test_copies_of_random_numbers_are_equal_on_all_devices() -> None:
    text = """ENTRY e {
      a = f32[] constant(0)
      b = f32[] constant(1)
      ROOT r = f32[4,6] rng(a, b), distribution=rng_uniform,
        sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate} }"""
    found = evaluate_replicated(partitioned(text, 4), [[]] * 4, partitions=4, replicas=1)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])
    assert (np.asarray(found[0]) != np.asarray(found[2])).any()


def test_a_parameter_of_one_device_and_terms_of_a_sum_become_whole() -> None:
    text = """ENTRY e {
      x = f32[3] parameter(0), sharding={maximal device=2}
      y = f32[3] parameter(1), sharding={unreduced}
      ROOT s = f32[3] add(x, y), sharding={replicated} }"""
    module = partitioned(text, 4)
    given = [[np.full(3, d, np.float32), np.full(3, 10 * d, np.float32)] for d in range(4)]
    for result in evaluate_replicated(module, given, partitions=4, replicas=1):
        np.testing.assert_array_equal(result, np.full(3, 62, np.float32))


MANUAL = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a,b) }
ENTRY e {
  p = f32[8,12] parameter(0), sharding={devices=[2,4]<=[8]}
  in = f32[4,12] custom-call(p), custom_call_target="SPMDFullToShardShape",
    sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}
  r = f32[4,12] all-reduce(in), channel_id=1, replica_groups={{0,4},{1,5},{2,6},{3,7}},
    use_global_device_ids=true, to_apply=add,
    sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}
  ROOT out = f32[8,12] custom-call(r), custom_call_target="SPMDShardToFullShape",
    sharding={devices=[2,4]<=[8]} }"""


def test_a_region_that_is_manual_over_one_axis_stays_split_over_the_other() -> None:
    x = _numbers(8, 12)
    module = partitioned(MANUAL, 8)
    assert _collectives(module) == {"all-reduce": 1}
    tiles = [x[4 * (d // 4) : 4 * (d // 4) + 4, 3 * (d % 4) : 3 * (d % 4) + 3] for d in range(8)]
    found = evaluate_replicated(module, [[t] for t in tiles], partitions=8, replicas=1)
    for d in range(8):
        np.testing.assert_array_equal(found[d], tiles[d] + tiles[(d + 4) % 8])


def test_each_choice_names_alternatives_with_bytes() -> None:
    text = """ENTRY e {
      x = f32[32,8,64] parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0)}
      ROOT y = f32[32,8,64] copy(x), sharding={devices=[1,8,1]<=[8]} }"""
    choices = partition_module(parse_hlo(text), 8, "cost").choices
    (choice,) = [c for c in choices if c.kind == "reshard"]
    sent = {one.name: one.sent for one in choice.alternatives}
    assert choice.chosen == "all-to-all, all-to-all"
    assert len(sent) >= 2
    assert sent[choice.chosen] == min(sent.values()) < max(sent.values())


def test_choices_are_decisions_in_the_journal() -> None:
    journal = Journal(Level.DECISIONS)
    module = parse_hlo(CONTRACTION.replace("OUT", "{replicated}"))
    SpmdPartitioning(4).run(module, PassContext(journal))
    (event,) = [e for e in journal.events if e.is_decision and e.facts["choice"] == "dot-strategy"]
    assert event.facts["chosen"] == "contracting by 4"
    assert {one["name"] for one in event.facts["alternatives"]} > {"contracting by 4"}


def _permutes(module: HloModule) -> list[HloInstruction]:
    return [i for i in module.instructions() if i.opcode.name == "collective-permute"]


def test_a_window_gets_the_rows_of_its_neighbours_only() -> None:
    text = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a,b) }
    ENTRY e {
      x = f32[16,3] parameter(0), sharding={devices=[4,1]<=[4]}
      zero = f32[] constant(0)
      ROOT y = f32[16,3] reduce-window(x, zero), window={size=3x1 pad=1_1x0_0}, to_apply=add,
        sharding={devices=[4,1]<=[4]} }"""
    module = compare(text, 4, [_numbers(16, 3)], "xla")
    assert [i.shape.dimensions for i in _permutes(module)] == [(1, 3), (1, 3)]


def test_a_slice_far_away_is_sent_by_few_permutes() -> None:
    text = """ENTRY e {
      x = f32[512] parameter(0), sharding={devices=[8]<=[8]}
      ROOT y = f32[2] slice(x), slice={[300:302]}, sharding={devices=[8]<=[8]} }"""
    module = compare(text, 8, [_numbers(512)], "xla")
    assert [i.shape.dimensions for i in _permutes(module)] == [(1,), (1,)]


def test_a_contraction_that_shares_an_axis_with_its_result_uses_the_copies() -> None:
    sharding = "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"
    text = f"""ENTRY e {{
      x = f32[24,100] parameter(0), sharding={sharding}
      y = f32[32,100] parameter(1), sharding={sharding}
      ROOT d = f32[24,32] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}},
        sharding={sharding} }}"""
    module = compare(text, 8, [_numbers(24, 100), _numbers(32, 100)], "xla")
    assert _collectives(module) == {"all-reduce": 1, "collective-permute": 1}


def test_a_scatter_takes_the_method_that_holds_the_fewest_bytes() -> None:
    """Updates split by rows: one operand for each group, then an all-reduce."""
    text = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a,b) }
    ENTRY e {
      x = f32[4,6] parameter(0), sharding={devices=[1,2,4]<=[8] last_tile_dim_replicate}
      k = s32[64,1] parameter(1), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
      u = f32[64,6] parameter(2), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
      ROOT y = f32[4,6] scatter(x, k, u), update_window_dims={1}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add,
        sharding={devices=[1,2,4]<=[8] last_tile_dim_replicate} }"""
    rows = np.random.default_rng(2).integers(0, 4, (64, 1)).astype(np.int32)
    module = compare(text, 8, [_numbers(4, 6), rows, _numbers(64, 6)], "xla")
    (scatter,) = [i for i in module.instructions() if i.opcode.name == "scatter"]
    assert [o.shape.dimensions for o in scatter.operands] == [(4, 3), (16, 1), (16, 3)]


def test_an_update_of_one_row_stays_within_its_owner() -> None:
    text = """ENTRY e {
      x = f32[16,3] parameter(0), sharding={devices=[4,1]<=[4]}
      u = f32[1,3] parameter(1), sharding={replicated}
      k = s32[] parameter(2), sharding={replicated}
      zero = s32[] constant(0)
      ROOT y = f32[16,3] dynamic-update-slice(x, u, k, zero), sharding={devices=[4,1]<=[4]} }"""
    for row in (0, 7, 15, 99, -3):
        module = compare(text, 4, [_numbers(16, 3), _numbers(1, 3), np.int32(row)], "xla")
        assert not _collectives(module)
