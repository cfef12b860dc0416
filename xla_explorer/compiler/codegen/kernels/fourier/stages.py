"""Discrete Fourier transforms of one length: mixed radix, self-sorting; other lengths by a chirp.

The complex numbers are two arrays, real and imaginary parts, of `lanes` interleaved transforms:
element k of transform c is at k * lanes + c. The stages are Stockham's, decimation in frequency.
For n = r m, a stage of radix r maps s interleaved sub-transforms with w = exp(-2 pi i / n):

`y[q + s (r p + u)] = w^(p u) * sum over t of x[q + s (p + m t)] exp(-2 pi i t u / r)`.

The next stage has n = m and s = r s; no reordering follows. Prime factors up to LARGEST_RADIX have
their own butterfly. Other lengths become a circular convolution of a power-of-2 length in f64.
Source: L. Bluestein, "A linear filtering approach to the computation of discrete Fourier
transform", 1970.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import F32, F64, Type
from xla_explorer.compiler.codegen.ir.values import Complex, Float, Pointer, Value

LARGEST_RADIX = 31
Number = Value[Float]
Pair = tuple[Value[Pointer], Value[Pointer]]  # addresses of the real and of the imaginary parts
Table = Callable[[bytes], Value[Pointer]]

_QUARTERS = ((1, 0), (0, -1), (-1, 0), (0, 1))
_ROOTS_AT_ONCE = 1 << 14
"""Numbers of a chunk of a table: its arrays stay in the cache of a core."""
_DTYPES: dict[Type, Any] = {F32: np.float32, F64: np.float64}


def radices(length: int) -> list[int] | None:
    """Return the radices of the stages, eights first; None if a prime factor is too large."""
    found = []
    for radix in (8, 4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31):
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return found if length == 1 else None


def roots_of_unity(numerators: Any, length: int, dtype: Any = np.longdouble) -> Any:
    """Return exp(-2 pi i k / length), real and imaginary parts of the numerators' shape.

    Rounded to `dtype` from a wider type if the machine has one; multiples of a quarter are exact.
    Many roots are products of two out of about 2 sqrt(length), because the machine's sine takes
    longer than a product by far: a table of 2^24 numbers takes 0.6 s instead of 9 s.
    """
    wide = np.float64 if dtype is np.float32 else np.longdouble
    steps = np.asarray(numerators)
    found = np.empty((2, *steps.shape), dtype)
    if steps.size <= _ROOTS_AT_ONCE:
        found[:] = _few_roots(steps % length, length)
        return found
    low = (length - 1).bit_length() // 2
    fine = [part.astype(wide) for part in _few_roots(np.arange(1 << low), length)]
    coarse = [
        part.astype(wide)
        for part in _few_roots(np.arange(((length - 1) >> low) + 1) << low, length)
    ]
    # Multiples of a quarter, which products would round.
    exact = [(q * length // 4, root) for q, root in enumerate(_QUARTERS) if q * length % 4 == 0]
    flat, parts = steps.reshape(-1), found.reshape(2, -1)
    for start in range(0, flat.size, _ROOTS_AT_ONCE):
        k = flat[start : start + _ROOTS_AT_ONCE] % length
        high, rest = k >> low, k & (1 << low) - 1
        c, s, x, y = coarse[0][high], coarse[1][high], fine[0][rest], fine[1][rest]
        chunk = parts[:, start : start + _ROOTS_AT_ONCE]
        chunk[0], chunk[1] = c * x - s * y, c * y + s * x
        for step, root in exact:
            chunk[:, k == step] = np.array(root)[:, None]
    return found


def _few_roots(steps: Any, length: int) -> tuple[Any, Any]:
    """Return the roots of numerators from 0 to length - 1, by the sine of at most an eighth."""
    quarter, rest = np.divmod(4 * steps, length)
    swaps = 2 * rest > length
    angle = np.where(swaps, length - rest, rest).astype(np.longdouble) / length
    angle *= 2 * np.arctan(np.longdouble(1))
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y = np.where(swaps, sine, cosine), np.where(swaps, cosine, sine)
    odd = quarter % 2 == 1
    real, imaginary = np.where(odd, -y, x), np.where(odd, x, y)
    turned = quarter >= 2
    return np.where(turned, -real, real), np.where(turned, imaginary, -imaginary)


def converted(w: FunctionWriter, value: Value[Float], target: Type) -> Value[Float]:
    """Convert a float, or a vector of them, to another precision."""
    if value.type.bits == target.bits:
        return value
    op = "fpext" if value.type.bits < target.bits else "fptrunc"
    return w.convert(op, value, target.scalar)


class FourierStages:
    """Emits butterflies of numbers of type `t` (f32 or f64, or vectors of them).

    table: returns the address of constant data. scalar: the type of one number.
    """

    def __init__(self, w: FunctionWriter, t: Type, table: Table, lanes: int = 1) -> None:
        self.w, self.scalar, self.t = w, t, t.of_lanes(lanes)
        self.bytes = t.bits // 8
        self._table = table

    # -- memory ------------------------------------------------------------------------------------
    def address(self, pointer: Value[Pointer], offset: Word) -> Value[Pointer]:
        """Return the address of a scalar."""
        return pointer if offset == 0 else self.w.address(pointer, self.scalar, offset)

    def load(self, pair: Pair, offset: Word) -> Complex:
        """Load a complex number."""
        return Complex(*[self.w.load(self.address(p, offset), self.t, self.bytes) for p in pair])

    def store(self, pair: Pair, offset: Word, value: Complex) -> None:
        """Store a complex number."""
        for pointer, part in zip(pair, value, strict=True):
            self.w.store(part, self.address(pointer, offset), self.bytes)

    def complex_table(self, real: Any, imaginary: Any) -> Pair:
        """Return the addresses of constant real and imaginary parts."""
        first, second = [
            self._table(np.ascontiguousarray(part, _DTYPES[self.scalar]).tobytes())
            for part in (real, imaginary)
        ]
        return first, second

    def roots_table(self, numerators: Any, length: int) -> Pair:
        """Return the addresses of constant roots of unity."""
        return self.complex_table(*roots_of_unity(numerators, length, _DTYPES[self.scalar]))

    # -- arithmetic --------------------------------------------------------------------------------
    def _op(self, name: str, a: Number, b: Number) -> Number:
        return self.w.binary(name, a, b, "contract")

    def constant(self, value: float) -> Number:
        """Return a constant."""
        return self.w.number(value, self.t)

    def scale(self, a: Number, factor: float) -> Number:
        """Return a times a constant."""
        return a if factor == 1.0 else self._op("fmul", a, self.constant(factor))

    def add(self, a: Complex, b: Complex) -> Complex:
        """Return a + b."""
        return Complex(self._op("fadd", a[0], b[0]), self._op("fadd", a[1], b[1]))

    def sub(self, a: Complex, b: Complex) -> Complex:
        """Return a - b."""
        return Complex(self._op("fsub", a[0], b[0]), self._op("fsub", a[1], b[1]))

    def mul(self, a: Complex, b: Complex) -> Complex:
        """Return a * b."""
        real = self._op("fsub", self._op("fmul", a[0], b[0]), self._op("fmul", a[1], b[1]))
        cross = self._op("fadd", self._op("fmul", a[0], b[1]), self._op("fmul", a[1], b[0]))
        return Complex(real, cross)

    def times_minus_i(self, a: Complex) -> Complex:
        """Return -i a."""
        return Complex(a.imaginary, -a.real)

    def of_real(self, value: Complex, other: Complex, factor: Complex) -> Complex:
        """Return an element of the spectrum of a real line.

        Its even elements were transformed as real parts, the odd ones as imaginary parts. other:
        the element from the other end.
        """
        mirrored = Complex(other.real, -other.imaginary)
        twiddled = self.times_minus_i(self.mul(self.sub(value, mirrored), factor))
        total = self.add(self.add(value, mirrored), twiddled)
        return Complex(self.scale(total.real, 0.5), self.scale(total.imaginary, 0.5))

    def to_real(self, value: Complex, other: Complex, factor: Complex) -> Complex:
        """Return an input of the inverse transform of half the length for a real line.

        Real and imaginary parts are exchanged.
        """
        mirrored = Complex(other.real, -other.imaginary)
        twiddled = self.mul(self.sub(value, mirrored), factor)
        rotated = Complex(-twiddled.imaginary, twiddled.real)
        return self.add(self.add(value, mirrored), rotated).swapped

    def _turn(self, a: Complex, numerator: int, length: int) -> Complex:
        """Return a * exp(-2 pi i numerator / length)."""
        numerator %= length
        if numerator == 0:
            return a
        if 4 * numerator == length:
            return self.times_minus_i(a)
        if 2 * numerator == length:
            return -a
        if 4 * numerator == 3 * length:
            return Complex(-a.imaginary, a.real)
        if 8 * numerator in (length, 3 * length):  # (+-1 - i) / sqrt 2
            total, difference = self._op("fadd", a[0], a[1]), self._op("fsub", a[1], a[0])
            root = math.sqrt(0.5)
            if 8 * numerator == length:
                return Complex(self.scale(total, root), self.scale(difference, root))
            return Complex(self.scale(difference, root), self.scale(total, -root))
        real, imaginary = roots_of_unity(numerator, length)
        return self.mul(a, Complex(self.constant(float(real)), self.constant(float(imaginary))))

    def butterfly(self, x: Sequence[Complex]) -> list[Complex]:
        """Return the transform of a few numbers in registers."""
        n = len(x)
        if n == 1:
            return list(x)
        if n == 2:
            return [self.add(x[0], x[1]), self.sub(x[0], x[1])]
        if n % 2 == 0:
            even, odd = self.butterfly(x[0::2]), self.butterfly(x[1::2])
            odd = [self._turn(value, k, n) for k, value in enumerate(odd)]
            pairs = list(zip(even, odd, strict=True))
            return [self.add(a, b) for a, b in pairs] + [self.sub(a, b) for a, b in pairs]
        return self._odd_butterfly(x)

    def _odd_butterfly(self, x: Sequence[Complex]) -> list[Complex]:
        """Return the transform of prime length, from sums and differences of x[t] and x[n - t]."""
        n, half = len(x), len(x) // 2
        sums = [self.add(x[t], x[n - t]) for t in range(1, half + 1)]
        differences = [self.sub(x[t], x[n - t]) for t in range(1, half + 1)]
        total = x[0]
        for value in sums:
            total = self.add(total, value)
        results: list[Complex] = [total] * n
        for u in range(1, half + 1):
            even = x[0]
            odd: Complex | None = None
            for t in range(1, half + 1):
                cosine, minus_sine = roots_of_unity(t * u, n)
                c, s = self.constant(float(cosine)), self.constant(float(-minus_sine))
                even = Complex(
                    *[
                        self._op("fadd", part, self._op("fmul", together, c))
                        for part, together in zip(even, sums[t - 1], strict=True)
                    ]
                )
                by = Complex(*[self._op("fmul", part, s) for part in differences[t - 1]])
                odd = by if odd is None else self.add(odd, by)
            assert odd is not None
            rotated = self.times_minus_i(odd)
            results[u], results[n - u] = self.add(even, rotated), self.sub(even, rotated)
        return results


def chirp_length(length: int) -> int:
    """Return the power-of-2 length of the convolution that replaces a transform."""
    return 1 << (2 * length - 2).bit_length()


def chirp_numbers(length: int) -> tuple[Any, Any]:
    """Return the factors before and after the convolution, and those of its spectrum (c128)."""
    size = chirp_length(length)
    real, imaginary = roots_of_unity(np.arange(length) ** 2 % (2 * length), 2 * length, np.float64)
    chirp = (real + 1j * imaginary).astype(np.complex128)
    filter_ = np.zeros(size, np.complex128)
    filter_[:length] = chirp.conj()
    filter_[size - length + 1 :] = chirp.conj()[:0:-1]
    return chirp, np.fft.fft(filter_) / size


def buffer_elements(length: int) -> int:
    """Return the complex numbers of each buffer of `VectorStages.transform`, per lane."""
    return length if radices(length) is not None else chirp_length(length)


def working_type(length: int, t: Type) -> Type:
    """Return the type in which a transform is computed."""
    return t if radices(length) is not None else F64
