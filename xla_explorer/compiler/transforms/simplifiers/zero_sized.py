"""Constants for arrays without elements.

Source: xla/hlo/transforms/simplifiers/zero_sized_hlo_elimination.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.rearranging import (
    is_short_to_write,
)
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, PARAMETER


def eliminate_zero_sized(computation: HloComputation) -> int:
    """Replace instructions without elements and side effects by empty constants."""
    count = 0
    targets = control_targets(computation)
    for i in list(computation.post_order()):
        shape = i.shape
        if (
            shape.element_count
            or not shape.is_array
            or not shape.rank
            or any(shape.dynamic)
            or not is_short_to_write(shape)
            or i.opcode in (CONSTANT, PARAMETER)
        ):
            continue
        if (
            i.id not in computation.instructions
            or i.control_predecessors
            or i in targets
            or has_side_effect(i)
        ):
            continue
        made = computation.add_constant(
            literal_from_array(np.zeros(shape.dimensions, shape.element_type.dtype), shape)
        )
        made.metadata = i.metadata
        computation.replace(i, made)
        remove_if_dead(computation, i, targets)
        count += 1
    return count


@register_pass("zero-sized-hlo-elimination")
@dataclasses.dataclass(frozen=True)
class ZeroSizedHloElimination:
    """Replace instructions whose array has no elements by empty constants."""

    name: ClassVar[str] = "zero_sized_hlo_elimination"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Eliminate in every computation."""
        return sum([eliminate_zero_sized(c) for c in module.computations.values()]) > 0
