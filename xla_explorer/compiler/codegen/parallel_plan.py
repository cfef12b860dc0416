"""The number of parallel tasks of a kernel, from its estimated time on one thread.

The estimate is the longest of memory traffic, arithmetic and elementary functions, at rates of an
ordinary core. An error of a factor of two does not matter. There are more tasks than threads
because other processes may use the cores: a delayed thread executes fewer tasks.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.kernels.products.dot_epilogue import epilogue_dot
from xla_explorer.compiler.codegen.program_records import KernelDecision
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

BYTES_PER_NS = 16.0  # read or written by one core, caches and memory mixed
FLOPS_PER_NS = {"dot": 100.0, "convolution": 60.0, "sort": 1.0, "fft": 4.0}
SLOW_FLOPS_PER_NS = 4.0  # contractions of types without a register tile
ELEMENTWISE_FLOPS_PER_NS = 10.0
TRANSCENDENTALS_PER_NS = 2.0
TASK_NS = (
    15_000.0  # minimum work of a task: waking a sleeping thread costs 5 us, a running one 0.3 us
)
TASKS_PER_THREAD = 4
LIBRARY_TASKS_PER_THREAD = 1  # each library call copies the right operand again


class ParallelPlan(NamedTuple):
    """Tasks of a kernel, and the estimate behind them.

    tasks: their number, 1 for one thread. threads: that execute them. nanoseconds: the estimate on
    one thread.
    """

    tasks: int
    threads: int
    nanoseconds: float
    flops: float
    transcendentals: float
    bytes: float

    @property
    def facts(self) -> dict[str, float]:
        """The numbers of the decision."""
        return {
            "tasks": self.tasks,
            "threads": self.threads,
            "estimated_us": round(self.nanoseconds / 1e3, 1),
            "flops": self.flops,
            "transcendentals": self.transcendentals,
            "bytes": self.bytes,
        }


def cache_blocking_decision(
    i: HloInstruction, chain: list[str], tasks: int, threads: int
) -> KernelDecision:
    """Return the decision that a kernel runs block by block in a chain (`cache_blocking`)."""
    names = ", ".join(["%" + name for name in chain[:8]]) + (" ..." if len(chain) > 8 else "")
    message = (
        f"{names} iterate over the same rows: {tasks} blocks; "
        "every kernel runs on a block, which stays in the cache, before the next one"
    )
    if threads > 1:
        message += f"; {threads} threads take blocks"
    facts = {"tasks": tasks, "threads": threads, "kernels": chain}
    return KernelDecision(
        i.id, i.name, True, Reason("cache-blocking", message, facts), "cache-blocking"
    )


def plan_parallel(i: HloInstruction, threads: int, kind: str) -> ParallelPlan:
    """Return the plan for a kernel of one instruction (`kernel` or `library`)."""
    cost = instruction_cost(i)
    inner = epilogue_dot(i) or (i.called[0].root if i.opcode.name == "fusion" else i)
    element = inner.shape.element_type if inner.shape.is_array else None
    rate = FLOPS_PER_NS.get(inner.opcode.name, ELEMENTWISE_FLOPS_PER_NS)
    if inner.opcode.name in ("dot", "convolution") and (
        element is None or element.name not in ("f32", "f64")
    ):
        rate = SLOW_FLOPS_PER_NS
    nanoseconds = max(
        cost.bytes_accessed / BYTES_PER_NS,
        cost.flops / rate + cost.transcendentals / TRANSCENDENTALS_PER_NS,
    )
    most = threads * (LIBRARY_TASKS_PER_THREAD if kind == "library" else TASKS_PER_THREAD)
    tasks = min(most, int(nanoseconds / TASK_NS)) if threads > 1 else 1
    return ParallelPlan(
        max(tasks, 1), threads, nanoseconds, cost.flops, cost.transcendentals, cost.bytes_accessed
    )


def parallel_decision(
    i: HloInstruction, plan: ParallelPlan, tasks: int, overlap: bool
) -> KernelDecision:
    """Return the decision about threads for the journal.

    tasks: of the emitted kernel.
    """
    microseconds = f"{plan.nanoseconds / 1e3:.1f} us"
    if tasks > 1:
        code = "worth-threads"
        message = (
            f"%{i.name} is about {microseconds} of work: {tasks} tasks for {plan.threads} threads"
        )
    elif plan.tasks < 2:
        code = "too-little-work"
        message = (
            f"%{i.name} is about {microseconds} of work; two tasks need {2 * TASK_NS / 1e3:.0f} us"
        )
    elif overlap:
        code = "operands-overlap"
        message = f"%{i.name} writes where it reads: its steps depend on one another"
    else:
        code = "not-partitioned"
        message = (
            f"the kernel of %{i.name} has no loop that can be partitioned into {plan.tasks} "
            "independent tasks"
        )
    return KernelDecision(
        i.id, i.name, tasks > 1, Reason(code, message, {**plan.facts, "tasks": tasks}), "parallel"
    )
