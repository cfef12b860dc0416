"""Propagation of shardings, GSPMD's way. Source: xla/service/sharding_propagation.cc."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
from xla_explorer.compiler.spmd.propagation.gspmd import GspmdPropagation
from xla_explorer.compiler.spmd.propagation.module_writer import ModuleWriter
from xla_explorer.compiler.spmd.propagation.steps import PropagationStep
from xla_explorer.compiler.transforms.spmd.shardy_xla import KIND, facts_of, passed_axes
from xla_explorer.foundation.reason import settled
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class ShardingPropagation:
    """Give each instruction the first sharding that reaches it, if it only gets more specific."""

    name: ClassVar[str] = "sharding-propagation"
    kinds: ClassVar[tuple[str, ...]] = (KIND,)

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Propagate in sweeps, and write the shardings."""
        before = module.snapshot()

        def decide(i: HloInstruction, steps: Sequence[PropagationStep]) -> bool:
            check = settled("rule-passes-axes", None, lambda: passed_axes(steps))
            return context.decide(KIND, (check,), (), i, facts=lambda: facts_of(steps)) is None

        graph = graph_of(module, copies_constants=False)
        GspmdPropagation(graph, decide).run()
        ModuleWriter(module, graph, reshards=False).write()
        return module.snapshot() != before
