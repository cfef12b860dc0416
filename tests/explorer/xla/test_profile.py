"""Recorded profiles as tables: times, runs and source lines, and what cannot be joined."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.messages import message
from tests.frontends.hlo_proto.test_read_hlo_proto import F32, instruction, shape
from tests.frontends.xla_profile_fixtures import (
    cpu_plane,
    gpu_plane,
    metadata_plane,
    profile_of,
    tpu_plane,
)
from xla_explorer.explorer.xla.profile import XlaProfile
from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.xla_profile import KernelEvent


def _at(line: int, scope: str = "jit(f)/layer") -> bytes:
    return message(schema.METADATA, op_name=f"{scope}/op", source_file="model.py", source_line=line)


def _module() -> bytes:
    """Return a loop whose body calls a fusion without a place; `e` and `r` have one."""
    four = shape(F32, 4)

    def computation(number: int, name: str, root: int, *instructions: bytes) -> bytes:
        return message(
            schema.COMPUTATION, name=name, id=number, root_id=root, instructions=list(instructions)
        )

    fused = computation(
        1,
        "fused",
        12,
        instruction(11, "p", "parameter", four),
        instruction(12, "n", "negate", four, 11, metadata=_at(7)),
    )
    body_fusion = instruction(
        22, "body_fusion", "fusion", four, 21, called_computation_ids=[1], fusion_kind="kLoop"
    )
    body = computation(2, "body", 22, instruction(21, "b", "parameter", four), body_fusion)
    yes = message(schema.LITERAL, shape=shape(1), preds=[1])
    condition = computation(
        3,
        "condition",
        32,
        instruction(31, "q", "parameter", four),
        instruction(32, "yes", "constant", shape(1), literal=yes),
    )
    main = computation(
        4, "main", 44, instruction(41, "x", "parameter", four), instruction(42, "e", "exponential", four, 41, metadata=_at(3)),
        instruction(43, "loop", "while", four, 42, called_computation_ids=[2, 3]), instruction(44, "r", "add", four, 43, 42, metadata=_at(9, "jit(f)/head")),
    )  # fmt: skip
    return message(
        schema.MODULE,
        name="jit_f",
        computations=[fused, body, condition, main],
        entry_computation_id=4,
    )


@pytest.fixture
def profile(tmp_path: Path) -> xe.xla.XlaProfile:
    (tmp_path / "host.xplane.pb").write_bytes(
        profile_of(metadata_plane("jit_f", 3, _module()), cpu_plane())
    )
    return xe.xla.read_profile(tmp_path)


def test_kernels_have_their_own_times(profile: xe.xla.XlaProfile) -> None:
    kernels = profile.kernels().set_index("kernel")
    assert list(kernels.index) == ["%body_fusion", "%loop", "%e", "%r"]
    assert kernels["n"].to_dict() == {"%body_fusion": 4, "%loop": 2, "%e": 2, "%r": 2}
    assert kernels.loc["%loop", "median_us"] == pytest.approx(14) and kernels.loc[
        "%body_fusion", "per_run_us"
    ] == pytest.approx(26)
    assert kernels["share"].sum() == pytest.approx(1) and profile.device_us == pytest.approx(
        2 * (10 + 40) + 3 + 2
    )


def test_a_kernel_without_a_place_takes_that_of_what_it_computes(
    profile: xe.xla.XlaProfile,
) -> None:
    assert profile.kernels().set_index("kernel")["line"].to_dict() == {
        "%body_fusion": "model.py:7", "%loop": "model.py:9", "%e": "model.py:3", "%r": "model.py:9",
    }  # fmt: skip
    lines = profile.by_line().set_index("line")["total_us"]
    assert lines["model.py:7"] == pytest.approx(52) and lines["model.py:9"] == pytest.approx(28 + 5)
    assert profile.joined_share == profile.lines_share == 1
    assert set(profile.by_scope()["scope"]) == {"jit(f)/layer", "jit(f)/head", "(no scope)"}


def test_runs_say_when_nothing_ran(profile: xe.xla.XlaProfile) -> None:
    runs = profile.runs()
    assert list(runs["run"]) == [71, 72] and list(runs["kernels"]) == [5, 5]
    assert runs["wall_us"].tolist() == pytest.approx([63, 62]) and runs[
        "idle_us"
    ].tolist() == pytest.approx([10, 10])


def test_what_is_not_joined_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.xplane.pb").write_bytes(
        profile_of(metadata_plane("jit_f", 3, _module()), gpu_plane(), tpu_plane())
    )
    found = xe.xla.read_profile(tmp_path / "a.xplane.pb")
    assert list(found.not_joined()["kernel"]) == ["MemcpyD2H", "%r"], (
        "a copy, and an operation outside of any module's run"
    )
    assert 0.8 < found.joined_share < 1
    assert {"(copies of the device)", "(not joined)"} <= set(found.by_line()["line"])
    assert set(found.kernels()["device"]) == {"GPU:0", "TPU:0"}


def test_it_shows_itself_as_text_and_as_a_frame(profile: xe.xla.XlaProfile) -> None:
    assert "2 runs" in repr(profile) and "100.0% joined to instructions" in repr(profile)
    assert "%body_fusion" in str(profile) and "model.py:7" in profile.to_markdown()
    assert len(profile.to_frame()) == 4 and profile.module("f").name == "jit_f"
    with pytest.raises(xe.xla.ProfileError, match="choose from: jit_f"):
        profile.module("g")


def test_a_profile_of_nothing_says_how_to_record(tmp_path: Path) -> None:
    (tmp_path / "a.xplane.pb").write_bytes(profile_of(metadata_plane("jit_f", 3, _module())))
    with pytest.raises(xe.xla.ProfileError, match="block_until_ready"):
        xe.xla.read_profile(tmp_path)


RECORDED = """
import sys, jax, jax.numpy as jnp
f = jax.jit(lambda w, x: jnp.tanh(x @ w).sum())
w, x = jnp.ones((64, 64)), jnp.ones((8, 64))
f(w, x).block_until_ready()
with jax.profiler.trace(sys.argv[1]):
    for _ in range(3):
        f(w, x).block_until_ready()
