"""Comparisons: ordered for floats except NE, total order on request; complex: only EQ and NE."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.registry import (
    ElementalOperation,
    Scalar,
    emits_elementwise,
)
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.small_formats import SMALL_FLOATS
from xla_explorer.compiler.codegen.ir.values import Complex, Value
from xla_explorer.compiler.codegen.llvm_types import pair, real


def total_order_key(w: Builder, value: Value) -> Value:
    """Return an integer whose signed order is the total order of floats.

    The order is -NaN < -inf < ... < -0 < +0 < ... < inf < NaN; for formats without a sign, the
    smallest first.
    """
    bits, small = value.type.bits, SMALL_FLOATS.get(value.type.format)
    raw = w.convert("bitcast", value, f"i{bits}")
    if small is not None and not small.has_sign:
        return raw ^ (-1 << (bits - 1))
    mask = w.select(raw < 0, w.number((1 << (bits - 1)) - 1, raw.type), 0)
    if (
        small is not None and small.kind == "fnuz"
    ):  # the code of -0 is NaN, with the sign: the smallest
        return w.select(raw.equals(-1 << (bits - 1)), raw, raw ^ mask)
    return raw ^ mask


@emits_elementwise("compare")
def compare(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit a comparison: direction EQ NE LT LE GT GE; type FLOAT, TOTALORDER or an integer one."""
    element_type = i.operands[0].shape.element_type
    direction, order = i.attribute("direction"), i.attribute("type")
    x, y = operands
    if isinstance(x, Complex):
        parts = [
            w.compare("oeq" if direction == "EQ" else "une", p, q)
            for p, q in zip(x, pair(y), strict=True)
        ]
        return w.binary("and" if direction == "EQ" else "or", parts[0], parts[1])
    a, b = x, real(y)
    if element_type.is_float:
        if order == "TOTALORDER":
            a, b = total_order_key(w, a), total_order_key(w, b)
            return w.compare(_ordered("s", direction), a, b)
        return w.compare("une" if direction == "NE" else f"o{direction.lower()}", a, b)
    signed = order == "SIGNED" if order in ("SIGNED", "UNSIGNED") else element_type.is_signed
    return w.compare(_ordered("s" if signed else "u", direction), a, b)


def _ordered(sign: str, direction: str) -> str:
    return direction.lower() if direction in ("EQ", "NE") else sign + direction.lower()


@emits_elementwise("is-finite")
def is_finite(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Return true for neither NaN nor infinity."""
    return w.compare("one", w.absolute(w.widen(real(operands[0]))), float("inf"))
