"""Checks of an operation's numbers: digits that are lost, sums in narrow types, overflow.

A check takes an instruction, its operands and its value. A new check is one more function in
`NUMBER_CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

from xla_explorer.hlo.instruction import HloInstruction

Array = np.ndarray[Any, Any]
_CANCELLED: Final = 0.5
"""A difference that loses this share of the digits is noise to a large part."""
_ABSORBED: Final = 0.9
"""A summand that loses this share of its digits hardly changes the sum."""
LOST_DIGITS: Final = ("cancellation", "absorption")
"""Kinds of `lost_digits`."""
_NARROW_BITS: Final = 11  # of f16
_SUM_ERROR: Final = 0.02


class Finding(NamedTuple):
    """A finding of a check. weight: larger for worse ones of its kind."""

    kind: str
    reason: str
    fix: str
    weight: float


Check = Callable[[HloInstruction, Sequence[Array], Array], Finding | None]


def _digits(value: Array) -> int:
    """Return the bits of the significand of floats; 0 for other types."""
    if value.dtype.kind == "c" or value.dtype.kind in "biu":
        return 0
    info: Any = ml_dtypes.finfo
    try:
        return int(info(value.dtype).nmant) + 1
    except (ValueError, TypeError):
        return 0


def lost_digits(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the digits that a sum or a difference of two values loses, for the typical element."""
    name, digits = i.opcode.name, _digits(value)
    if name not in ("add", "subtract") or not digits or i.operands[0] is i.operands[1]:
        return None
    a, b, result = [np.abs(one.astype(np.float64)) for one in (*operands, value)]
    big, small = np.maximum(a, b), np.minimum(a, b)
    used = (small > 0) & np.isfinite(big)
    if not used.any():
        return None
    gone = np.where(result > 0, np.log2(big / result), digits)[used]
    cancelled = float(np.median(np.minimum(gone, digits)))
    if cancelled >= _CANCELLED * digits and not _is_exact(operands):
        reason = (
            f"{name} of values near {float(np.median(big[used])):.3g} leaves "
            f"{float(np.median(result[used])):.3g}: {cancelled:.0f} of {digits} bits are lost"
        )
        fix = "rearrange it (subtract before squaring, larger steps of differences, expm1, log1p)"
        return Finding("cancellation", reason, fix, cancelled)
    part = i.operands[0 if float(np.median(a)) < float(np.median(b)) else 1]
    absorbed = float(np.median(np.log2(big[used] / small[used])))
    if absorbed < _ABSORBED * digits or _is_constant(part) or _adds_gradients(i):
        return None
    reason = (
        f"{float(np.median(small[used])):.3g} added to {float(np.median(big[used])):.3g} keeps "
        f"{max(digits - absorbed, 0):.0f} of {digits} bits of it in {i.shape.element_type.name}"
    )
    fix = "use log1p or expm1, a wider type for the sum (dtype=, preferred_element_type=)"
    return Finding("absorption", reason, fix, absorbed)


def _is_exact(operands: Sequence[Array]) -> bool:
    """Return True if the operands are small integers, whose difference is exact."""
    return all(bool((np.abs(x) < 1e6).all() and (x == np.round(x)).all()) for x in operands)


def _is_constant(i: HloInstruction) -> bool:
    """Return True for constants and their broadcasts, such as an epsilon."""
    while i.opcode.name in ("broadcast", "reshape", "convert"):
        i = i.operands[0]
    return i.opcode.name == "constant"


def _adds_gradients(i: HloInstruction) -> bool:
    """Return True for JAX's sum of the gradients of a value that is read more than once.

    A part that is small beside the others is no error: the sum is exact to its last digit.
    """
    return i.op_metadata.op_name.endswith("/add_any")


def narrow_sums(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the error of a sum that is accumulated in 16 bits or less."""
    if i.opcode.name != "reduce" or len(operands) != 2 or not 0 < _digits(value) <= _NARROW_BITS:
        return None
    if i.to_apply.root.opcode.name != "add":
        return None
    axes = tuple(i.attribute("dimensions"))
    exact = operands[0].astype(np.float64).sum(axes) + float(operands[1].astype(np.float64))
    scale = np.abs(operands[0].astype(np.float64)).sum(axes)
    error = float(np.max(np.abs(value.astype(np.float64) - exact) / np.maximum(scale, 1e-300)))
    if not error > _SUM_ERROR:
        return None
    reason = f"a sum in {i.shape.element_type.name} is wrong by {error:.0%} of its summands"
    return Finding("narrow-sum", reason, "accumulate in f32 (dtype=jnp.float32)", error)


def integer_overflow(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the number of elements of signed integers that wrap around."""
    name = i.opcode.name
    if value.dtype.kind != "i" or name not in ("add", "subtract", "multiply"):
        return None
    a, b = [one.astype(np.float64) for one in operands]
    exact = a + b if name == "add" else a - b if name == "subtract" else a * b
    limit = float(np.iinfo(value.dtype).max)
    wrapped = np.abs(exact) > limit + 1
    if not wrapped.any():
        return None
    largest = float(exact.ravel()[int(np.abs(exact).argmax())])
    reason = (
        f"{name} of {i.shape.element_type.name} reaches {largest:.4g}, beyond {limit:.4g}: "
        f"{int(wrapped.sum())} of {wrapped.size} elements wrap around"
    )
    fix = "use a wider type (jax_enable_x64), smaller factors, or uint32 if wrapping is meant"
    return Finding("integer-overflow", reason, fix, float(wrapped.sum()))


NUMBER_CHECKS: Final[tuple[Check, ...]] = (lost_digits, narrow_sums, integer_overflow)
