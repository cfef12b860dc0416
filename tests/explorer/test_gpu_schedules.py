"""Schedules of GPU kernels: the policy's, another one on the emulator, the whole program."""

from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.compiler.target import NVPTX
from xla_explorer.explorer.comparisons.gpu_schedule_search import counted_nanoseconds

TEXT = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[40,96] parameter(0) z = f32[] constant(0) ROOT sums = f32[40] reduce(x, z), dimensions={1}, to_apply=add }"""


@pytest.fixture(scope="module")
def session():
    return xe.compile(TEXT, backend="gpu", device="emulator", passes="none")


def test_the_policys_schedule_is_changed_and_counted_beside_the_default(session):
    schedule = session.schedule("sums")
    assert schedule.written_by == "policy" and "thread{" in str(schedule)
    ran = schedule.plain().then("split{j,32},thread{ji},block{i}").run()
    assert (
        ran.equal
        and ran.findings == []
        and ran.default["warp_instructions"] != ran.scheduled["warp_instructions"]
    )
    assert "warp_instructions" in str(ran.records()) and ran.headline().startswith("%sums: equal")


def test_a_program_runs_by_the_users_schedule_and_says_so(session):
    other = session.override(schedules=[session.schedule("sums").plain().then("block{i}")])
    x = np.arange(40 * 96, dtype=np.float32).reshape(40, 96) % 7
    assert (other.executable.execute([x])[0] == x.sum(1)).all()
    assert other.schedule("sums").written_by == "user" and str(other.schedule("sums")) == "block{i}"


def test_what_is_refused_has_its_reason():
    for text, words in (
        ("%sums: warp{j}", "a power of two"),
        ("%other: block{i}", "not a kernel of this program"),
    ):
        with pytest.raises(xe.errors.CompileFailedError, match=words):
            xe.compile(TEXT, backend="gpu", device="emulator", passes="none", schedules=text)


CUT = TEXT.replace("40,96", "2,16384").replace("[40]", "[2]")


def test_two_kernels_of_a_policy_are_two_nests_whose_decision_says_that_sums_are_reordered():
    session = xe.compile(CUT, backend="gpu", device="emulator", passes="none")
    first, second = session.loops()
    assert (first.label, second.label) == (
        "%sums (1 of 2)",
        "%sums (2 of 2)",
    ) and first.made_by == second.made_by == "policy"
    assert any("@block" in line.text for line in first.lines) and all(
        step.diff for step in first.steps
    )
    assert "2 kernels of this nest" in str(next(iter(session.schedule("sums").blocks())))
    assert session.schedule("sums").plain().then("block{i}").run().equal
    (facts,) = session.decisions("loop-nest")["facts"]
    assert facts["reorders-sum"] is True


def test_maxima_reorder_nothing():
    text = TEXT.replace("add(a, b)", "maximum(a, b)")
    (facts,) = xe.compile(text, backend="gpu", device="emulator", passes="none").decisions(
        "loop-nest"
    )["facts"]
    assert "thread{" in facts["schedule"] and "reorders-sum" not in facts


def test_directives_of_a_policy_are_forbidden_and_forced(session):
    (unrolled,) = [d for d in session.schedule("sums").directives if d.name == "unroll"]
    other = session.override(
        forbid=[("unroll", "sums", unrolled.axis)], force=[("warp", "sums", "nothing")]
    )
    forced, forbidden = other.overrides()
    assert forbidden.granted and not forced.granted and forced.reason.code == "no-such-axis"
    assert "unroll" not in str(other.schedule("sums")) and "thread{" in str(other.schedule("sums"))
    assert other.decisions("loop-unroll")["code"].tolist() == ["forbidden-by-user"]
    x = np.arange(40 * 96, dtype=np.float32).reshape(40, 96) % 7
    assert (other.executable.execute([x])[0] == x.sum(1)).all()
    again = other.override(force=[("unroll", "sums", unrolled.axis)])
    assert str(again.schedule("sums")).endswith(f"unroll{{{unrolled.axis}}}"), (
        "what is forced comes last"
    )


def test_schedules_are_tuned_by_the_emulators_counters(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("XLA_EXPLORER_CACHE", raising=False)
    text = TEXT.replace("40,96", "128,768").replace("[40]", "[128]")
    session = xe.compile(text, backend="gpu", device="emulator", passes="none")
    (found,) = xe.tune(session, "sums", budget=60, tried=2).kernels
    assert found.found == "counters of the emulator" and found.tried == 2 <= found.schedules
    assert (
        found.schedule is not None
        and found.tuned_us < found.default_us
        and found.ratio == pytest.approx(found.tuned_us / found.default_us)
    )
    other = session.override(schedules=[f"%sums: {found.schedule}"])
    x = np.random.default_rng(0).normal(size=(128, 768)).astype(np.float32)
    assert np.allclose(other(x), x.sum(1), 1e-4, 1e-4)
    (again,) = xe.tune(session, "sums").kernels
    assert (again.found, again.schedule) == ("cache", found.schedule)


@pytest.mark.parametrize("shape", ["f32[96,64]", "bf16[128,128]", "s8[128,256]"])
def test_a_search_finds_nothing_better_than_the_default_transpose(shape):
    result = "{}[{},{}]".format(
        *[shape.replace("[", ",").strip("]").split(",")[k] for k in (0, 2, 1)]
    )
    text = (
        f"ENTRY e {{ x = {shape} parameter(0) ROOT r = {result} transpose(x), dimensions={{1,0}} }}"
    )
    (found,) = xe.tune(
        xe.compile(text, backend="gpu", device="emulator", passes="none"),
        "r",
        budget=60,
        tried=4,
        cache=False,
    ).kernels
    assert found.tried >= 1 and found.schedule is None and found.ratio == 1


def test_sectors_that_are_read_again_come_from_the_cache():
    target = replace(NVPTX, gpu=gpu_architecture("sm_90"))
    held, threads = 1 << 20, 1 << 16
    once, often, beyond = [
        counted_nanoseconds(target, 0, moved, held, threads)
        for moved in (held, 5 * held, 0.5 * held)
    ]
    assert beyond < once < often < counted_nanoseconds(target, 0, 5 * held, 5 * held, threads)
    large = (
        target.gpu.l2_bytes * 2
    )  # arrays that the cache does not hold: every sector comes from memory
    assert counted_nanoseconds(target, 0, 2 * large, large, threads) == counted_nanoseconds(
        target, 0, 2 * large, 2 * large, threads
    )