"""


@pytest.mark.long
@pytest.mark.jax
def test_a_profile_that_jax_records_is_joined_in_full(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    (tmp_path / "program.py").write_text(RECORDED)
    subprocess.run(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path)],
        check=True,
        capture_output=True,
        timeout=120,
    )
    found = xe.xla.read_profile(tmp_path)
    assert len(found.runs()) == 3 and found.joined_share == 1 and found.lines_share > 0.98
    assert found.by_line()["line"].iloc[0].endswith("program.py:3")


@pytest.mark.long
@pytest.mark.jax
def test_a_jax_function_is_profiled_by_xla_itself() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    jnp = jax.numpy

    def step(w, x):  # type: ignore[no-untyped-def]
        hidden = jnp.tanh(x @ w["a"])
        return (hidden @ w["b"]).sum()

    w = {"a": jnp.ones((64, 96)), "b": jnp.ones((96, 32))}
    found = xe.xla.profile(jax.grad(step), w, jnp.ones((8, 64)), repeats=4)
    assert found.joined_share == 1 and found.lines_share > 0.98 and len(found.runs()) == 4
    assert all(
        Path(line.rpartition(":")[0]).name == "test_profile.py" for line in found.by_line()["line"]
    )
    assert (
        found.session is not None
        and found.session.backend == "xla"
        and found.module() is found.session.module
    )


@pytest.mark.parametrize("outliers", [0, 1, 2])
def test_long_runs_of_a_loaded_machine_change_no_rank(outliers: int) -> None:
    """Of five runs; `why_slow` and the page of a profile rank by the same figure."""
    module = xe.parse_hlo(
        "ENTRY e { x = f32[8] parameter(0)  a = f32[8] negate(x)  ROOT b = f32[8] abs(a) }"
    )
    events = []
    for run in range(5):
        late = 400_000_000 if run < outliers else 10_000_000
        for op, duration in (("a", late), ("b", 20_000_000)):
            events.append(
                KernelEvent("CPU", "thread", "m", 1, op, op, run, run * 10**9, duration, duration)
            )
    found = XlaProfile("p", events, lambda name, number: module)
    frame = found.kernels()
    assert frame["kernel"].tolist() == ["%b", "%a"] and frame["share"].tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )
    assert found.by_opcode()["opcode"].tolist() == ["abs", "negate"] and found.by_opcode()[
        "share"
    ].sum() == pytest.approx(1.0)
