"""Removal of optimisation barriers after the optimisations.

Source: xla/hlo/transforms/expanders/optimization_barrier_expander.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass("optimization-barrier-expander")
@dataclasses.dataclass(frozen=True)
class OptimizationBarrierExpander(OpExpanderPass):
    """Rewrite opt-barrier(x) as x."""

    name: ClassVar[str] = "cse_barrier_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["opt-barrier"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operand."""
        return values_of(b, i)[0]
