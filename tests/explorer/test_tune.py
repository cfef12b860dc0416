"""`xe.tune`: its results are legal, right, faster, kept by nest and machine, and a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.test_directives import plain
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.search import candidates
from xla_explorer.explorer.code.kernel_run import PairedTiming
from xla_explorer.explorer.comparisons import schedule_search

TEXT = """HloModule m
ENTRY main { x = f32[64,96] parameter(0) e = f32[64,96] exponential(x) t = f32[64,96] tanh(e) ROOT r = f32[64,96] negate(t) }"""


@pytest.mark.parametrize(
    "body", ["bias", "rows", "columns", "softmax", "dot", "transpose", "pad", "argmax"]
)
def test_every_schedule_that_is_tried_keeps_the_values(body: str) -> None:
    nest, operands, wanted = plain(body)
    found = candidates(nest)
    assert len({str(c.schedule) for c in found}) == len(found) >= (1 if body == "argmax" else 3)
    assert [c.estimate.nanoseconds for c in found] == sorted(
        [c.estimate.nanoseconds for c in found]
    )
    for c in found[:3]:
        for a, b in zip(evaluate_nest(c.schedule.nest, operands), wanted, strict=True):
            assert np.allclose(a, b, 1e-4, 1e-4), str(c.schedule)
    assert body in ("transpose", "argmax") or "vectorize" in str(found[0].schedule)


def test_shares_and_schedules_of_others_are_ranked_too() -> None:
    nest = plain("rows")[0]
    plain_one = candidates(nest)[0].schedule.plain()
    found = candidates(nest, tasks=2, further=[plain_one])
    assert (
        "" in [str(c.schedule) for c in found]
        and sum(["parallel{" in str(c.schedule) for c in found]) == len(found) - 1
    )
    assert [str(c.schedule) for c in candidates(nest, further=[plain_one], stop=lambda: True)] == [
        ""
    ]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """Put the cache into a folder of the test; the returned ratios replace those of the clock."""
    given: list[float] = []

    def timed(default: Any, scheduled: Any, *_: Any) -> tuple[PairedTiming, int]:
        ratio = given.pop(0) if given else 1.0
        return PairedTiming(10.0, 10.0 * ratio, ratio, 0.0), 1

    monkeypatch.setattr(schedule_search, "times_of", timed)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("XLA_EXPLORER_CACHE", raising=False)
    return given


def test_the_fastest_is_confirmed_kept_and_compiled(times: list[float], tmp_path: Path) -> None:
    session = xe.compile(TEXT, threads=1)
    times += [0.9, 0.91, 0.5, 0.5, 1.6, 0.51]  # the third is hopeless after one round
    found = xe.tune(session, budget=60, tried=3)
    (kernel,) = found.kernels
    assert (kernel.ratio, kernel.tuned_us, kernel.tried, kernel.found) == (
        0.51,
        5.1,
        3,
        "search",
    ) and kernel.seconds < 60
    assert (
        "1 of 1 kernels are faster" in repr(found)
        and found.schedules == f"%{kernel.kernel}: {kernel.schedule}\n"
    )
    tuned = found.session()
    assert [k.made_by for k in tuned.loops()] == ["user"] and str(
        tuned.schedule(kernel.kernel)
    ) == kernel.schedule
    x = np.random.default_rng(0).standard_normal((64, 96)).astype("f4")
    assert np.allclose(tuned(x), session(x), 1e-6)
    (again,) = xe.tune(
        xe.compile(TEXT.replace("t =", "other =").replace("(t)", "(other)"), threads=1)
    ).kernels
    assert (again.found, again.schedule, again.ratio) == ("cache", kernel.schedule, 0.51)
    for file in tmp_path.rglob("*.object"):
        assert file.stat().st_mode & 0o022 == 0


def test_what_is_not_faster_by_more_than_the_spread_stays(times: list[float]) -> None:
    times += [0.7, 0.7, 0.99]
    found = xe.tune(xe.compile(TEXT, threads=1), tried=1, cache=False)
    assert (
        found.kernels[0].schedule is None
        and found.kernels[0].ratio == 1.0
        and found.schedules == ""
        and found.session() is found.base
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: xe.tune(xe.compile(TEXT, "interpreter")), "of interpreter"),
        (lambda: xe.tune(TEXT, budget=0), "budget is 0"),
        (lambda: xe.tune(TEXT, "nothing"), "nothing"),
    ],
)
def test_wrong_questions(call: Any, message: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=message):
        call()
