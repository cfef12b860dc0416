"""The perf workloads beside the checkout on the CPU backend, by the harness's tolerances.

Their values are compared with the evaluator's.

The comparison with real XLA, interleaved and timed, is `contender.py` under the harness; here only
values count.
"""

from __future__ import annotations

import importlib.util
import json
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED

PERF = SHARED / "perf"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not PERF.is_dir(), reason="the performance workloads are not beside the checkout"
    ),
]


@pytest.fixture(scope="module")
def harness() -> ModuleType:
    spec = importlib.util.spec_from_file_location("perf_harness", PERF / "perf.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _workloads(prefixes: tuple[str, ...]) -> list[dict[str, Any]]:
    if not PERF.is_dir():
        return []
    rows = json.loads((PERF / "dev" / "workloads.json").read_text())["workloads"]
    return [row for row in rows if row["name"].startswith(prefixes)]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [np.asarray(value)]


def test_the_workloads_are_there() -> None:
    assert len(_workloads(("m_", "b_"))) >= 40


@pytest.mark.sampled(9)
@pytest.mark.parametrize("workload", _workloads(("m_", "b_")), ids=lambda w: w["name"])
def test_values(workload: dict[str, Any], harness: ModuleType) -> None:
    text = harness.load_text(str(PERF / "dev"), workload)
    inputs = harness.make_inputs(workload["inputs"])
    before = [array.copy() for array in inputs]
    session = xe.compile(text, journal="off")
    got = session.run_flat(inputs)
    want = _leaves(xe.evaluate(session.source, *inputs))
    if any(array.dtype.name == "bfloat16" for array in want):
        want, got = (
            [a.astype(np.float32) for a in want],
            [np.asarray(a).astype(np.float32) for a in got],
        )
        workload = {**workload, "rtol": 2e-2, "atol": 1e-2}
    assert not (message := harness.compare(want, got, workload)), message
    again = session.run_flat(inputs)
    assert all(
        np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in zip(session.run_flat(inputs), again, strict=True)
    )
    assert all(
        np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        for a, b in zip(before, inputs, strict=True)
    ), "an input was written to"
