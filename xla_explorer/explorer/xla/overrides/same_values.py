"""Proof that two groupings of instructions into kernels compute the same values.

Fusions group instructions and change no operation. The results of both groupings are numbered by
their operations, through fusions: equal numbers mean equal values for all arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_NOT_OF_VALUES = frozenset({"metadata", "backend_config", "frontend_attributes", "kind"})


class ResultNumbers:
    """Numbers of values: equal for equal operations of equal operands."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}

    def of_results(self, module: HloModule) -> list[int]:
        """Return the numbers of a module's results, the operands of its root tuple."""
        parameters = [
            self._number(("parameter", p.parameter_number)) for p in module.entry.parameters()
        ]
        numbers = self._of_computation(module.entry, parameters)
        return [numbers[one] for one in module.entry.root.operands]

    def _of_computation(
        self, computation: HloComputation, arguments: Sequence[int]
    ) -> dict[HloInstruction, int]:
        numbers: dict[HloInstruction, int] = {}
        for i in computation.post_order():
            operands = [numbers[one] for one in i.operands]
            if i.opcode.name == "parameter":
                numbers[i] = arguments[i.parameter_number]
            elif i.opcode.name == "fusion":
                numbers[i] = self._of_computation(i.called[0], operands)[i.called[0].root]
            elif i.opcode.name == "get-tuple-element" and i.operands[0].opcode.name == "fusion":
                numbers[i] = self._of_element(i, numbers)
            else:
                numbers[i] = self._number(self._key(i, operands))
        return numbers

    def _of_element(self, i: HloInstruction, numbers: dict[HloInstruction, int]) -> int:
        """Return the number of a result of a fusion with several."""
        fusion = i.operands[0]
        body, operands = fusion.called[0], [numbers[one] for one in fusion.operands]
        inside = self._of_computation(body, operands)
        root = body.root
        if root.opcode.name != "tuple":
            return self._number(self._key(i, [numbers[fusion]]))
        return inside[root.operands[i.attribute("index")]]

    def _key(self, i: HloInstruction, operands: Sequence[int]) -> tuple[object, ...]:
        attributes = tuple(
            sorted([f"{k}={v}" for k, v in i.attributes.items() if k not in _NOT_OF_VALUES])
        )
        payload: object = i.payload
        if i.opcode.name == "constant" and hasattr(payload, "array"):
            payload = np.asarray(payload.array).tobytes()
        called = tuple([self._of_called(one) for one in i.called])
        shape = i.shape.text_without_layout
        return (i.opcode.name, shape, attributes, payload, called, *operands)

    def _of_called(self, computation: HloComputation) -> int:
        numbers = [self._number(("argument", p.parameter_number)) for p in computation.parameters()]
        return self._of_computation(computation, numbers)[computation.root]

    def _number(self, key: tuple[object, ...]) -> int:
        return self._numbers.setdefault(key, len(self._numbers))
