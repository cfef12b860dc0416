"""Profiles of several hosts: two real processes with gloo, and synthetic GPUs of known clocks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.frontends.xla_profile_fixtures import (
    PlaneWriter,
    cpu_plane,
    metadata_plane,
    profile_of,
)
from xla_explorer.cli.main import main
from xla_explorer.explorer.devices.hosts.recorded_hosts import read_hosts
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto

HERE = Path(__file__).parent
# Recorded by two processes of jax 0.10.2 on one machine (`jax.distributed`, gloo, two CPU devices
# each): eight steps of data-parallel training. The second sleeps 30 ms before two of them.
REAL = [HERE / f"host_{k}.xplane.pb.gz" for k in (0, 1)]
STEP = """HloModule jit_step, num_partitions=6
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[250000] parameter(0)
  work = f32[250000] exponential(x)
  inside = f32[250000] all-reduce(work), channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3},{4,5}}, to_apply=add
  ROOT between = f32[250000] all-reduce(inside), channel_id=2, use_global_device_ids=true, replica_groups={{0,2,4},{1,3,5}}, to_apply=add
}"""
CLOCKS = (0.0, 5_300.0, -12_700.0)  # microseconds that each host's clock is ahead
FIRST = (0, 1, 0)  # the first step that each host recorded
LATE, SLOW = (1, 0), 1  # a device whose kernels take longer, a group whose links are slow


def recorded(folder: Path, steps: int = 9) -> list[Path]:
    """Write the profile of each of three hosts with two GPUs; steps take 10 ms, jittered."""
    paths = []
    proto = write_hlo_proto(xe.parse_hlo(STEP))
    for host, ahead in enumerate(CLOCKS):
        planes = [metadata_plane("jit_step", 3, proto)]
        for gpu in (0, 1):
            plane, events = PlaneWriter(f"/device:GPU:{gpu}"), []
            for step in range(FIRST[host], steps):
                start = 20_000 + 10_000 * step + 37 * (step * step % 5) + ahead
                work = 1_400 if (host, gpu) == LATE else 1_000
                ends = start + (1_400 if host == LATE[0] else 1_000) + 50
                slow = 400 if gpu == SLOW else 100
                stats = {"hlo_module": "jit_step(3)"}
                for op, at, length in (
                    ("work", start, work),
                    ("inside", start + work, ends - start - work),
                    ("between", ends, start + 1_450 + slow - ends),
                ):
                    events.append((plane.kind(op), at, length, {"hlo_op": op, **stats}))
            plane.line("Stream #20(Compute)", *events)
            planes.append(plane)
        path = folder / f"host{host}.xplane.pb"
        path.write_bytes(profile_of(*planes))
        paths.append(path)
    return paths


def test_clocks_are_found_though_recordings_begin_at_other_steps(tmp_path: Path) -> None:
    found = xe.xla.join_profiles(*recorded(tmp_path))
    assert [row.shift for row in found.hosts] == [0, 1, 0]
    for row, ahead in zip(found.hosts, CLOCKS, strict=True):
        assert row.offset_us == pytest.approx(-ahead, abs=1.0)
    assert [row.matched for row in found.hosts[1:]] == [8, 9]


def test_a_straggler_and_its_kernel_are_named(tmp_path: Path) -> None:
    found = xe.xla.join_profiles(*recorded(tmp_path))
    late = found.devices[0]
    assert (late.host, late.device, late.because) == ("host#1", "GPU:0", "%work")
    assert late.because_us == pytest.approx(400, abs=1) and late.arrived_last >= 8
    assert late.held_up_us == pytest.approx(16 * 400, abs=10)
    assert not any("GPU:1 is a straggler" in one for one in found.findings())  # held up by GPU:0
    assert "host#1 GPU:0 is a straggler" in found.findings()[1]
    assert found.findings()[0].startswith("host#1 is late: last in 16 of")


def test_a_slow_group_is_named_by_the_modules_own_groups(tmp_path: Path) -> None:
    found = xe.xla.join_profiles(*recorded(tmp_path))
    rows = [row for row in found.collectives if row.collective == "%between"]
    assert sorted([row.devices for row in rows]) == [3, 3]
    slow, fast = sorted(rows, key=lambda row: -row.transfer_us)
    assert (slow.transfer_us, fast.transfer_us) == (
        pytest.approx(400, abs=1),
        pytest.approx(100, abs=1),
    )
    assert slow.slower == pytest.approx(4, abs=0.1) and slow.sent_bytes == pytest.approx(4e6 / 3)
    assert slow.gb_per_s == pytest.approx(3.33, abs=0.05)
    assert any("%between is slow between host#0, host#1, host#2" in one for one in found.findings())
    assert [row.devices for row in found.collectives if row.collective == "%inside"] == [2, 2, 2]


def test_a_start_and_its_done_are_one_visit(tmp_path: Path) -> None:
    paths = []
    for host, (ahead, late) in enumerate(((0, 0), (900, 30))):
        plane = PlaneWriter("/device:TPU:0")
        names = {name: plane.kind(f"%{name} = f32[4] {name}(f32[4] %x)", name)
                 for name in ("work.1", "all-gather-start.2", "all-gather-done.2")}  # fmt: skip
        module = plane.kind("jit_f(3)")
        runs, events = [], []
        for number in range(3):
            start = 1_000 * number + ahead
            runs.append((module, start, 200, {"run_id": 7_000_000 + number}))
            events += [
                (names["work.1"], start, 20 + late, {}),
                (names["all-gather-start.2"], start + 20 + late, 1, {}),
                (names["all-gather-done.2"], start + 90, 30, {}),
            ]
        plane.line("XLA Modules", *runs)
        plane.line("XLA Ops", *events)
        path = tmp_path / f"host{host}.xplane.pb"
        path.write_bytes(profile_of(plane))
        paths.append(path)
    found = xe.xla.join_profiles(*paths)
    (row,) = found.collectives
    assert (row.collective, row.opcode, row.n) == ("%all-gather.2", "all-gather", 3)
    assert row.skew_us == pytest.approx(30) and row.transfer_us == pytest.approx(70)
    assert found.hosts[1].offset_us == pytest.approx(-900) and row.sent_bytes is None
    assert found.devices[0].because == "%work.1" and found.devices[0].host == "host#1"


RING = """HloModule jit_ring, num_partitions=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  z = f32[250000] parameter(0)
  x = f32[250000] all-reduce(z), channel_id=2, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=add
  ROOT send = f32[250000] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
}"""


def test_a_slow_link_of_a_ring_is_named(tmp_path: Path) -> None:
    proto, paths = write_hlo_proto(xe.parse_hlo(RING)), []
    for host in range(4):
        plane, events = PlaneWriter("/device:GPU:0"), []
        for number in range(3):
            length = 900 if host == 2 else 100  # what comes from host 1
            stats = {"hlo_module": "jit_ring(3)", "run_id": 5_000_000 + number}
            for op, start, time in (("x", 0, 50), ("send", 60, length)):
                at = 2_000 * number + start
                events.append((plane.kind(op), at, time, {"hlo_op": op, **stats}))
        plane.line("Stream #20(Compute)", *events)
        path = tmp_path / f"host{host}.xplane.pb"
        path.write_bytes(profile_of(metadata_plane("jit_ring", 3, proto), plane))
        paths.append(path)
    found = xe.xla.join_profiles(*paths)
    first = found.links[0]
    assert (first.source, first.target, first.n) == ("host#1", "host#2", 3) and first.slower > 2
    assert "the link from host#1 to host#2 is slow" in "; ".join(found.findings())
    assert [row.slower for row in found.links[1:]] == [1.0, 1.0, 1.0]


def test_two_real_processes() -> None:
    found = xe.xla.join_profiles(*REAL)
    hosts = read_hosts(REAL)
    # Both have the machine's clock, so the wall clocks are the truth.
    wall = (hosts[1].began_ps or 0) - (hosts[0].began_ps or 0)
    assert found.hosts[1].offset_us == pytest.approx(wall / 1e6, abs=300)
    assert found.hosts[1].matched == 8 and found.collectives[0].n == 8
    assert 55_000 < found.hosts[1].held_up_us < 80_000  # twice 30 ms of sleep
    assert "is late" in found.findings()[0] and "its host is late" in found.findings()[0]
    assert sorted([row.device for row in found.devices]) == [
        "CPU:0", "CPU:1", "CPU:2048", "CPU:2049",
    ]  # fmt: skip


def test_a_folder_with_a_folder_for_each_host(tmp_path: Path) -> None:
    for number, path in enumerate(REAL):
        folder = tmp_path / f"host{number}" / "plugins" / "profile" / "2026_11_29"
        folder.mkdir(parents=True)
        (folder / "vm.xplane.pb.gz").write_bytes(path.read_bytes())
    found = xe.xla.join_profiles(tmp_path)
    assert found.headline() == xe.xla.join_profiles(*REAL).headline()


def test_the_page_and_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "joined.html"
    assert main(["hosts", *map(str, REAL), "-o", str(page)]) == 0
    assert "2 hosts, 4 devices" in capsys.readouterr().out
    text = page.read_text()
    assert text.count("<rect") > 10 and "waits for the last device" in text
    assert text.count('class="waits"') >= 3 and "<script" not in text
    assert main(["hosts", *map(str, REAL), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hosts"]


def test_profiles_that_cannot_be_joined(tmp_path: Path) -> None:
    alone = tmp_path / "alone.xplane.pb"
    alone.write_bytes(profile_of(cpu_plane()))
    with pytest.raises(xe.xla.ProfileError, match="no collective of several devices") as caught:
        xe.xla.join_profiles(alone, alone)
    assert "the same steps" in caught.value.hint
    alone.write_bytes(profile_of(PlaneWriter("/host:CPU")))
    with pytest.raises(xe.xla.ProfileError, match="holds no event"):
        xe.xla.join_profiles(alone, REAL[0])
