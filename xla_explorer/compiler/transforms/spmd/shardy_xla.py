"""Propagation of shardings, Shardy's way. Source: xla/service/spmd/shardy/shardy_xla_pass.cc."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
from xla_explorer.compiler.spmd.propagation.module_writer import ModuleWriter
from xla_explorer.compiler.spmd.propagation.shardy import ShardyPropagation
from xla_explorer.compiler.spmd.propagation.steps import PropagationRefusal, PropagationStep
from xla_explorer.compiler.transforms.inlining.call_inliner import CallInliner
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.foundation.reason import Reason, refuse, settled
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

KIND = "sharding-propagation"


@register_pass()
@dataclasses.dataclass(frozen=True)
class ShardyXla:
    """Give each instruction a sharding that follows from the annotations of the program."""

    name: ClassVar[str] = "shardy-xla"
    kinds: ClassVar[tuple[str, ...]] = (KIND,)

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Inline calls, propagate, and write the shardings."""
        before = module.snapshot()
        CallInliner().run(module, context)
        graph = graph_of(module)
        if graph.mesh.axes:

            def decide(i: HloInstruction, steps: Sequence[PropagationStep]) -> bool:
                check = settled("rule-passes-axes", None, lambda: passed_axes(steps))
                reason = context.decide(KIND, (check,), (), i, facts=lambda: facts_of(steps))
                return reason is None

            propagation = ShardyPropagation(graph, decide).run()
            if context.decisions_on:
                by_name = {i.name: i for i in module.instructions()}
                for refusal in propagation.refusals():
                    record_refusal(context, by_name[refusal.instruction], refusal)
            ModuleWriter(module, graph).write()
            DeadCodeElimination().run(module, context)
        return module.snapshot() != before


def facts_of(steps: Sequence[PropagationStep]) -> dict[str, object]:
    """Return what the journal keeps of the axes that an instruction took at once."""
    if not steps:
        return {}
    first = steps[0]
    return {
        "step": first.step,
        "priority": first.priority,
        "level": first.level,
        "by": first.instruction,
        "rule": first.rule,
        "axes": ", ".join([f"{one.axis} on dimension {one.dimension}" for one in steps]),
        "factor": ", ".join([one.factor for one in steps]),
        "source": f"{first.source} {first.source_value}",
        "target": first.target,
        "origin": ", ".join(dict.fromkeys([one.origin for one in steps])),
    }


def passed_axes(steps: Sequence[PropagationStep]) -> str:
    """Return the axes that an instruction takes, and the operation that passes them on."""
    axes = ", ".join(dict.fromkeys([one.axis for one in steps]))
    return f"%{steps[0].instruction} passes on {axes}" if steps else "its group has the axes"


def record_refusal(context: PassContext, i: HloInstruction, refusal: PropagationRefusal) -> None:
    """Write an axis that an instruction's operand or result did not take to the journal."""
    reason = reason_of(refusal)
    check = settled(refusal.code, reason, lambda: str(refusal))
    context.decide(KIND, (check,), (), i)


_REFUSALS = {
    "closed": "{where} is closed to {axis}",
    "axis-in-use": "{where} uses {axis} for another dimension",
    "explicitly-replicated": "{where} is replicated along {axis}",
    "unreduced": "{where} holds terms of a sum along {axis}",
    "indivisible": "{axis} does not divide factor {factor}",
    "blocked-factor": "the rule of {where} blocks factor {factor}",
    "conflict": "{where} is split along other axes than {axis}",
}


def reason_of(refusal: PropagationRefusal) -> Reason:
    """Return the reason of a refusal, with its axis, factor and rule."""
    where = f"{refusal.target} of %{refusal.instruction} ({refusal.target_value})"
    facts = {
        "axis": refusal.axis,
        "factor": refusal.factor,
        "rule": refusal.rule,
        "source": refusal.source,
        "holder": refusal.holder,
    }
    sentence = _REFUSALS[refusal.code]
    message = sentence.format(where=where, axis=refusal.axis, factor=refusal.factor)
    return refuse(refusal.code, message, **facts)
