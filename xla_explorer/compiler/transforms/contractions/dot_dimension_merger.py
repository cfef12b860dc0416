"""Merging of dot batch dimensions.

Source: xla/hlo/transforms/simplifiers/dot_dimension_merger.cc.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    own_attributes,
    values_of,
)
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.shape import Shape


def _are_contiguous(shape: Shape, dims: tuple[int, ...]) -> bool:
    """Return True for ascending adjacent dimensions, each next to the one before in memory."""
    order = shape.layout.minor_to_major
    return all(
        b == a + 1 and order.index(b) + 1 == order.index(a) for a, b in itertools.pairwise(dims)
    )


@value_formatter(
    lambda i: (
        f"batch dimensions {list(i.attributes.value('lhs_batch_dims'))} and "
        f"{list(i.attributes.value('rhs_batch_dims'))}"
    )
)
def batches_are_contiguous(i: HloInstruction) -> Reason | None:
    """Require adjacent static batch dimensions, in order and in memory, in operands and result."""
    dynamic = next((x for x in (i, *i.operands) if any(x.shape.dynamic)), None)
    if dynamic is not None:
        return refuse("dynamic-shape", f"%{dynamic.name} is {dynamic.shape}")
    for side, operand in zip(("lhs", "rhs"), i.operands, strict=True):
        if not _are_contiguous(operand.shape, i.attributes.value(f"{side}_batch_dims")):
            return refuse(
                "batch-scattered",
                f"the batch dimensions of %{operand.name} are not adjacent",
                side=side,
            )
    if not _are_contiguous(i.shape, tuple(range(len(i.attributes.value("lhs_batch_dims"))))):
        return refuse(
            "batch-scattered",
            f"the batch dimensions of %{i.name} are not adjacent",
            side="result",
        )
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotDimensionMerger(OpExpanderPass):
    """Merge adjacent batch dimensions of a dot into one."""

    name: ClassVar[str] = "dot_dimension_merger"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for several batch dimensions."""
        return len(i.attributes.value("lhs_batch_dims")) > 1

    def legality(self) -> tuple[Predicate, ...]:
        """Return the check that merging moves no byte."""
        return (batches_are_contiguous,)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshapes of both operands, the dot, and a reshape."""
        count = len(i.attributes.value("lhs_batch_dims"))
        changes: dict[str, tuple[int, ...]] = {}
        made = []
        for side, x in zip(("lhs", "rhs"), values_of(b, i), strict=True):
            first = i.attributes.value(f"{side}_batch_dims")[0]
            contracting = i.attributes.value(f"{side}_contracting_dims")
            changes[f"{side}_batch_dims"] = (first,)
            changes[f"{side}_contracting_dims"] = tuple(
                [d if d < first else d - count + 1 for d in contracting]
            )
            made.append(b.emit("reshape", (x,), {}, shape=_merged(x.shape, first, count)))
        dot = b.emit(
            "dot", made, {**own_attributes(i), **changes}, shape=_merged(i.shape, 0, count)
        )
        return b.emit("reshape", (dot,), {}, shape=i.shape)


def _merged(shape: Shape, first: int, count: int) -> Shape:
    """Return the shape with `count` dimensions from `first` on merged."""
    sizes = shape.dimensions
    order = [
        d if d <= first else d - count + 1
        for d in shape.layout.minor_to_major
        if not first < d < first + count
    ]
    merged = (*sizes[:first], math.prod(sizes[first : first + count]), *sizes[first + count :])
    return shape.with_dimensions(merged).with_layout(layout(tuple(order), shape.layout.properties))
