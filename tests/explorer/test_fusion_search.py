"""The search over fusion decisions: trials keep values and have rows; the best is confirmed."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.comparisons.fusion_search import _saving

TEXT = """HloModule chain

add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }

ENTRY e {
  x = f32[64,128]{1,0} parameter(0)
  y = f32[64,128]{1,0} parameter(1)
  e1 = f32[64,128]{1,0} exponential(x)
  m = f32[64,128]{1,0} multiply(e1, y)
  zero = f32[] constant(0)
  r = f32[64]{0} reduce(m, zero), dimensions={1}, to_apply=add
  b = f32[64,128]{1,0} broadcast(r), dimensions={0}
  ROOT d = f32[64,128]{1,0} divide(m, b)
}
"""


@pytest.mark.parametrize("strategy", ["random", "beam"])
def test_trials_turn_decisions_round_and_keep_the_values(strategy: str) -> None:
    found = xe.search_fusion(TEXT, strategy=strategy, trials=5, repeats=3)
    frame = found.trials
    assert frame["trial"].tolist() == list(range(len(frame))) and 2 <= len(frame) <= 6
    assert set(frame["status"]) == {"ok"} and found.candidates > 0
    assert frame["fuse"][0] == frame["forbid"][0] == () and frame["speedup"][0] == 1.0
    assert all(a or b for a, b in zip(frame["fuse"][1:], frame["forbid"][1:], strict=True))
    assert frame["kernels"].nunique() > 1, "keeping a pair apart makes another program"
    assert (frame["median_us"] > 0).all()
    x, y = np.ones((64, 128), np.float32), np.full((64, 128), 2, np.float32)
    np.testing.assert_allclose(found.best(x, y), np.full((64, 128), 1 / 128, np.float32), rtol=1e-5)
    assert ("trials over" in repr(found)) and "<table" in found._repr_mimebundle_()["text/html"]


def test_the_same_seed_tries_the_same_sets() -> None:
    first, second = (xe.search_fusion(TEXT, trials=3, repeats=1, seed=5).trials for _ in range(2))
    assert first[["fuse", "forbid"]].values.tolist() == second[["fuse", "forbid"]].values.tolist()


def test_each_decision_is_inverted_alone_and_counted_by_its_code() -> None:
    found = xe.search_fusion(TEXT, strategy="each", trials=3, repeats=1)
    assert {len(codes) for codes in found.trials["codes"]} == {0, 1}
    assert found.by_code["decisions"].sum() == found.candidates
    assert found.by_code["reversals"].sum() == len(found.trials) - 1
    refused = found.base.decisions("fusion").query("verdict != 'accepted'")
    assert set(found.by_code["code"]) <= {"fused", *refused["code"]}


def test_a_saving_counts_only_beyond_both_spreads() -> None:
    base = {"median_us": 100.0, "iqr_us": 5.0}
    assert _saving(base, {"median_us": 80.0, "iqr_us": 5.0}) == 20.0
    assert _saving(base, {"median_us": 91.0, "iqr_us": 5.0}) == 0.0


def test_nothing_to_decide_ends_at_once() -> None:
    found = xe.search_fusion(
        "HloModule m\nENTRY e {\n  x = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negate(x)\n}\n",
        trials=5,
        repeats=1,
    )
    assert len(found.trials) == 1 and found.best is found.base


def test_wrong_questions() -> None:
    with pytest.raises(xe.XlaExplorerError, match="unknown"):
        xe.search_fusion(TEXT, strategy="guess")
    with pytest.raises(xe.XlaExplorerError, match="trials"):
        xe.search_fusion(TEXT, trials=0)
