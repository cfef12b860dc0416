"""Errors pass through a pool of processes with their class, sentence and fields."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import PassPipeline

BAD_SHAPE = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[5] negate(x) }"
GOOD = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }"
UNKNOWN = (
    'ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] custom-call(x), custom_call_target="f" }'
)


@dataclass(frozen=True)
class Fails:
    name = "fails"

    def run(self, module: object, context: object) -> bool:
        raise RuntimeError("half way")


@pytest.mark.parametrize(
    "raising",
    [
        lambda: xe.verify(BAD_SHAPE),
        lambda: xe.parse_hlo("ENTRY e { nothing }"),
        lambda: xe.evaluate(UNKNOWN, np.ones(4, np.float32)),
        lambda: xe.compile(GOOD, backend="nothing"),
        lambda: xe.compile(GOOD, nothing=1),
        lambda: xe.compile(GOOD)(np.ones(5, np.float32)),
        lambda: xe.compile(GOOD).passes.named("nothing"),
        lambda: xe.compile(GOOD).stage("nothing"),
        lambda: xe.compile(GOOD).explain("%nothing"),
        lambda: xe.compile(GOOD).schedule("%r").then("foo{i}"),
        lambda: xe.optimize(GOOD, "nothing"),
        lambda: xe.load("nothing.hlo"),
        lambda: xe.HloBuilder("b").parameter(0),
        lambda: xe.optimize(GOOD, PassPipeline("p", (Fails(),))),
        lambda: xe.parse_stablehlo("func.func @f() { nothing }"),
    ],
)
def test_an_error_comes_back_whole(raising: Callable[[], object]) -> None:
    with pytest.raises(xe.XlaExplorerError) as caught:
        raising()
    before = caught.value
    after = pickle.loads(pickle.dumps(before))
    assert type(after) is type(before) and str(after) == str(before)
    assert after.hint == before.hint and after.message == before.message


def test_what_cannot_travel_is_left_out() -> None:
    error = xe.XlaExplorerError("no", "try again")
    error.place, error.lock = "line 1", lambda: None  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(error))
    assert again.place == "line 1" and not hasattr(again, "lock")
