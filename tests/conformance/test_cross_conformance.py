"""Other CPUs and AMD GPUs on a fixed sample of the conformance corpus.

The script `cross_conformance.py` gives the list of failures.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.cross_conformance import (
    CORPUS,
    check,
    check_apart,
    compile_case,
    harness,
    sample,
)
from xla_explorer.backends.registry import platform

pytestmark = pytest.mark.shared
RUNNING = ("aarch64", "riscv64", "wasm32")
COMPILING = ("hexagon", "amdgpu")


def _cases(backend: str, count: int):
    found = harness()
    if found is None:
        pytest.skip(f"the conformance corpus is not at {CORPUS}")
    if backend in RUNNING and (why := platform(backend).availability()) is not None:
        pytest.skip(f"{backend} cannot run here: {why}")
    return found, sample(found, count)


@pytest.mark.long
@pytest.mark.parametrize("backend", RUNNING + COMPILING)
@pytest.mark.sampled(2)
def test_twenty_cases(backend: str) -> None:
    found, cases = _cases(backend, 20)
    wrong = {
        case.name: answer
        for case in cases
        if not (answer := check(found, backend, case)).startswith("pass")
    }
    assert not wrong


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("backend", RUNNING + COMPILING)
def test_three_hundred_cases_over_all_opcodes(backend: str) -> None:
    found, cases = _cases(backend, 300)
    assert len({opcode for case in cases for opcode in case.tags["opcodes"]}) > 100
    compile_case(backend, cases[0], {})
    answers = {case.name: check_apart(found, backend, case) for case in cases}
    # One Fourier transform and one convolution sum in another order than the reference.
    wrong = {name: answer for name, answer in answers.items() if not answer.startswith("pass")}
    assert len(wrong) <= 0.01 * len(cases), (
        Counter(answer.split(":")[0] for answer in answers.values()),
        wrong,
    )
