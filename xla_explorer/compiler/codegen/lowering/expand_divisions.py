"""The step `expand-divisions`: vectors of integers are divided as floats.

No CPU divides vectors of integers: LLVM would divide lane by lane. A float with `bits` more bits of
mantissa than the integers has an exact truncated quotient: it differs from the next integer by at
least 1/b, and its rounding error is less. So f32 divides integers of 8 bits, f64 those of 16 and
32. The divisor is neither 0 nor the -1 of an overflow, as for LLVM's own division. Divisors that
are constants are left to LLVM, which multiplies by their reciprocals.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep, RewriteBuilder
from xla_explorer.compiler.codegen.nest.tuning import FLOAT_DIVISION_BITS


def _is_divided_by_lane(i: Instruction, features: CodeFeatures) -> bool:
    """Return True for a division of vectors by run-time values."""
    assert i.result is not None
    t = i.result.type
    return (
        features.divides_in_floats
        and t.lanes > 1
        and t.bits <= FLOAT_DIVISION_BITS
        and not i.operands[1].is_constant
    )


def _quotient(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    signed, t = i.op[0] == "s", i.operands[0].type
    wide = "float" if t.bits <= 8 else "double"
    x, y = [b.convert("sitofp" if signed else "uitofp", v, wide) for v in i.operands]
    quotient = b.emit("fdiv", x.type, (x, y))
    if t.bits < I32.bits:  # whose unsigned numbers are signed ones of 32 bits
        return b.convert("trunc", b.convert("fptosi", quotient, "i32"), t.scalar)
    return b.convert("fptosi" if signed else "fptoui", quotient, t.scalar)


def _remainder(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    x, y = i.operands
    return b.binary("sub", x, b.binary("mul", _quotient(b, i, features), y))


EXPAND_DIVISIONS = RecordStep(
    "expand-divisions",
    "Divide vectors of integers as floats, which CPUs divide in vectors.",
    {"sdiv": _quotient, "udiv": _quotient, "srem": _remainder, "urem": _remainder},
    _is_divided_by_lane,
    "d",
)
