"""Constant values during conversion: constants, static dimensions, values of arguments."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from xla_explorer.hlo.evaluator import Evaluator, supported_opcodes
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

LARGEST_FOLDED: Final = 4096  # elements; sizes are short vectors
_NEVER_FOLDED: Final = frozenset({"custom-call", "parameter", "while"})


class KnownValues:
    """The values of instructions, each found once."""

    def __init__(self) -> None:
        self._found: dict[HloInstruction, Any] = {}
        self._evaluator = Evaluator()

    def state(self, i: HloInstruction, value: np.ndarray[Any, Any] | None) -> None:
        """Record the value of a parameter from the user or the caller; None changes nothing."""
        if value is not None:
            self._found[i] = value

    def value(self, i: HloInstruction) -> np.ndarray[Any, Any] | None:
        """Return the value of an instruction, or None if it depends on run-time values."""
        found = self._find(i)
        return None if found is None or isinstance(found, tuple) else np.asarray(found)

    def unknown_cause(self, i: HloInstruction) -> HloInstruction:
        """Return the first instruction on the way whose operands all have constant values.

        The value of the given instruction is unknown because of it.
        """
        while (
            i.opcode.name != "get-dimension-size"
            and (unknown := next((o for o in i.operands if self._find(o) is None), None))
            is not None
        ):
            i = unknown
        return i

    def _find(self, i: HloInstruction) -> Any:
        if i not in self._found:
            self._found[i] = self._fold(i)
        return self._found[i]

    def _fold(self, i: HloInstruction) -> Any:
        name = i.opcode.name
        if name == "get-dimension-size":
            shape, dimension = i.operands[0].shape, i.attribute("dimensions")[0]
            return None if shape.dynamic[dimension] else np.int32(shape.dimensions[dimension])
        if (
            not _is_small(i.shape)
            or i.opcode.side_effect
            or name in _NEVER_FOLDED
            or not (name in ("constant", "iota") or (i.operands and name in supported_opcodes()))
        ):
            return None
        operands = [self._find(o) for o in i.operands]
        if any(o is None for o in operands):
            return None
        return self._evaluator.evaluate_instruction(i, operands)


def _is_small(shape: Shape) -> bool:
    if shape.is_tuple:
        return all(map(_is_small, shape.tuple_shapes))
    return shape.is_array and not any(shape.dynamic) and shape.element_count <= LARGEST_FOLDED
