"""Profiles (`*.xplane.pb`): CPU, GPU and TPU planes joined to modules; damage is refused."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
from collections import Counter
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.test_read_hlo_proto import scaled
from tests.frontends.xla_profile_fixtures import (
    US,
    PlaneWriter,
    cpu_plane,
    gpu_plane,
    metadata_plane,
    profile_of,
    tpu_plane,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.xla_profile import (
    ProfileError,
    is_copy,
    kernel_events,
    read_profile,
    read_space,
)


def test_thunks_of_a_cpu_are_found_with_their_runs_and_their_own_time() -> None:
    events = kernel_events(read_space(profile_of(cpu_plane())))
    expected = {
        (op, run): 1 + (op == "body_fusion")
        for op in ("e", "loop", "body_fusion", "r")
        for run in (71, 72)
    }
    assert Counter((e.op, e.run) for e in events) == expected
    loop = next(e for e in events if e.op == "loop")
    assert (loop.device, loop.module, loop.program) == ("CPU", "jit_f", 3)
    assert (loop.duration_ps, loop.self_ps) == (40 * US, 14 * US)
    assert events[0].start_ps == 1_000_000, "the line starts at 1,000 ns"


def test_kernels_of_a_gpu_are_counted_once() -> None:
    events = kernel_events(read_space(profile_of(gpu_plane())))
    assert [(e.op, e.device, e.module, e.program, is_copy(e)) for e in events] == [
        ("e", "GPU:0", "jit_f", 3, False), ("r", "GPU:0", "jit_f", 3, False), ("", "GPU:0", "", None, True),
    ]  # fmt: skip


def test_operations_of_a_tpu_belong_to_the_module_that_runs() -> None:
    events = kernel_events(read_space(profile_of(tpu_plane())))
    assert [(e.op, e.module, e.program, e.run) for e in events] == [
        ("e", "jit_f", 3, 5), ("r", "jit_f", 3, 5), ("e", "jit_f", 3, 6), ("r", "jit_f", 3, 6), ("r", "", None, None),
    ]  # fmt: skip


def test_the_profile_holds_its_programs(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "profile" / "2026_11_22_01_02_03"
    folder.mkdir(parents=True)
    raw = profile_of(metadata_plane("jit_f", 3, scaled()), cpu_plane())
    (folder / "host.xplane.pb.gz").write_bytes(gzip.compress(raw))
    older = tmp_path / "plugins" / "profile" / "2026_11_21_01_02_03"
    older.mkdir()
    (older / "host.xplane.pb").write_bytes(b"not read")
    found = read_profile(tmp_path)
    program = found.program("jit_f", 3)
    assert (
        program is not None and program.module is not None and program.module.entry.root.name == "r"
    )
    assert found.program("jit_f", None) is program and found.program("jit_g", None) is None
    assert len(found.kernels) == 10


def test_a_program_without_a_number_is_known_by_its_name_where_that_is_one() -> None:
    planes = [metadata_plane("jit_f", 3, scaled()), metadata_plane("jit_f", 4, scaled())]
    space = read_space(profile_of(*planes))
    from xla_explorer.frontends.xla_profile import RecordedProfile

    found = RecordedProfile((Path("p"),), (space,))
    assert found.program("jit_f", None) is None and found.program("jit_f", 4) is not None


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no plane"),
        (b"\x0a\x05ab", "field 1 takes 5 bytes"),
        (b"\x0a\x02\x12", "takes"),
        (b"HloModule m", "not a profile"),
    ],
)
def test_what_is_no_profile_is_refused(raw: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "p.xplane.pb").write_bytes(raw)
    with pytest.raises(ProfileError, match=says):
        read_profile(tmp_path / "p.xplane.pb")


def test_a_folder_without_a_profile_says_how_to_record_one(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"jax\.profiler\.trace"):
        read_profile(tmp_path)


def test_damaged_profiles_raise_nothing_but_our_errors() -> None:
    whole, chance = (
        profile_of(metadata_plane("jit_f", 3, scaled()), cpu_plane(), gpu_plane(), tpu_plane()),
        random.Random(2),
    )
    for _ in range(200):
        raw = bytearray(
            whole[: chance.randrange(len(whole) + 1)] if chance.random() < 0.3 else whole
        )
        for _ in range(chance.randrange(6)):
            if raw:
                raw[chance.randrange(len(raw))] = chance.randrange(256)
        with contextlib.suppress(XlaExplorerError):
            kernel_events(read_space(bytes(raw)))


@pytest.mark.parametrize("number", ["²", "9" * 5000, "-1", "x"])
def test_a_number_of_a_program_that_is_none_is_unknown(number: str) -> None:
    """A malformed program number counts as unknown.

    Python accepts some such texts as digits but not as a number, or limits their length.
    """
    plane = PlaneWriter("/host:CPU")
    plane.line(
        "thread", (plane.kind("e"), 0, 5, {"hlo_op": "e", "hlo_module": "m", "program_id": number})
    )
    plane.line("other", (plane.kind("e"), 9, 5, {"hlo_op": "e", "hlo_module": f"m({number})"}))
    assert [event.program for event in kernel_events(read_space(profile_of(plane)))] == [None, None]


def test_numbers_that_link_events_of_the_host_are_left_out() -> None:
    """Numbers that link host events are left out, their neighbours kept.

    Each event has its own, so no two share a text.
    """
    plane = PlaneWriter("/host:CPU")
    events = [
        (plane.kind("e"), k, 1, {"_p": 1000 + k, "hlo_op": "e", "_c": k, "run_id": k % 2})
        for k in range(6)
    ]
    plane.line("thread", *events)
    (read,) = read_space(profile_of(plane)).planes
    assert [event.stats for line in read.lines() for event in line.events()] == [
        {"hlo_op": "e", "run_id": k % 2} for k in range(6)
    ]


def test_events_without_a_name_are_no_kernels() -> None:
    plane = PlaneWriter("/host:CPU")
    plane.line("thread", (plane.kind("ThunkExecutor::Execute"), 0, 5, {}))
    assert kernel_events(read_space(profile_of(plane))) == []


TRACE = {
    "traceEvents": [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:1"}},
        {"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "Stream #7"}},
        {
            "ph": "X",
            "pid": 1,
            "tid": 7,
            "ts": 2.0,
            "dur": 3.0,
            "name": "inner",
            "args": {"hlo_op": "loop/r", "hlo_module": "jit_f"},
        },
        {
            "ph": "X",
            "pid": 1,
            "tid": 7,
            "ts": 1.0,
            "dur": 10.0,
            "name": "loop",
            "args": {"hlo_op": "loop", "hlo_module": "jit_f", "run_id": "4"},
        },
        {"ph": "X", "pid": 2, "tid": 1, "ts": 0.0, "dur": 99.0, "name": "host", "args": {}},
    ]
}


def test_traces_for_perfetto_are_read_where_there_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "host.trace.json.gz").write_bytes(gzip.compress(json.dumps(TRACE).encode()))
    found = read_profile(tmp_path).kernels
    assert [(e.op, e.device, e.line, e.module, e.self_ps // US) for e in found] == [
        ("loop", "GPU:1", "Stream #7", "jit_f", 7), ("r", "GPU:1", "Stream #7", "jit_f", 3),
    ]  # fmt: skip
    (tmp_path / "host.xplane.pb").write_bytes(profile_of(cpu_plane()))
    assert len(read_profile(tmp_path).kernels) == 10, "a profile says more than the trace beside it"


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", '{"traceEvents": 3}', "[" * 100_000])
def test_what_is_no_trace_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.trace.json").write_text(text)
    with pytest.raises(ProfileError, match=r"must be JSON|no list traceEvents"):
        read_profile(tmp_path / "a.trace.json")


def test_hostile_events_of_a_trace_are_left_out(tmp_path: Path) -> None:
    good = TRACE["traceEvents"][3]
    bad = [
        3,
        None,
        {**good, "ts": "x"},
        {**good, "dur": 1e300},
        {**good, "dur": True},
        {**good, "pid": [1]},
        {**good, "args": [1]},
    ]
    (tmp_path / "a.trace.json").write_text(json.dumps({"traceEvents": [*bad, good]}))
    assert len(read_profile(tmp_path / "a.trace.json").kernels) == 1


def test_steps_are_those_that_the_program_marked(tmp_path: Path) -> None:
    plane = PlaneWriter("/host:CPU")
    plane.line(
        "python",
        (plane.kind("train"), 0, 70, {"step_num": 4, "_r": 1}),
        (plane.kind("train"), 100, 60, {"step_num": 5}),
    )
    (tmp_path / "a.xplane.pb").write_bytes(profile_of(cpu_plane(), plane))
    steps = xe.xla.read_profile(tmp_path).steps()
    assert steps["step"].tolist() == [4, 5] and steps["wall_us"].tolist() == [70, 60]
    assert steps["kernels"].tolist() == [5, 4] and steps["busy_us"].tolist() == [53, 50], (
        "what began in the step"
    )
