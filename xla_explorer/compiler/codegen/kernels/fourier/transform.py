"""The opcode fft: transforms along the last one to three dimensions, one dimension after the other.

Lines are copied to scratch memory, several interleaved (see `stages.py`), transformed, and copied
back. The inverse exchanges real and imaginary parts on both copies. A real transform of even length
is a complex one of half the length: even elements are real parts, odd ones imaginary parts. One
more pass over the result follows.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_UNROLL
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Complex
from xla_explorer.compiler.codegen.kernels.fourier.lines import Lines, StridedLines, VectorLine
from xla_explorer.compiler.codegen.kernels.fourier.stages import (
    FourierStages,
    Pair,
    buffer_elements,
    working_type,
)
from xla_explorer.compiler.codegen.kernels.fourier.vectors import VectorStages
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import stored_type
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

SHORT_ROW = 4  # minimum of vectors in a row that is transformed alone
COLUMNS = 0.25  # of the last cache, for the buffers of interleaved columns
LEAST_VECTOR = 128  # bits: LLVM scalarises vectors that a target does not have
Index = Word


def fft_is_emitted(i: HloInstruction) -> Reason | None:
    """Return a refusal unless operands and results are row-major."""
    for shape in (i.shape, i.operands[0].shape):
        if not shape.layout.is_default and shape.rank > 1:
            return refuse(
                "layout-differs",
                f"operand and result of %{i.name} must be row-major",
                shape=shape.text,
            )
    return None


def is_one_line(i: HloInstruction) -> bool:
    """Return whether an instruction transforms a single line, which tasks cannot share.

    Its tables may take longer to make than all other code, so it is not written to find that out.
    """
    return (
        i.opcode.name == "fft"
        and len(i.attribute("fft_length")) == 1
        and math.prod(i.shape.dimensions[:-1]) == 1
    )


def write_fft_kernel(context: KernelContext) -> None:
    """Emit a transform of every kind (FFT, IFFT, RFFT, IRFFT) and length, c64 and c128."""
    root = context.roots[0]
    if 0 in root.shape.dimensions or 0 in root.operands[0].shape.dimensions:
        return
    _FftWriter(context, root).write()


class _FftWriter:
    def __init__(self, context: KernelContext, i: HloInstruction) -> None:
        self.context, self.w = context, context.writer
        self.kind: str = i.attribute("fft_type")
        self.lengths: tuple[int, ...] = tuple(i.attribute("fft_length"))
        self.source, self.target = context.arrays[i.operands[0]], context.outputs[0]
        self.inverse = self.kind in ("IFFT", "IRFFT")
        self.t = stored_type(
            (i.shape if i.shape.element_type.is_complex else i.operands[0].shape).element_type
        )
        self.scale = 1.0 / math.prod(self.lengths) if self.inverse else 1.0
        self._buffers: dict[tuple[Type, int, int], int] = {}
        self._task: Index = 0  # in a phase, in which all tasks use the same scratch memory
        self.w.unroll = False

    def write(self) -> None:
        """Emit the transform, dimension by dimension.

        If all tasks work on one array, each dimension is a phase, in which every task transforms
        some lines.
        """
        rank, shape, tasks = len(self.lengths), self.target.shape, self.context.partition
        arrays, lines = (
            math.prod(shape.dimensions[: shape.rank - rank]),
            math.prod(shape.dimensions[shape.rank - rank : -1]),
        )
        inside_from, inside_to = [
            array.shape.dimensions[shape.rank - rank :] for array in (self.source, self.target)
        ]
        if rank == 1:
            self._last(self.source, self.target, 0, 0, arrays, self.scale, partitioned=True)
            return
        in_phases = tasks.tasks > 1 and arrays == 1

        def phase() -> AbstractContextManager[Index]:
            return tasks.phase() if in_phases else nullcontext(0)

        with nullcontext((0,)) if in_phases else self.context.iterate([arrays]) as (number,):
            source, at = self.source, self.w.mul(number, math.prod(inside_from))
            target_at = self.w.mul(number, math.prod(inside_to))
            if (
                self.kind == "IRFFT"
            ):  # the halved dimension is last; the others are transformed on a copy
                size = math.prod(inside_from) * source.shape.element_type.bytes
                copy = ArrayInMemory(self.context.scratch(size), source.shape)
                for axis in range(rank - 1):
                    with phase() as self._task:
                        self._column(source, copy, at, 0, inside_from, axis)
                    source, at = copy, 0
            with phase() as self._task:
                self._last(
                    source, self.target, at, target_at, lines, self.scale, partitioned=in_phases
                )
            for axis in range(rank - 2, -1, -1) if self.kind != "IRFFT" else ():
                with phase() as self._task:
                    self._column(self.target, self.target, target_at, target_at, inside_to, axis)

    # -- scratch memory ----------------------------------------------------------------------------
    def _pairs(self, t: Type, count: int) -> tuple[Pair, Pair]:
        """Return two buffers of `count` complex numbers.

        Transforms of equal size in the kernel share them.
        """
        size = count * t.bits // 8 + 64
        tasks = 1 if self._task == 0 else self.context.partition.tasks
        names = []
        for k in range(4):
            key = t, count, k
            if key not in self._buffers:
                self._buffers[key] = self.context.reserve_scratch(size * tasks)
            at = self._buffers[key]
            names.append(
                self.context.scratch_address(
                    at if tasks == 1 else self.w.add(self.w.mul(self._task, size), at)
                )
            )
        return (names[0], names[1]), (names[2], names[3])

    def _lanes(self, length: int, t: Type, columns: bool) -> int:
        """Return the number of interleaved lines."""
        lanes, bytes_ = self._vector_lanes(t), t.bits // 8
        held = COLUMNS * self.context.target.last_cache.bytes
        in_cache = 4 * lanes * buffer_elements(length) * bytes_ <= held
        return lanes if (in_cache if columns else length < SHORT_ROW * lanes) else 1

    def _vector_lanes(self, t: Type) -> int:
        return max(self.context.target.vector.bits, LEAST_VECTOR) // t.bits

    def _stages(self, t: Type) -> tuple[FourierStages, VectorStages]:
        """Return the arithmetic on scalars and the vector stages."""
        return FourierStages(self.w, t, self.context.add_constant_data), VectorStages(
            self.w, t, self._vector_lanes(t), self.context.add_constant_data, self.t
        )

    # -- one dimension -----------------------------------------------------------------------------
    def _last(
        self,
        source: ArrayInMemory,
        target: ArrayInMemory,
        source_at: Index,
        target_at: Index,
        lines: int,
        scale: float,
        partitioned: bool = False,
    ) -> None:
        """Transform along the last dimension, from one array to another."""
        w, length = self.w, self.lengths[-1]
        real = self.kind in ("RFFT", "IRFFT")
        halved = real and length % 2 == 0
        inner = length // 2 if halved else length
        t = working_type(inner, self.t)
        lanes = self._lanes(inner, t, columns=False)
        stages, transforms = self._stages(t)
        x, y = self._pairs(t, buffer_elements(inner) * lanes + (lanes if halved else 0))
        from_row, to_row = source.shape.dimensions[-1], target.shape.dimensions[-1]
        rows = min(lanes, lines)
        with self.context.iterate([-(-lines // rows)], partitioned=partitioned) as (tile,):
            first = w.block_start(tile, rows, lines)
            from_at, to_at = (
                w.add(source_at, w.mul(first, from_row)),
                w.add(target_at, w.mul(first, to_row)),
            )
            line = Lines(
                w,
                self.t,
                stages,
                StridedLines(source, from_at, from_row),
                StridedLines(target, to_at, to_row),
                lanes,
                rows,
                scale,
            )
            if lanes == 1 and (halved or not real) and inner >= 2 * transforms.lanes:
                VectorLine(line, transforms, self.kind, x, y).transform(inner)
            elif not real:
                line.take(x, length, lambda k, row: self._ordered(line.load(row, k)))
                found = transforms.transform(length, lanes, x, y)
                line.give(
                    found, length, lambda k, row, value: line.store(row, k, self._ordered(value))
                )
            elif self.kind == "RFFT":
                self._real_to_complex(line, stages, transforms, x, y, halved)
            else:
                self._complex_to_real(line, stages, transforms, x, y, halved)

    def _ordered(self, value: Complex) -> Complex:
        return value.swapped if self.inverse else value

    def _column(
        self,
        source: ArrayInMemory,
        target: ArrayInMemory,
        source_at: Index,
        target_at: Index,
        inside: tuple[int, ...],
        axis: int,
    ) -> None:
        """Transform along a dimension other than the last, several adjacent columns at once.

        Source may be target.
        """
        w, length = self.w, inside[axis]
        outer, inner = math.prod(inside[:axis]), math.prod(inside[axis + 1 :])
        t = working_type(length, self.t)
        (stages, vectors), lanes = self._stages(t), self._lanes(length, t, columns=True)
        x, y = self._pairs(t, buffer_elements(length) * lanes)
        tiles = -(-inner // lanes)
        part = None if self._task == 0 else self.context.partition.partition_loop(tiles)
        alone = (
            nullcontext() if self._task == 0 or part is not None else self.context.partition.only(0)
        )
        with (
            alone,
            w.loop(outer, stem="outer") as o,
            w.loop(part.end if part else tiles, part.begin if part else 0, stem="columns") as tile,
        ):
            column = w.mul(tile, lanes)
            at = w.add(w.mul(o, length * inner), column)
            from_at, to_at = w.add(source_at, at), w.add(target_at, at)
            if lanes == 1:
                line = Lines(
                    w,
                    self.t,
                    stages,
                    StridedLines(source, from_at, 1),
                    StridedLines(target, to_at, 1),
                )
                line.take(x, length, lambda k, row: self._ordered(line.load(row, w.mul(k, inner))))
                found = vectors.transform(length, 1, x, y)
                line.give(
                    found,
                    length,
                    lambda k, row, value: line.store(row, w.mul(k, inner), self._ordered(value)),
                )
                return
            masks = vectors.lanes_below(w.sub(inner, column)) if inner % lanes else []
            with w.loop(length, stem="element", metadata=NO_UNROLL) as k:
                value = vectors.load_interleaved(
                    source.pointer, w.mul(w.add(from_at, w.mul(k, inner)), 2), masks
                )
                vectors.store(x, w.mul(k, lanes), self._ordered(value))
            found = vectors.transform(length, lanes, x, y)
            with w.loop(length, stem="element", metadata=NO_UNROLL) as k:
                value = self._ordered(vectors.load(found, w.mul(k, lanes)))
                vectors.store_interleaved(
                    target.pointer, w.mul(w.add(to_at, w.mul(k, inner)), 2), value, masks
                )

    # -- real transforms ---------------------------------------------------------------------------
    def _real_to_complex(
        self,
        line: Lines,
        stages: FourierStages,
        transforms: VectorStages,
        x: Pair,
        y: Pair,
        halved: bool,
    ) -> None:
        w, length = self.w, self.lengths[-1]
        zero = stages.constant(0.0)
        if not halved:
            line.take(x, length, lambda k, row: Complex(line.load_real(row, k), zero))
            found = transforms.transform(length, line.lanes, x, y)
            line.give(found, length // 2 + 1, lambda k, row, value: line.store(row, k, value))
            return
        half = length // 2
        line.take(
            x,
            half,
            lambda k, row: Complex(
                line.load_real(row, w.mul(k, 2)),
                line.load_real(row, w.add(w.mul(k, 2), 1)),
            ),
        )
        found = transforms.transform(half, line.lanes, x, y)
        # The transform is periodic: its element `half` is element 0.
        line.repeat_first(found, half)
        factors = stages.roots_table(np.arange(half + 1), length)

        def store(k: Index, row: Index, value: Complex) -> None:
            other = stages.load(found, w.add(w.mul(w.sub(half, k), line.lanes), row))
            line.store(row, k, stages.of_real(value, other, stages.load(factors, k)))

        line.give(found, half + 1, store)

    def _complex_to_real(
        self,
        line: Lines,
        stages: FourierStages,
        transforms: VectorStages,
        x: Pair,
        y: Pair,
        halved: bool,
    ) -> None:
        w, length = self.w, self.lengths[-1]
        half = length // 2
        zero = stages.constant(0.0)

        def spectrum(row: Index, k: Index) -> Complex:
            """Return element k of the spectrum, without imaginary parts that must be zero."""
            value = line.load(row, k)
            whole = w.test("eq", k, 0)
            if length % 2 == 0:
                whole = w.either(whole, w.test("eq", k, half))
            return Complex(value.real, w.select(whole, zero, value.imaginary))

        if not halved:

            def full(k: Index, row: Index) -> Complex:
                upper = w.test("ugt", k, half)
                value = spectrum(row, w.choose(upper, w.sub(length, k), k))
                imaginary = w.select(upper, -value.imaginary, value.imaginary)
                return Complex(imaginary, value.real)  # exchanged, for the inverse

            line.take(x, length, full)
            found = transforms.transform(length, line.lanes, x, y)
            line.give(found, length, lambda k, row, value: line.store_real(row, k, value[1]))
            return
        factors = stages.roots_table(-np.arange(half), length)

        def joined(k: Index, row: Index) -> Complex:
            return stages.to_real(
                spectrum(row, k),
                spectrum(row, w.index_operation("sub", half, k)),
                stages.load(factors, k),
            )

        line.take(x, half, joined)
        found = transforms.transform(half, line.lanes, x, y)

        def store(k: Index, row: Index, value: Complex) -> None:
            line.store_real(row, w.mul(k, 2), value[1])
            line.store_real(row, w.add(w.mul(k, 2), 1), value[0])

        line.give(found, half, store)
