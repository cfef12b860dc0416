"""`xe.tune` for GPU kernels: schedules of the policies with other parameters, on the emulator.

They are ranked by the estimate. A schedule's time is that of the GPU's description for the
instructions and sectors that the emulator counts: nothing is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emulator import LaunchOptions
from xla_explorer.compiler.codegen.nest.gpu_estimate import estimate_for
from xla_explorer.compiler.codegen.nest.policies.launched.reductions import schedules_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.search import Candidate
from xla_explorer.compiler.codegen.nest.tuning import (
    GPU_TUNING,
    Tuning,
)
from xla_explorer.compiler.target import SECTOR_BYTES, WARP_SIZE, Target, gpu_numbers
from xla_explorer.compiler.target.launch_time import gpu_kernel_estimate
from xla_explorer.explorer.code.kernel_alone import (
    compiled_alone,
    module_of_kernel,
    operands_of_kernel,
)
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule
from xla_explorer.explorer.sessions.arguments import largest_error
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.isolation import under_limits
from xla_explorer.hlo.evaluator import evaluate, flatten_value

Spent = Callable[[float], Callable[[], bool]]  # a share of the budget -> whether it is spent
COUNTED = "counters of the emulator"
_NUMBERS: dict[str, tuple[int, ...]] = {
    "most_elements": (1, 2, 4), "interleave": (1, 2, 8), "block": (64, 128, 512), "most_columns": (1, 2), "in_registers": (8, 64),
    "largest_group": (128, 256), "rows_at_once": (4, 16),
}  # fmt: skip


class Found(NamedTuple):
    """The winner, None if nothing is better.

    default, tuned: nanoseconds. ranked, tried: schedules with an estimate, and with counters.
    """

    schedule: Schedule | None
    default: float
    tuned: float
    ranked: int
    tried: int


def candidates_on_gpu(
    made: KernelSchedule, stop: Callable[[], bool] = lambda: False
) -> list[Candidate]:
    """Return the distinct legal schedules of a kernel's nest in one launch, by estimate."""
    target = made.session.passes.record.target
    found: dict[str, Candidate] = {}
    if isinstance(target.gpu, GpuArchitecture):
        for tuning in _tunings():
            if stop():
                break
            for one in schedules_of(made.start, target.gpu, tuning):
                text = str(one)
                if text not in found and text != str(made):
                    try:
                        schedule = Schedule(made.start, made.start).then(*one.directives)
                    except ScheduleError:
                        continue
                    found[text] = Candidate(schedule, estimate_for(schedule.nest, target))
    return sorted(found.values(), key=lambda c: c.estimate.nanoseconds)


def _tunings() -> Iterator[Tuning]:
    yield GPU_TUNING
    for name, values in _NUMBERS.items():
        for value in values:
            changed: dict[str, Any] = {name: value}
            yield replace(GPU_TUNING, **changed)


@under_limits
def search_on_gpu(
    session: Compilation, made: KernelSchedule, spent: Spent, most: int, least: float
) -> Found:
    """Return the fastest schedule by the emulator's counters whose values are right.

    least: the least gain, as a share of the default time.
    """
    target = session.passes.record.target
    module = module_of_kernel(made.instruction)
    given = operands_of_kernel(made.instruction, module)
    default = compiled_alone(session, module)
    leaves = default.signature.leaves(given)
    base, _ = _counted(default, leaves, target)
    ranked = candidates_on_gpu(made, spent(0.35))
    best: tuple[float, Schedule | None] = base * (1 - least), None
    tried = 0
    for candidate in ranked[:most]:
        if tried and spent(0.8)():
            break
        tried += 1
        nanoseconds, values = _counted(
            compiled_alone(session, module, str(candidate.schedule)), leaves, target
        )
        if (
            nanoseconds < best[0]
            and values is not None
            and largest_error(flatten_value(evaluate(module, *leaves)), values)[1]
        ):
            best = nanoseconds, candidate.schedule
    return Found(best[1], base, best[0] if best[1] is not None else base, len(ranked), tried)


def _counted(session: Compilation, leaves: Any, target: Target) -> tuple[float, list[Any] | None]:
    """Return (nanoseconds by the counters, values); no values if the emulator finds a fault."""
    executable: Any = session.executable
    found = executable.emulate(list(leaves), LaunchOptions(counters=True, global_races=True))
    held = sum(
        [value.nbytes for value in (*map(np.asarray, leaves), *map(np.asarray, found.values))]
    )
    total = 0.0
    for name, threads in executable.kernel_threads.items():
        rows = [row for row in found.rows if row["kernel"] == name]
        conflicts = sum(
            [(row["requests"] or 0) * ((row["bank_conflict"] or 1) - 1) for row in rows]
        )
        instructions, sectors = [
            sum([row[counter] or 0 for row in rows]) for counter in ("warp_instructions", "sectors")
        ]
        total += counted_nanoseconds(
            target, WARP_SIZE * (instructions + conflicts), SECTOR_BYTES * sectors, held, threads
        )
    return total, None if found.findings else found.values


def counted_nanoseconds(
    target: Target, operations: float, moved: float, held: float, threads: int
) -> float:
    """Return the time of a launch that moves a number of bytes.

    Each byte of its arrays comes from memory once, then from L2 if the arrays fit.
    """
    device, _ = gpu_numbers(target)
    once = min(moved, held)
    again = (moved - once) / (device.l2_rate if held <= device.l2_bytes else 1.0)
    return gpu_kernel_estimate(target, operations, once, again, 0.0, threads).nanoseconds
