"""Reductions of separate dimensions, one after the other.

Source: xla/service/gpu/transforms/reduction_splitter.cc.
"""

from __future__ import annotations

import dataclasses
from math import prod
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.simplifiers.algebraic.reductions import starts_from_identity
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction

LONG_ROW = 1024  # elements of a run from which combining its accumulators costs next to nothing
FEW = 8  # runs that do not repay an array between the reductions
SMALL = 4096  # elements of an input that does not repay two loops


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReductionSplitter(OpExpanderPass):
    """Reduce outer dimensions before a short innermost run if a kept dimension separates them.

    The outer ones are reduced by columns, contiguous in vectors. The run is then reduced once per
    result instead of once per result and row. The intermediate value is rounded to the element
    type, so floats of 16 bits are skipped.
    """

    name: ClassVar[str] = "reduction-splitter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for one row-major operand, separate reduced dimensions, a short last run."""
        x = i.operands[0].shape
        if (
            len(i.operands) != 2
            or any(x.dynamic)
            or x.element_count < SMALL
            or not x.layout.is_default
        ):
            return False
        if x.element_type.is_float and x.element_type.bits < 32:
            return False
        run = _last_run(i)
        outer = set(i.attributes["dimensions"]) - set(run)
        extent = prod([x.dimensions[d] for d in run])
        apart = (
            bool(run)
            and bool(outer)
            and 1 < extent < LONG_ROW
            and prod([x.dimensions[d] for d in outer]) >= FEW
        )
        return apart and starts_from_identity(i, i.operands[1]) is None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return two reduces."""
        x, start = values_of(b, i)
        run = _last_run(i)
        outer = [d for d in i.attributes["dimensions"] if d not in run]
        part = b.reduce(x, start, dimensions=outer, to_apply=i.called[0])
        return b.reduce(part, start, dimensions=[d - len(outer) for d in run], to_apply=i.called[0])


def _last_run(i: HloInstruction) -> list[int]:
    """Return the reduced dimensions at the end of the operand, after the last kept one."""
    reduced, sizes = i.attributes["dimensions"], i.operands[0].shape.dimensions
    first = len(sizes)
    while first and (first - 1 in reduced):
        first -= 1
    return list(range(first, len(sizes)))
