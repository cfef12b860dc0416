"""LLVM types and constants of HLO's primitive types.

In memory pred is one byte (0 or 1), in registers i1. Sub-byte types occupy one byte each in memory
with upper bits zero, and their own width in registers. Floats of eight bits and fewer are integers
everywhere (see `ir/small_floats.py`). Complex values are pairs {re, im} in memory and two scalars
in registers. 16-bit floats compute in f32 and are rounded after each operation.

bf16 is an i16 in memory and in vectors: LLVM fails assertions on shuffles of bfloat vectors. CPUs
round to bf16 by integer arithmetic: LLVM calls a library if the CPU has no instruction, and rounds
subnormals to zero if it has one. GPUs round by LLVM's `fptrunc`, one instruction from sm_80 on. A
sum whose operands and result are bf16 then becomes an instruction on bf16, as in XLA.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Complex, Scalar, Value
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import Shape

_FLOATS = {"f16": "half", "f32": "float", "f64": "double", "c64": "float", "c128": "double"}
_WITHOUT_CODE = ("f6e2m3fn", "f6e3m2fn")
_REGISTER = {
    name: _FLOATS.get(name) or ("i1" if t.is_pred else f"i{t.bits}")
    for name, t in PRIMITIVE_TYPES.items()
    if t.is_array_type and name not in _WITHOUT_CODE
}
_MEMORY = {name: "i8" if t in ("i1", "i2", "i4") else t for name, t in _REGISTER.items()}


def type_is_emitted(shape: Shape) -> Reason | None:
    """Return a refusal unless code generation supports every array leaf of the shape."""
    for _, leaf in shape.leaves():
        if (
            leaf.element_type is not None
            and leaf.element_type.is_array_type
            and leaf.element_type.name not in _REGISTER
        ):
            return refuse(
                "element-type-not-emitted",
                f"{leaf.element_type.name} has no native code yet",
                element_type=leaf.element_type.name,
            )
        if any(leaf.dynamic):
            return refuse("dynamic-dimension", f"{leaf} has a dynamic dimension", shape=leaf.text)
    return None


@cache
def value_type(element_type: PrimitiveType) -> Type:
    """Return the type of a scalar in registers (complex: of a component)."""
    t = _REGISTER[element_type.name]
    return Type(t, format=element_type.name if element_type.is_float and t.startswith("i") else "")


@cache
def stored_type(element_type: PrimitiveType) -> Type:
    """Return the type of a scalar in memory (complex: of a component)."""
    t, held = _MEMORY[element_type.name], value_type(element_type)
    return held if t == held.scalar else Type(t)


def real(given: Scalar) -> Value:
    """Return an element as a value; it must not be complex."""
    if not isinstance(given, Value):
        raise TypeError(f"expected a real number, got {given!r}")
    return given


def pair(given: Scalar) -> Complex:
    """Return an element as a complex number; it must be one."""
    if not isinstance(given, Complex):
        raise TypeError(f"expected a complex number, got {given!r}")
    return given


def constant(w: Builder, value: Any, element_type: PrimitiveType) -> Scalar:
    """Return a scalar constant of the type."""
    t = value_type(element_type)
    if element_type.is_complex:
        number = complex(value)
        return Complex(w.number(number.real, t), w.number(number.imag, t))
    if element_type.is_float:
        return w.number(float(value), t)
    if element_type.is_pred:
        return w.number(bool(value), t)
    code = int(value) & ((1 << t.bits) - 1)
    return w.number(code - (1 << t.bits) if code >> (t.bits - 1) else code, t)


def from_memory(w: Builder, loaded: Value, element_type: PrimitiveType) -> Value:
    """Convert a loaded scalar to its type in registers."""
    stored, held = stored_type(element_type), value_type(element_type)
    if stored.scalar == held.scalar:
        return w.retyped(loaded, held)
    return w.emit("trunc", held, (loaded,))


def to_memory(w: Builder, value: Value, element_type: PrimitiveType) -> Value:
    """Convert a scalar in a register to its type in memory."""
    stored, held = stored_type(element_type), value_type(element_type)
    return value if stored.scalar == held.scalar else w.emit("zext", stored, (value,))
