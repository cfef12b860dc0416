"""Guards that keep values in the range of their type.

A rewrite must not make an infinity or NaN of a number, or a finite number of an infinity. XLA's
simplifier has few such guards. The option `fast_math` of `algsimp` omits them, and so do replays of
XLA's decisions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xla_explorer.compiler.rewriting.exactness import float_limits
from xla_explorer.compiler.rewriting.guards import integral
from xla_explorer.compiler.rewriting.patterns import BROADCAST, uniform_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import (
    is_non_negative,
    plain_reducer,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PrimitiveType

Array = np.ndarray[Any, Any]
_FAST_MATH = "passes='algsimp{fast_math=true},default' has it"


def asked_for_fast_math(instruction: HloInstruction) -> Reason | None:
    """Refuse a rule that changes values on overflow or underflow: it needs `fast_math`."""
    return refuse(
        "needs-fast-math",
        f"overflow or underflow in %{instruction.name} would give another value; {_FAST_MATH}",
        type=_type_of(instruction).name,
    )


def wraps_or_fast_math(instruction: HloInstruction) -> Reason | None:
    """Check that the type is an integer, whose sums and products wrap in any order."""
    return None if integral(instruction) is None else asked_for_fast_math(instruction)


def sum_is_in_range(
    instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> Reason | None:
    """Check that A + B is a number of the type, and x + A overflows only if x + A + B does."""
    if integral(instruction) is None:
        return None
    one, other = _components(a), _components(b)
    with np.errstate(all="ignore"):
        total = (one + other).astype(one.dtype)
        x, y, found = one.astype(np.float64), other.astype(np.float64), total.astype(np.float64)
    limits = float_limits(one.dtype)
    # Half a unit in the last place of the largest number, and less, does not leave the range.
    small = np.abs(x) <= float(limits.max) * float(limits.eps) / 4
    together = (np.sign(x) * np.sign(y) >= 0) | small
    kept = _is_near(x, y, found, x + y, float(limits.eps)) & together
    return _refuse_unless(
        kept,
        instruction,
        "x plus the first constant may leave the range where the whole sum does not",
    )


def product_is_in_range(
    instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> Reason | None:
    """Check that A * B is a normal number, and x * A overflows only if x * A * B does."""
    if integral(instruction) is None:
        return None
    kind = _type_of(instruction)
    one, other = _values(a), _values(b)
    limits = float_limits(kind.dtype)
    with np.errstate(all="ignore"):
        found = np.abs((one * other).astype(one.dtype)).astype(np.float64)
        x, y = np.abs(one).astype(np.float64), np.abs(other).astype(np.float64)
    normal = found >= float(limits.smallest_normal)
    kept = (
        (x == 0)
        | (y == 0)
        | (normal & _is_near(x, y, found, x * y, float(limits.eps)) & ~((x > 1) & (y < 1)))
    )
    return _refuse_unless(
        kept,
        instruction,
        "the constants' product or x times the first may leave the range where the whole does not",
    )


def _is_near(x: Array, y: Array, found: Array, real: Array, eps: float) -> Array:
    """Return True where constants gave the real result, rounded; infinities and NaN always pass."""
    with np.errstate(all="ignore"):
        near = np.isfinite(found) & (np.abs(found - real) <= eps * np.abs(real))
    return np.asarray(~np.isfinite(x) | ~np.isfinite(y) | near)


def _refuse_unless(kept: Array, instruction: HloInstruction, why: str) -> Reason | None:
    if np.all(kept):
        return None
    return refuse(
        "leaves-range",
        f"{why} in %{instruction.name}; {_FAST_MATH}",
        type=_type_of(instruction).name,
    )


def reciprocal_is_in_range(instruction: HloInstruction, c: HloInstruction) -> Reason | None:
    """Check that 1 / C is a number of the type with most of its digits."""
    value = _values(c).reshape(-1)[:1]
    kind = _type_of(instruction)
    limits = float_limits(kind.dtype)
    with np.errstate(all="ignore"):
        reciprocal = (value.dtype.type(1) / value).astype(value.dtype)
        wide = np.complex128 if kind.is_complex else np.float64
        product = reciprocal.astype(wide) * value.astype(wide)
    kept = (
        ~np.isfinite(value)
        | (value == 0)
        | (np.isfinite(reciprocal) & (np.abs(product - 1) <= 4 * float(limits.eps)))
    )
    return _refuse_unless(
        kept,
        instruction,
        f"1 / %{c.name} leaves the range of {kind.name} although a quotient by it may not,",
    )


def root_of_largest_is_in_range(instruction: HloInstruction) -> Reason | None:
    """Check that the rounded root of the largest number of the type has a square in the type."""
    kind = _type_of(instruction)
    largest = float_limits(kind.dtype).max
    with np.errstate(all="ignore"):
        root = np.sqrt(np.asarray(largest, kind.dtype))
        square = (root * root).astype(np.float64)
    if np.isfinite(square):
        return None
    return refuse(
        "leaves-range",
        f"the square of the rounded root of {kind.name}'s largest number overflows",
        type=kind.name,
    )


def reciprocal_roots_are_in_range(instruction: HloInstruction) -> Reason | None:
    """Check that positive numbers have a reciprocal root, and that underflow gives zero."""
    kind = _type_of(instruction)
    limits = float_limits(kind.dtype)
    roots_fit = float(limits.smallest_subnormal) ** -0.5 <= float(limits.max)
    # Without NaN and infinities, the reciprocal root of zero is the largest number.
    shows_overflow = bool(np.isnan(np.asarray(np.nan).astype(kind.dtype)))
    if kind.has_sign and roots_fit and shows_overflow:
        return None
    why = f"a reciprocal root or a tiny product leaves the range of {kind.name}"
    return refuse("leaves-range", f"{why} in %{instruction.name}; {_FAST_MATH}", type=kind.name)


def why_not_counted(kind: PrimitiveType, count: int) -> Reason | None:
    """Refuse floats whose range is smaller than a number of terms; integers wrap like their sum."""
    if not kind.is_float or count <= float(float_limits(kind.dtype).max):
        return None
    message = f"{kind.name} does not hold {count}, the number of terms"
    return refuse("leaves-range", message, type=kind.name, count=count)


def has_the_range_of_f32(instruction: HloInstruction) -> Reason | None:
    """Refuse floats of a smaller range than f32.

    Their sums are computed in a wider type; a part of the sum that is rounded alone may overflow.
    """
    kind = _type_of(instruction)
    if not (kind.is_float or kind.is_complex) or float(float_limits(kind.dtype).max) > 1e38:
        return None
    return refuse(
        "leaves-range",
        f"parts of the sum may leave the range of {kind.name} where it does not; {_FAST_MATH}",
        type=kind.name,
    )


def divisor_has_a_reciprocal(instruction: HloInstruction, y: HloInstruction) -> Reason | None:
    """Check that y is known to be 0 or so large that 1 / y is a number."""
    if _never_tiny(y):
        return None
    return refuse(
        "reciprocal-leaves-range",
        f"%{y.name} may be so small that 1 / %{y.name} is infinite although the quotient is not; "
        f"{_FAST_MATH}",
        type=_type_of(instruction).name,
    )


_SAME_VALUES = frozenset(
    (
        "broadcast",
        "reshape",
        "transpose",
        "slice",
        "copy",
        "reverse",
        "negate",
        "abs",
        "bitcast",
        "dynamic-slice",
        "gather",
        "concatenate",
    )
)
_WHOLE_NUMBERS = frozenset(
    ("iota", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "sign")
)
# By the digits of their type: the root of the smallest number, the logarithm of the number next to
# 1.
_NEVER_TINY = frozenset(("sqrt", "rsqrt", "log"))
_DEPTH = 6


def _never_tiny(i: HloInstruction, depth: int = _DEPTH) -> bool:
    """Return True if each number of an array is 0 or has a finite reciprocal."""
    name, kind, operands = i.opcode.name, _type_of(i), i.operands
    if depth == 0 or not kind.is_float:
        return depth > 0 and (kind.is_integer or kind.is_pred)
    if name in _NEVER_TINY or name in _WHOLE_NUMBERS:
        return True
    if name == "constant":
        return bool(_has_reciprocals(i.literal.array))
    if name == "bitcast" and operands[0].shape.element_type is not kind:
        return False
    if name in _SAME_VALUES:
        count = 1 if name in ("gather", "dynamic-slice") else len(operands)
        return all(_never_tiny(o, depth - 1) for o in operands[:count])
    if name == "convert":
        source = _type_of(operands[0])
        exact = not source.is_float or float(
            float_limits(source.dtype).smallest_subnormal
        ) >= _smallest(kind)
        return exact or (source.bits <= kind.bits and _never_tiny(operands[0], depth - 1))
    if name in ("select", "minimum", "maximum"):
        both = all(_never_tiny(o, depth - 1) for o in operands[-2:])
        return both or (name == "maximum" and is_normal(i, depth - 1))
    if name == "add":
        return is_normal(i, depth) or any(_hides_tiny_terms(o) for o in operands)
    if (
        name == "reduce"
        and len(operands) == 2
        and plain_reducer(i.called[0]) in ("maximum", "minimum")
    ):
        return all(_never_tiny(o, depth - 1) for o in operands)
    return is_normal(i, depth)


def is_normal(i: HloInstruction, depth: int = _DEPTH) -> bool:
    """Return True if each element is NaN, or positive with a finite reciprocal."""
    name, kind, operands = i.opcode.name, _type_of(i), i.operands
    if depth == 0 or not kind.is_float:
        return False
    if name == "constant":
        return bool(np.all(i.literal.array > 0) and _has_reciprocals(i.literal.array))
    if name in ("broadcast", "reshape", "transpose", "slice", "copy", "reverse", "dynamic-slice"):
        return is_normal(operands[0], depth - 1)
    if name == "exponential":
        return is_non_negative(operands[0])
    if name == "sqrt":
        return is_normal(operands[0], depth - 1)
    if name == "maximum":
        return any(is_normal(o, depth - 1) for o in operands)
    if name == "clamp":
        return is_normal(operands[0], depth - 1) and is_normal(operands[2], depth - 1)
    if name in ("minimum", "select"):
        return all(is_normal(o, depth - 1) for o in operands[-2:])
    if name == "add":
        one, other = operands
        return (is_normal(one, depth - 1) and is_non_negative(other)) or (
            is_normal(other, depth - 1) and is_non_negative(one)
        )
    return name == "reduce" and _sums_exponentials_below_a_maximum(i)


def _sums_exponentials_below_a_maximum(i: HloInstruction) -> bool:
    """Return True for the sum of exp(z - max z), as in a softmax: one of its terms is exp(0)."""
    dimensions = tuple(i.attributes.value("dimensions"))
    if (
        len(i.operands) != 2
        or plain_reducer(i.called[0]) != "add"
        or uniform_value(i.operands[1]) != 0
    ):
        return False
    terms = _through_widening(i.operands[0])
    if terms.opcode.name != "exponential":
        return False
    difference = _through_widening(terms.operands[0])
    if difference.opcode.name != "subtract":
        return False
    z, spread = difference.operands
    spread = _through_widening(spread)
    if spread.opcode is not BROADCAST:
        return False
    kept = tuple([d for d in range(z.shape.rank) if d not in dimensions])
    largest = spread.operands[0]
    if largest.opcode.name == "reshape":  # one dimension of size one per reduced dimension
        places = spread.attributes.value("dimensions")
        if [largest.shape.dimensions[n] for n, d in enumerate(places) if d in kept] != list(
            largest.operands[0].shape.dimensions
        ):
            return False
        largest = largest.operands[0]
    elif tuple(spread.attributes.value("dimensions")) != kept:
        return False
    largest = _through_widening(largest)
    if (
        largest.opcode.name != "reduce"
        or len(largest.operands) != 2
        or plain_reducer(largest.called[0]) != "maximum"
    ):
        return False
    if uniform_value(largest.operands[1]) != -math.inf:
        return False
    return (
        _through_widening(largest.operands[0]) is _through_widening(z)
        and tuple(largest.attributes.value("dimensions")) == dimensions
    )


def _through_widening(i: HloInstruction) -> HloInstruction:
    """Return the source of conversions to wider types, which keep its values."""
    while (
        i.opcode.name == "convert"
        and _type_of(i.operands[0]).is_float
        and _type_of(i).bits >= 2 * _type_of(i.operands[0]).bits
    ):
        i = i.operands[0]
    return i


def _hides_tiny_terms(i: HloInstruction) -> bool:
    """Return True for a constant whose last digit has a reciprocal.

    A sum with it is 0 or at least as large as this digit.
    """
    i = i.operands[0] if i.opcode is BROADCAST else i
    if i.opcode.name != "constant":
        return False
    limits = float_limits(i.literal.array.dtype)
    with np.errstate(all="ignore"):
        smallest = np.min(np.abs(i.literal.array.astype(np.float64)), initial=np.inf)
    return bool(smallest * float(limits.eps) / 4 >= _smallest(_type_of(i)))


def _has_reciprocals(array: Array) -> Any:
    magnitude = np.abs(array.astype(np.float64))
    return np.all(
        (magnitude == 0)
        | np.isnan(magnitude)
        | (magnitude >= 1 / float(float_limits(array.dtype).max))
    )


def _smallest(kind: PrimitiveType) -> float:
    """Return a number above those whose reciprocal overflows."""
    return float(float_limits(kind.dtype).smallest_normal)


def _type_of(i: HloInstruction) -> PrimitiveType:
    kind = i.shape.element_type
    return F32 if kind is None else kind


def _values(c: HloInstruction) -> Array:
    """Return the elements of a constant, or of the constant of a broadcast."""
    source = c.operands[0] if c.opcode is BROADCAST else c
    array: Array = source.literal.array
    return (
        array if c.opcode is not BROADCAST or array.ndim == 0 else array.reshape(-1)[:1].reshape(())
    )


def _components(c: HloInstruction) -> Array:
    """Return the elements, with real and imaginary parts apart."""
    array = _values(c)
    return np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array
