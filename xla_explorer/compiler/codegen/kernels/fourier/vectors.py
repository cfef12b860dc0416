"""Fourier transforms with explicit vectors: short LLVM IR that needs no further optimisation.

The stages are those of `stages.py`, of radix 4 as far as possible. A stage works on blocks of s
contiguous numbers with the same twiddle factor; each stage multiplies s by its radix. How vectors
cover the blocks depends on s:

- s is at least a vector's lanes: all lanes have the same factor. The last vector of a block may
  overlap the one before it, because source and target are different buffers.
- s divides the lanes: a vector spans several blocks, each with its own factor. The results are
  shuffled before they are stored.
- otherwise: a vector has one block and unused lanes, which the next store overwrites.

Stages of equal radix in scratch memory are one loop. The first stage may read the operand, the last
stage may write the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_UNROLL
from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.fourier.stages import (
    LARGEST_RADIX,
    FourierStages,
    Number,
    Pair,
    Table,
    chirp_length,
    chirp_numbers,
    converted,
)

Index = Word
Load = Callable[[Index], Complex]  # offset in numbers -> the numbers of a vector
Store = Callable[[Index, Complex], None]
LARGEST_IN_BLOCKS = (
    7  # radix up to which vectors of several blocks are shuffled, by radix^2 shuffles
)


class TransformStage(NamedTuple):
    """One stage of a transform.

    n: length of the remaining transforms. s: number of interleaved transforms, and the size of a
    block. kind: `one` if a vector lies in one block, `blocks` if it spans several whole blocks.
    Otherwise it is `narrow`: a block is smaller than a vector and does not divide it.
    """

    n: int
    s: int
    radix: int
    kind: str


def plan_stages(length: int, side_by_side: int, lanes: int) -> list[TransformStage] | None:
    """Return the stages of a transform, radix 4 first.

    side_by_side: number of interleaved transforms. None if a prime factor exceeds LARGEST_RADIX.
    """
    stages, n, s = [], length, side_by_side
    for radix in (4, *range(2, LARGEST_RADIX + 1)):
        while n % radix == 0:
            m = n // radix
            blocks = lanes % s == 0 and m * s >= lanes and radix <= LARGEST_IN_BLOCKS
            stages.append(
                TransformStage(
                    n, s, radix, "one" if s >= lanes else "blocks" if blocks else "narrow"
                )
            )
            n, s = m, s * radix
    return stages if n == 1 else None


class VectorStages(FourierStages):
    """Arithmetic on vectors of `lanes` numbers of type `scalar`, and transforms.

    memory: the type of the elements in memory if it is not `scalar`.
    """

    def __init__(
        self, w: FunctionWriter, scalar: Type, lanes: int, table: Table, memory: Type | None = None
    ) -> None:
        super().__init__(w, scalar, table, lanes)
        self.lanes, self.memory = lanes, memory or scalar

    def load_broadcast(self, pair: Pair, offset: Index) -> Complex:
        """Load one complex number and broadcast it."""
        w = self.w
        return Complex(
            *[
                w.splat(w.load(self.address(p, offset), self.scalar, self.bytes), self.lanes)
                for p in pair
            ]
        )

    def reversed(self, value: Complex) -> Complex:
        """Reverse the lanes."""
        order = range(self.lanes - 1, -1, -1)
        poison = self.w.named("poison", self.t)
        return Complex(*[self.w.shuffle(part, poison, order) for part in value])

    def start_within(self, start: Index, extent: Index) -> Index:
        """Return the start of a vector, moved back if it would end after `extent`."""
        if isinstance(extent, int) and extent % self.lanes == 0:
            return start
        return self.w.smaller(start, self.w.sub(extent, self.lanes))

    # -- interleaved memory ------------------------------------------------------------------------
    def _vector_addresses(self, pointer: Value[Pointer], at: Index) -> list[Value[Pointer]]:
        """Return the addresses of the two vectors from scalar `at` of an array on."""
        return [self.w.address(pointer, self.memory, self.w.add(at, k)) for k in (0, self.lanes)]

    def load_interleaved(
        self, pointer: Value[Pointer], at: Index, masks: Sequence[Value[Integer]] = ()
    ) -> Complex:
        """Load complex numbers from scalar `at` of an array of interleaved parts.

        masks: of the scalars to load (`lanes_below`).
        """
        w, t, align = self.w, self.memory.of_lanes(self.lanes), self.memory.bits // 8
        places = self._vector_addresses(pointer, at)
        if masks:
            name, size = f"llvm.masked.load.{t.suffix}.p0", w.number(align, I32)
            a, b = [
                w.intrinsic(name, t, place, size, mask, w.number(0, t))
                for place, mask in zip(places, masks, strict=True)
            ]
        else:
            a, b = [w.load(place, t, align) for place in places]
        even = [2 * k for k in range(self.lanes)]
        parts = [w.shuffle(a, b, lanes) for lanes in (even, [k + 1 for k in even])]
        return Complex(*[converted(w, part, self.scalar) for part in parts])

    def store_interleaved(
        self,
        pointer: Value[Pointer],
        at: Index,
        value: Complex,
        masks: Sequence[Value[Integer]] = (),
    ) -> None:
        """Store complex numbers at scalar `at` of an array of interleaved parts."""
        w, t, align = self.w, self.memory.of_lanes(self.lanes), self.memory.bits // 8
        parts = [converted(w, part, self.memory) for part in self._zip(*value, 1)]
        places = self._vector_addresses(pointer, at)
        if not masks:
            for part, place in zip(parts, places, strict=True):
                w.store(part, place, align)
            return
        name, size = f"llvm.masked.store.{t.suffix}.p0", w.number(align, I32)
        for part, place, mask in zip(parts, places, masks, strict=True):
            w.call_effect(name, part, place, size, mask)

    def lanes_below(self, count: Index) -> list[Value[Integer]]:
        """Return masks of the scalars of `count` complex numbers, at least one.

        Two masks, for the two vectors of `lanes` numbers.
        """
        w, lanes = self.w, range(self.lanes)
        limit = w.splat(w.named(count, I64), self.lanes)
        numbers = [[(half + k) // 2 for k in lanes] for half in (0, self.lanes)]
        return [w.compare("sgt", limit, w.constant_vector(each, I64)) for each in numbers]

    def _zip(self, a: Number, b: Number, granule: int) -> tuple[Number, Number]:
        """Interleave groups of `granule` elements of a and b; return lower and upper half."""
        groups = [
            [side * self.lanes + at + k for k in range(granule)]
            for at in range(0, self.lanes, granule)
            for side in (0, 1)
        ]
        order = [place for group in groups for place in group]
        lower, upper = order[: self.lanes], order[self.lanes :]
        return self.w.shuffle(a, b, lower), self.w.shuffle(a, b, upper)

    def _transposed(self, values: list[Number], granule: int) -> list[Number]:
        """Return the results of a butterfly in memory order: by block, then by result."""
        count = len(values)
        if count & (count - 1) == 0:
            for _ in range(count.bit_length() - 1):
                half = count // 2
                values = [
                    part
                    for a, b in zip(values[:half], values[half:], strict=True)
                    for part in self._zip(a, b, granule)
                ]
            return values
        found = []
        for number in range(count):
            block, rest = np.divmod(
                np.arange(number * self.lanes, (number + 1) * self.lanes), granule * count
            )
            origins, lanes = rest // granule, block * granule + rest % granule
            needed = sorted(set(origins.tolist()))
            part, done = values[needed[0]], origins == needed[0]
            places = np.where(done, lanes, 0)
            for origin in needed[1:]:
                here = origins == origin
                part = self.w.shuffle(
                    part, values[origin], np.where(here, self.lanes + lanes, places).tolist()
                )
                places = np.arange(self.lanes)
            found.append(part)
        return found

    # -- whole transforms --------------------------------------------------------------------------
    def transform(self, length: int, lanes: int, x: Pair, y: Pair) -> Pair:
        """Transform the numbers at x with the buffer y; return the location of the result.

        Both have `buffer_elements` numbers for each transform, and an unused vector at the end.
        lanes: number of interleaved transforms, 1 or a multiple of a vector's lanes.
        """
        stages = plan_stages(length, lanes, self.lanes)
        return self._by_chirp(length, lanes, x, y) if stages is None else self._run(stages, x, y)

    def transform_line(self, length: int, take: Load, give: Store, x: Pair, y: Pair) -> None:
        """Transform a line of at least one vector, from `take` to `give`."""
        stages = plan_stages(length, 1, self.lanes)
        if (
            stages is not None
            and len(stages) > 1
            and "narrow" not in (stages[0].kind, stages[-1].kind)
        ):
            self._run(stages, x, y, take, give)
            return
        self.each_vector(length, lambda at: self.store(x, at, take(at)))
        found = self.transform(length, 1, x, y)
        self.each_vector(length, lambda at: give(at, self.load(found, at)))

    def each_vector(self, count: int, body: Callable[[Index], None]) -> None:
        """Emit a loop over vectors that cover `count` numbers, at least one vector."""
        with self.w.loop(count, 0, self.lanes, stem="numbers", metadata=NO_UNROLL) as k:
            body(self.start_within(k, count))

    def _run(
        self,
        stages: list[TransformStage],
        x: Pair,
        y: Pair,
        take: Load | None = None,
        give: Store | None = None,
    ) -> Pair:
        """Run all stages; return the location of the numbers, unless `give` stored them."""
        inner = stages[1 if take else 0 : -1 if give else None]
        if take:
            self._one_stage(stages[0], take, self._storing(y))
            x, y = y, x
        for (radix, kind), group in groupby(inner, key=lambda stage: (stage.radix, stage.kind)):
            equal = list(group)
            if kind == "one" and len(equal) > 1:
                x, y = self._equal_stages(equal[0].n, equal[0].s, radix, len(equal), x, y)
                continue
            for stage in equal:
                self._one_stage(stage, self._loading(x), self._storing(y))
                x, y = y, x
        if give:
            self._one_stage(stages[-1], self._loading(x), give)
        return x

    def _loading(self, pair: Pair) -> Load:
        return lambda at: self.load(pair, at)

    def _storing(self, pair: Pair) -> Store:
        return lambda at, value: self.store(pair, at, value)

    def _one_stage(self, stage: TransformStage, read: Load, write: Store) -> None:
        if stage.kind == "blocks":
            self._stage_of_blocks(stage, read, write)
        else:
            self._stage_of_one(stage, read, write)

    def _stage_of_blocks(self, stage: TransformStage, read: Load, write: Store) -> None:
        """Run a stage whose vectors span lanes / s blocks."""
        n, s, radix, _ = stage
        w, m = self.w, n // radix
        factors = np.repeat(np.outer(np.arange(1, radix), np.arange(m)), s, axis=1)
        table = self.roots_table(factors, n)
        with w.loop(m * s, 0, self.lanes, stem="blocks", metadata=NO_UNROLL) as number:
            j = self.start_within(number, m * s)
            values = self.butterfly([read(w.add(j, s * m * t)) for t in range(radix)])
            twiddled = [
                value if u == 0 else self.mul(value, self.load(table, w.add(j, (u - 1) * m * s)))
                for u, value in enumerate(values)
            ]
            parts = [self._transposed([value[k] for value in twiddled], s) for k in (0, 1)]
            start = w.mul(j, radix)
            for k, (re, im) in enumerate(zip(*parts, strict=True)):
                write(w.add(start, k * self.lanes), Complex(re, im))

    def _stage_of_one(self, stage: TransformStage, read: Load, write: Store) -> None:
        """Run a stage whose vectors lie in one block.

        A narrow vector extends past its block. Blocks are stored in the order of addresses, so that
        the next store overwrites the extra lanes.
        """
        n, s, radix, kind = stage
        w, m = self.w, n // radix
        table = None if m == 1 else self.roots_table(np.outer(np.arange(m), np.arange(1, radix)), n)
        with w.loop(m, stem="block", metadata=NO_UNROLL) as p:
            factors = (
                []
                if table is None
                else [
                    self.load_broadcast(table, w.add(w.mul(p, radix - 1), u))
                    for u in range(radix - 1)
                ]
            )
            from_p, to_p = w.mul(p, s), w.mul(p, radix * s)
            with w.loop(s, 0, self.lanes, stem="lane", metadata=NO_UNROLL) as number:
                q = 0 if kind == "narrow" else self.start_within(number, s)
                source, target = w.add(from_p, q), w.add(to_p, q)
                values = self.butterfly([read(w.add(source, s * m * t)) for t in range(radix)])
                for u, value in enumerate(values):
                    write(
                        w.add(target, s * u),
                        self.mul(value, factors[u - 1]) if u and factors else value,
                    )

    def _equal_stages(
        self, n: int, s: int, radix: int, count: int, x: Pair, y: Pair
    ) -> tuple[Pair, Pair]:
        """Run several stages of one radix as a loop.

        Return the location of the numbers, and the free buffers.
        """
        w = self.w
        factors = [
            np.outer(np.arange(n // radix**k // radix), np.arange(1, radix)) * radix**k
            for k in range(count)
        ]
        table = self.roots_table(np.concatenate([part.ravel() for part in factors]), n)
        slots = {name: w.variable(I64) for name in ("m", "s", "at")}
        pointers = [w.variable(PTR) for _ in range(4)]
        for name, value in (("m", n // radix), ("s", s), ("at", 0)):
            slots[name].set(value)
        for slot, pointer in zip(pointers, (*x, *y), strict=True):
            slot.set(pointer)
        with w.loop(count, stem="stage", metadata=NO_UNROLL):
            m, size, first = [slots[name].get() for name in ("m", "s", "at")]
            a, b, c, d = [pointer.get() for pointer in pointers]
            part = w.mul(m, size)  # numbers from one input of a butterfly to the next
            with w.loop(m, stem="block", metadata=NO_UNROLL) as p:
                at = w.add(first, w.mul(p, radix - 1))
                twiddles = [self.load_broadcast(table, w.add(at, u)) for u in range(radix - 1)]
                from_p = w.mul(p, size)
                to_p = w.mul(from_p, radix)
                with w.loop(size, 0, self.lanes, stem="lane", metadata=NO_UNROLL) as number:
                    q = number if s % self.lanes == 0 else self.start_within(number, size)
                    place = w.add(from_p, q)
                    values = []
                    for t in range(radix):
                        values.append(self.load((a, b), place))
                        place = w.add(place, part) if t < radix - 1 else place
                    place = w.add(to_p, q)
                    for u, result in enumerate(self.butterfly(values)):
                        self.store(
                            (c, d), place, self.mul(result, twiddles[u - 1]) if u else result
                        )
                        place = w.add(place, size) if u < radix - 1 else place
            slots["at"].set(w.add(first, w.mul(m, radix - 1)))
            slots["m"].set(w.div(m, radix))
            slots["s"].set(w.mul(size, radix))
            for slot, pointer in zip(pointers, (c, d, a, b), strict=True):
                slot.set(pointer)
        return (x, y) if count % 2 == 0 else (y, x)

    def _by_chirp(self, length: int, lanes: int, x: Pair, y: Pair) -> Pair:
        """Run a transform of any length as a convolution with exp(i pi k^2 / length).

        Bluestein's algorithm: k t = (k^2 + t^2 - (k - t)^2) / 2. The forward and the inverse
        transform of the convolution are the two iterations of one loop. The inverse transform is
        a forward transform of numbers with exchanged real and imaginary parts. Its factors are
        conjugated, since swap(a b) = swap(a) conj(b).
        """
        w, size = self.w, chirp_length(length)
        chirp, response = chirp_numbers(length)
        factors = np.concatenate([np.pad(chirp, (0, size - length)), response.conj()])
        table = self.complex_table(factors.real, factors.imag)
        zero = self.constant(0.0)

        def times(pair: Pair, count: int, start: Index) -> None:
            """Multiply a line by factors.

            The last vector may extend past the line, into zeros or unused memory.
            """
            with w.loop(
                count, 0, self.lanes if lanes == 1 else 1, stem="chirp", metadata=NO_UNROLL
            ) as k:
                factor = (
                    self.load(table, w.add(start, k))
                    if lanes == 1
                    else self.load_broadcast(table, w.add(start, k))
                )
                with w.loop(
                    lanes,
                    0,
                    max(1, self.lanes if lanes > 1 else 1),
                    stem="lane",
                    metadata=NO_UNROLL,
                ) as c:
                    at = w.add(w.mul(k, lanes), c)
                    self.store(pair, at, self.mul(self.load(pair, at), factor))

        with w.loop(
            size * lanes, length * lanes, self.lanes, stem="zeros", metadata=NO_UNROLL
        ) as at:
            self.store(x, at, Complex(zero, zero))
        slots = [w.variable(PTR) for _ in range(4)]
        for slot, pointer in zip(slots, (*x, *y), strict=True):
            slot.set(pointer)
        with w.loop(2, stem="convolution", metadata=NO_UNROLL) as iteration:
            a, b, c, d = [slot.get() for slot in slots]
            times((a, b), size, w.mul(iteration, size))
            found = self.transform(size, lanes, (a, b), (c, d))
            free = (c, d) if found == (a, b) else (a, b)
            for slot, pointer in zip(slots, (found[1], found[0], free[1], free[0]), strict=True):
                slot.set(pointer)
        real, imaginary, _, _ = [slot.get() for slot in slots]
        times((real, imaginary), length, 0)
        return real, imaginary
