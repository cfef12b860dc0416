"""Complex arithmetic on pairs of real values, and the opcodes that make and split complex numbers."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.codegen.elemental.registry import Value, emits_elementwise
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant, register_type
from xla_explorer.hlo.instruction import HloInstruction


def complex_binary(w: FunctionWriter, name: str, t: str, a: Value, b: Value) -> Any:
    """add, subtract, multiply, divide, maximum, minimum on pairs."""
    (ar, ai), (br, bi) = a, b
    if name in ("add", "subtract"):
        operation = "fadd" if name == "add" else "fsub"
        return w.value(f"{operation} {t} {ar}, {br}"), w.value(f"{operation} {t} {ai}, {bi}")
    if name == "multiply":
        real = w.value(f"fsub contract {t} {w.value(f'fmul contract {t} {ar}, {br}')}, {w.value(f'fmul contract {t} {ai}, {bi}')}")
        imaginary = w.value(f"fadd contract {t} {w.value(f'fmul contract {t} {ar}, {bi}')}, {w.value(f'fmul contract {t} {ai}, {br}')}")
        return real, imaginary
    if name == "divide":
        return _divide(w, t, ar, ai, br, bi)
    if name in ("maximum", "minimum"):
        # By real part, then by imaginary part; a NaN in either part of either operand passes on.
        order = "gt" if name == "maximum" else "lt"
        ordered = w.value(f"fcmp ord {t} {ai}, {bi}")
        clearly = w.value(f"and i1 {w.value(f'fcmp o{order} {t} {ar}, {br}')}, {ordered}")
        tied = w.value(f"and i1 {w.value(f'fcmp oeq {t} {ar}, {br}')}, {w.value(f'fcmp o{order[0]}e {t} {ai}, {bi}')}")
        first = w.value(f"or i1 {w.value(f'or i1 {clearly}, {tied}')}, {w.value(f'fcmp uno {t} {ar}, {ai}')}")
        return tuple([w.value(f"select i1 {first}, {t} {x}, {t} {y}") for x, y in ((ar, br), (ai, bi))])
    raise KeyError(name)


def _divide(w: FunctionWriter, t: str, ar: str, ai: str, br: str, bi: str) -> tuple[str, str]:
    """Smith's method: scale by the larger part of the divisor."""
    s = "f32" if t == "float" else "f64"
    size_r = w.call_intrinsic(f"llvm.fabs.{s}", t, (t, br))
    size_i = w.call_intrinsic(f"llvm.fabs.{s}", t, (t, bi))
    real_larger = w.value(f"fcmp oge {t} {size_r}, {size_i}")
    big = w.value(f"select i1 {real_larger}, {t} {br}, {t} {bi}")
    small = w.value(f"select i1 {real_larger}, {t} {bi}, {t} {br}")
    ratio = w.value(f"fdiv {t} {small}, {big}")
    zero = w.value(f"fcmp oeq {t} {big}, {float_constant(0.0, t)}")
    ratio = w.value(f"select i1 {zero}, {t} {float_constant(0.0, t)}, {t} {ratio}")
    denominator = w.value(f"fadd {t} {big}, {w.value(f'fmul {t} {small}, {ratio}')}")
    first = w.value(f"select i1 {real_larger}, {t} {ar}, {t} {ai}")
    second = w.value(f"select i1 {real_larger}, {t} {ai}, {t} {ar}")
    total = w.value(f"fadd {t} {first}, {w.value(f'fmul {t} {second}, {ratio}')}")
    real = w.value(f"fdiv {t} {total}, {denominator}")
    numerator = w.value(f"fsub {t} {second}, {w.value(f'fmul {t} {first}, {ratio}')}")
    imaginary = w.value(f"fdiv {t} {numerator}, {denominator}")
    flipped = w.value(f"fneg {t} {imaginary}")
    return real, w.value(f"select i1 {real_larger}, {t} {imaginary}, {t} {flipped}")


def modulus(w: FunctionWriter, t: str, z: Value) -> str:
    """|z| without overflow: larger * sqrt(1 + (smaller/larger)^2); infinite when a part is, zero for zero."""
    s = "f32" if t == "float" else "f64"
    re, im = [w.call_intrinsic(f"llvm.fabs.{s}", t, (t, part)) for part in z]
    real_larger = w.value(f"fcmp oge {t} {re}, {im}")
    large = w.value(f"select i1 {real_larger}, {t} {re}, {t} {im}")
    small = w.value(f"select i1 {real_larger}, {t} {im}, {t} {re}")
    ratio = w.value(f"fdiv {t} {small}, {large}")
    square = w.value(f"fadd {t} {float_constant(1.0, t)}, {w.value(f'fmul {t} {ratio}, {ratio}')}")
    scaled = w.value(f"fmul {t} {large}, {w.call_intrinsic(f'llvm.sqrt.{s}', t, (t, square))}")
    # The sum, not the larger part: with a NaN the comparison above calls the other part larger, be it zero.
    zero = w.value(f"fcmp oeq {t} {w.value(f'fadd {t} {re}, {im}')}, {float_constant(0.0, t)}")
    scaled = w.value(f"select i1 {zero}, {t} {float_constant(0.0, t)}, {t} {scaled}")
    infinity = float_constant(float("inf"), t)
    re_infinite, im_infinite = w.value(f"fcmp oeq {t} {re}, {infinity}"), w.value(f"fcmp oeq {t} {im}, {infinity}")
    infinite = w.value(f"or i1 {re_infinite}, {im_infinite}")
    return w.value(f"select i1 {infinite}, {t} {infinity}, {t} {scaled}")


def complex_unary(w: FunctionWriter, name: str, t: str, z: Value) -> Any:
    """abs and sign on a pair."""
    size = modulus(w, t, z)
    if name == "abs":
        return size
    zero = w.value(f"fcmp oeq {t} {size}, {float_constant(0.0, t)}")
    safe = w.value(f"select i1 {zero}, {t} {float_constant(1.0, t)}, {t} {size}")
    return tuple([w.value(f"fdiv {t} {part}, {safe}") for part in z])


@emits_elementwise("complex")
def make_complex(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """real + imaginary * i."""
    return operands[0], operands[1]


@emits_elementwise("real")
def real_part(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """The real part; of a real number, itself."""
    return operands[0][0] if isinstance(operands[0], tuple) else operands[0]


@emits_elementwise("imag")
def imaginary_part(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """The imaginary part; of a real number, zero."""
    return operands[0][1] if isinstance(operands[0], tuple) else float_constant(0.0, register_type(i.shape.element_type))
