"""The number of parallel tasks of a kernel, from its estimated time on one thread.

The estimate is the longest of memory traffic, arithmetic and elementary functions, at rates that
follow from the core's numbers. An error of a factor of two does not matter. There are more tasks
than threads because other processes may use the cores: a delayed thread executes fewer tasks.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.kernels.products.dot_epilogue import epilogue_dot
from xla_explorer.compiler.codegen.program_records import KernelDecision
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

# The rates were measured on one core with AVX-512 at 2.6 GHz, and scale with the target's numbers.
_MIXED = 1.6  # bytes of caches and memory mixed, as a multiple of the memory's rate
_SHARES_OF_PEAK = {"dot": 0.6, "convolution": 0.36}  # types with a register tile
_ELEMENTWISE_SHARE = 0.06
_PER_CLOCK = {"sort": 0.385, "fft": 1.54}  # operations of code that is not bound by multiply-adds
_SLOW_PER_CLOCK = 1.54  # contractions of types without a register tile
_TRANSCENDENTALS_PER_CLOCK = 0.048  # for each lane
TASK_WAKES = 3.0  # minimum work of a task, as a multiple of the time to wake a thread
TASKS_PER_THREAD = 4
LIBRARY_TASKS_PER_THREAD = 1  # each library call copies the right operand again


class ParallelPlan(NamedTuple):
    """Tasks of a kernel, and the estimate behind them.

    tasks: their number, 1 for one thread. threads: that execute them. nanoseconds: the estimate on
    one thread. task_nanoseconds: minimum work of a task.
    """

    tasks: int
    threads: int
    nanoseconds: float
    flops: float
    transcendentals: float
    bytes: float
    task_nanoseconds: float

    @property
    def attempts(self) -> tuple[int, ...]:
        """The numbers of tasks to try in order, all but the first as many for each thread."""
        most = self.tasks - 1 - (self.tasks - 1) % self.threads
        return (self.tasks, *range(most, 0, -self.threads))

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


def flops_rate(target: Target, opcode: str, element: PrimitiveType | None) -> float:
    """Return the operations of an opcode per nanosecond on one core."""
    if opcode in _SHARES_OF_PEAK:
        if element is None or element.name not in ("f32", "f64"):
            return _SLOW_PER_CLOCK * target.cores.gigahertz
        return _SHARES_OF_PEAK[opcode] * target.flops_per_nanosecond
    if opcode in _PER_CLOCK:
        return _PER_CLOCK[opcode] * target.cores.gigahertz
    return _ELEMENTWISE_SHARE * target.flops_per_nanosecond


def plan_parallel(i: HloInstruction, threads: int, kind: str, target: Target) -> ParallelPlan:
    """Return the plan for a kernel of one instruction (`kernel` or `library`)."""
    cost = instruction_cost(i)
    inner = epilogue_dot(i) or (i.called[0].root if i.opcode.name == "fusion" else i)
    element = inner.shape.element_type if inner.shape.is_array else None
    functions = _TRANSCENDENTALS_PER_CLOCK * target.lanes() * target.cores.gigahertz
    nanoseconds = max(
        cost.bytes_accessed * target.memory.nanoseconds_per_byte / _MIXED,
        cost.flops / flops_rate(target, inner.opcode.name, element)
        + cost.transcendentals / functions,
    )
    most = threads * (LIBRARY_TASKS_PER_THREAD if kind == "library" else TASKS_PER_THREAD)
    least = TASK_WAKES * target.cores.wake_nanoseconds
    tasks = min(most, int(nanoseconds / least)) if threads > 1 else 1
    return ParallelPlan(
        max(tasks, 1),
        threads,
        nanoseconds,
        cost.flops,
        cost.transcendentals,
        cost.bytes_accessed,
        least,
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
        message = f"%{i.name} is about {microseconds} of work; two tasks need {2 * plan.task_nanoseconds / 1e3:.0f} us"
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
