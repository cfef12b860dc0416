"""Elementwise opcodes on SSA values of any number of lanes, for the types that loop nests are lowered for."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import F32, F64, I1, I32, I64, Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.nest.ir import Compute
from xla_explorer.compiler.codegen.vector_math import vector_math_opcodes, write_math
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.primitive_type import PrimitiveType

TYPES = {"f32": F32, "f64": F64, "s32": I32, "s64": I64, "pred": I1}
MEMORY_BYTES = {"f32": 4, "f64": 8, "s32": 4, "s64": 8, "pred": 1}
_ARITHMETIC = {"add": "add", "subtract": "sub", "multiply": "mul"}
_FLOAT_ONLY = {"divide", "negate", "sqrt", "floor", "ceil", "round-nearest-even", *vector_math_opcodes()}
_ROUNDING = {"floor": "floor", "ceil": "ceil", "round-nearest-even": "roundeven", "sqrt": "sqrt"}
_PREDICATES = {
    "EQ": ("oeq", "eq"),
    "NE": ("une", "ne"),
    "LT": ("olt", "slt"),
    "LE": ("ole", "sle"),
    "GT": ("ogt", "sgt"),
    "GE": ("oge", "sge"),
}
_BITWISE = {"and", "or", "xor"}
_CONVERSIONS = {
    ("s32", "f32"): "sitofp",
    ("s32", "f64"): "sitofp",
    ("s32", "s64"): "sext",
    ("f32", "f64"): "fpext",
    ("f64", "f32"): "fptrunc",
    ("pred", "f32"): "uitofp",
    ("pred", "s32"): "zext",
}
_WRITTEN = {*_ARITHMETIC, *_FLOAT_ONLY, *_BITWISE, "maximum", "minimum", "abs", "compare", "select", "convert", "copy", "not"}


def why_not_written(s: Compute, types: Sequence[PrimitiveType]) -> Reason | None:
    """None where `write` has the opcode for these operand types."""
    name = s.opcode.name
    known = name in _WRITTEN and all(t.name in TYPES for t in (*types, s.element))
    if name == "convert":
        known = known and (types[0] is s.element or (types[0].name, s.element.name) in _CONVERSIONS)
    elif name in _FLOAT_ONLY:
        known = known and s.element.is_float
    elif name in _BITWISE or name == "not":
        known = known and not s.element.is_float
    elif name in (*_ARITHMETIC, "maximum", "minimum", "abs"):
        known = known and not s.element.is_pred
    elif name == "compare":
        known = known and not types[0].is_pred and s.attributes.get("type", "") != "TOTALORDER"
    if known:
        return None
    operands = ", ".join([t.name for t in types])
    return refuse("not-lowered", f"%{s.id}: {name} of {operands} is not written for loop nests yet", opcode=name)


def write(b: Builder, s: Compute, operands: Sequence[Value]) -> Value:
    """The value of an elementwise opcode."""
    name, t = s.opcode.name, TYPES[s.element.name]
    x = operands[0]
    if name in _ARITHMETIC:
        return b.arithmetic(_ARITHMETIC[name], x, operands[1])
    if name in _BITWISE:
        return b.binary(name, x, operands[1])
    if name in ("maximum", "minimum"):
        return extreme(b, name, x, operands[1])
    if name == "compare":
        direction = _PREDICATES[str(s.attributes.value("direction"))]
        return b.compare(direction[0] if x.type.is_float else direction[1], x, operands[1])
    if name == "select":
        return b.select(x, operands[1], operands[2])
    if name in ("convert", "copy"):
        return _converted(b, x, t)
    if name == "divide":
        return x / operands[1]
    if name == "negate":
        return -x
    if name == "not":
        return b.binary("xor", x, -1 if t is not I1 else 1)
    if name == "abs":
        return b.absolute(x) if t.is_float else b.select(x < 0, b.arithmetic("sub", b.operand(0, x.type), x), x)
    if name in _ROUNDING:
        return b.per_lane(_ROUNDING[name], x)
    lanes = max([o.type.lanes for o in operands])
    return write_math(b, name, *[b.operand(o, o.type.of_lanes(lanes)) for o in operands])


def extreme(b: Builder, name: str, x: Value, y: Value) -> Value:
    """The larger or smaller of two: NaN of either side; -0 below +0."""
    lanes = max(x.type.lanes, y.type.lanes)
    x, y = [b.operand(v, v.type.of_lanes(lanes)) for v in (x, y)]
    return b.per_lane(name if x.type.is_float else f"s{name[:3]}", x, y)


def _converted(b: Builder, x: Value, t: Type) -> Value:
    if x.type.scalar == t.scalar:
        return x
    names = {TYPES[name].scalar: name for name in TYPES}
    return b.convert(_CONVERSIONS[names[x.type.scalar], names[t.scalar]], x, t.scalar)
