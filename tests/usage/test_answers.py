"""The tools' answers name the cause and the line of slow and wrong programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.usage import fixes
from tests.usage.asked import Answers, ask, lowered, names
from tests.usage.causes import CAUSES, KINDS, LATER, WRONG, places_of, programs, wide_programs
from xla_explorer.explorer.measures.kernel_costs import program_cost

pytestmark = pytest.mark.jax
NOT_NAMED: dict[str, str] = {}
"""Programs whose cause the answers do not name, with the reason."""


def test_there_are_five_programs_of_ten_kinds() -> None:
    names = [name for kind in KINDS for name in programs(kind)]
    assert len(KINDS) == 10 and all(len(programs(kind)) == 5 for kind in KINDS)
    assert sorted(names) == sorted(CAUSES)
    assert len(NOT_NAMED) <= 5  # of fifty


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_answers_name_cause_and_line(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    wide = wide_programs(kind)
    for name, (function, arrays) in programs(kind).items():
        text = lowered(function, arrays, name in wide)
        found: Answers = ask(name, kind, text, places_of(name, function), tmp_path)
        assert bool(found.named) == (name not in NOT_NAMED), name
        assert found.calls <= 5 and found.longest <= 2000, name


@pytest.mark.slow
def test_answers_name_causes_of_programs_that_were_written_later(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    found = [
        ask(name, LATER[name].sentence, lowered(f, given, name in wide_programs("written_later")),
            places_of(name, f), tmp_path)
        for name, (f, given) in programs("written_later").items()
    ]  # fmt: skip
    assert len(found) == len(LATER) == 20 and all(one.longest <= 2000 for one in found)
    assert sum([bool(one.named) for one in found]) >= 18


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_fix_that_an_answer_says_helps(kind: str) -> None:
    """Slow programs: the same values at a lower predicted time. Wrong ones: no risk is left."""
    pytest.importorskip("jax", reason="needs the extra `jax`")
    for name, (function, arrays) in programs(kind).items():
        wide, fixed = name in wide_programs(kind), getattr(fixes, name)
        given = fixes.arguments_of(name, arrays)
        texts = [lowered(function, arrays, wide), lowered(fixed, given, wide)]
        if kind in WRONG:
            assert xe.xla.risks(texts[0]).risks and not xe.xla.risks(texts[1]).risks, name
            continue
        before, after = [xe.compile(text) for text in texts]
        if name not in fixes.NOT_PRICED:
            costs = [program_cost(one.module, None).microseconds for one in (before, after)]
            assert costs[1] < 0.9 * costs[0], name
        if name not in fixes.OTHER_RESULTS:
            first = jax_results(function, arrays, wide)
            for one, other in zip(first, jax_results(fixed, given, wide), strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3, err_msg=name)


def jax_results(function: Any, arrays: tuple[Any, ...], wide: bool) -> list[Any]:
    """Return the leaves of a result as f64."""
    import jax

    with (jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64)(wide):
        return [
            np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(jax.jit(function)(*arrays))
        ]


def test_the_criterion_can_fail() -> None:
    """Neither another line, nor a longer number, nor other words are an answer."""
    line = "infinity | %log | log | programs/places.py:27 | log of 0 is infinity"
    words = CAUSES["entropy"].words
    assert names(line, words, ["places.py:27"])
    assert not names(line, words, ["places.py:2"]) and not names(line, words, ["places.py:28"])
    assert not names(line, CAUSES["slope"].words, ["places.py:27"])
