"""Elementary functions of complex numbers, such as exponential, log, sqrt, sine, tanh and power.

At infinities and NaN they equal the evaluator (`hlo/evaluator/transcendental.py`): C99 Annex G,
except that an angle that is infinite or NaN makes both parts NaN, as in XLA's products.

c64 computes in double, where squares and products of its parts are exact and do not overflow; c128
uses the same formulas. Source: W. Kahan, "Branch cuts for complex elementary functions" (tanh,
sqrt).
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.complex_numbers import complex_binary, modulus
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import F64
from xla_explorer.compiler.codegen.ir.values import Complex, Value
from xla_explorer.compiler.codegen.vector_math import function_name

COMPLEX_FUNCTIONS = frozenset(
    {
        "exponential",
        "log",
        "sqrt",
        "sine",
        "cosine",
        "tanh",
        "tan",
        "exponential-minus-one",
        "log-plus-one",
        "rsqrt",
        "power",
        "atan2",
    }
)


def complex_function(w: Builder, name: str, *operands: Complex) -> Complex:
    """Emit a function of COMPLEX_FUNCTIONS on numbers with f32 or f64 parts."""
    parts = [part for z in operands for part in z]
    component = parts[0].type.scalar
    if component == "float":
        parts = [w.convert("fpext", part, "double") for part in parts]
    with w.fast_math("contract"):
        result = _Functions(w, exact_squares=component == "float").call(name, *parts)
    if component == "float":
        return Complex(
            w.convert("fptrunc", result.real, "float"),
            w.convert("fptrunc", result.imaginary, "float"),
        )
    return result


class _Functions:
    """The functions on doubles.

    exact_squares: the parts are converted floats, so products of two do not overflow or round.
    """

    def __init__(self, w: Builder, *, exact_squares: bool) -> None:
        self.w = w
        self.exact_squares = exact_squares

    def call(self, name: str, *parts: Value) -> Complex:
        """Emit a function by opcode name on the parts of its operands."""
        result: Complex = getattr(self, name.replace("-", "_"))(*parts)
        return result

    def constant(self, value: float) -> Value:
        """Return a double constant."""
        return self.w.number(value, F64)

    def _real(self, function: str, *arguments: Value) -> Value:
        return self.w.call_math(function_name(function, "f64"), *arguments)

    def _infinite(self, x: Value) -> Value:
        return self.w.absolute(x).equals(float("inf"))

    def _not_finite(self, x: Value) -> Value:
        return self.w.negated(self.w.compare("one", self.w.absolute(x), float("inf")))

    # -- functions ---------------------------------------------------------------------------------
    def exponential(self, a: Value, b: Value) -> Complex:
        """Emit e^a (cos b + i sin b), as two halves if e^a alone overflows."""
        sine, cosine = self._real("sine", b), self._real("cosine", b)
        large = a > 700.0
        size = self._real("exponential", self.w.select(large, a * 0.5, a))
        again = self.w.select(large, size, 1.0)
        real, imaginary = [size * x * again for x in (cosine, sine)]
        zero = b.equals(0.0)
        return Complex(self.w.select(zero, size * again, real), self.w.select(zero, b, imaginary))

    def log(self, a: Value, b: Value) -> Complex:
        """Emit log |z| and the angle.

        Near |z| = 1 the former is log1p of |z|^2 - 1, computed without cancellation.
        """
        x, y = self.w.absolute(a), self.w.absolute(b)
        larger = x >= y
        big, small = self.w.select(larger, x, y), self.w.select(larger, y, x)
        half, one = self.constant(0.5), self.constant(1.0)
        excess = (big - one) * (big + one) + small * small
        near = self._real("log-plus-one", excess) * half
        if self.exact_squares:
            square = x * x + y * y
            far = self._real("log", square) * half
        else:
            far = self._real("log", modulus(self.w, Complex(a, b)))
        close = self.w.both(big > 0.5, big < 2.0)
        infinite = self.w.either(self._infinite(a), self._infinite(b))
        real = self.w.select(infinite, float("inf"), self.w.select(close, near, far))
        return Complex(real, self._real("atan2", b, a))

    def sqrt(self, a: Value, b: Value) -> Complex:
        """Emit the root whose real part is not negative."""
        x, y = self.w.absolute(a), self.w.absolute(b)
        half, zero = self.constant(0.5), self.constant(0.0)
        # Halves and quarters, so that |a| + |z| does not overflow.
        size = modulus(self.w, Complex(a * half, b * half))
        root = self.w.square_root(x * half + size)
        other = y / root * half
        right = a >= 0.0
        real, imaginary = self.w.select(right, root, other), self.w.select(right, other, root)
        origin = self.w.both(a.equals(0.0), b.equals(0.0))
        real, imaginary = self.w.select(origin, zero, real), self.w.select(origin, zero, imaginary)
        positive, negative = a.equals(float("inf")), a.equals(float("-inf"))
        unordered = b.is_nan()
        real = self.w.select(
            positive, a, self.w.select(negative, self.w.select(unordered, b, zero), real)
        )
        imaginary = self.w.select(
            positive,
            self.w.select(unordered, b, zero),
            self.w.select(negative, float("inf"), imaginary),
        )
        wide = self._infinite(b)
        infinity = self.constant(float("inf"))
        return Complex(
            self.w.select(wide, infinity, real),
            self.w.copy_sign(self.w.select(wide, infinity, imaginary), b),
        )

    def sine(self, a: Value, b: Value) -> Complex:
        """Emit sin a cosh b + i cos a sinh b."""
        sine, cosine, high, low = (
            self._real("sine", a),
            self._real("cosine", a),
            self._real("cosh", b),
            self._real("sinh", b),
        )
        stays_zero = self.w.both(a.equals(0.0), self.w.compare("ord", b, b))
        return Complex(self.w.select(stays_zero, a, sine * high), cosine * low)

    def cosine(self, a: Value, b: Value) -> Complex:
        """Emit cos a cosh b - i sin a sinh b."""
        sine, cosine, high, low = (
            self._real("sine", a),
            self._real("cosine", a),
            self._real("cosh", b),
            self._real("sinh", b),
        )
        product = -(sine * low)
        turns_nowhere = self.w.both(a.equals(0.0), self.w.compare("ord", b, b))
        grows_nowhere = self.w.both(
            b.equals(0.0), self.w.compare("one", self.w.absolute(a), float("inf"))
        )
        no_product = self.w.either(turns_nowhere, grows_nowhere)
        sign = self.w.copy_sign(self.constant(1.0), a) * self.w.copy_sign(self.constant(1.0), b)
        nothing = -self.w.copy_sign(self.constant(0.0), sign)
        return Complex(cosine * high, self.w.select(no_product, nothing, product))

    def tanh(self, a: Value, b: Value) -> Complex:
        """Emit Kahan's formula; far from the imaginary axis, 1 and the remaining exponential."""
        one = self.constant(1.0)
        tangent = self._real("tan", b)
        far = self.w.absolute(a) > 20.0
        sinh = self._real("sinh", self.w.select(far, one, a))
        beta = one + tangent * tangent
        square = sinh * sinh
        root = self.w.square_root(one + square)
        divisor = one + beta * square
        real = beta * root * sinh / divisor
        imaginary = tangent / divisor
        decay = self._real("exponential", self.w.absolute(a) * -2.0)
        turn = self._real("sine", b) * self._real("cosine", b)
        turn = self.w.select(self.w.both(self._infinite(a), self._not_finite(b)), 0.0, turn)
        rest = self.constant(4.0) * turn * decay
        turning = self.w.negated(self._not_finite(b))
        settled = self.w.both(far, self.w.either(turning, self._infinite(a)))
        stays_zero = self.w.both(a.equals(0.0), turning)
        real = self.w.select(stays_zero, a, self.w.select(settled, self.w.copy_sign(one, a), real))
        imaginary = self.w.select(far, rest, imaginary)
        return Complex(real, self.w.select(b.equals(0.0), b, imaginary))

    def tan(self, a: Value, b: Value) -> Complex:
        """Emit -i tanh(i z)."""
        real, imaginary = self.tanh(-b, a)
        return Complex(imaginary, -real)

    def exponential_minus_one(self, a: Value, b: Value) -> Complex:
        """Emit expm1(a) cos b - 2 sin^2(b / 2) near zero, else the exponential minus one.

        Near zero the latter would cancel.
        """
        real, imaginary = self.exponential(a, b)
        half = self._real("sine", b * 0.5)
        lost = half * half * 2.0
        near = self._real("exponential-minus-one", a) * self._real("cosine", b) - lost
        return Complex(self.w.select(self.w.absolute(a) < 1.0, near, real - 1.0), imaginary)

    def log_plus_one(self, a: Value, b: Value) -> Complex:
        """Emit log1p(2 a + a^2 + b^2) / 2 if |z| is small, else the logarithm of 1 + z."""
        one = self.constant(1.0)
        real, imaginary = self.log(a + one, b)
        excess = a * (a + 2.0) + b * b
        near = self._real("log-plus-one", excess) * 0.5
        return Complex(self.w.select(modulus(self.w, Complex(a, b)) < 0.5, near, real), imaginary)

    def rsqrt(self, a: Value, b: Value) -> Complex:
        """Emit 1 / sqrt(z)."""
        return complex_binary(
            self.w, "divide", Complex(self.constant(1.0), self.constant(0.0)), self.sqrt(a, b)
        )

    def power(self, a: Value, b: Value, c: Value, d: Value) -> Complex:
        """Emit |z|^c e^(-d arg z) at the angle c arg z + d log |z|.

        Any number to the power 0 is 1. Zero to a power with a positive real part is 0. Positive
        infinity to a real power is infinite or 0.
        """
        zero, one, infinity = self.constant(0.0), self.constant(1.0), self.constant(float("inf"))
        size, angle = modulus(self.w, Complex(a, b)), self._real("atan2", b, a)
        shrink = self._real("exponential", -(d * angle))
        length = self._real("power", size, c) * shrink
        turn = c * angle + d * self.log(a, b).real
        real, imaginary = length * self._real("cosine", turn), length * self._real("sine", turn)
        on_axis, grows = d.equals(0.0), c > 0.0
        endless = self.w.both(
            self.w.both(a.equals(float("inf")), b.equals(0.0)),
            self.w.both(on_axis, self.w.compare("ord", c, c)),
        )
        origin = self.w.both(a.equals(0.0), b.equals(0.0))
        at_origin = self.w.select(grows, zero, float("nan"))
        real = self.w.select(
            endless, self.w.select(grows, infinity, zero), self.w.select(origin, at_origin, real)
        )
        imaginary = self.w.select(endless, zero, self.w.select(origin, at_origin, imaginary))
        nothing = self.w.both(c.equals(0.0), on_axis)
        return Complex(self.w.select(nothing, one, real), self.w.select(nothing, zero, imaginary))

    def atan2(self, yr: Value, yi: Value, xr: Value, xi: Value) -> Complex:
        """Emit -i log((x + i y) / sqrt(x^2 + y^2))."""
        x, y = Complex(xr, xi), Complex(yr, yi)
        length = complex_binary(
            self.w,
            "add",
            complex_binary(self.w, "multiply", x, x),
            complex_binary(self.w, "multiply", y, y),
        )
        direction = complex_binary(
            self.w, "divide", complex_binary(self.w, "add", x, Complex(-yi, yr)), self.sqrt(*length)
        )
        real, imaginary = self.log(*direction)
        return Complex(imaginary, -real)
