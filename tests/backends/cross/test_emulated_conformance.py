"""Every conformance program on the emulated CPUs: the evaluator's values, or a Reason."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.backends.llvm.cpu_targets import CPU_TARGETS
from xla_explorer.backends.registry import platform

EMULATED = [
    name for name, target in CPU_TARGETS.items() if target.runner and target.runner != "native"
]
OFTEN = ["add", "convolution", "dot", "fft", "gather", "reduce", "scatter", "sort", "tanh", "while"]


def _conforms(name: str, types: list[str], opcodes: list[str] | None = None) -> None:
    if (why := platform(name).availability()) is not None:
        pytest.skip(f"{name} cannot run here: {why}")
    found = xe.backends.conformance(name, opcodes=opcodes, types=types)
    assert found.passed, found.first_failure
    assert found.counts["ok"] > 10 * found.counts["refused"], found.counts


@pytest.mark.long
@pytest.mark.parametrize("name", EMULATED)
def test_programs_that_are_often_seen(name: str) -> None:
    _conforms(name, ["f32"], OFTEN)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("types", [["f32"], ["s8", "bf16"]], ids="-".join)
@pytest.mark.parametrize("name", EMULATED)
def test_every_program(name: str, types: list[str]) -> None:
    _conforms(name, types)
