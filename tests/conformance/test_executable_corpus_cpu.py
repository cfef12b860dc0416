"""The executable corpus on the CPU backend: every difference from XLA:CPU has a reason.

No case ends the process.
"""

from __future__ import annotations

import json

import pytest

from tests.conformance.executable_corpus_cpu import DIFFERENCES, corpus, known_differences, run_all

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not corpus.CORPUS.is_dir(), reason=f"the corpus is not at {corpus.CORPUS}"),
]


def test_every_difference_has_a_reason() -> None:
    for entry in json.loads(DIFFERENCES.read_text()).values():
        assert entry["reason"] and entry["cases"]


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("runs_here")
def test_a_sample_of_the_cases() -> None:
    count, problems, _ = run_all(jobs=1, first=11, every=80)
    known = known_differences()
    assert (
        count > 30
        and {name: problem for name, problem in problems.items() if name not in known} == {}
    )


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_case(threads: int) -> None:
    _, problems, _ = run_all(threads=threads)
    known = known_differences()
    assert {name: problem for name, problem in problems.items() if name not in known} == {}
