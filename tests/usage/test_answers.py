"""The tools' answers name the cause and the line of slow and wrong programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.usage.asked import Answers, ask, lowered, names
from tests.usage.causes import CAUSES, KINDS, places_of, programs, wide_programs

pytestmark = pytest.mark.jax
NOT_NAMED: dict[str, str] = {}
"""Programs whose cause the answers do not name, with the reason."""


def test_there_are_five_programs_of_ten_kinds() -> None:
    names = [name for kind in KINDS for name in programs(kind)]
    assert len(KINDS) == 10 and all(len(programs(kind)) == 5 for kind in KINDS)
    assert sorted(names) == sorted(CAUSES)
    assert len(NOT_NAMED) <= 5  # of fifty


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_answers_name_cause_and_line(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    wide = wide_programs(kind)
    for name, (function, arrays) in programs(kind).items():
        text = lowered(function, arrays, name in wide)
        found: Answers = ask(name, kind, text, places_of(name, function), tmp_path)
        assert bool(found.named) == (name not in NOT_NAMED), name
        assert found.calls <= 5 and found.longest <= 2000, name


def test_the_criterion_can_fail() -> None:
    """Neither another line, nor a longer number, nor other words are an answer."""
    line = "infinity | %log | log | programs/places.py:27 | log of 0 is infinity"
    words = CAUSES["entropy"].words
    assert names(line, words, ["places.py:27"])
    assert not names(line, words, ["places.py:2"]) and not names(line, words, ["places.py:28"])
    assert not names(line, CAUSES["slope"].words, ["places.py:27"])
