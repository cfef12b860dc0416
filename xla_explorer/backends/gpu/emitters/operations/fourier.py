"""fft without a library: dimension by dimension, each line in a block's shared memory if it fits.

A length with small prime factors is transformed by Stockham's stages (see `fourier/stages.py`). In
shared memory all stages are one kernel, each thread keeping its butterflies in registers between
two barriers; longer lines take a kernel per stage, through scratch memory. A short length with a
large prime factor is summed directly, in f64. A long one becomes a convolution (Bluestein), in f64,
with the chirp's transform as one further line. Real transforms are computed as complex ones. The
error of a c64 transform is below 1e-6 of its norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, both, smaller
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    ScratchArrays,
    fresh_context,
)
from xla_explorer.backends.gpu.emitters.operations.fourier_lines import (
    ArrayLines,
    Index,
    OpenLines,
    Roots,
    choose,
    complex_type,
    no_table,
)
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import F64, I64, Type
from xla_explorer.compiler.codegen.ir.values import Complex
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators, Elements
from xla_explorer.compiler.codegen.kernels.fourier.stages import (
    FourierStages,
    chirp_length,
    radices,
)
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import pair, value_type
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions, launch_dimensions
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

LARGEST_RADIX = 13
SHARED_BYTES = 32 << 10  # maximum of a line
DIRECT = 512  # maximum length that is summed directly
BLOCK, LARGEST_BLOCK = 128, 512
Move = Callable[[Index, Index], None]


def write_fft(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernels of a transform of one to three dimensions."""
    return _Fourier(i, architecture, slots).write()


