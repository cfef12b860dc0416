"""Elementary functions of complex numbers: exponential, log, sqrt, sine, cosine, tanh and power, and what is made of those.

At infinities and NaN they are what the evaluator says (`hlo/evaluator/transcendental.py`): C99's Annex G, but for an angle that is infinite
or NaN, which makes NaN of both parts as it does in XLA's products.

c64 computes in double, where squares and products of its parts are exact and nothing overflows; c128 takes the same
formulas.
Source: W. Kahan, "Branch cuts for complex elementary functions" (tanh, sqrt).
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.complex_numbers import complex_binary, modulus
from xla_explorer.compiler.codegen.elemental.registry import Value
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant
from xla_explorer.compiler.codegen.vector_math import vector_math_function

Pair = tuple[str, str]
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


def complex_function(w: FunctionWriter, name: str, component: str, *operands: Value) -> Pair:
    """A function of COMPLEX_FUNCTIONS on pairs of `component` values (float or double)."""
    parts = [str(part) for z in operands for part in z]
    if component == "float":
        parts = [w.value(f"fpext float {part} to double") for part in parts]
    with w.fast_math("contract"):
        result = _Functions(w, exact_squares=component == "float").call(name, *parts)
    if component == "float":
        return w.value(f"fptrunc double {result[0]} to float"), w.value(f"fptrunc double {result[1]} to float")
    return result


class _Functions:
    """The functions on doubles. exact_squares: the parts come from floats, so products of two do not overflow or
    round."""

    def __init__(self, w: FunctionWriter, *, exact_squares: bool) -> None:
        self.w = w
        self.exact_squares = exact_squares

    def call(self, name: str, *parts: str) -> Pair:
        """By opcode name; real and imaginary part of each operand."""
        result: Pair = getattr(self, name.replace("-", "_"))(*parts)
        return result

    def _binary(self, name: str, a: Pair, b: Pair) -> Pair:
        result: Pair = complex_binary(self.w, name, "double", a, b)
        return result

    def _negate(self, x: str) -> str:
        return self.w.value(f"fneg double {x}")

    # -- doubles -------------------------------------------------------------------------------------------------------
    def _real(self, function: str, *arguments: str) -> str:
        return self.w.call_math(vector_math_function(function, "f64").name, "double", *arguments)

    def _constant(self, value: float) -> str:
        return float_constant(value, "double")

    def _do(self, operation: str, x: str, y: str) -> str:
        return self.w.value(f"{operation} double {x}, {y}")

    def _fabs(self, x: str) -> str:
        return self.w.call_intrinsic("llvm.fabs.f64", "double", ("double", x))

    def _copysign(self, x: str, sign: str) -> str:
        return self.w.call_intrinsic("llvm.copysign.f64", "double", ("double", x), ("double", sign))

    def _square_root(self, x: str) -> str:
        return self.w.call_intrinsic("llvm.sqrt.f64", "double", ("double", x))

    def _is(self, condition: str, x: str, value: float) -> str:
        return self.w.value(f"fcmp {condition} double {x}, {self._constant(value)}")

    def _both(self, a: str, b: str) -> str:
        return self.w.value(f"and i1 {a}, {b}")

    def _choose(self, condition: str, x: str, y: str) -> str:
        return self.w.value(f"select i1 {condition}, double {x}, double {y}")

    def _ordered(self, x: str) -> str:
        return self.w.value(f"fcmp ord double {x}, {x}")

    def _infinite(self, x: str) -> str:
        return self._is("oeq", self._fabs(x), float("inf"))

    def _not_finite(self, x: str) -> str:
        return self.w.value(f"xor i1 {self._is('one', self._fabs(x), float('inf'))}, true")

    # -- functions -----------------------------------------------------------------------------------------------------
    def exponential(self, a: str, b: str) -> Pair:
        """e^a (cos b + i sin b), by halves where e^a alone overflows."""
        sine, cosine = self._real("sine", b), self._real("cosine", b)
        large = self._is("ogt", a, 700.0)
        size = self._real("exponential", self._choose(large, self._do("fmul", a, self._constant(0.5)), a))
        again = self._choose(large, size, self._constant(1.0))
        real, imaginary = [self._do("fmul", self._do("fmul", size, x), again) for x in (cosine, sine)]
        zero = self._is("oeq", b, 0.0)
        return self._choose(zero, self._do("fmul", size, again), real), self._choose(zero, b, imaginary)

    def log(self, a: str, b: str) -> Pair:
        """log |z| and the angle; near |z| = 1 by log1p of |z|^2 - 1, which is computed without cancellation."""
        x, y = self._fabs(a), self._fabs(b)
        larger = self.w.value(f"fcmp oge double {x}, {y}")
        big, small = self._choose(larger, x, y), self._choose(larger, y, x)
        half, one = self._constant(0.5), self._constant(1.0)
        excess = self._do(
            "fadd",
            self._do("fmul", self._do("fsub", big, one), self._do("fadd", big, one)),
            self._do("fmul", small, small),
        )
        near = self._do("fmul", self._real("log-plus-one", excess), half)
        if self.exact_squares:
            square = self._do("fadd", self._do("fmul", x, x), self._do("fmul", y, y))
            far = self._do("fmul", self._real("log", square), half)
        else:
            far = self._real("log", modulus(self.w, "double", (a, b)))
        close = self._both(self._is("ogt", big, 0.5), self._is("olt", big, 2.0))
        infinite = self.w.value(f"or i1 {self._infinite(a)}, {self._infinite(b)}")
        real = self._choose(infinite, self._constant(float("inf")), self._choose(close, near, far))
        return real, self._real("atan2", b, a)

    def sqrt(self, a: str, b: str) -> Pair:
        """The root with a real part that is not negative."""
        x, y = self._fabs(a), self._fabs(b)
        half, zero = self._constant(0.5), self._constant(0.0)
        # Halves and quarters, so that |a| + |z| does not overflow.
        size = modulus(self.w, "double", (self._do("fmul", a, half), self._do("fmul", b, half)))
        root = self._square_root(self._do("fadd", self._do("fmul", x, half), size))
        other = self._do("fmul", self._do("fdiv", y, root), half)
        right = self._is("oge", a, 0.0)
        real, imaginary = self._choose(right, root, other), self._choose(right, other, root)
        origin = self._both(self._is("oeq", a, 0.0), self._is("oeq", b, 0.0))
        real, imaginary = self._choose(origin, zero, real), self._choose(origin, zero, imaginary)
        positive, negative = self._is("oeq", a, float("inf")), self._is("oeq", a, float("-inf"))
        unordered = self.w.value(f"fcmp uno double {b}, {b}")
        real = self._choose(positive, a, self._choose(negative, self._choose(unordered, b, zero), real))
        imaginary = self._choose(
            positive, self._choose(unordered, b, zero), self._choose(negative, self._constant(float("inf")), imaginary)
        )
        wide = self._infinite(b)
        infinity = self._constant(float("inf"))
        return self._choose(wide, infinity, real), self._copysign(self._choose(wide, infinity, imaginary), b)

    def sine(self, a: str, b: str) -> Pair:
        """sin a cosh b + i cos a sinh b."""
        sine, cosine, high, low = (
            self._real("sine", a),
            self._real("cosine", a),
            self._real("cosh", b),
            self._real("sinh", b),
        )
        stays_zero = self._both(self._is("oeq", a, 0.0), self._ordered(b))
        return self._choose(stays_zero, a, self._do("fmul", sine, high)), self._do("fmul", cosine, low)

    def cosine(self, a: str, b: str) -> Pair:
        """cos a cosh b - i sin a sinh b."""
        sine, cosine, high, low = (
            self._real("sine", a),
            self._real("cosine", a),
            self._real("cosh", b),
            self._real("sinh", b),
        )
        product = self.w.value(f"fneg double {self._do('fmul', sine, low)}")
        turns_nowhere = self._both(self._is("oeq", a, 0.0), self._ordered(b))
        grows_nowhere = self._both(self._is("oeq", b, 0.0), self._is("one", self._fabs(a), float("inf")))
        no_product = self.w.value(f"or i1 {turns_nowhere}, {grows_nowhere}")
        sign = self._do("fmul", self._copysign(self._constant(1.0), a), self._copysign(self._constant(1.0), b))
        nothing = self.w.value(f"fneg double {self._copysign(self._constant(0.0), sign)}")
        return self._do("fmul", cosine, high), self._choose(no_product, nothing, product)

    def tanh(self, a: str, b: str) -> Pair:
        """Kahan's formula; far from the imaginary axis 1 and what is left of the exponential."""
        one = self._constant(1.0)
        tangent = self._real("tan", b)
        far = self._is("ogt", self._fabs(a), 20.0)
        sinh = self._real("sinh", self._choose(far, one, a))
        beta = self._do("fadd", one, self._do("fmul", tangent, tangent))
        square = self._do("fmul", sinh, sinh)
        root = self._square_root(self._do("fadd", one, square))
        divisor = self._do("fadd", one, self._do("fmul", beta, square))
        real = self._do("fdiv", self._do("fmul", self._do("fmul", beta, root), sinh), divisor)
        imaginary = self._do("fdiv", tangent, divisor)
        decay = self._real("exponential", self._do("fmul", self._fabs(a), self._constant(-2.0)))
        turn = self._do("fmul", self._real("sine", b), self._real("cosine", b))
        turn = self._choose(self._both(self._infinite(a), self._not_finite(b)), self._constant(0.0), turn)
        rest = self._do("fmul", self._do("fmul", self._constant(4.0), turn), decay)
        turning = self.w.value(f"xor i1 {self._not_finite(b)}, true")
        settled = self._both(far, self.w.value(f"or i1 {turning}, {self._infinite(a)}"))
        stays_zero = self._both(self._is("oeq", a, 0.0), turning)
        real = self._choose(stays_zero, a, self._choose(settled, self._copysign(one, a), real))
        imaginary = self._choose(far, rest, imaginary)
        return real, self._choose(self._is("oeq", b, 0.0), b, imaginary)

    def tan(self, a: str, b: str) -> Pair:
        """-i tanh(i z)."""
        real, imaginary = self.tanh(self._negate(b), a)
        return imaginary, self._negate(real)

    def exponential_minus_one(self, a: str, b: str) -> Pair:
        """expm1(a) cos b - 2 sin^2(b / 2) near zero, where the exponential minus one would cancel."""
        real, imaginary = self.exponential(a, b)
        half = self._real("sine", self._do("fmul", b, self._constant(0.5)))
        lost = self._do("fmul", self._do("fmul", half, half), self._constant(2.0))
        near = self._do("fsub", self._do("fmul", self._real("exponential-minus-one", a), self._real("cosine", b)), lost)
        return self._choose(self._is("olt", self._fabs(a), 1.0), near, self._do("fsub", real, self._constant(1.0))), imaginary

    def log_plus_one(self, a: str, b: str) -> Pair:
        """log1p(2 a + a^2 + b^2) / 2 where |z| is small, else the logarithm of 1 + z."""
        one = self._constant(1.0)
        real, imaginary = self.log(self._do("fadd", a, one), b)
        excess = self._do("fadd", self._do("fmul", a, self._do("fadd", a, self._constant(2.0))), self._do("fmul", b, b))
        near = self._do("fmul", self._real("log-plus-one", excess), self._constant(0.5))
        return self._choose(self._is("olt", modulus(self.w, "double", (a, b)), 0.5), near, real), imaginary

    def rsqrt(self, a: str, b: str) -> Pair:
        """1 / sqrt(z)."""
        return self._binary("divide", (self._constant(1.0), self._constant(0.0)), self.sqrt(a, b))

    def power(self, a: str, b: str, c: str, d: str) -> Pair:
        """|z|^c e^(-d arg z) at the angle c arg z + d log |z|; anything to the 0 is 1, 0 to a power with a positive real part is 0, and the
        positive infinity to a real power is infinite or 0."""
        zero, one, infinity = self._constant(0.0), self._constant(1.0), self._constant(float("inf"))
        size, angle = modulus(self.w, "double", (a, b)), self._real("atan2", b, a)
        shrink = self._real("exponential", self._negate(self._do("fmul", d, angle)))
        length = self._do("fmul", self._real("power", size, c), shrink)
        turn = self._do("fadd", self._do("fmul", c, angle), self._do("fmul", d, self.log(a, b)[0]))
        real, imaginary = self._do("fmul", length, self._real("cosine", turn)), self._do("fmul", length, self._real("sine", turn))
        on_axis, grows = self._is("oeq", d, 0.0), self._is("ogt", c, 0.0)
        endless = self._both(self._both(self._is("oeq", a, float("inf")), self._is("oeq", b, 0.0)), self._both(on_axis, self._ordered(c)))
        origin = self._both(self._is("oeq", a, 0.0), self._is("oeq", b, 0.0))
        at_origin = self._choose(grows, zero, self._constant(float("nan")))
        real = self._choose(endless, self._choose(grows, infinity, zero), self._choose(origin, at_origin, real))
        imaginary = self._choose(endless, zero, self._choose(origin, at_origin, imaginary))
        nothing = self._both(self._is("oeq", c, 0.0), on_axis)
        return self._choose(nothing, one, real), self._choose(nothing, zero, imaginary)

    def atan2(self, yr: str, yi: str, xr: str, xi: str) -> Pair:
        """-i log((x + i y) / sqrt(x^2 + y^2))."""
        x, y = (xr, xi), (yr, yi)
        length = self._binary("add", self._binary("multiply", x, x), self._binary("multiply", y, y))
        direction = self._binary("divide", self._binary("add", x, (self._negate(yi), yr)), self.sqrt(*length))
        real, imaginary = self.log(*direction)
        return imaginary, self._negate(real)
