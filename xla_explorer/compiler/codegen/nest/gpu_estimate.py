"""An estimate of the time of a loop nest on its target: a CPU core, or a GPU launch.

The instructions of a GPU thread are counted as those of a core with registers of one lane. Memory
is counted in the sectors that warps access.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

from xla_explorer.compiler.codegen.nest.accesses import Access, accesses_of
from xla_explorer.compiler.codegen.nest.estimate import Estimate, estimate
from xla_explorer.compiler.codegen.nest.ir import AxisKind, LoopNest
from xla_explorer.compiler.codegen.nest.launch import launch_of
from xla_explorer.compiler.target import SECTOR_BYTES, WARP_SIZE, Target, cpu_target, gpu_numbers
from xla_explorer.compiler.target.launch_time import gpu_kernel_estimate

WIDEST_ACCESS = 16  # bytes


@cache
def _one_lane(registers: int) -> Target:
    """Return a thread as a core whose registers have one lane."""
    core = cpu_target("one lane", bits=32)
    return replace(core, vector=replace(core.vector, registers=registers))


def estimate_for(nest: LoopNest, target: Target) -> Estimate:
    """Return the estimated time of a nest on a target."""
    return estimate(nest, target) if target.gpu is None else estimate_launch(nest, target)


def estimate_launch(nest: LoopNest, target: Target) -> Estimate:
    """Return the estimated time of one launch.

    Its `cycles` are those of one thread, its `instructions` those of all warps.
    """
    device, begins = gpu_numbers(target)
    launch, one = launch_of(nest), estimate(nest, _one_lane(device.registers_per_thread))
    warps = launch.blocks * math.ceil(launch.threads / WARP_SIZE)
    accesses = accesses_of(nest)
    moved = sum([moved_bytes(a) for a in accesses])
    read, written = [
        sum([a.distinct_bytes([b.axis for b in a.path]) for a in accesses if a.written is w])
        for w in (False, True)
    ]
    again = max(moved - read - written, 0.0) / (
        device.l2_rate if read + written <= device.l2_bytes else 1.0
    )
    found = gpu_kernel_estimate(
        target, one.instructions * warps * WARP_SIZE, read, again, written, warps * WARP_SIZE
    )
    limits = {"instructions": found.compute, "memory": found.memory, "launch": begins.nanoseconds}
    limit = max(limits, key=lambda name: limits[name])
    beyond = {"L1": int(moved), "L2": read + written}
    instructions = one.instructions * warps
    return replace(
        one,
        nanoseconds=found.nanoseconds,
        instructions=instructions,
        bytes_beyond=beyond,
        limit=limit,
        where="on the GPU",
    )


def moved_bytes(a: Access) -> float:
    """Return the bytes of the sectors that all warps move for one access."""
    beside = [b for b in a.path if b.kind in (AxisKind.WARP, AxisKind.THREAD)]
    in_registers = [b.axis for b in a.path if b.kind in (AxisKind.VECTOR, AxisKind.UNROLLED)]
    together = math.prod(
        [axis.extent & -axis.extent for axis in in_registers if a.step(axis) == 1]
    )  # the width of an access is a power of two
    run = max(min(together * a.element_bytes, WIDEST_ACCESS), a.element_bytes)
    step = a.step(beside[-1].axis) if beside else None
    apart = SECTOR_BYTES if step is None else abs(step) * a.element_bytes
    if apart == 0:
        return a.executions * a.element_bytes * SECTOR_BYTES / max(run, 1) / WARP_SIZE
    return a.executions * a.element_bytes * max(1.0, min(apart, SECTOR_BYTES) / run)
