"""The kernels of a session as rows: work, predicted and measured times, limits and places.

`Session.kernels`, the page and the widget show these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.explorer.measures.kernel_costs import (
    WHOLE_PROGRAM,
    KernelCost,
    costs_of,
    measured_bound,
)
from xla_explorer.explorer.measures.kernel_formula import kernel_formula
from xla_explorer.explorer.measures.profiling import is_emulated, kernel_threads, limits_here
from xla_explorer.explorer.sessions.compilation import (
    Compilation,
    program_steps,
    scope_of,
    source_line,
)
from xla_explorer.explorer.tables.kernel import MEASURED_COLUMNS, Kernel, MachineRoof
from xla_explorer.foundation.kept import kept

BOUND_KNOWN = ("cpu", "xla")
"""Backends whose kernels run on this machine's cores, for which limits are known."""


def machine_roof(session: Compilation) -> MachineRoof | None:
    """Return the machine's limits; None without measured times or machine."""
    if session.backend not in BOUND_KNOWN or session.last_profile is None:
        return None
    limits = limits_here()
    if limits is None:
        return None
    threads = (
        limits.cores
        if session.backend == "xla"
        else max(kernel_threads(session).values(), default=1)
    )
    cached = tuple([(int(n), float(v) * threads) for n, v in limits.cached_bandwidth])
    return MachineRoof(
        limits.cpu, limits.flops(threads=threads), limits.bandwidth(threads), cached, threads
    )


def kernel_rows(session: Compilation) -> list[Kernel]:
    """Return the kernels in execution order, with the times of the last profile."""
    rows = _untimed(session)
    timed = _profiled(session)
    if not timed:
        return list(rows)
    roof = machine_roof(session)
    ran = sum([row["median_us"] for name, row in timed.items() if name != WHOLE_PROGRAM])
    # Kernels that overlap take longer than their run.
    whole = max(timed.get(WHOLE_PROGRAM, {}).get("median_us", 0.0), ran) or 1.0
    return [
        _timed(row, timed[row.kernel], whole, roof) if row.kernel in timed else row for row in rows
    ]


def _profiled(session: Compilation) -> dict[str, Mapping[str, Any]]:
    """Return the rows of the last profile by kernel; none for the emulator's."""
    if session.last_profile is None or is_emulated(session):
        return {}
    return {row["kernel"]: row for row in session.last_profile.to_dict("records")}


def _timed(row: Kernel, timed: Mapping[str, Any], whole: float, roof: MachineRoof | None) -> Kernel:
    """Return a row with its measured times, and the limit that follows from them."""
    row = row.updated({name: timed[name] for name in MEASURED_COLUMNS})
    us, bound, moved = row.time_us, row.bound, row.bytes or 0
    if roof is not None:
        memory = moved / roof.bytes_per_second
        arithmetic = (row.flops or 0) / roof.flops_per_second
        bound = measured_bound(us, 1e6 * memory, 1e6 * arithmetic, row.calls)
    return row._replace(share=us / whole, bound=bound)


@kept
def _untimed(session: Compilation) -> tuple[Kernel, ...]:
    """Return the kernels without times, which a later run changes.

    A program that cannot run here has the kernels of its module.
    """
    costs = {cost.instruction.id: cost for cost in costs_of(session)}
    steps = program_steps(session)
    if not steps:
        return tuple([_of_cost(session, cost) for cost in costs.values()])
    # Two kernels of one instruction have its cost once.
    return tuple([_of_step(session, step, costs.pop(step.instruction, None)) for step in steps])


def _of_step(session: Compilation, step: ProgramStep, cost: KernelCost | None) -> Kernel:
    reason = step.reason
    found = Kernel(f"%{step.name}") if cost is None else _of_cost(session, cost)
    return found._replace(
        kernel=f"%{step.name}",
        opcode=step.opcode,
        runs_on=step.runs_on,
        line=source_line(session, step.instruction),
        code=reason.code if reason is not None else "",
        reason=reason.message if reason is not None else "",
        instruction=step.instruction,
        stream=step.stream or 0,
    )


def _of_cost(session: Compilation, cost: KernelCost) -> Kernel:
    i, work = cost.instruction, cost.cost
    return Kernel(
        f"%{i.name}",
        i.opcode.name,
        computes=kernel_formula(i),
        calls=cost.times,
        predicted_us=cost.nanoseconds / 1e3,
        bound=cost.bound if session.backend in BOUND_KNOWN else "",
        bytes_read=int(cost.times * work.bytes_read),
        bytes_written=int(cost.times * work.bytes_written),
        bytes=int(cost.times * work.bytes_accessed),
        flops=int(cost.times * (work.flops + work.transcendentals)),
        line=source_line(session, i.id),
        scope="/".join(scope_of(session, i)),
        instruction=i.id,
    )
