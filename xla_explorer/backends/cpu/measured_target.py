"""A target with the rates that were measured on this machine.

Compiles use the rates that the package states, so that equal CPUs get equal code whatever else ran
while they were measured.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.backends.cpu.machine_limits import MachineLimits
from xla_explorer.compiler.target import Cache, Source, Target


def measured_target(target: Target, limits: MachineLimits) -> Target:
    """Return a target whose clock and memory rates are the measured ones.

    The clock is that of the measured multiply-adds, for the target's registers and units. Sizes of
    caches stay: limits have rates by the bytes that a loop touches.
    """
    per_clock = target.flops_per_nanosecond / target.cores.gigahertz
    clock = limits.f32_flops / (1e9 * per_clock)
    return replace(
        target,
        cores=target.cores.stating(Source.MEASURED, gigahertz=clock),
        caches=tuple([_measured(cache, limits) for cache in target.caches]),
        memory=target.memory.stating(
            Source.MEASURED, nanoseconds_per_byte=1e9 / limits.stream_bandwidth
        ),
    )


def _measured(cache: Cache, limits: MachineLimits) -> Cache:
    """Return a cache with the rate of the largest measured loop that it holds."""
    held = [speed for size, speed in limits.cached_bandwidth if size <= cache.bytes]
    if not held:
        return cache
    return cache.stating(Source.MEASURED, nanoseconds_per_byte=1e9 / held[-1])
