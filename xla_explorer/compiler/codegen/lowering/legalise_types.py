"""The step `legalise-types`: floats that LLVM does not compute become integers and f32.

A bf16 or a float of eight bits is held as the integer with its bits. It is extended to f32 for
arithmetic, and the result is rounded, by LLVM's conversion where the target has one and by integer
arithmetic elsewhere.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.builder import EXACT, SUM
from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.small_formats import SMALL_FLOATS
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep, RewriteBuilder
from xla_explorer.compiler.codegen.lowering.small_floats import narrow_small, widen_small


def _is_held_as_integer(i: Instruction, features: CodeFeatures) -> bool:
    assert i.result is not None
    return bool(i.operands[0].type.format if i.op == "fpext" else i.result.type.format)


def _extend(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    (a,) = i.operands
    if a.type.format in SMALL_FLOATS:
        return widen_small(b, a)
    if features.rounds_to_bf16:
        return b.convert("fpext", b.convert("bitcast", a, "bfloat"), "float")
    return b.from_bits(b.convert("zext", a, "i32") << 16)


def _round(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    assert i.result is not None
    (a,), t = i.operands, i.result.type
    if t.format in SMALL_FLOATS:
        return narrow_small(b, a, t)
    if features.rounds_to_bf16:
        return b.emit("bitcast", t, (b.convert("fptrunc", a, "bfloat"),))
    raw = b.to_bits(a)
    if i.detail == EXACT:
        return _upper_half(b, raw)
    rounded = _rounded_upper_half(raw)
    if i.detail == SUM and features.keeps_nan_payloads:
        # The lower half of a NaN among sums is zero: the NaN is the CPU's own or a quieted operand.
        # Rounding keeps it without a test.
        return _upper_half(b, rounded)
    return _upper_half(b, b.select(a.is_nan(), raw | 0x400000, rounded))


def _rounded_upper_half(raw: Value[Integer]) -> Value[Integer]:
    """Round the bits of an f32, so that their upper half is the nearest bf16.

    The carry of 0x7FFF plus the last kept bit rounds ties to even.
    """
    last = (raw >> 16) & 1
    return raw + (last + 0x7FFF)


def _upper_half(b: RewriteBuilder, bits: Value[Integer]) -> Value:
    """Return the bf16 in the upper half of the bits of an f32."""
    return b.emit("trunc", Type("i16", bits.type.lanes, format="bf16"), (bits >> 16,))


LEGALISE_TYPES = RecordStep(
    "legalise-types",
    "Extend and round floats that the target holds as integers.",
    {"fpext": _extend, "fptrunc": _round},
    _is_held_as_integer,
    "h",
)
