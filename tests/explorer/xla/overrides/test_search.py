"""`xe.xla.search`: trials on real XLA, the changes that it keeps, and the file it writes."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.xla.regrouping import edges_between, edges_inside
from xla_explorer.explorer.xla.median_interval import median_interval
from xla_explorer.explorer.xla.overrides import measured_search as searching
from xla_explorer.explorer.xla.overrides.requests import read_requests

_FLAG = ("xla_cpu_prefer_vector_width", 256)  # of every jaxlib, other than most of FLAGS

MODULE = """HloModule m

%a (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %one = f32[] constant(1)
  %ones = f32[8]{0} broadcast(%one), dimensions={}
  %s = f32[8]{0} sine(%p)
  ROOT %t = f32[8]{0} add(%s, %ones)
}

%b (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %u = f32[8]{0} exponential(%q)
}

ENTRY %e (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %k = f32[8]{0} fusion(%x), kind=kLoop, calls=%a
  ROOT %l = f32[8]{0} fusion(%k), kind=kLoop, calls=%b
}
"""


def test_edges_of_kernels_are_named_by_the_instructions_that_compute():
    module = xe.parse_hlo(MODULE)
    assert [pair for _, pair in edges_inside(module)] == [("s", "t")]
    assert [pair for _, pair in edges_between(module)] == [("t", "u")]


def test_a_point_has_one_value_for_a_flag():
    point = searching.Change().with_step("flag", ("f", 1)).with_step("flag", ("f", 2))
    assert point.flags == (("f", 2),)
    assert point.with_step("fuse", ("a", "b")).fuse == (("a", "b"),)


class Clock:
    """A program whose executables are their own times."""

    def seconds(self, executable, runs):
        return executable


def test_ratios_have_an_interval_around_their_median():
    assert searching._ratios(Clock(), 2.0, 1.0, 11) == [0.5] * 11
    noisy = iter([1.0, 1.0, *[1.0 + k % 3 / 10 for k in range(22)]])

    class Noisy:
        def seconds(self, executable, runs):
            return next(noisy)

    ratio, low, high = median_interval(searching._ratios(Noisy(), None, None, 11))
    assert low <= ratio <= high and low < high


def test_a_trial_that_is_not_faster_is_given_up_after_the_first_rounds():
    climb = object.__new__(searching._Climb)
    climb.best = 1.0

    class Counting(Clock):
        runs = 0

        def seconds(self, executable, runs):
            self.runs += 1
            return executable

    for time, rounds in ((2.0, searching._FIRST), (0.5, searching._ROUNDS)):
        climb.program = Counting()
        ratio, low, high = climb._timed(time)
        assert ratio == time and low <= ratio <= high
        assert 2 * rounds <= climb.program.runs < 2 * rounds + 5


def test_donated_arguments_are_named_by_their_number():
    text = "ENTRY e { a = f32[4] parameter(0) b = s32[] parameter(1) ROOT r = f32[4] negate(a) }"
    program = searching.SearchedProgram(xe.parse_hlo(text), [np.zeros(4, np.float32), 1])
    plain, given = [searching.Change(), searching.Change(forms=("donated",))]
    assert program._written(plain)[1] == [("float32", False), ("int32", False)]
    assert program._written(given)[1] == [("float32", True), ("int32", False)]


@pytest.mark.jax
@pytest.mark.long
def test_a_program_with_donated_arguments_runs_many_times():
    text = "ENTRY e { a = f32[999] parameter(0) ROOT r = f32[999] negate(a) }"
    leaf = np.arange(999, dtype=np.float32)
    program = searching.SearchedProgram(xe.parse_hlo(text), [leaf])
    with closing(program):
        made = program.compiled(searching.Change(forms=("donated",)))
        assert all(np.array_equal(program.values(made)[0], -leaf) for _ in range(2))
        assert program.seconds(made, 3) > 0


pytest.importorskip("jax.extend.xla", reason="jax has the hook since 0.10.2 (extra `jax`)")
import jax.numpy as jnp  # noqa: E402

X = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)


def waves(x):
    """Return a chain that XLA fuses."""
    return jnp.exp(jnp.sin(x) * 2 + 1).sum(axis=1)


@pytest.mark.jax
def test_every_trial_has_a_row_with_its_interval_or_the_reason(monkeypatch):
    inside = [("flag", _FLAG)]
    monkeypatch.setattr(
        searching,
        "_steps",
        lambda module, flags: [
            *inside,
            *[("forbid", pair) for _, pair in edges_inside(module)][:2],
        ],
    )
    found = xe.xla.search(waves, X, seconds=60)
    assert {one.word for one in found.trials} >= {"flag", "forbid"}
    for one in found.trials:
        assert (one.ratio is None) == (one.low is None) and (one.kept or one.note)
        assert one.ratio is None or one.low <= one.ratio <= one.high
    assert list(found.to_frame().columns) == list(searching.Trial._fields)
    assert "changes timed" in found.headline()


@pytest.mark.jax
def test_kept_changes_add_up_and_are_confirmed(monkeypatch, tmp_path):
    monkeypatch.setattr(searching, "FLAGS", (("xla_cpu_prefer_vector_width", 256),))
    monkeypatch.setattr(searching, "_FORMS", ())
    monkeypatch.setattr(searching, "_ratios", lambda *given: [0.5] * given[3])
    found = xe.xla.search(waves, X, seconds=3)
    kept = [one for one in found.trials if one.kept]
    assert kept and found.flags == {"xla_cpu_prefer_vector_width": 256}
    assert (found.ratio, found.low, found.high) == (0.5, 0.5, 0.5)
    assert len(found.best.forbid) + len(found.best.fuse) == len(kept) - 1
    assert read_requests(found.save(tmp_path / "best.json")).forbid == found.best.forbid


@pytest.mark.jax
def test_a_gain_that_is_not_confirmed_is_not_claimed(monkeypatch):
    answers = iter([0.5, 0.5])  # of the two parts of a trial
    monkeypatch.setattr(searching, "FLAGS", (("xla_cpu_prefer_vector_width", 256),))
    monkeypatch.setattr(searching, "_steps", lambda module, flags: [("flag", searching.FLAGS[0])])
    monkeypatch.setattr(searching, "_ratios", lambda *given: [next(answers, 1.0)] * given[3])
    found = xe.xla.search(waves, X, seconds=3)
    assert found.best == searching.Change() and found.ratio == 1.0
    assert "stays the fastest" in found.headline()


@pytest.mark.jax
def test_a_form_of_the_program_is_tried_first(monkeypatch):
    """A module is searched too; a form that helps stays while flags are tried."""
    text = """ENTRY e { a = f32[64,3,4] parameter(0) b = f32[64,4,2] parameter(1)
      ROOT d = f32[64,3,2] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2},
        rhs_batch_dims={0}, rhs_contracting_dims={1} }"""
    monkeypatch.setattr(searching, "_steps", lambda module, flags: [("flag", searching.FLAGS[0])])
    monkeypatch.setattr(searching, "_ratios", lambda *given: [0.5] * given[3])
    found = xe.xla.search(xe.parse_hlo(text), seconds=60)
    assert [one.word for one in found.trials] == ["form", "flag"]
    assert found.best.forms == ("multiplied-and-summed",) and found.best.flags
    assert "Compute each batch of small products" in str(found)


@pytest.mark.jax
def test_a_change_with_which_xla_crashes_is_one_more_trial(monkeypatch):
    """The child dies before it answers. The next trial has another child."""
    crash, other = ("xla_cpu_enable_fast_math", True), _FLAG
    written = searching.SearchedProgram._written

    def crashing(program, change):
        if crash in change.flags:
            os.kill(program._child._process.pid, signal.SIGSEGV)
        return written(program, change)

    monkeypatch.setattr(searching.SearchedProgram, "_written", crashing)
    monkeypatch.setattr(
        searching, "_steps", lambda module, flags: [("flag", crash), ("flag", other)]
    )
    found = xe.xla.search(waves, X, seconds=60)
    crashed, tried = [one for one in found.trials if one.word == "flag"]
    assert "SIGSEGV" in crashed.note and not crashed.kept
    assert tried.ratio is not None


@pytest.mark.jax
def test_a_program_that_calls_lapack_is_searched(monkeypatch):
    """jaxlib finds LAPACK's routines in the child; they were null pointers."""
    module = xe.from_jax(lambda x: jnp.linalg.cholesky(x @ x.T + 64 * jnp.eye(64)), X)
    monkeypatch.setattr(searching, "_steps", lambda module, flags: [("flag", _FLAG)])
    found = xe.xla.search(module, X, seconds=60)
    assert [one.word for one in found.trials if one.ratio is not None] == ["flag"]
