"""Lines of a Fourier transform in memory, and roots of unity from two short tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emitters.kernel_descriptors import ScratchArrays
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.definitions import constant_bytes
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import F32, Type
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.fourier.stages import (
    FourierStages,
    converted,
    roots_of_unity,
)
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import pair, real, value_type
from xla_explorer.hlo.primitive_type import C64, C128, PrimitiveType
from xla_explorer.hlo.shape import array_shape

WHOLE_TABLE = 256  # maximum of stored roots; more are products of two table entries
Index = Word


def complex_type(t: Type) -> PrimitiveType:
    """Return the complex type with parts of a type."""
    return C64 if t is F32 else C128


def choose(w: FunctionWriter, condition: Value[Integer], a: Complex, b: Complex) -> Complex:
    """Return `condition ? a : b`."""
    return Complex(*[w.select(condition, x, y) for x, y in zip(a, b, strict=True)])


def no_table(data: bytes) -> Value[Pointer]:
    """Refuse constant data: kernels compute roots from two short tables (`Roots`)."""
    raise NotImplementedError


class Roots:
    """Roots exp(-2 pi i k / length) for 0 <= k < length.

    They come from a table, or are the product of two entries.
    """

    def __init__(self, context: KernelContext, stages: FourierStages, length: int) -> None:
        self.context, self.stages, self.length = context, stages, length
        self.low = length if length <= WHOLE_TABLE else 1 << -(-(length - 1).bit_length() // 2)
        self.fine = self._table(np.arange(self.low))
        self.coarse = (
            None
            if self.low >= length
            else self._table(np.arange(-(-length // self.low)) * self.low)
        )

    def _table(self, numerators: np.ndarray) -> ArrayInMemory:
        kind = complex_type(self.stages.t)
        cosines, sines = roots_of_unity(numerators, self.length)
        part = np.float32 if kind is C64 else np.float64
        raw = np.stack([cosines.astype(part), sines.astype(part)], -1).tobytes()
        name = f"roots_{hashlib.sha256(raw).hexdigest()[:16]}"
        self.context.globals[constant_bytes(name, raw, 16, space=1)] = None
        return ArrayInMemory(
            self.context.pointer(f"@{name}"), array_shape(kind, (len(numerators),)), True
        )

    def at(self, numerator: Index) -> Complex:
        """Return a root."""
        w = self.context.writer
        if self.coarse is None:
            return self._load(self.fine, numerator)
        return self.stages.mul(
            self._load(self.coarse, w.div(numerator, self.low)),
            self._load(self.fine, w.mod(numerator, self.low)),
        )

    def _load(self, table: ArrayInMemory, at: Index) -> Complex:
        return pair(table.load_linear(self.context.writer, at))


class OpenLines(NamedTuple):
    """Lines in a kernel: load(line, k), store(line, k, value), in the given type."""

    load: Callable[[Index, Index], Complex]
    store: Callable[[Index, Index, Complex], None]


class ArrayLines(NamedTuple):
    """Lines along one dimension of an operand or the result.

    number: of the operand; -1: the result. stored: elements of a line in memory. inner: interleaved
    lines. length: of the transform; elements beyond a half spectrum are conjugates. swapped: real
    and imaginary parts exchanged, which turns a transform into its inverse. scale: of stored
    values.
    """

    number: int
    stored: int
    inner: int
    length: int
    swapped: bool
    scale: float = 1.0
    scratch: ScratchArrays | None = None

    def open(self, context: KernelContext, slots: tuple[int, ...], t: Type) -> OpenLines:
        """Return accessors of the lines in a kernel."""
        w = context.writer
        if self.scratch is not None:
            (array,) = self.scratch.arrays(context, slots)
        else:
            array = (
                context.outputs[0]
                if self.number < 0
                else context.arrays[context.roots[0].operands[self.number]]
            )
        kind = array.shape.element_type
        held = value_type(kind)
        stages = FourierStages(w, t, no_table)
        zero = stages.constant(0.0)

        def place(line: Index, k: Index) -> Index:
            if self.inner == 1:
                return w.add(w.mul(line, self.stored), k)
            outer, inner = w.div(line, self.inner), w.mod(line, self.inner)
            return w.add(w.mul(outer, self.stored * self.inner), w.add(w.mul(k, self.inner), inner))

        def load(line: Index, k: Index) -> Complex:
            if not kind.is_complex:
                value = real(array.load_linear(w, place(line, k)))
                whole = Complex(converted(w, value, t), zero)
                return whole.swapped if self.swapped else whole
            half = self.length // 2
            mirrored: Condition = None
            if self.stored < self.length:  # the rest of the spectrum of real numbers
                mirrored = w.test("ugt", k, half)
                k = w.choose(mirrored, w.sub(self.length, k), k)
            re, im = [converted(w, part, t) for part in pair(array.load_linear(w, place(line, k)))]
            if mirrored is not None:
                is_real = w.test("eq", k, 0)
                if self.length % 2 == 0:
                    is_real = w.either(is_real, w.test("eq", k, half))
                im = w.select(is_real, zero, w.select(mirrored, -im, im))
            return Complex(im, re) if self.swapped else Complex(re, im)

        def store(line: Index, k: Index, value: Complex) -> None:
            if self.swapped:
                value = value.swapped
            parts = [converted(w, stages.scale(part, self.scale), held) for part in value]
            with w.where(*[w.test("ult", k, self.stored)] if self.stored < self.length else ()):
                array.store_linear(
                    w, place(line, k), Complex(*parts) if kind.is_complex else parts[0]
                )

        return OpenLines(load, store)
