"""negate-to-subtract: -x becomes 0 - x for integers.

Of no use, but complete: options, a check with a Reason, a recorded decision.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.plugin import (
    HloInstruction,
    HloModule,
    PassContext,
    Reason,
    literal_from_array,
    refuse,
    register_pass,
)


def is_integer(i: HloInstruction) -> Reason | None:
    """Refuse floats: 0 - 0 is +0, but -0 is -0."""
    if i.shape.element_type.is_integer:
        return None
    return refuse(
        "not-an-integer",
        f"%{i.name} is {i.shape}; 0 - x loses the sign of a zero",
        element_type=i.shape.element_type.name,
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class NegateToSubtract:
    """max_elements: larger arrays are left alone."""

    name: ClassVar[str] = "negate-to-subtract"
    max_elements: int = 1 << 20

    def is_small(self, i: HloInstruction) -> Reason | None:
        """Refuse large arrays; an option as a check."""
        if i.shape.element_count <= self.max_elements:
            return None
        return refuse(
            "too-large",
            f"%{i.name} has {i.shape.element_count} elements, the limit is {self.max_elements}",
            limit=self.max_elements,
        )

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rewrite every negate of the module."""
        changed = False
        for computation in module.computations.values():
            for i in list(computation.instructions.values()):
                if (
                    i.opcode.name != "negate"
                    or context.decide(self.name, (is_integer,), (self.is_small,), i) is not None
                ):
                    continue
                zero = computation.add_constant(literal_from_array(0, i.shape.with_dimensions(())))
                zeros = computation.add("broadcast", i.shape, (zero,))
                computation.replace(
                    i,
                    computation.add(
                        "subtract", i.shape, (zeros, i.operands[0]), metadata=i.metadata
                    ),
                )
                computation.remove(i)
                changed = True
        return changed
