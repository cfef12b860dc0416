"""Who calls whom: call sites of each computation, and which computations run as programs.

A computation is sequential when while, conditional or call run it (its instructions are kernels with buffers of their own),
embedded when it is applied inside a kernel (reducers, comparators, bodies of fusions). Source: xla/service/call_graph.h.
"""

from __future__ import annotations

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

CONTROL_FLOW_NAMES = frozenset({"while", "conditional", "call"})


def call_sites(module: HloModule) -> dict[HloComputation, list[HloInstruction]]:
    """For every computation the instructions that call it (an instruction that calls it twice is listed twice)."""
    sites: dict[HloComputation, list[HloInstruction]] = {
        c: [] for c in module.computations.values()
    }
    for computation in module.computations.values():
        for i in computation.instructions.values():
            for callee in i.called:
                sites.setdefault(callee, []).append(i)
    return sites


def sequential_computations(module: HloModule) -> list[HloComputation]:
    """The entry and what while, conditional and call run from there, callees first."""
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
    """Sequential computations with more than one call site: they must be cloned before buffers can be assigned."""
    count: dict[HloComputation, int] = {}
    for computation in sequential_computations(module):
        for i in computation.instructions.values():
            if i.called and i.opcode.name in CONTROL_FLOW_NAMES:
                for callee in i.called:
                    count[callee] = count.get(callee, 0) + 1
    return [c for c, n in count.items() if n > 1]