class _Places:
    """Places of lines' elements in shared memory, padded against bank conflicts.

    A place is free after every `run` elements, and lines start in different banks, because the
    strides of a transform are mostly powers of two.
    """

    def __init__(self, w: FunctionWriter, length: int, together: int, run: int) -> None:
        self.w, self.length, self.together, self.run = w, length, together, run
        self.pitch = (length + (length - 1) // run) | 1

    def at(self, line: Index, k: Index) -> Index:
        """Return the place of an element."""
        w = self.w
        place = w.add(k, w.div(k, self.run)) if self.length > self.run else k
        return w.add(w.mul(line, self.pitch), place) if self.together > 1 else place


class _Fourier:
    """Collector of the kernels."""

    def __init__(
        self, i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
    ) -> None:
        self.i, self.architecture, self.slots = i, architecture, slots
        self.kernels: list[KernelDescriptor] = []
        self.scratch_bytes = 0
        complex_shape = i.shape if i.shape.element_type.is_complex else i.operands[0].shape
        self.t = value_type(complex_shape.element_type)
        self._buffers: dict[tuple[Type, int, int], ScratchArrays] = {}

    def write(self) -> OperationDescriptor:
        """Transform the dimensions in order.

        Last one first, for an inverse real transform the halved one last.
        """
        i = self.i
        kind, lengths = i.attribute("fft_type"), tuple(i.attribute("fft_length"))
        inverse = kind in ("IFFT", "IRFFT")
        scale = 1.0 / math.prod(lengths) if inverse else 1.0
        rank = i.shape.rank
        axes = [rank - 1, *range(rank - 2, rank - 1 - len(lengths), -1)]
        if kind == "IRFFT":
            axes.reverse()
        source_number = 0
        between: ScratchArrays | None = None
        dimensions = i.operands[0].shape.dimensions
        for step, axis in enumerate(axes):
            length = lengths[axis - (rank - len(lengths))]
            last = step + 1 == len(axes)
            inner = math.prod(dimensions[axis + 1 :])
            source = ArrayLines(
                source_number,
                dimensions[axis],
                inner,
                length,
                inverse,
                1.0,
                between if step else None,
            )
            if kind == "IRFFT" and not last:
                between = self._buffer(self.t, i.operands[0].shape.element_count, 2)
                target = ArrayLines(0, dimensions[axis], inner, length, inverse, 1.0, between)
            else:
                dimensions = (*dimensions[:axis], i.shape.dimensions[axis], *dimensions[axis + 1 :])
                target = ArrayLines(
                    -1, dimensions[axis], inner, length, inverse, scale if last else 1.0
                )
                source_number, between = -1, None
            lines = math.prod(dimensions) // dimensions[axis]
            self._axis(length, lines, source, target)
        return OperationDescriptor(tuple(self.kernels), "fft", self.scratch_bytes)

    def _buffer(self, t: Type, count: int, number: int) -> ScratchArrays:
        """Return scratch memory for `count` complex numbers; kernels share it by number."""
        key = t, count, number
        if key not in self._buffers:
            made = self._buffers[key] = ScratchArrays([complex_type(t)], count, self.scratch_bytes)
            self.scratch_bytes = made.end
        return self._buffers[key]

    def _add(self, descriptor: KernelDescriptor) -> None:
        self.kernels.append(
            descriptor._replace(suffix=f"_{len(self.kernels)}" if self.kernels else "")
        )

    def _add_launched(self, context: KernelContext, what: str) -> None:
        """Add a kernel of as many threads as elements."""
        launch = launch_dimensions(context.threads, self.architecture)
        self._add(
            KernelDescriptor(context, launch._replace(reasoning=f"{what}; {launch.reasoning}"))
        )

    def _kernel(
        self, t: Type, source: ArrayLines, target: ArrayLines
    ) -> tuple[KernelContext, FourierStages, OpenLines, OpenLines]:
        """Return a further kernel's context, its arithmetic, and its input and output lines."""
        context = fresh_context(self.i, self.slots)
        opened, result = [lines.open(context, self.slots, t) for lines in (source, target)]
        return context, FourierStages(context.writer, t, no_table), opened, result

    def _axis(self, length: int, lines: int, source: ArrayLines, target: ArrayLines) -> None:
        plan = radices(length)
        if plan is not None and max(plan, default=1) <= LARGEST_RADIX:
            self._smooth(length, lines, self.t, source, target)
        elif length <= DIRECT:
            self._direct(length, lines, source, target)
        else:
            self._by_chirp(length, lines, source, target)

    def _smooth(
        self, length: int, lines: int, t: Type, source: ArrayLines, target: ArrayLines
    ) -> None:
        if length * complex_type(t).bytes <= SHARED_BYTES:
            self._in_shared(length, lines, t, source, target)
        else:
            self._by_stages(length, lines, t, source, target)

    def _in_shared(
        self, length: int, lines: int, t: Type, source: ArrayLines, target: ArrayLines
    ) -> None:
        per_line = 1 << max(-(-length // 8) - 1, 0).bit_length()
        # Eight interleaved lines at a time read whole sectors of memory.
        limit = max(BLOCK, min(8 * per_line, LARGEST_BLOCK)) if source.inner > 1 else BLOCK
        together = max(1, min(limit // per_line, lines))
        size = complex_type(t).bytes
        while together > 1 and together * length * size > SHARED_BYTES:
            together //= 2
        threads = max(per_line * together, WARP_SIZE)
        context, stages, opened, result = self._kernel(t, source, target)
        w, block = context.writer, Block(context, threads)
        first = w.mul(block.number, together)
        places = _Places(
            w, length, together, 256 // size
        )  # elements that fill the banks once: 32 words of 4 bytes
        shared = block.shared(complex_type(t), places.pitch * together)
        self._move(block, length, together, source.inner > 1, lambda line, k: shared.store(
            places.at(line, k), opened.load(smaller(w, w.add(first, line), lines - 1), k)))  # fmt: skip
        block.barrier()
        roots = Roots(context, stages, length)
        n, s = length, 1
        for radix in radices(length) or []:
            self._stage_in_shared(block, shared, places, stages, roots, (n, s, radix), per_line)
            n, s = n // radix, s * radix
        self._move(block, length, together, target.inner > 1, lambda line, k: result.store(
            w.add(first, line), k, pair(shared.load(places.at(line, k)))), (first, lines) if lines % together else None)  # fmt: skip
        block.finish()
        blocks = -(-lines // together)
        why = (
            f"{lines} lines of {length} numbers: {together} in a block's shared memory, "
            f"{per_line} threads each, stages {radices(length)}"
        )
        self._add(
            KernelDescriptor(
                context,
                LaunchDimensions(blocks, threads, blocks * threads, why),
                block.shared_bytes,
            )
        )

    def _move(self, block: Block, length: int, together: int, interleaved: bool, body: Move,
              among: tuple[Index, int] | None = None) -> None:  # fmt: skip
        """Call body(line, k) for every element of the block's lines.

        among: (first line, number of lines) if some are missing.
        """
        w, count = block.w, length * together
        with w.loop(-(-count // block.threads), stem="move") as step:
            q = w.add(w.mul(step, block.threads), block.thread)
            inside = None if count % block.threads == 0 else w.test("ult", q, count)
            if interleaved:
                line, k = w.mod(q, together), w.div(q, together)
            else:
                line, k = (
                    w.div(q, length) if together > 1 else 0,
                    w.mod(q, length) if together > 1 else q,
                )
            if among is not None:
                inside = both(w, inside, w.test("ult", w.add(among[0], line), among[1]))
            with block.only_if(inside):
                body(line, k)

    def _stage_in_shared(self, block: Block, shared: Elements, places: _Places, stages: FourierStages, roots: Roots,
                         stage: tuple[int, int, int], per_line: int) -> None:  # fmt: skip
        w = block.w
        n, s, radix = stage
        length, together = places.length, places.together
        butterflies = length // radix
        line, lane = w.div(block.thread, per_line), w.mod(block.thread, per_line)
        held = []
        for start in range(0, butterflies, per_line):
            b = w.add(lane, start)
            inside = w.test("ult", b, butterflies) if start + per_line > butterflies else None
            inside = both(
                w,
                inside,
                w.test("ult", line, together) if block.threads > per_line * together else None,
            )
            from_line = line
            if inside is not None:
                b = w.choose(inside, b, 0)
                from_line = w.choose(inside, line, 0)
            values: list[Complex] = [
                pair(shared.load(places.at(from_line, w.add(b, butterflies * k))))
                for k in range(radix)
            ]
            q, p = w.mod(b, s), w.div(b, s)
            values = _twiddled(stages, roots, values, p, s, n // radix)
            held.append((inside, w.add(q, w.mul(p, s * radix)), values))
        block.barrier()
        for inside, target, values in held:
            with block.only_if(inside):
                for u, value in enumerate(values):
                    shared.store(places.at(line, w.add(target, s * u)), value)
        block.barrier()

    def _by_stages(
        self, length: int, lines: int, t: Type, source: ArrayLines, target: ArrayLines
    ) -> None:
        n, s = length, 1
        plan = radices(length) or []
        here = source
        for number, radix in enumerate(plan):
            to = target
            if number + 1 < len(plan):
                to = ArrayLines(
                    0, length, 1, length, False, 1.0, self._buffer(t, lines * length, number % 2)
                )
            context, stages, opened, result = self._kernel(t, here, to)
            w = context.writer
            roots = Roots(context, stages, length)
            butterflies = length // radix
            with context.iterate([lines, butterflies]) as (line, b):
                values = [opened.load(line, w.add(b, butterflies * k)) for k in range(radix)]
                q, p = w.mod(b, s), w.div(b, s)
                values = _twiddled(stages, roots, values, p, s, n // radix)
                for u, value in enumerate(values):
                    result.store(line, w.add(w.add(q, w.mul(p, s * radix)), s * u), value)
            what = (
                f"stage {number + 1} of {plan} of {lines} lines of {length} numbers: a butterfly "
                f"of {radix} a thread"
            )
            self._add_launched(context, what)
            here = to
            n, s = n // radix, s * radix

    def _direct(self, length: int, lines: int, source: ArrayLines, target: ArrayLines) -> None:
        t = F64
        threads = min(-(-length // WARP_SIZE) * WARP_SIZE, 2 * BLOCK)
        context, stages, opened, result = self._kernel(t, source, target)
        w, block = context.writer, Block(context, threads)
        shared = block.shared(complex_type(t), length)
        self._move(
            block, length, 1, False, lambda _, k: shared.store(k, opened.load(block.number, k))
        )
        block.barrier()
        roots = Roots(context, stages, length)
        zero = stages.constant(0.0)
        numerator = w.variable(I64)
        total = Accumulators(context, [complex_type(t)])

        def element(_line: Index, k: Index) -> None:
            total.store([Complex(zero, zero)])
            numerator.set(0)
            with w.loop(length, stem="term") as at:
                here = numerator.get()
                term = stages.mul(pair(shared.load(at)), roots.at(here))
                total.store([stages.add(pair(total.load()[0]), term)])
                following = w.add(here, k)
                wrapped = w.test("uge", following, length)
                numerator.set(w.choose(wrapped, w.sub(following, length), following))
            result.store(block.number, k, pair(total.load()[0]))

        self._move(block, length, 1, False, element)
        block.finish()
        why = (
            f"{lines} lines of {length} numbers, which has a large prime factor: a block each, "
            "every result summed up directly in f64"
        )
        self._add(
            KernelDescriptor(
                context, LaunchDimensions(lines, threads, lines * threads, why), block.shared_bytes
            )
        )

    def _by_chirp(self, length: int, lines: int, source: ArrayLines, target: ArrayLines) -> None:
        """Transform lines by Bluestein's algorithm.

        Multiply by a chirp, convolve with its conjugate, multiply again.
        """
        t, size = F64, chirp_length(length)
        before = ArrayLines(0, size, 1, size, False, 1.0, self._buffer(t, (lines + 1) * size, 3))
        after = ArrayLines(0, size, 1, size, False, 1.0, self._buffer(t, (lines + 1) * size, 4))
        context, stages, opened, result = self._kernel(t, source, before)
        w = context.writer
        roots = Roots(context, stages, 2 * length)
        zero = stages.constant(0.0)
        with context.iterate([lines + 1, size]) as (line, k):
            from_end = w.sub(size, k)
            near = w.test("ult", k, length)
            far = w.test("ult", from_end, length)
            is_filter = w.test("eq", line, lines)
            at = w.choose(near, k, w.choose(far, from_end, 0))
            chirp = roots.at(w.mod(w.mul(at, at), 2 * length))
            held = w.either(near, w.both(far, is_filter))
            given = opened.load(w.choose(is_filter, 0, line), w.choose(near, k, 0))
            conjugate = Complex(chirp.real, -chirp.imaginary)
            value = choose(w, is_filter, conjugate, stages.mul(given, chirp))
            result.store(line, k, choose(w, held, value, Complex(zero, zero)))
        self._add_launched(
            context,
            f"{lines} lines of {length} numbers times a chirp, and the chirp, padded to {size}",
        )
        self._smooth(size, lines + 1, t, before, after)
        context, stages, opened, result = self._kernel(t, after, before)
        w = context.writer
        with context.iterate([lines, size]) as (line, k):
            value = stages.mul(opened.load(line, k), opened.load(lines, k))
            # Exchanging real and imaginary parts before and after turns a transform into its
            # inverse.
            swapped = [stages.scale(part, 1 / size) for part in value.swapped]
            result.store(line, k, Complex(*swapped))
        self._add_launched(context, "times the chirp's transform")
        self._smooth(size, lines, t, before, after)
        context, stages, opened, result = self._kernel(t, after, target)
        w = context.writer
        roots = Roots(context, stages, 2 * length)
        with context.iterate([lines, length]) as (line, k):
            chirp = roots.at(w.mod(w.mul(k, k), 2 * length))
            result.store(line, k, stages.mul(opened.load(line, k).swapped, chirp))
        self._add_launched(context, "times the chirp")


def _twiddled(
    stages: FourierStages, roots: Roots, values: list[Complex], p: Index, s: int, m: int
) -> list[Complex]:
    """Return a butterfly's results times their twiddle factors."""
    results = stages.butterfly(values)
    if m == 1:
        return results
    w = stages.w
    step = w.mul(p, s)
    return [
        value if u == 0 else stages.mul(value, roots.at(w.mul(step, u)))
        for u, value in enumerate(results)
    ]
