"""The step `legalise-conversions`: floats become integers with limits as the target has them."""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.builder import SATURATING
from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep, RewriteBuilder


def _saturates(i: Instruction, features: CodeFeatures) -> bool:
    return i.detail == SATURATING


def _convert(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    assert i.result is not None
    (x,), t = i.operands, i.result.type
    if features.saturates:
        return b.intrinsic(f"llvm.{i.op}.sat.{t.suffix}.{x.type.suffix}", t, x)
    return _truncated_with_limits(b, i, x)


def _truncated_with_limits(b: RewriteBuilder, i: Instruction, x: Value) -> Value:
    """Emit LLVM's saturating conversion by comparisons, which stay vectors on x86.

    LLVM scalarises its own vectors of saturating conversions there. The upper limit is a power of
    two, which is exact in every float type. Values less than 1 below it are truncated to the
    largest integer.
    """
    assert i.result is not None
    t, signed = i.result.type, i.op == "fptosi"
    bits = t.bits - signed
    lowest, above = float(-(1 << bits) if signed else 0), 1 << bits
    limit = float(above)
    floored = b.select(x > lowest, x, lowest)
    # NaN fails the comparison, so it becomes zero.
    inside = b.select(x < limit, floored, 0.0)
    wide = t.scalar if t.bits >= 32 else "i32"
    integer = b.convert("fptosi" if wide != t.scalar else i.op, inside, wide)
    limited = b.select(x >= limit, above - 1, integer)
    return limited if wide == t.scalar else b.convert("trunc", limited, t.scalar)


LEGALISE_CONVERSIONS = RecordStep(
    "legalise-conversions",
    "Limit floats to the range of the integer type before they are truncated.",
    {"fptosi": _convert, "fptoui": _convert},
    _saturates,
    "s",
)
