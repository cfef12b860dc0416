"""A reshard between any two shardings keeps the values, uneven sizes and permuted devices too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.sharded_runs import compare

SHARDINGS = [
    "{replicated}",
    "{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
    "{devices=[8,1]<=[8]}",
    "{devices=[1,8]<=[8]}",
    "{devices=[2,4]<=[8]}",
    "{devices=[4,2]<=[2,4]T(1,0)}",
    "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
    "{devices=[2,2,2]<=[2,2,2]T(2,0,1) last_tile_dim_replicate}",
    "{devices=[4,2]3,1,4,0,5,7,6,2}",
]


@pytest.mark.long
@pytest.mark.parametrize("policy", ["cost", "xla"])
@pytest.mark.parametrize("sizes", [(8, 16), (5, 7), (3, 2), (1, 9)])
def test_every_device_gets_its_tile(sizes: tuple[int, int], policy: str) -> None:
    shape = f"f32[{sizes[0]},{sizes[1]}]"
    x = np.arange(sizes[0] * sizes[1], dtype=np.float32).reshape(sizes)
    for source in SHARDINGS:
        for target in SHARDINGS:
            text = f"""ENTRY e {{
              x = {shape} parameter(0), sharding={source}
              ROOT y = {shape} copy(x), sharding={target} }}"""
            compare(text, 8, [x], policy)


def test_two_exchanges_replace_a_whole_copy() -> None:
    text = """ENTRY e {
      x = f32[32,8,64] parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0)}
      ROOT y = f32[32,8,64] copy(x), sharding={devices=[1,8,1]<=[8]} }"""
    module = compare(
        text, 8, [np.random.default_rng(0).normal(size=(32, 8, 64)).astype(np.float32)]
    )
    kinds = [i.opcode.name for i in module.entry.instructions.values()]
    assert kinds.count("all-to-all") == 2
    assert "all-gather" not in kinds


def test_xla_slices_copies_before_it_exchanges() -> None:
    """Slice toward the target first, then one exchange and a permutation of the devices."""
    text = """ENTRY e {
      x = f32[16,16] parameter(0), sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}
      ROOT y = f32[16,16] copy(x), sharding={devices=[1,8]<=[2,4]T(1,0)}
    }"""
    array = np.arange(256, dtype=np.float32).reshape(16, 16)
    module = compare(text, 8, [array], "xla")
    kinds = [i.opcode.name for i in module.instructions()]
    assert kinds.count("all-to-all") == kinds.count("collective-permute") == 1
