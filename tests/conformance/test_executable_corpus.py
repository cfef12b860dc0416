"""The executable corpus on the evaluator differs as listed, each with its reason."""

from __future__ import annotations

import json

import pytest

from tests.conformance.executable_corpus import (
    CORPUS,
    DIFFERENCES,
    cases,
    known_differences,
    problem_of,
    run_all,
)

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus is not at {CORPUS}"),
]
EVERY = 24  # of the single-device cases, in a default run: about 130


def test_every_difference_has_a_reason() -> None:
    for shard, classes in json.loads(DIFFERENCES.read_text()).items():
        names = [name for entry in classes.values() for name in entry["cases"]]
        assert len(set(names)) == len(names), shard
        assert all(
            entry["reason"] and entry["cases"] and isinstance(entry["defined"], bool)
            for entry in classes.values()
        )


@pytest.mark.long
def test_a_sample_on_one_device() -> None:
    known = known_differences("exec_cases")
    chosen = [
        case
        for number, case in enumerate(cases("exec_cases"))
        if number % EVERY == 7 and case["name"] not in known
    ]
    found = {case["name"]: problem for case in chosen if (problem := problem_of(case)) is not None}
    assert found == {}


def test_a_sample_of_collectives_over_virtual_devices() -> None:
    known = known_differences("exec_multi")
    chosen = [
        case
        for number, case in enumerate(cases("exec_multi"))
        if number % 8 == 1 and case["name"] not in known
    ]
    assert {
        case["name"]: problem for case in chosen if (problem := problem_of(case)) is not None
    } == {}


@pytest.mark.slow
def test_collectives_over_virtual_devices() -> None:
    problems = {
        case["name"]: problem
        for case in cases("exec_multi")
        if (problem := problem_of(case)) is not None
    }
    assert set(problems) == set(known_differences("exec_multi")), problems


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_case_on_one_device() -> None:
    _, problems = run_all("exec_cases")
    known = set(known_differences("exec_cases"))
    assert {name: problem for name, problem in problems.items() if name not in known} == {}
    assert known <= set(problems), f"pass now: {sorted(known - set(problems))}"
