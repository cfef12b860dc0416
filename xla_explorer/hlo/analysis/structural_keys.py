"""Keys of computations: equal for the same operations in the same order, whatever their names."""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal

_BESIDE_VALUE = {"sharding": None, "origin": None}


def without_sharding(attributes: Attributes) -> Attributes:
    """Return the attributes that affect the value, without sharding and origin."""
    return attributes.with_values(**_BESIDE_VALUE) if attributes.sharding_text else attributes


def order_from_root(computation: HloComputation) -> list[HloInstruction]:
    """Return instructions in post order from the root, then from parameters and dead code.

    Operands are visited in operand order, so the result does not depend on the order of creation.
    """
    found: dict[HloInstruction, None] = {}
    for start in (computation.root, *computation.parameters(), *computation.post_order()):
        stack = [start]
        while stack:
            i = stack[-1]
            missing = (
                [o for o in (*i.operands, *i.control_predecessors) if o not in found]
                if i not in found
                else []
            )
            if missing:
                stack.append(missing[0])
            else:
                found[stack.pop()] = None
    return list(found)


class StructuralKeys:
    """Keys by which computations are compared.

    Equal computations have the same operations in the same order on the same parameters, names
    aside.
    """

    def __init__(self, layout_sensitive: bool) -> None:
        self.layout_sensitive = layout_sensitive
        self._keys: dict[HloComputation, Any] = {}
        self._numbers: dict[Any, int] = {}

    def of(self, computation: HloComputation) -> int:
        """Return the number of the computation's class of equal computations."""
        found = self._keys.get(computation)
        if found is None:
            order = order_from_root(computation)
            place = {i: number for number, i in enumerate(order)}
            rows = tuple([(*self.parts(i), tuple([place[o] for o in i.operands])) for i in order])
            found = self._keys[computation] = self._numbers.setdefault(
                (rows, place[computation.root]), len(self._numbers)
            )
        return int(found)

    def parts(self, i: HloInstruction) -> tuple[Any, ...]:
        """Return the properties that must be equal besides operands."""
        payload = i.payload.key if isinstance(i.payload, Literal) else i.payload
        return (
            i.opcode,
            i.shape if self.layout_sensitive else i.shape.base,
            without_sharding(i.attributes),
            payload,
            tuple([self.of(c) for c in i.called]) if i.called else (),
        )
