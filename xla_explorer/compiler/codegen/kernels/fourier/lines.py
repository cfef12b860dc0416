"""Lines of a Fourier transform: copies from an array to scratch memory and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Complex
from xla_explorer.compiler.codegen.kernels.fourier.stages import (
    FourierStages,
    Number,
    Pair,
    converted,
)
from xla_explorer.compiler.codegen.kernels.fourier.vectors import VectorStages
from xla_explorer.compiler.codegen.llvm_types import pair, real

Index = Word


class StridedLines(NamedTuple):
    """Lines of an array: offset of the first one, and elements from one line to the next."""

    array: ArrayInMemory
    at: Index
    row: int


class Lines:
    """Lines of a source and a target array, and copies between them and scratch memory."""

    def __init__(
        self,
        w: FunctionWriter,
        t: Type,
        stages: FourierStages,
        source: StridedLines,
        target: StridedLines,
        lanes: int = 1,
        rows: int = 1,
        scale: float = 1.0,
    ) -> None:
        """Set up `lanes` lines; only the first `rows` exist. t: the type of the arrays."""
        self.w, self.t, self.stages = w, t, stages
        self.lanes, self.rows, self.scale = lanes, rows, scale
        self.source, self.from_at, self._from_row = source
        self.target, self.to_at, self._to_row = target

    def take(self, x: Pair, count: int, value: Callable[[Index, Index], Complex]) -> None:
        """Fill elements 0 to count - 1 of all lines with value(k, row)."""
        self._each(
            count,
            lambda k, row: self.stages.store(
                x, self.w.add(self.w.mul(k, self.lanes), row), value(k, row)
            ),
        )

    def give(self, x: Pair, count: int, put: Callable[[Index, Index, Complex], None]) -> None:
        """Call put(k, row, value) for elements 0 to count - 1 of all lines."""
        self._each(
            count,
            lambda k, row: put(
                k, row, self.stages.load(x, self.w.add(self.w.mul(k, self.lanes), row))
            ),
        )

    def repeat_first(self, x: Pair, at: int) -> None:
        """Copy element 0 of every line to element `at`."""
        with self.w.loop(self.rows, stem="line") as row:
            self.stages.store(x, self.w.add(row, at * self.lanes), self.stages.load(x, row))

    def _each(self, count: int, body: Callable[[Index, Index], None]) -> None:
        w = self.w
        if self.rows > 1 and self._from_row == 1:  # columns: adjacent lines are contiguous
            with w.loop(count, stem="element") as k, w.loop(self.rows, stem="line") as row:
                body(k, row)
        else:
            with w.loop(self.rows, stem="line") as row, w.loop(count, stem="element") as k:
                body(k, row)

    def _from(self, row: Index, k: Index) -> Index:
        return self.w.add(self.from_at, self.w.add(self.w.mul(row, self._from_row), k))

    def _to(self, row: Index, k: Index) -> Index:
        return self.w.add(self.to_at, self.w.add(self.w.mul(row, self._to_row), k))

    def load(self, row: Index, k: Index) -> Complex:
        """Load a complex element of the source."""
        parts = pair(self.source.load_linear(self.w, self._from(row, k)))
        return Complex(*[converted(self.w, part, self.stages.t) for part in parts])

    def load_real(self, row: Index, k: Index) -> Number:
        """Load a real element of the source."""
        loaded = real(self.source.load_linear(self.w, self._from(row, k)))
        return converted(self.w, loaded, self.stages.t)

    def _scaled(self, value: Number) -> Number:
        return converted(self.w, self.stages.scale(value, self.scale), self.t)

    def store(self, row: Index, k: Index, value: Complex) -> None:
        """Store a complex element of the target, scaled."""
        scaled = Complex(*[self._scaled(part) for part in value])
        self.target.store_linear(self.w, self._to(row, k), scaled)

    def store_real(self, row: Index, k: Index, value: Number) -> None:
        """Store a real element of the target, scaled."""
        self.target.store_linear(self.w, self._to(row, k), self._scaled(value))


class VectorLine:
    """One line of `lines`, transformed by `vectors`; a real one has even length.

    x, y: scratch memory.
    """

    def __init__(self, lines: Lines, vectors: VectorStages, kind: str, x: Pair, y: Pair) -> None:
        self.lines, self.vectors, self.kind, self.w = lines, vectors, kind, lines.w
        self.inverse = kind in ("IFFT", "IRFFT")
        self.x, self.y = x, y

    def transform(self, length: int) -> None:
        """Transform the line; length: number of complex numbers, at least those of a vector."""
        if self.kind == "RFFT":
            self._to_spectrum(length)
        elif self.kind == "IRFFT":
            self._from_spectrum(length)
        else:
            self.vectors.transform_line(length, self._take, self._give, self.x, self.y)

    def _ordered(self, value: Complex) -> Complex:
        return value.swapped if self.inverse else value

    def _take(self, k: Index) -> Complex:
        """Return complex numbers; of a real line, two adjacent numbers are one."""
        return self._ordered(self._load(k))

    def _load(self, k: Index) -> Complex:
        lines = self.lines
        start = lines.from_at if self.kind == "RFFT" else self.w.mul(lines.from_at, 2)
        return self.vectors.load_interleaved(
            lines.source.pointer, self.w.add(start, self.w.mul(k, 2))
        )

    def _give(self, k: Index, value: Complex) -> None:
        lines, vectors = self.lines, self.vectors
        start = lines.to_at if self.kind == "IRFFT" else self.w.mul(lines.to_at, 2)
        scaled = Complex(*[vectors.scale(part, lines.scale) for part in value])
        vectors.store_interleaved(
            lines.target.pointer, self.w.add(start, self.w.mul(k, 2)), self._ordered(scaled)
        )

    def _mirrored(self, k: Index, length: int) -> Index:
        """Return the position in memory of the numbers length - k, length - k - 1, ..."""
        return self.w.sub(length + 1 - self.vectors.lanes, k)

    def _to_spectrum(self, half: int) -> None:
        """Transform a real line: even elements as real parts, odd ones as imaginary parts."""
        vectors = self.vectors
        vectors.each_vector(half, lambda k: vectors.store(self.x, k, self._load(k)))
        found = vectors.transform(half, 1, self.x, self.y)
        self.lines.repeat_first(
            found, half
        )  # the transform is periodic: its element `half` is element 0
        factors = vectors.roots_table(np.arange(half + 1), 2 * half)

        def store(k: Index) -> None:
            value, other = (
                vectors.load(found, k),
                vectors.reversed(vectors.load(found, self._mirrored(k, half))),
            )
            self._give(k, vectors.of_real(value, other, vectors.load(factors, k)))

        vectors.each_vector(half + 1, store)

    def _from_spectrum(self, half: int) -> None:
        vectors = self.vectors
        factors = vectors.roots_table(-np.arange(half), 2 * half)

        def take(k: Index) -> None:
            other = vectors.reversed(self._load(self._mirrored(k, half)))
            vectors.store(
                self.x, k, vectors.to_real(self._load(k), other, vectors.load(factors, k))
            )

        vectors.each_vector(half, take)
        # The first and the last number of the spectrum are real: their imaginary parts are ignored.
        scalars = self.lines.stages
        zero = scalars.constant(0.0)
        first, last = [Complex(self.lines.load(0, k).real, zero) for k in (0, half)]
        one = Complex(scalars.constant(1.0), zero)
        scalars.store(self.x, 0, scalars.to_real(first, last, one))
        found = vectors.transform(half, 1, self.x, self.y)
        vectors.each_vector(half, lambda k: self._give(k, vectors.load(found, k)))
