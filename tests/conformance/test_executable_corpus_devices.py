"""The partitioned programs of the executable corpus run natively, a thread a device."""

from __future__ import annotations

import pytest

from tests.conformance.executable_corpus import CORPUS, cases, known_differences
from tests.conformance.executable_corpus_devices import problem_on_devices

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus is not at {CORPUS}"),
]


def _check(first: int, every: int) -> None:
    known = known_differences("exec_multi")
    for case in list(cases("exec_multi"))[first::every]:
        problem, slow = problem_on_devices(case)
        assert problem is None or case["name"] in known, (case["name"], problem)
        assert slow == [], case["name"]


@pytest.mark.long
def test_a_sample() -> None:
    _check(3, 24)


@pytest.mark.slow
def test_every_program() -> None:
    _check(0, 1)
