"""The call graph: call sites of each computation, and sequential computations.

A computation is sequential if while, conditional or call run it: its instructions are kernels with
their own buffers. It is embedded if it is applied inside a kernel (reducers, comparators, bodies of
fusions). Source: xla/service/call_graph.h.
"""

from __future__ import annotations

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

CONTROL_FLOW_NAMES = frozenset({"while", "conditional", "call"})


def call_sites(module: HloModule) -> dict[HloComputation, list[HloInstruction]]:
    """Return the instructions that call each computation, twice if they call it twice."""
    sites: dict[HloComputation, list[HloInstruction]] = {
        c: [] for c in module.computations.values()
    }
    for computation in module.computations.values():
        for i in computation.instructions.values():
            for callee in i.called:
                sites.setdefault(callee, []).append(i)
    return sites


def sequential_computations(module: HloModule) -> list[HloComputation]:
    """Return the entry and the computations that while, conditional and call run, callees first."""
    order: list[HloComputation] = []
    seen: set[HloComputation] = {module.entry}
    stack: list[tuple[HloComputation, bool]] = [(module.entry, False)]
    while stack:
        computation, finished = stack.pop()
        if finished:
            order.append(computation)
            continue
        stack.append((computation, True))
        for i in computation.instructions.values():
            if i.called and i.opcode.name in CONTROL_FLOW_NAMES:
                for callee in i.called:
                    if callee not in seen:
                        seen.add(callee)
                        stack.append((callee, False))
    return order


def shared_sequential_computations(module: HloModule) -> list[HloComputation]:
    """Return sequential computations with several call sites.

    Buffer assignment needs a clone for each site.
    """
    count: dict[HloComputation, int] = {}
    for computation in sequential_computations(module):
        for i in computation.instructions.values():
            if i.called and i.opcode.name in CONTROL_FLOW_NAMES:
                for callee in i.called:
                    count[callee] = count.get(callee, 0) + 1
    return [c for c, n in count.items() if n > 1]
