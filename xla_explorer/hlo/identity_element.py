"""Identity elements of reductions, and the lowest and highest value of each element type."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.primitive_type import PrimitiveType

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation

_SIMPLE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})


def identity_element(opcode: str | None, t: PrimitiveType) -> Any:
    """Return the identity element of a binary operation, or None.

    Parameters
    ----------
    opcode
        `add`, `multiply`, `maximum`, `minimum`, `and`, `or` or `xor`.
        None (a reducer of several operations) has no identity.
    t
        The element type. For floats, infinities and NaN included, the identity is exact to the bit
        (-0.0 for sums), except in products of complex numbers with an infinite part.

    Examples
    --------
    >>> from xla_explorer.hlo.primitive_type import F32, U8
    >>> identity_element("add", F32), identity_element("minimum", U8), identity_element("and", F32)
    (-0.0, 255, None)
    """
    if t.is_float or t.is_complex:
        if opcode == "add":
            return _of_sums(t)
        if opcode == "multiply":
            return complex(1.0, 0.0) if t.is_complex else 1.0
    elif opcode in ("add", "or", "xor", "multiply", "and"):
        bits = {"multiply": 1, "and": 1 if t.is_pred else -1}.get(opcode, 0)
        return bool(bits) if t.is_pred else bits % (1 << t.bits) if t.is_unsigned else bits
    if opcode == "maximum":
        return lowest_value(t)
    return highest_value(t) if opcode == "minimum" else None


@cache
def _of_sums(t: PrimitiveType) -> Any:
    """Return negative zero, which keeps the sign of a zero; None for a type without zero."""
    if t.is_complex:
        return complex(-0.0, -0.0)
    stored = t.dtype.type(-0.0)
    if stored != 0:
        return None
    return -0.0 if np.signbit(stored) else 0.0


def lowest_value(t: PrimitiveType) -> Any:
    """Return the lowest value (-inf if the type has it), or None for complex types."""
    if t.is_complex:
        return None
    if t.is_float:
        return _float_limit(t, -1.0)
    return False if t.is_pred else -(1 << (t.bits - 1)) if t.is_signed else 0


def highest_value(t: PrimitiveType) -> Any:
    """Return the highest value (inf if the type has it), or None for complex types."""
    if t.is_complex:
        return None
    if t.is_float:
        return _float_limit(t, 1.0)
    return True if t.is_pred else (1 << (t.bits - t.is_signed)) - 1


@cache
def _float_limit(t: PrimitiveType, sign: float) -> float:
    if t.bits >= 16:
        return sign * np.inf
    values = np.arange(1 << t.bits, dtype=np.uint8).view(t.dtype).astype(np.float32)
    return sign * float(np.nanmax(sign * values))


def simple_combiner(computation: HloComputation) -> str | None:
    """Return the opcode of a reducer that is one commutative binary operation, else None."""
    root = computation.root
    if root.opcode.name in _SIMPLE and len(computation.instructions) == 3:
        if {o.opcode.name for o in root.operands} == {"parameter"} and root.operands[
            0
        ] is not root.operands[1]:
            return root.opcode.name
    return None
