"""Bad input of programs on several devices: one message with a next step each, nothing run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError

PROGRAM = """ENTRY e {
  x = f32[8,6] parameter(0)
  ROOT y = f32[8,6] negate(x)
}"""
FOUR = f"HloModule m, num_partitions=4\n{PROGRAM}"
SUM = """HloModule m, num_partitions=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[] parameter(0)
  ROOT s = f32[] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups=GROUPS, to_apply=add
}"""


@pytest.mark.parametrize(
    ("text", "mesh", "shardings", "place", "message", "hint"),
    [
        (PROGRAM, {"d": 16}, {"x": ("d", None)}, "2:", "8 elements for 16 devices", "at least 16"),
        (FOUR, {"d": 8}, {"x": ("d", None)}, "1:", "has 8 devices, the program has 4", "product"),
        (PROGRAM, {"d": 2}, {"x": ("d", "d")}, "", "split along 'd' twice", "one dimension"),
        (PROGRAM, {"d": 2}, {"x": ("e",)}, "", "'e', which the mesh does not have", "axes: d"),
        (PROGRAM, {"d": 2}, {"x": ("d", None, None)}, "", "has 3 dimensions", "at most one"),
        (PROGRAM, {"d": 2}, {"z": ("d",)}, "", "no value %z", "name of an argument"),
        (PROGRAM, "d", {}, "", "no axis with a size", "data=2,model=4"),
    ],
)
def test_a_sharding_or_mesh_that_does_not_fit(
    text: str, mesh: Any, shardings: Any, place: str, message: str, hint: str
) -> None:
    with pytest.raises(XlaExplorerError) as caught:
        xe.compile(text, mesh=mesh, shardings=shardings)
    assert message in str(caught.value) and hint in caught.value.hint
    assert "^" in str(caught.value) and f"{place and '<hlo>:'}{place}" in str(caught.value)


def test_a_sharding_of_the_text_that_does_not_fit() -> None:
    text = FOUR.replace("parameter(0)", "parameter(0), sharding={devices=[3,1]0,1,2}")
    with pytest.raises(XlaExplorerError, match="has 3 tiles, the program has 4 devices") as caught:
        list(xe.compile(text).devices.collectives)
    assert "<hlo>:3:" in str(caught.value) and "^^^" in str(caught.value)
    assert "last_tile_dim_replicate" in caught.value.hint


@pytest.mark.parametrize(
    ("groups", "message", "hint"),
    [
        ("{{0,1},{1,2,3}}", "a device is listed twice", "change the line"),
        ("{{0,1},{2,3,4}}", "names device 4, but there are 4", "num_partitions"),
        ("{{0,1},{2}}", "no replica group holds device 3", "list each device in one group"),
    ],
)
def test_groups_that_overlap_or_do_not_fit(groups: str, message: str, hint: str) -> None:
    with pytest.raises(XlaExplorerError) as caught:
        xe.compile(SUM.replace("GROUPS", groups)).devices.run([[np.float32(1)]] * 4)
    assert message in str(caught.value) and hint in caught.value.hint
    assert "<hlo>:9:" in str(caught.value) and "^" in str(caught.value)
