"""Each called computation gets one caller only. Source: xla/service/flatten_call_graph.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule

_SEQUENTIAL = frozenset(["call", "while", "conditional", "async-start"])  # XLA's control flow context: called once, in sequence


@register_pass()
@dataclasses.dataclass(frozen=True)
class FlattenCallGraph:
    """Computations that calls, loops and conditionals share are copied, so that each has one caller and its own buffers."""

    name: ClassVar[str] = "flatten-call-graph"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Copy from the entry downwards, so that what a copy calls is shared, and copied, in turn."""
        changed = False
        taken: set[HloComputation] = set()
        pending = [module.entry]
        visited: set[HloComputation] = set()
        while pending:
            computation = pending.pop()
            if computation in visited:
                continue
            visited.add(computation)
            for i in list(computation.instructions.values()):
                if i.opcode.name not in _SEQUENTIAL or not i.called:
                    continue
                called = []
                for callee in i.called:
                    if callee in taken:
                        callee = callee.clone(f"{callee.name}.clone")
                        changed = True
                    taken.add(callee)
                    called.append(callee)
                    pending.append(callee)
                if tuple(called) != i.called:
                    computation.set_called(i, tuple(called))
        if changed:
            restore_order(module)
        return changed


def restore_order(module: HloModule) -> None:
    """Callees before callers again, after computations were added; unreachable ones stay, in front."""
    order = module.post_order_computations()
    reachable = set(order)
    rest = [c for c in module.computations.values() if c not in reachable]
    module.computations = {c.name: c for c in [*rest, *order]}
