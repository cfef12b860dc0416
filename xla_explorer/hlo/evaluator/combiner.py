"""Recognition of scalar computations that are a single numpy ufunc.

numpy's own reductions and sorts then replace the computation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.hlo.evaluator.conversion import WIDER
from xla_explorer.hlo.evaluator.elementwise import apply_binary
from xla_explorer.hlo.evaluator.registry import Array

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.instruction import HloInstruction
    from xla_explorer.hlo.primitive_type import PrimitiveType


class Combiner(NamedTuple):
    """A binary operation that numpy can reduce and scatter with."""

    name: str
    ufunc: np.ufunc


_COMBINERS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def combiner_named(opcode: str) -> Combiner | None:
    """Return the combiner of an opcode, or None."""
    ufunc = _COMBINERS.get(opcode)
    return Combiner(opcode, ufunc) if ufunc is not None else None


def _through_converts(i: HloInstruction) -> HloInstruction:
    while i.opcode.name in ("convert", "copy", "reduce-precision"):
        i = i.operands[0]
    return i


def _rounds(i: HloInstruction, result: PrimitiveType) -> bool:
    """Return True if a conversion loses bits or turns a float into an integer."""
    t = i.shape.element_type
    narrows = t.bits < result.bits or t.is_float is not result.is_float
    return i.opcode.name == "reduce-precision" or (i.opcode.name == "convert" and narrows)


def combiner_of(computation: HloComputation) -> Combiner | None:
    """Return the operation that the root applies to the two scalar parameters, else None.

    Conversions in between are allowed unless they round (to fewer bits, or from floats to
    integers).
    """
    root = _through_converts(computation.root)
    ufunc = _COMBINERS.get(root.opcode.name)
    if ufunc is None or any(
        _rounds(i, computation.root.shape.element_type) for i in computation.instructions.values()
    ):
        return None
    first, second = map(_through_converts, root.operands)
    if first.opcode.name != "parameter" or second.opcode.name != "parameter" or first is second:
        return None
    if any(
        p.shape.element_type is not computation.root.shape.element_type for p in (first, second)
    ):
        return None
    if root.shape.element_type.is_integer != computation.root.shape.element_type.is_integer:
        return None
    return Combiner(root.opcode.name, ufunc)


def returned_parameter(computation: HloComputation) -> int | None:
    """Return the number of the parameter that the computation returns unchanged, else None."""
    root = computation.root
    return int(root.payload) if root.opcode.name == "parameter" else None


def accumulation_dtype(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return the accumulator's dtype: f64 (c128) for float sums and products, else native."""
    wide = WIDER.get(dtype, dtype)
    if name in ("add", "multiply"):
        if wide.kind == "f":
            return np.dtype(np.float64)
        if wide.kind == "c":
            return np.dtype(np.complex128)
    return np.dtype(np.float32) if wide == np.float16 else wide


def combine_pair(combiner: Combiner, a: Array, b: Array) -> Array:
    """Apply `combiner` to two arrays of any element type; the result has the same type."""
    return apply_binary(combiner.ufunc, a, b)
