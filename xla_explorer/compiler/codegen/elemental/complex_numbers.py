"""Complex arithmetic on pairs of real values, and opcodes that make or split complex numbers."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.registry import (
    ElementalOperation,
    Scalar,
    emits_elementwise,
)
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.values import Complex, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real

_INFINITY = float("inf")


def complex_binary(w: Builder, name: str, a: Complex, b: Complex) -> Complex:
    """Emit add, subtract, multiply, divide, maximum or minimum."""
    if name == "add":
        return a + b
    if name == "subtract":
        return a - b
    if name == "multiply":
        return a * b
    if name == "divide":
        return _divide(w, a, b)
    if name in ("maximum", "minimum"):
        # By real part, then by imaginary part; a NaN in either part of either operand propagates.
        order = "gt" if name == "maximum" else "lt"
        ordered = w.compare("ord", a.imaginary, b.imaginary)
        clearly = w.both(w.compare(f"o{order}", a.real, b.real), ordered)
        tied = w.both(a.real.equals(b.real), w.compare(f"o{order[0]}e", a.imaginary, b.imaginary))
        first = w.either(w.either(clearly, tied), w.compare("uno", a.real, a.imaginary))
        return Complex(w.select(first, a.real, b.real), w.select(first, a.imaginary, b.imaginary))
    raise KeyError(name)


def _divide(w: Builder, a: Complex, b: Complex) -> Complex:
    """Emit Smith's method: scale by the larger part of the divisor.

    A quotient with NaN in both parts may still be infinite or zero.
    """
    size_real, size_imaginary = w.absolute(b.real), w.absolute(b.imaginary)
    real_larger = size_real >= size_imaginary
    big = w.select(real_larger, b.real, b.imaginary)
    small = w.select(real_larger, b.imaginary, b.real)
    ratio = small / big
    denominator = big + small * ratio
    first = w.select(real_larger, a.real, a.imaginary)
    second = w.select(real_larger, a.imaginary, a.real)
    quotient_real = (first + second * ratio) / denominator
    imaginary = (second - first * ratio) / denominator
    return _recovered_quotient(
        w, a, b, Complex(quotient_real, w.select(real_larger, imaginary, -imaginary))
    )


def _recovered_quotient(w: Builder, a: Complex, b: Complex, quotient: Complex) -> Complex:
    """Replace a quotient with NaN in both parts by infinity or zero as C99 G.5.1 defines.

    Infinite for a divisor of zero or an infinite dividend; zero for an infinite divisor.
    """
    t = a.real.type
    zero, one, infinity = (w.number(x, t) for x in (0.0, 1.0, _INFINITY))

    def infinite(part: Value) -> Value:
        return w.absolute(part).equals(infinity)

    def unit(part: Value, is_infinite: Value) -> Value:
        return w.copy_sign(w.select(is_infinite, one, zero), part)

    def times_conjugate(x: Complex, y: Complex, factor: Value) -> Complex:
        products = [
            p * q
            for p, q in (
                (x.real, y.real),
                (x.imaginary, y.imaginary),
                (x.imaginary, y.real),
                (x.real, y.imaginary),
            )
        ]
        sums = products[0] + products[1], products[2] - products[3]
        return Complex(factor * sums[0], factor * sums[1])

    def none_of(conditions: list[Value]) -> Value:
        return w.negated(w.either(conditions[0], conditions[1]))

    a_infinite, b_infinite = [infinite(part) for part in a], [infinite(part) for part in b]
    a_tame = w.both(none_of(a_infinite), w.compare("ord", a.real, a.imaginary))
    b_tame = w.both(none_of(b_infinite), w.compare("ord", b.real, b.imaginary))
    by_infinity = w.both(a_tame, w.either(b_infinite[0], b_infinite[1]))
    of_infinity = w.both(b_tame, w.either(a_infinite[0], a_infinite[1]))
    b_zero = [part.equals(zero) for part in b]
    by_zero = w.both(b_zero[0], b_zero[1])
    signed = w.copy_sign(infinity, b.real)
    unit_a, unit_b = [
        Complex(unit(z.real, signs[0]), unit(z.imaginary, signs[1]))
        for z, signs in ((a, a_infinite), (b, b_infinite))
    ]
    cases = (
        (by_infinity, times_conjugate(a, unit_b, zero)),
        (of_infinity, times_conjugate(unit_a, b, infinity)),
        (by_zero, Complex(signed * a.real, signed * a.imaginary)),
    )
    unknown = w.both(
        w.compare("uno", quotient.real, zero), w.compare("uno", quotient.imaginary, zero)
    )

    def part(k: int) -> Value:
        recovered: Value = quotient[k]
        for condition, value in cases:
            recovered = w.select(condition, value[k], recovered)
        return w.select(unknown, recovered, quotient[k])

    return Complex(part(0), part(1))


def modulus(w: Builder, z: Complex) -> Value:
    """Emit |z| without overflow: larger * sqrt(1 + (smaller / larger)^2).

    Infinite if a part is infinite, zero for zero.
    """
    re, im = w.absolute(z.real), w.absolute(z.imaginary)
    real_larger = re >= im
    large = w.select(real_larger, re, im)
    small = w.select(real_larger, im, re)
    ratio = small / large
    square = w.number(1.0, re.type) + ratio * ratio
    scaled = large * w.square_root(square)
    # The sum, not the larger part: with a NaN the comparison above selects the other part, even
    # zero.
    zero = (re + im).equals(0.0)
    scaled = w.select(zero, 0.0, scaled)
    re_infinite, im_infinite = re.equals(_INFINITY), im.equals(_INFINITY)
    return w.select(w.either(re_infinite, im_infinite), _INFINITY, scaled)


def complex_unary(w: Builder, name: str, z: Complex) -> Scalar:
    """Emit abs or sign."""
    size = modulus(w, z)
    if name == "abs":
        return size
    safe = w.select(size.equals(0.0), 1.0, size)
    return Complex(z.real / safe, z.imaginary / safe)


@emits_elementwise("complex")
def make_complex(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit real + imaginary * i."""
    return Complex(real(operands[0]), real(operands[1]))


@emits_elementwise("real")
def real_part(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Return the real part; of a real number, the number itself."""
    return operands[0].real if isinstance(operands[0], Complex) else operands[0]


@emits_elementwise("imag")
def imaginary_part(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Return the imaginary part; of a real number, zero."""
    return (
        operands[0].imaginary
        if isinstance(operands[0], Complex)
        else constant(w, 0.0, i.shape.element_type)
    )
