"""Programs for several devices, of which real XLA compiles one, with a note.

A manual region is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import xla_explorer as xe
from xla_explorer.backends.xla.several_devices import (
    SeveralDevicesWarning,
    devices_of,
    manual_region_error,
    measured_on_one,
)
from xla_explorer.hlo.text import parse_hlo

PLAIN = "ENTRY e { x = f32[8] parameter(0), sharding={devices=[4]<=[4]} ROOT r = f32[8] add(x, x) }"
MESH = 'frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["d"=4, "e"=2]>}}'
REGION = """ENTRY e { x = f32[8] parameter(0)
 l = f32[2] custom-call(x), custom_call_target="TARGET", custom_call_has_side_effect=true, sharding={manual}
 ROOT r = f32[2] add(l, l) }"""


@pytest.mark.parametrize(
    ("header", "count", "words"),
    [("num_partitions=4", 4, "4 devices;"), ("replica_count=3", 3, "3 devices;"), ("replica_count=2, num_partitions=2", 4, "4 devices;"),
     (MESH, 8, "8 devices (mesh d=4, e=2)"), (f"{MESH}, num_partitions=8", 8, "8 devices (mesh d=4, e=2)")],
    ids=["partitions", "replicas", "both", "mesh", "mesh and partitions"],
)  # fmt: skip
def test_the_note_names_the_devices(header: str, count: int, words: str) -> None:
    module = parse_hlo(f"HloModule m, {header}\n{PLAIN}")
    assert devices_of(module) == count
    assert words in str(measured_on_one(module))
    assert manual_region_error(module) is None


def test_a_program_of_one_device_has_no_note() -> None:
    module = parse_hlo(f"HloModule m\n{PLAIN}")
    assert devices_of(module) == 1 and measured_on_one(module) is None


@pytest.mark.jax
@pytest.mark.parametrize("target", ["xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"])
def test_a_manual_region_is_refused_by_name(target: str) -> None:
    pytest.importorskip("jax")
    text = f"HloModule m, num_partitions=4\n{REGION.replace('TARGET', target)}"
    with pytest.raises(
        xe.XlaExplorerError, match=r"%l borders a manual region \(shard_map\) of 4 devices"
    ) as caught:
        xe.compile(text, backend="xla")
    assert "backend=" in str(caught.value)


@pytest.mark.jax
@pytest.mark.parametrize(
    "question",
    [
        lambda text: xe.xla.time(text),
        lambda text: xe.xla.sweep_flags(text, flags=["--xla_cpu_enable_fast_math=true"]),
    ],
    ids=["time", "sweep_flags"],
)
def test_what_is_timed_is_refused_by_name_too(question: Callable[[str], object]) -> None:
    pytest.importorskip("jax")
    region = REGION.replace("TARGET", "xla.sdy.GlobalToLocalShape")
    with pytest.raises(xe.XlaExplorerError, match="borders a manual region"):
        question(f"HloModule m, num_partitions=4\n{region}")
    with pytest.warns(SeveralDevicesWarning, match="m is for 4 devices"):
        question(f"HloModule m, num_partitions=4\n{PLAIN}")


@pytest.mark.long
@pytest.mark.jax
def test_the_note_is_a_warning_and_the_first_sentence_of_a_page() -> None:
    pytest.importorskip("jax")
    text = f"HloModule m, {MESH}, num_partitions=8\n{PLAIN}"
    with pytest.warns(SeveralDevicesWarning, match="m is for 8 devices"):
        page = xe.xla.why_memory(text)
    assert "is for 8 devices" in str(page).splitlines()[1]
    with pytest.warns(SeveralDevicesWarning, match="m is for 8 devices"):
        slow = xe.xla.why_slow(text, repeats=2)
    assert "is for 8 devices" in str(slow)
