"""Measured limits fill the rates of a target, with their source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xla_explorer.backends.cpu.machine_limits import MachineLimits
from xla_explorer.backends.cpu.measured_target import measured_target
from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.target import HOST_LIKE, Source

LIMITS = MachineLimits(
    cpu="test",
    cores=2,
    vector_register_bits=512,
    stream_bandwidth=5e9,
    stream_bandwidth_all=8e9,
    f32_flops=256e9,
    f64_flops=128e9,
    f32_flops_all=512e9,
    f64_flops_all=256e9,
    cached_bandwidth=((24 << 10, 200e9), (768 << 10, 50e9), (12 << 20, 20e9)),
)


def test_rates_are_the_measured_ones() -> None:
    made = measured_target(HOST_LIKE, LIMITS)
    assert made.cores.gigahertz == pytest.approx(4.0)
    assert made.flops_per_nanosecond == pytest.approx(256.0)
    assert [c.nanoseconds_per_byte for c in made.caches] == pytest.approx([0.005, 0.02, 0.05])
    assert made.memory.nanoseconds_per_byte == pytest.approx(0.2)
    sources = {(unit, name): source for unit, name, _, source in made.numbers()}
    assert sources["cores", "gigahertz"] is sources["memory", "nanoseconds_per_byte"]
    assert sources["cores", "gigahertz"] is Source.MEASURED
    assert sources["cache 1", "bytes"] is not Source.MEASURED


def test_a_cache_smaller_than_every_measured_loop_keeps_its_rate() -> None:
    small = replace(HOST_LIKE, caches=(replace(HOST_LIKE.first_cache, bytes=1 << 10),))
    assert measured_target(small, LIMITS).caches == small.caches


def test_estimates_follow_the_measured_rates() -> None:
    usual, measured = (
        FusionCostModel(HOST_LIKE),
        FusionCostModel(measured_target(HOST_LIKE, LIMITS)),
    )
    assert measured.traffic(1 << 30) == pytest.approx(2 * usual.traffic(1 << 30))
    assert measured.plain < usual.plain
