"""Floats of eight bits and fewer, to and from f32 by integer arithmetic on their bits.

No lookup table, so that the code vectorises on every target. Values outside a format (overflow,
NaN) are converted as in ml_dtypes.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.small_formats import SMALL_FLOATS
from xla_explorer.compiler.codegen.ir.types import F32, I32, Type
from xla_explorer.compiler.codegen.ir.values import Value


def widen_small(b: Builder, value: Value) -> Value:
    """Return the f32 with the value of a small float; exact."""
    form = SMALL_FLOATS[value.type.format]
    raw = b.convert("zext", value, "i32")
    if form.kind == "power":
        shifted = b.from_bits(raw << 23)
        smallest, none = raw.equals(0), raw.equals(form.nan)
        return b.select(none, float("nan"), b.select(smallest, 2.0**-127, shifted))
    magnitude = raw & ((1 << form.magnitude_bits) - 1)
    sign = (raw >> form.magnitude_bits) << 31
    moved = magnitude << (23 - form.mantissa)
    normal = moved + ((127 - form.bias) << 23)
    subnormal = b.convert("sitofp", magnitude, "float") * 2.0 ** (1 - form.bias - form.mantissa)
    is_subnormal = b.compare("ult", magnitude, 1 << form.mantissa)
    chosen = b.select(is_subnormal, b.to_bits(subnormal), normal)
    if form.kind == "ieee":
        special = b.compare("ugt", magnitude, form.largest)
        chosen = b.select(special, moved | 0x7F800000, chosen)
    elif form.kind == "fn":
        chosen = b.select(b.compare("ugt", magnitude, form.largest), 0x7FC00000, chosen)
    result = b.from_bits(chosen | sign)
    return b.select(raw.equals(form.nan), float("nan"), result) if form.kind == "fnuz" else result


def narrow_small(b: Builder, value: Value, t: Type) -> Value:
    """Round a float to a small one: to nearest, ties to even (`power`: ties up)."""
    form = SMALL_FLOATS[t.format]
    raw = b.to_bits(value)
    unordered = value.is_nan()
    if form.kind == "power":
        rounded = (raw + (1 << 22)) >> 23
        tiny = b.compare("ult", raw, 1 << 23)
        upper = b.convert(
            "zext", b.compare("ugt", raw, 1 << 22), "i32"
        )  # as the reference rounds f32's subnormals
        code = b.per_lane("umin", b.select(tiny, upper, rounded), b.operand(form.nan, raw.type))
        none = b.compare("ule", value, 0.0)
        return _truncated(b, b.select(none, form.nan, code), t)
    magnitude = raw & 0x7FFFFFFF
    sign = raw >> 31
    dropped = 23 - form.mantissa
    odd = (magnitude >> dropped) & 1
    rounded = (magnitude + odd) + ((1 << (dropped - 1)) - 1)
    normal = (rounded >> dropped) - ((127 - form.bias) << form.mantissa)
    # Added to this number, a float's last place is the smallest subnormal: the addition rounds.
    magic = 2.0 ** (1 - form.bias - form.mantissa + 23)
    total = b.from_bits(magnitude) + magic
    base = b.to_bits(b.number(magic, F32.of_lanes(raw.type.lanes)))
    subnormal = b.to_bits(total) - base
    tiny = b.compare("ult", magnitude, (128 - form.bias) << 23)
    code = b.select(tiny, subnormal, normal)
    large = b.compare("sgt", code, form.largest)
    code = b.select(large, form.overflow, code)
    code = b.select(unordered, form.nan & ((1 << form.magnitude_bits) - 1), code)
    if form.kind == "fnuz":
        # The code of the sign bit alone is NaN, so zero has no sign.
        none = b.either(unordered, large)
        signed = code | (sign << form.magnitude_bits)
        signed = b.select(code.equals(0), 0, signed)
        code = b.select(none, form.nan, signed)
    else:
        if form.kind == "finite":  # a NaN becomes zero with the other sign
            sign = sign ^ b.convert("zext", unordered, "i32")
        code = code | (sign << form.magnitude_bits)
    return _truncated(b, code, t)


def _truncated(b: Builder, code: Value, t: Type) -> Value:
    assert code.type.scalar == I32.scalar
    return b.emit("trunc", t, (code,))
