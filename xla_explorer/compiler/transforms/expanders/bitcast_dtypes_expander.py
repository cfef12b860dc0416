"""Shifts for bitcast-convert between types of different widths.

Source: xla/hlo/transforms/expanders/bitcast_dtypes_expander.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import Shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class BitcastDtypesExpander(OpExpanderPass):
    """Replace bitcast-convert between widths by shifts.

    To narrower types, each piece is shifted down and masked. To wider types, the pieces are shifted
    up and joined by or.
    """

    name: ClassVar[str] = "bitcast_dtypes_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["bitcast-convert"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if widths differ, and both have an unsigned integer type."""
        widths = (i.operands[0].shape.element_type.bits, i.shape.element_type.bits)
        return widths[0] != widths[1] and all(f"u{w}" in PRIMITIVE_TYPES for w in widths)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the conversion through unsigned integers of both widths."""
        [x] = values_of(b, i)
        old, new = x.dtype.bits, i.shape.element_type.bits
        wide, narrow = PRIMITIVE_TYPES[f"u{max(old, new)}"], PRIMITIVE_TYPES[f"u{min(old, new)}"]
        if new < old:
            dimensions = i.shape.dimensions
            single = b.emit(
                "reshape", (x,), {}, shape=x.shape.base.with_dimensions((*x.shape.dimensions, 1))
            )
            single = b.broadcast(single, single.shape, range(x.ndim + 1))
            repeated = b.broadcast(
                b.emit("reshape", (single,), {}, shape=x.shape.base), dimensions, range(x.ndim)
            )
            pieces = b.bitcast_convert(repeated, wide) >> self._shifts(
                b, i.shape.with_element_type(wide), new
            )
            mask = b.broadcast(b.constant((1 << new) - 1, wide), dimensions, ())
            return b.bitcast_convert((pieces & mask).astype(narrow), i.shape.element_type)
        pieces = b.bitcast_convert(x, narrow).astype(wide)
        shifted = pieces << self._shifts(b, pieces.shape, old)
        return b.bitcast_convert(
            shifted.reduce(lambda p, q: p | q, 0, (x.ndim - 1,)), i.shape.element_type
        )

    @staticmethod
    def _shifts(b: HloBuilder, shape: Shape, width: int) -> HloValue:
        """Return the bits below each piece, along the last dimension."""
        return b.broadcast(b.constant(width, shape.element_type), shape.dimensions, ()) * b.iota(
            shape.base, shape.rank - 1
        )
