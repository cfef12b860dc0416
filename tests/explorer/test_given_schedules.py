"""`xe.compile(..., schedules=...)`: kernels with the user's schedules; bad ones are errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError

TEXT = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[48,100] parameter(0)
  e = f32[48,100] exponential(x)
  t = f32[48,100] tanh(e)
  z = f32[] constant(0)
  sums = f32[48] reduce(t, z), dimensions={1}, to_apply=add
  ROOT sorted = f32[48] sort(sums), dimensions={0}, to_apply=less
}"""
SUMS = "%exponential_tanh_reduce_fusion"
X = np.random.default_rng(0).standard_normal((48, 100)).astype("f4")


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def test_a_text_a_file_and_a_mapping_are_one(session: xe.Session, tmp_path: Path) -> None:
    text = "split{j,16},vectorize{ji}"
    file = tmp_path / "my.sched"
    file.write_text(f"# mine\n{SUMS}: {text}\n")
    found = [
        xe.compile(TEXT, threads=1, schedules=given)
        for given in (f"{SUMS}: {text}", file, str(file), {SUMS: text})
    ]
    assert len({s.llvm_ir(optimized=False) for s in found}) == 1 and "<16 x float>" in found[
        0
    ].llvm_ir(optimized=False)
    assert np.allclose(found[0](X), session(X), 1e-5)


def test_threads_share_what_the_schedule_says_and_the_bits_stay() -> None:
    one, two = [
        xe.compile(TEXT, threads=2, schedules={SUMS: f"split{{j,16}},vectorize{{ji}}{more}"})
        for more in ("", ",parallel{i,5}")
    ]
    assert np.array_equal(one(X), two(X))
    assert f"{SUMS[1:]}_task" in two.llvm_ir(
        optimized=False
    ) and f"{SUMS[1:]}_task" not in one.llvm_ir(optimized=False)
    assert list(two.profile(X, repeats=2)["kernel"])[1] == SUMS


def test_the_decisions_say_who_wrote_the_schedule() -> None:
    scheduled = xe.compile(TEXT, threads=1, schedules={SUMS: "split{j,16},vectorize{ji}"})
    (nest,) = [
        row
        for row in scheduled.decisions("loop-nest").to_dict("records")
        if row["subjects"] == (SUMS,)
    ]
    assert (
        nest["code"] == "scheduled-by-user"
        and nest["facts"]["schedule"] == "split{j,16},vectorize{ji}"
    )
    (lanes,) = scheduled.decisions("loop-vectorize").to_dict("records")
    assert lanes["facts"] == {
        "extent": 16,
        "reorders-sum": True,
        "axis": "ji",
        "by": "user",
    } and lanes["subjects"] == (SUMS,)


@pytest.mark.parametrize(
    ("schedules", "message"),
    [
        ("%sums: unroll{i}", "not a kernel of this program"),
        ("%sorted:", "%sorted cannot be scheduled: no-loop-nest"),
        (f"{SUMS}: split{{i,8}},vectorize{{ii}}", "at every 100th element along ii"),
        (f"{SUMS} split", "line 1: expected %kernel: directives"),
        ({SUMS: "splat{i}"}, "unknown directive"),
        (7, "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_an_error(schedules: object, message: str) -> None:
    with pytest.raises(XlaExplorerError, match=message):
        xe.compile(TEXT, threads=1, schedules=schedules)


def test_a_backend_that_knows_no_schedules_says_so() -> None:
    with pytest.raises(XlaExplorerError, match="schedules"):
        xe.compile(TEXT, "interpreter", schedules={SUMS: ""})


def test_what_the_policy_did_prints_as_a_schedule_and_can_be_changed() -> None:
    text = "ENTRY e { x = f32[64,96] parameter(0) y = f32[64,96] parameter(1) a = f32[64,96] add(x, y) ROOT r = f32[64,96] tanh(a) }"
    session = xe.compile(text, threads=1)
    (kernel,) = session.loops()
    schedule = session.schedule(kernel.name)
    assert (
        kernel.made_by == schedule.written_by == "policy"
        and "vectorize{" in kernel.schedule
        and str(schedule) == kernel.schedule
    )
    assert [step.by for step in kernel.steps] == ["policy"] * len(schedule.directives)
    assert all({kind for kind, _ in step.diff} & {"add", "del"} for step in kernel.steps)
    x, y = np.random.default_rng(0).standard_normal((2, 64, 96)).astype("f4")
    assert np.array_equal(session.override(schedules=[schedule])(x, y), session(x, y))


def test_a_kernel_that_writes_its_operand_element_by_element_may_be_scheduled() -> None:
    text = """HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
    ENTRY e { x = f32[64,96] parameter(0) s = f32[64,96] multiply(x, x) ROOT r = f32[64,96] tanh(s) }"""
    session = xe.compile(text, threads=1, donate=True)
    (kernel,) = session.loops()
    scheduled = xe.compile(
        text,
        threads=1,
        donate=True,
        schedules={kernel.name: "split{j,32},vectorize{ji},split{i,4},unroll{ii}"},
    )
    x = np.random.default_rng(0).standard_normal((64, 96)).astype("f4")
    wanted = np.tanh(x * x)
    assert np.allclose(scheduled(x.copy()), wanted, 1e-5)
