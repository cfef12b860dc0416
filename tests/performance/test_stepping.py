"""Stepping from pass to pass in a module of 7,000 instructions, in Python."""

from __future__ import annotations

import gzip
import time

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED

WORKLOAD = SHARED / "perf" / "dev" / "workloads" / "c_tf48_unrolled_d64.hlo.gz"


@pytest.mark.shared
@pytest.mark.performance
@pytest.mark.skipif(not WORKLOAD.exists(), reason="the workload is not beside the checkout")
def test_a_step_takes_under_fifty_milliseconds() -> None:
    module = xe.parse_hlo(gzip.open(WORKLOAD, "rt").read())
    trace = xe.optimize(module, "default")
    slowest = 0.0
    for step in trace.steps:
        started = time.perf_counter()
        difference = trace.passes[step.number].diff
        slowest = max(slowest, time.perf_counter() - started)
        assert step.changed or not (difference.added or difference.removed or difference.changed)
    assert slowest < 0.05, f"the slowest step took {slowest * 1e3:.1f} ms"
