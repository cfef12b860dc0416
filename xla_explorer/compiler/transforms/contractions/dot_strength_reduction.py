"""Products with vectors as a multiplication and a sum.

Source: xla/hlo/transforms/expanders/dot_strength_reduction.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
a side without free dimensions              multiply and reduce
narrow floats                               summed in f32
integers of several types                   converted to the result's type
the algorithm of the operands' own type     the same
algorithms of several bf16 products         hole: the dot stays
matrix times vector that a kernel does      hole: all are rewritten
faster
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotStrengthReduction(OpExpanderPass):
    """Rewrite a dot with a side without free dimensions as multiply and reduce.

    No library is faster there.
    """

    name: ClassVar[str] = "dot-strength-reduction"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if one side has no free dimension, and all have one type, or are integers."""
        kind = i.shape.element_type
        kinds = {kind, *[o.shape.element_type for o in i.operands]}
        mixed = all(k.is_float == kind.is_float and not k.is_complex for k in kinds)
        plain = f"dot_{kind.name}_{kind.name}_{kind.name}"
        used = len(i.attributes.value("lhs_batch_dims")) + len(
            i.attributes.value("lhs_contracting_dims")
        )
        return (
            (len(kinds) == 1 or (mixed and not kind.is_float))
            and any(o.shape.rank == used for o in i.operands)
            and i.attributes.get("algorithm") in (None, plain)
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return broadcasts to [batch, free, contracted], multiply, reduce.

        Narrow floats sum in f32.
        """
        sides = list(zip(("lhs", "rhs"), values_of(b, i), strict=True))
        order = []
        for side, x in sides:
            batch, contracted = (
                i.attributes.value(f"{side}_batch_dims"),
                i.attributes.value(f"{side}_contracting_dims"),
            )
            order.append(
                (
                    batch,
                    [d for d in range(x.ndim) if d not in batch and d not in contracted],
                    contracted,
                )
            )
        batches = len(order[0][0])
        depth = [sides[0][1].shape.dimensions[d] for d in order[0][2]]
        whole = (*i.shape.dimensions, *depth)
        made, first_free = [], batches
        for (_, x), (batch, free, contracted) in zip(sides, order, strict=True):
            place = {d: k for k, d in enumerate(batch)}
            place |= {d: first_free + k for k, d in enumerate(free)}
            place |= {d: i.shape.rank + k for k, d in enumerate(contracted)}
            arranged = sorted(range(x.ndim), key=place.__getitem__)
            x = x.astype(i.shape.element_type) if len({s.dtype for _, s in sides}) > 1 else x
            moved = x if arranged == list(range(x.ndim)) else b.transpose(x, dimensions=arranged)
            made.append(
                b.broadcast(moved, whole, sorted(place.values()))
                if moved.shape.dimensions != whole
                else moved
            )
            first_free += len(free)
        kind = i.shape.element_type
        product = made[0] * made[1]
        axes = tuple(range(i.shape.rank, len(whole)))
        if kind.is_float and kind.bits < 32:
            return product.astype(F32).sum(axes).astype(kind)
        return product.sum(axes)
