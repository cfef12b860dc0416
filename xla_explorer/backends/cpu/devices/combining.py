"""Combination of the devices' arrays, member after member, in the elements' type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.primitive_type import PrimitiveType

Array = np.ndarray[Any, Any]
# Writes the combination of one array of each member, in ascending order, into the last argument.
Combine = Callable[[Sequence[Array], Array], None]

_OF_FLOATS = {"add": np.add, "multiply": np.multiply}
_OF_INTEGERS = {**_OF_FLOATS, "maximum": np.maximum, "minimum": np.minimum}
_OF_BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def combine_by(
    computation: HloComputation, element: PrimitiveType, evaluator: Evaluator
) -> Combine:
    """Return the combination by a computation of two scalars.

    Every step rounds to the element type, as in the evaluator.
    """
    function = _numpy_function(computation, element)
    if function is not None:
        return lambda parts, out: _by_numpy(function, parts, out)

    def by_evaluator(parts: Sequence[Array], out: Array) -> None:
        value = parts[0]
        for part in parts[1:]:
            value = np.asarray(evaluator.evaluate_elementwise(computation, [value, part]))
        out[...] = value

    return by_evaluator


def _by_numpy(function: np.ufunc, parts: Sequence[Array], out: Array) -> None:
    with np.errstate(all="ignore"):
        if len(parts) == 1:
            out[...] = parts[0]
            return
        function(parts[0], parts[1], out=out)
        for part in parts[2:]:
            function(out, part, out=out)


def _numpy_function(computation: HloComputation, element: PrimitiveType) -> np.ufunc | None:
    """Return numpy's function of a computation of one operation with numpy's own meaning."""
    root = computation.root
    names = [o.opcode.name for o in root.operands]
    numbers = [o.payload for o in root.operands]
    if names != ["parameter", "parameter"] or numbers not in ([0, 1], [1, 0]):
        return None
    if element.dtype.kind in "bui":
        found = _OF_BITS.get(root.opcode.name)
        if found is not None or element.dtype.kind == "b":
            return found
        return _OF_INTEGERS.get(root.opcode.name)
    # The order of operands decides which of two NaNs is the result. A maximum of floats has its own
    # rule for zeros.
    is_plain = element.dtype.kind == "f" and numbers == [0, 1]
    return _OF_FLOATS.get(root.opcode.name) if is_plain else None
