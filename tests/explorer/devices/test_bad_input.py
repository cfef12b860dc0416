"""Bad input of programs on several devices: one message with a next step each, nothing run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
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


DIVERGENT = """HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
yes { x = f32[4] parameter(0)
  ROOT s = f32[4] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=add }
no { ROOT x = f32[4] parameter(0) }
ENTRY main {
  x = f32[4] parameter(0)
  id = u32[] partition-id()
  zero = u32[] constant(0)
  p = pred[] compare(id, zero), direction=EQ
  ROOT r = f32[4] conditional(p, x, x), true_computation=yes, false_computation=no
}"""
TILED = "HloModule m, num_partitions=4\nENTRY e { ROOT x = f32[4,6] parameter(0), sharding=TILES }"


@pytest.mark.parametrize(
    ("arguments", "text", "place", "message"),
    [
        (["shard"], DIVERGENT, "program.hlo:4:", "never arrives"),
        (["shard"], SUM.replace("GROUPS", "{{0,1},{1,2,3}}"), "program.hlo:9:", "listed twice"),
        (["shard"], TILED.replace("TILES", "{devices=[8,1]<=[8]}"), "program.hlo:2:", "8 tiles"),
        (["shard"], "HloModule m\nENTRY e { ROOT x = f32[4] parameter(0) }", "program.hlo:1:", "one device"),
        (["run", "--partitions", "4"], SUM.replace("GROUPS", "{{0,1},{1,2,3}}"), "program.hlo:9:", "listed twice"),
        (["run", "--partitions", "4"], TILED.replace("TILES", "{devices=[4]<=[4]}"), "program.hlo:2:", "the value has 2"),
        (["run", "--partitions", "8"], TILED.replace("TILES", "{replicated}"), "--partitions:1:", "of 4 devices"),
        (["run", "--partitions", "1"], PROGRAM, "--partitions:1:", "at least 2 devices"),
    ],
)  # fmt: skip
def test_commands_refuse_with_a_caret(
    arguments: list[str],
    text: str,
    place: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "program.hlo"
    path.write_text(text)
    assert main([arguments[0], str(path), *arguments[1:]]) == 2
    shown = capsys.readouterr()
    assert place in shown.err and message in shown.err
    assert "^" in shown.err and "hint: " in shown.err and not shown.out


def test_a_command_runs_a_program_on_virtual_devices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.hlo"
    path.write_text(TILED.replace("TILES", "{devices=[4,1]<=[4]}"))
    shown = []
    for more in ([], ["--partitions", "4"]):
        assert main(["run", str(path), *more]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and "float32[4, 6]" in shown[0]
