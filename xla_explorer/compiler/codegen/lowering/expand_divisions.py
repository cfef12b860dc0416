"""The step `expand-divisions`: vectors of integers are divided as floats.

No CPU divides vectors of integers: LLVM would divide lane by lane. A float with `bits` more bits of
mantissa than the integers has an exact truncated quotient: it differs from the next integer by at
least 1/b, and its rounding error is less. So f32 divides integers of 8 bits, f64 those of 16 and
32. The divisor is neither 0 nor the -1 of an overflow, as for LLVM's own division. Divisors that
are constants are left to LLVM, which multiplies by their reciprocals.

64 bits take two divisions of f64. The first quotient is wrong by at most 3 n / 2^53 d + 1, so that
|n - q d| is below 2^63. The second divides this remainder. Below d = 2^13 its operands are exact,
above it the remainder is at most d + 6144 and at least -6144; so the result is the quotient or one
more. Unsigned divisors from 2^63 on are compared.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep, RewriteBuilder


def _is_divided_by_lane(i: Instruction, features: CodeFeatures) -> bool:
    """Return True for a division of vectors by run-time values."""
    assert i.result is not None
    t = i.result.type
    return t.lanes > 1 and t.bits <= features.divided_bits and not i.operands[1].is_constant


def _quotient(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    signed, t = i.op[0] == "s", i.operands[0].type
    if t.bits > I32.bits:
        quotient, _ = _long_division(b, i)
        negative = b.compare("slt", b.binary("xor", i.operands[0], i.operands[1]), 0)
        return b.select(negative, b.binary("sub", 0, quotient), quotient) if signed else quotient
    wide = "float" if t.bits <= 8 else "double"
    x, y = [b.convert("sitofp" if signed else "uitofp", v, wide) for v in i.operands]
    quotient = b.emit("fdiv", x.type, (x, y))
    if t.bits < I32.bits:  # whose unsigned numbers are signed ones of 32 bits
        return b.convert("trunc", b.convert("fptosi", quotient, "i32"), t.scalar)
    return b.convert("fptosi" if signed else "fptoui", quotient, t.scalar)


def _remainder(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    x, y = i.operands
    if x.type.bits > I32.bits:
        _, remainder = _long_division(b, i)
        negative = b.compare("slt", x, 0)
        return (
            b.select(negative, b.binary("sub", 0, remainder), remainder)
            if i.op[0] == "s"
            else remainder
        )
    return b.binary("sub", x, b.binary("mul", _quotient(b, i, features), y))


def _long_division(b: RewriteBuilder, i: Instruction) -> tuple[Value, Value]:
    """Return quotient and remainder of the magnitudes of two integers of 64 bits."""
    signed, t = i.op[0] == "s", i.operands[0].type
    n, d = [
        b.select(b.compare("slt", v, 0), b.binary("sub", 0, v), v) if signed else v
        for v in i.operands
    ]
    divisor = b.convert("uitofp", d, "double")
    first = b.binary("fdiv", b.convert("uitofp", n, "double"), divisor)
    if not signed:
        first = b.select(b.compare("olt", first, _BELOW_2_64), first, _BELOW_2_64)
    quotient = b.convert("fptoui", first, t.scalar)
    rest = b.binary("sub", n, b.binary("mul", quotient, d))
    more = b.convert(
        "fptosi", b.binary("fdiv", b.convert("sitofp", rest, "double"), divisor), t.scalar
    )
    quotient = b.binary("add", quotient, more)
    rest = b.binary("sub", rest, b.binary("mul", more, d))
    below = b.compare("slt", rest, 0)
    quotient = b.select(below, b.binary("sub", quotient, 1), quotient)
    rest = b.select(below, b.binary("add", rest, d), rest)
    if signed:
        return quotient, rest
    large, fits = b.compare("slt", d, 0), b.compare("uge", n, d)
    return (
        b.select(large, b.select(fits, b.number(1, t), b.number(0, t)), quotient),
        b.select(large, b.select(fits, b.binary("sub", n, d), n), rest),
    )


_BELOW_2_64 = 2.0**64 - 2.0**11  # the largest f64 that is an unsigned integer of 64 bits

EXPAND_DIVISIONS = RecordStep(
    "expand-divisions",
    "Divide vectors of integers as floats, which CPUs divide in vectors.",
    {"sdiv": _quotient, "udiv": _quotient, "srem": _remainder, "urem": _remainder},
    _is_divided_by_lane,
    "d",
)
