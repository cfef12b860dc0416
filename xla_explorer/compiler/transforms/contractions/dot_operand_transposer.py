"""Packing of dot operands: a transpose makes contracted dimensions contiguous if uses repay it."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.codegen.kernels.products.dot_geometry import single_stride
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    own_attributes,
    values_of,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction

# uses per copied element: a product over scattered dimensions takes some 0.4 ns a use, a copy 1 to
# 2 ns an element
LEAST_USES = 8


class _Side(NamedTuple):
    """The batch, free and contracted dimensions of an operand."""

    batch: tuple[int, ...]
    free: tuple[int, ...]
    contracted: tuple[int, ...]


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotOperandTransposer(OpExpanderPass):
    """Give contracted dimensions of both operands one order, contiguous in memory."""

    name: ClassVar[str] = "dot-operand-transposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for several contracted dimensions and an order or transpose that pays."""
        several = len(i.attributes.value("lhs_contracting_dims")) > 1
        return (
            several
            and i.shape.element_count > 0
            and not any(any(o.shape.dynamic) for o in i.operands)
            and _plan(i) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the same dot of operands that are matrices in memory."""
        plan = _plan(i)
        assert plan is not None
        order, scattered = plan
        attributes, values = own_attributes(i), []
        for name, side, x, wanted in zip(
            ("lhs", "rhs"), _sides(i), values_of(b, i), scattered, strict=True
        ):
            contracted = [side.contracted[k] for k in order]
            if wanted:  # the left operand's rows and the right one's columns are contiguous
                dimensions = [
                    *side.batch,
                    *((*side.free, *contracted) if name == "lhs" else (*contracted, *side.free)),
                ]
                x = b.transpose(x, dimensions=dimensions)
                attributes[f"{name}_batch_dims"] = tuple(range(len(side.batch)))
                contracted = [dimensions.index(d) for d in contracted]
            attributes[f"{name}_contracting_dims"] = tuple(contracted)
            values.append(x)
        return b.emit("dot", values, attributes, shape=i.shape)


def _sides(i: HloInstruction) -> list[_Side]:
    found = []
    for name, operand in zip(("lhs", "rhs"), i.operands, strict=True):
        batch, contracted = (
            i.attributes.value(f"{name}_batch_dims"),
            i.attributes.value(f"{name}_contracting_dims"),
        )
        found.append(
            _Side(
                batch,
                tuple([d for d in range(operand.shape.rank) if d not in (*batch, *contracted)]),
                contracted,
            )
        )
    return found


def _plan(i: HloInstruction) -> tuple[list[int], list[bool]] | None:
    """Return the order of contracted dimensions and the operands to transpose, or None."""
    sides = _sides(i)
    shapes = [o.shape for o in i.operands]
    count = len(sides[0].contracted)
    orders = [
        list(range(count)),
        *[sorted(range(count), key=side.contracted.__getitem__) for side in sides],
    ]

    def scattered(order: list[int]) -> list[bool]:
        listed = [[side.contracted[k] for k in order] for side in sides]
        return [
            single_stride(shape, tuple(dims)) is None
            for shape, dims in zip(shapes, listed, strict=True)
        ]

    def copied(order: list[int]) -> int:
        return sum(
            [
                shape.byte_size
                for shape, wanted in zip(shapes, scattered(order), strict=True)
                if wanted
            ]
        )

    best = min(orders, key=copied)
    wanted = scattered(best)
    if not any(wanted):
        return (best, wanted) if best != orders[0] else None
    uses = [math.prod([shapes[1 - k].dimensions[d] for d in sides[1 - k].free]) for k in (0, 1)]
    pays = all(count >= LEAST_USES for count, copies in zip(uses, wanted, strict=True) if copies)
    return (best, wanted) if pays else None
