"""Kernels of an optimised module: calls per run, bytes read and written, and predicted times.

The module may be ours or XLA's parsed text: the counts of both are comparable.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.parallel_plan import flops_rate
from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.costs.gpu_kernel_costs import finished_kernel_estimate
from xla_explorer.compiler.target import HOST_LIKE, Target
from xla_explorer.compiler.target.launch_time import KernelEstimate
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.kept import kept
from xla_explorer.hlo.analysis.backend_config import known_trip_count
from xla_explorer.hlo.analysis.cost import FREE, Cost, contractions, instruction_cost
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

WHOLE_PROGRAM = "(whole program)"
"""The name of the whole program's row in a table of kernels."""

_NO_KERNEL = FREE | {
    "tuple",
    "while",
    "conditional",
    "call",
    "partition-id",
    "replica-id",
    "after-all",
}

# One core for every kernel, so that ours and XLA's are comparable.
_CORE = FusionCostModel(HOST_LIKE)


class KernelCost(NamedTuple):
    """A kernel and its predicted cost.

    times: executions per run of the program. An unknown trip count counts 1, a branch of a
    conditional its share. cost: of one execution. gpu: the estimate of one execution on a GPU, None
    for a CPU.
    """

    instruction: HloInstruction
    times: float
    cost: Cost
    gpu: KernelEstimate | None = None

    @property
    def nanoseconds(self) -> float:
        """Predicted time of all its executions, on one core or on the GPU."""
        return self.times * (
            self.gpu.nanoseconds if self.gpu is not None else sum(self._parts.values())
        )

    @property
    def bound(self) -> str:
        """The largest part of the predicted time: `launch`, `memory` or `arithmetic`."""
        return max(self._parts.items(), key=lambda part: part[1])[0]

    @property
    def _parts(self) -> dict[str, float]:
        """Nanoseconds of one execution by part; on a GPU memory and arithmetic overlap."""
        if self.gpu is not None:
            rest = self.gpu.nanoseconds - max(self.gpu.memory, self.gpu.compute)
            return {"launch": rest, "memory": self.gpu.memory, "arithmetic": self.gpu.compute}
        size = max(self.cost.bytes_read, self.cost.bytes_written)
        work = _CORE.plain * self.cost.flops
        if product := next(iter(contractions(self.instruction)), None):
            # Register tiles and libraries come near the peak if they support the type.
            element = product.shape.element_type if product.shape.is_array else None
            work = self.cost.flops / flops_rate(HOST_LIKE, product.opcode.name, element)
        return {
            "launch": _CORE.launch,
            "memory": _CORE.nanoseconds_per_byte(size) * self.cost.bytes_accessed,
            "arithmetic": work + _CORE.function * self.cost.transcendentals,
        }


_LOW_ROOF, _SHORT_US = 0.1, 5.0
"""A kernel far below any roof is bound by its launch if it is short, else by latencies."""


def measured_bound(
    microseconds: float, memory: float, arithmetic: float, launches: float = 1.0
) -> str:
    """Return the limit of a kernel of this duration.

    memory, arithmetic: the microseconds that the machine needs for each.
    """
    if max(memory, arithmetic) < _LOW_ROOF * microseconds:
        return "launch" if microseconds < _SHORT_US * max(launches, 1.0) else "latency"
    return "memory" if memory >= arithmetic else "arithmetic"


class ProgramCost(NamedTuple):
    """The predicted cost of a program.

    kernels: different ones. launches, bytes_read, bytes_written: per run. microseconds: predicted.
    """

    kernels: int
    launches: float
    bytes_read: float
    bytes_written: float
    microseconds: float

    @property
    def bytes_accessed(self) -> float:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written


def kernel_costs(module: HloModule, target: Target | None = None) -> list[KernelCost]:
    """Return every kernel that the entry reaches through loops, branches and calls, in order.

    target: a GPU's numbers, if it is one.
    """
    gpu = target if target is not None and target.gpu is not None else None
    found: list[KernelCost] = []
    work: list[tuple[HloComputation, float]] = [(module.entry, 1.0)]
    while work:
        computation, times = work.pop()
        for i in computation.sequence():
            name = i.opcode.name
            if name == "while":
                inside = times * (known_trip_count(i) or 1)
                work += [(callee, inside) for callee in i.called]
            elif name == "conditional":
                work += [(callee, times / len(i.called)) for callee in i.called]
            elif name == "call":
                work.append((i.called[0], times))
            elif name not in _NO_KERNEL:
                found.append(
                    KernelCost(
                        i,
                        times,
                        instruction_cost(i),
                        finished_kernel_estimate(gpu, i) if gpu is not None else None,
                    )
                )
    return found


@kept
def costs_of(session: Compilation) -> list[KernelCost]:
    """Return the kernels of a compile with their costs on its target."""
    return kernel_costs(session.module, session.passes.record.target)


def program_cost(module: HloModule, target: Target | None = None) -> ProgramCost:
    """Return the sums over the kernels. target: see `kernel_costs`."""
    kernels = kernel_costs(module, target)
    return ProgramCost(
        len(kernels),
        sum([k.times for k in kernels]),
        sum([k.times * k.cost.bytes_read for k in kernels]),
        sum([k.times * k.cost.bytes_written for k in kernels]),
        sum([k.nanoseconds for k in kernels]) / 1e3,
    )


def member_costs(
    session: Compilation, i: HloInstruction, opcode: str
) -> list[tuple[HloInstruction, float]]:
    """Return the instructions of a kernel with their estimated costs: operations plus result bytes.

    A kernel of one instruction has none. opcode: `entry` if one step runs the whole program.
    """
    computation = (
        session.module.entry
        if opcode == "entry"
        else i.called[0]
        if i.opcode.name == "fusion"
        else None
    )
    members = computation.instructions.values() if computation is not None else ()
    inner = [j for j in members if j.opcode.name not in FREE and j.opcode.name != "tuple"]
    costs = [(j, instruction_cost(j)) for j in inner]
    return [(j, cost.flops + cost.transcendentals + j.shape.byte_size) for j, cost in costs]
