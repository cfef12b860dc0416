"""The comparison of real XLA with itself: what differs is named, what may differ is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.properties.random_modules import RandomModule
from tests.properties.xla_with_itself import Ways, differences, side_of_the_evaluator
from xla_explorer.hlo.text import parse_hlo

pytest.importorskip("jaxlib")

CASE = RandomModule(
    parse_hlo("ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] add(x, x) }"),
    (np.array([1, 2], np.float32),),
    [4.0],
    [True],
    False,
)


def test_a_wrong_element_and_a_refusal_of_one_way_are_differences() -> None:
    right, wrong = np.array([2, 4], np.float32), np.array([2, 5], np.float32)
    found: dict[str, list[object] | str] = {
        "as it is": [right],
        "the same": [right.copy()],
        "another value": [wrong],
        "refused": "out of memory",
    }
    named = dict(differences(CASE, found))
    assert named.keys() == {"another value", "refused"}
    assert "5.0" in named["another value"] and "out of memory" in named["refused"]
    assert side_of_the_evaluator(CASE, found) == ["as it is", "the same"]


def test_the_same_refusal_of_all_ways_is_none() -> None:
    assert not list(differences(CASE, {"as it is": "no", "other": "no"}))


@pytest.mark.long
def test_real_xla_runs_a_module_in_all_ways() -> None:
    ways = Ways([])
    try:
        found = ways.results(CASE.module, CASE.arguments)
    finally:
        ways.close()
    assert len(found) == 3 and not list(differences(CASE, found))
    assert side_of_the_evaluator(CASE, found) == list(found)
