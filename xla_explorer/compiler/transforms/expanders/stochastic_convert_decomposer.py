"""stochastic-convert as floor, a comparison with the random bits and an increment.

Source: xla/hlo/transforms/expanders/stochastic_convert_decomposer.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@value_formatter(lambda i: f"to {i.shape.element_type.name}")
def to_signed_integer(i: HloInstruction) -> Reason | None:
    """Require a signed result; others are undefined."""
    if i.shape.element_type.is_signed:
        return None
    return refuse(
        "not-to-signed-integer",
        f"%{i.name} converts to {i.shape.element_type.name}",
        type=i.shape.element_type.name,
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class StochasticConvertDecomposer(OpExpanderPass):
    """Expand stochastic-convert: round up if the random number is below the fraction.

    Negative operands round away from zero; the result saturates.
    """

    name: ClassVar[str] = "stochastic_convert_decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["stochastic-convert"])

    def legality(self) -> tuple[Predicate, ...]:
        """Return the check for signed integers."""
        return (to_signed_integer,)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the rounded magnitude with the operand's sign."""
        x, random = values_of(b, i)
        if not random.dtype.is_unsigned:
            raise XlaExplorerError(
                f"%{i.name}: random numbers must be unsigned integers, they are {random.dtype.name}"
            )
        if random.dtype.bits != x.dtype.bits:
            raise XlaExplorerError(
                f"%{i.name}: operand and random numbers must have same bits, {x.dtype.name} and "
                f"{random.dtype.name} have not"
            )
        target = i.shape.element_type
        magnitude = x.abs()
        whole = magnitude.floor()
        fraction = ((magnitude - whole) * float(2**random.dtype.bits)).astype(random.dtype)
        truncated = whole.astype(target)
        rounded = b.select(random < fraction, truncated + 1, truncated)
        signed = b.select(x.sign() < 0, -rounded, rounded)
        least, most = -(1 << (target.bits - 1)), (1 << (target.bits - 1)) - 1
        bound = [b.broadcast(b.constant(v, target), i.shape.dimensions, ()) for v in (least, most)]
        return b.select(x >= float(most), bound[1], b.select(x <= float(least), bound[0], signed))
