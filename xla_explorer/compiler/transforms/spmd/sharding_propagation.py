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
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


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
        _make_uneven_ends_whole(module)
        return module.snapshot() != before


def _make_uneven_ends_whole(module: HloModule) -> None:
    """Replace uneven shardings that propagation chose for parameters and results by whole copies.

    The caller of a program holds even parts only.
    """
    ends = {"output": [module.entry.root], "parameters": module.entry.parameters()}
    for key, instructions in ends.items():
        stated = module.attributes.get(f"allow_spmd_sharding_propagation_to_{key}")
        free = [word.strip() == "true" for word in str(stated or "").strip("{}").split(",")]
        at = 0
        for i in instructions:
            text = i.attributes.get("sharding")
            shapes = [leaf for _, leaf in i.shape.leaves()]
            found = Sharding.read_all(text) if text else []
            if len(found) == len(shapes):
                chosen = [
                    Sharding() if _is_free(free, at + k) and _is_uneven(s, shape) else s
                    for k, (s, shape) in enumerate(zip(found, shapes, strict=True))
                ]
                if chosen != found:
                    listed = ", ".join(map(str, chosen))
                    whole = f"{{{listed}}}" if i.shape.is_tuple else listed
                    i.parent.set_attributes(i, i.attributes.with_values(sharding=whole))
            at += len(shapes)


def _is_free(free: Sequence[bool], leaf: int) -> bool:
    return free[0] if len(free) == 1 else leaf < len(free) and free[leaf]


def _is_uneven(sharding: Sharding, shape: Shape) -> bool:
    if sharding.kind != "tiled" or not shape.is_array:
        return False
    return any(n % t for n, t in zip(shape.dimensions, sharding.tiles, strict=False))
