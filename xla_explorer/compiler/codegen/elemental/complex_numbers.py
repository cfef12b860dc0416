"""Complex arithmetic on pairs of real values, and the opcodes that make and split complex numbers."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.codegen.elemental.registry import Value, emits_elementwise
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant, scalar_constant
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
    """Smith's method: scale by the larger part of the divisor; what then is NaN in both parts may be infinite or zero."""
    s = "f32" if t == "float" else "f64"
    size_r = w.call_intrinsic(f"llvm.fabs.{s}", t, (t, br))
    size_i = w.call_intrinsic(f"llvm.fabs.{s}", t, (t, bi))
    real_larger = w.value(f"fcmp oge {t} {size_r}, {size_i}")
    big = w.value(f"select i1 {real_larger}, {t} {br}, {t} {bi}")
    small = w.value(f"select i1 {real_larger}, {t} {bi}, {t} {br}")
    ratio = w.value(f"fdiv {t} {small}, {big}")
    denominator = w.value(f"fadd {t} {big}, {w.value(f'fmul {t} {small}, {ratio}')}")
    first = w.value(f"select i1 {real_larger}, {t} {ar}, {t} {ai}")
    second = w.value(f"select i1 {real_larger}, {t} {ai}, {t} {ar}")
    total = w.value(f"fadd {t} {first}, {w.value(f'fmul {t} {second}, {ratio}')}")
    real = w.value(f"fdiv {t} {total}, {denominator}")
    numerator = w.value(f"fsub {t} {second}, {w.value(f'fmul {t} {first}, {ratio}')}")
    imaginary = w.value(f"fdiv {t} {numerator}, {denominator}")
    flipped = w.value(f"fneg {t} {imaginary}")
    imaginary = w.value(f"select i1 {real_larger}, {t} {imaginary}, {t} {flipped}")
    return _recovered_quotient(w, t, (ar, ai), (br, bi), (real, imaginary))


def _recovered_quotient(w: FunctionWriter, t: str, a: Value, b: Value, quotient: Value) -> tuple[str, str]:
    """Where both parts are NaN: infinite for a divisor of zero or an infinite dividend, zero for an infinite divisor. Source: C99 G.5.1."""
    s = "f32" if t == "float" else "f64"
    zero, one, infinity = (float_constant(x, t) for x in (0.0, 1.0, float("inf")))

    def infinite(part: str) -> str:
        return w.value(f"fcmp oeq {t} {w.call_intrinsic(f'llvm.fabs.{s}', t, (t, part))}, {infinity}")

    def unit(part: str, is_infinite: str) -> str:
        size = w.value(f"select i1 {is_infinite}, {t} {one}, {t} {zero}")
        return w.call_intrinsic(f"llvm.copysign.{s}", t, (t, size), (t, part))

    def times_conjugate(x: Value, y: Value, factor: str) -> Value:
        products = [w.value(f"fmul {t} {p}, {q}") for p, q in ((x[0], y[0]), (x[1], y[1]), (x[1], y[0]), (x[0], y[1]))]
        sums = w.value(f"fadd {t} {products[0]}, {products[1]}"), w.value(f"fsub {t} {products[2]}, {products[3]}")
        return tuple([w.value(f"fmul {t} {factor}, {x}") for x in sums])

    def none_of(conditions: list[str]) -> str:
        return w.value(f"xor i1 {w.value(f'or i1 {conditions[0]}, {conditions[1]}')}, true")

    a_infinite, b_infinite = [infinite(part) for part in a], [infinite(part) for part in b]
    a_tame = w.value(f"and i1 {none_of(a_infinite)}, {w.value(f'fcmp ord {t} {a[0]}, {a[1]}')}")
    b_tame = w.value(f"and i1 {none_of(b_infinite)}, {w.value(f'fcmp ord {t} {b[0]}, {b[1]}')}")
    by_infinity = w.value(f"and i1 {a_tame}, {w.value(f'or i1 {b_infinite[0]}, {b_infinite[1]}')}")
    of_infinity = w.value(f"and i1 {b_tame}, {w.value(f'or i1 {a_infinite[0]}, {a_infinite[1]}')}")
    b_zero = [w.value(f"fcmp oeq {t} {part}, {zero}") for part in b]
    by_zero = w.value(f"and i1 {b_zero[0]}, {b_zero[1]}")
    signed = w.call_intrinsic(f"llvm.copysign.{s}", t, (t, infinity), (t, b[0]))
    unit_a, unit_b = [tuple([unit(p, i) for p, i in zip(z, signs, strict=True)]) for z, signs in ((a, a_infinite), (b, b_infinite))]
    cases = (
        (by_infinity, times_conjugate(a, unit_b, zero)),
        (of_infinity, times_conjugate(unit_a, b, infinity)),
        (by_zero, tuple([w.value(f"fmul {t} {signed}, {part}") for part in a])),
    )
    unknown = w.value(f"and i1 {w.value(f'fcmp uno {t} {quotient[0]}, {zero}')}, {w.value(f'fcmp uno {t} {quotient[1]}, {zero}')}")
    parts = []
    for k, plain in enumerate(quotient):
        recovered = plain
        for condition, value in cases:
            recovered = w.value(f"select i1 {condition}, {t} {value[k]}, {t} {recovered}")
        parts.append(w.value(f"select i1 {unknown}, {t} {recovered}, {t} {plain}"))
    return parts[0], parts[1]


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
    return operands[0][1] if isinstance(operands[0], tuple) else scalar_constant(0.0, i.shape.element_type)
