"""The pass `flatten-call-graph`: one caller, by cloning, for computations that control flow runs.

Buffers of a computation are fixed places, so two callers need two clones. Source:
xla/service/flatten_call_graph.cc.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Reason, settled
from xla_explorer.hlo.analysis.call_graph import (
    CONTROL_FLOW_NAMES,
    call_sites,
    shared_sequential_computations,
)
from xla_explorer.hlo.analysis.call_graph_size import expanded_sizes, size_limit, too_large
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule


def why_not_flat(module: HloModule) -> Reason | None:
    """Return why computations with several callers stay shared, or None."""
    size, limit = (
        expanded_sizes(module, lambda i: i.opcode.name in CONTROL_FLOW_NAMES)[module.entry],
        size_limit(module),
    )
    return (
        too_large("a copy of each computation for each of its callers", size, limit)
        if size > limit
        else None
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class FlattenCallGraph:
    """Clone computations that several instructions call.

    flatten_embedded: clone computations inside kernels (reducers, comparators) too, as XLA does;
    buffers do not require it.
    """

    name: ClassVar[str] = "flatten-call-graph"
    kinds: ClassVar[tuple[str, ...]] = ("call-site-copies",)
    flatten_embedded: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Clone for callers before callees, so that callees of clones are cloned in turn.

        Nothing is cloned beyond the size limit.
        """
        reason = why_not_flat(module)
        if reason is not None:
            caller = next(
                i for c in shared_sequential_computations(module) for i in call_sites(module)[c]
            )
            context.decide(
                "call-site-copies",
                (settled("copies-within-limit", reason, functools.partial(_growth, reason)),),
                (),
                caller,
            )
            return False
        changed = False
        taken: set[HloComputation] = {module.entry}
        if not self.flatten_embedded:
            taken.update(
                [
                    c
                    for c, sites in call_sites(module).items()
                    if any(i.opcode.name not in CONTROL_FLOW_NAMES for i in sites)
                ]
            )
        pending = [module.entry]
        while pending:
            computation = pending.pop()
            for i in list(computation.post_order()):
                if not i.called or not (
                    self.flatten_embedded or i.opcode.name in CONTROL_FLOW_NAMES
                ):
                    continue
                callees = []
                for callee in i.called:
                    if callee in taken:
                        callee = callee.clone(f"{callee.name}.clone")
                    taken.add(callee)
                    pending.append(callee)
                    callees.append(callee)
                if tuple(callees) != i.called:
                    computation.set_called(i, tuple(callees))
                    changed = True
        if changed:
            order = module.post_order_computations()
            reached = set(order)
            module.computations = {
                c.name: c
                for c in (*[c for c in module.computations.values() if c not in reached], *order)
            }
        return changed


def _growth(reason: Reason) -> str:
    return at_most("instructions", reason.facts["instructions"], reason.facts["limit"])
