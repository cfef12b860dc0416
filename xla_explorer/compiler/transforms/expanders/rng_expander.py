"""Stateful random numbers as random bits of a state and arithmetic.

Source: xla/service/rng_expander.cc.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PRIMITIVE_TYPES, U64
from xla_explorer.hlo.shape import array_shape, tuple_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class RngExpander(OpExpanderPass):
    """Expand rng: uniform numbers from the upper bits, normal ones by Box and Muller.

    The state is the machine's.
    """

    name: ClassVar[str] = "rng-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["rng"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return rng-get-and-update-state, rng-bit-generator and arithmetic."""
        low, high = values_of(b, i)[:2]  # older texts pass the shape, too
        kind, dimensions = i.shape.element_type, i.shape.dimensions
        normal = i.attributes["distribution"] == "rng_normal"
        width = 64 if kind.bits > 32 else 32
        bits = PRIMITIVE_TYPES[f"u{width}"]
        wide = kind if kind.is_float and kind.bits >= 32 else F32
        state = b.rng_get_and_update_state(
            delta=i.shape.element_count * (2 if normal else 1), shape=array_shape(U64, (2,))
        )
        drawn = b.rng_bit_generator(
            state,
            algorithm="rng_default",
            shape=tuple_shape(
                [state.shape, array_shape(bits, (2, *dimensions) if normal else dimensions)]
            ),
        )[1]
        first, second = [b.broadcast(x, dimensions, ()) for x in (low, high)]
        if kind.is_pred or kind.is_integer:
            span = (
                (second.astype(bits) - first.astype(bits))
                if not kind.is_pred
                else b.broadcast(b.constant(2, bits), dimensions, ())
            )
            offset = drawn % span
            return (offset + first.astype(bits)).astype(kind)
        mantissa = 52 if wide.bits == 64 else 23
        unit = (drawn >> (width - mantissa)).astype(wide) * float(2.0**-mantissa)
        if not normal:
            value = (first.astype(wide) + unit * (second.astype(wide) - first.astype(wide))).astype(
                kind
            )
            # Rounding may reach the upper end, which is excluded.
            return b.select((value >= second) & (second > first), first, value)
        rest = [(0, n, 1) for n in dimensions]
        u, v = [b.reshape(b.slice(unit, slice=[(k, k + 1, 1), *rest]), dimensions) for k in (0, 1)]
        value = ((1.0 - u).log() * -2.0).sqrt() * (v * (2.0 * math.pi)).cos()
        return (first.astype(wide) + value * second.astype(wide)).astype(kind)
