"""One line of complex numbers at a time, transformed with vectors that are written here: little code, which LLVM need not optimise.

The stages are those of `fourier_stages`, of radix 4 as far as possible. Stage by stage the numbers of a line that are transformed alike
become contiguous (s of them). Where s is a multiple of the vector's lanes, a vector holds numbers with equal factors. Before that it holds
those of several blocks, each with its own factor, and what is stored changes places by interleaving. The first stage reads the operand,
the last one writes the result, and the radix-4 stages between them are one piece of code that runs several times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.fourier_stages import (
    _BYTES,
    _DTYPES,
    LARGEST_RADIX,
    Complex,
    FourierStages,
    Pair,
    Table,
    roots_of_unity,
)
from xla_explorer.compiler.codegen.llvm_types import float_constant

Index = str | int
Load = Callable[[Index], Complex]  # offset (in numbers) -> so many numbers as a vector has lanes
Store = Callable[[Index, Complex], None]


def vector_radices(length: int, lanes: int) -> list[int] | None:
    """The radices of the stages: fours, then what is left; None where a line cannot be cut into whole vectors."""
    radices, rest = [], length
    for radix in (4, *range(2, LARGEST_RADIX + 1)):
        while rest % radix == 0:
            radices.append(radix)
            rest //= radix
    if rest > 1 or len(radices) < 2 or (lanes & (lanes - 1)):
        return None
    s = 1
    for number, radix in enumerate(radices):
        if s % lanes and (radix != 4 or lanes % s or length // radix % lanes or number == len(radices) - 1):
            return None
        s *= radix
    return radices


class VectorStages(FourierStages):
    """Arithmetic on vectors of `lanes` numbers of type `scalar`, and transforms of a line."""

    def __init__(self, w: FunctionWriter, scalar: str, lanes: int, table: Table) -> None:
        self.w, self.t, self.scalar, self.lanes = w, f"<{lanes} x {scalar}>", scalar, lanes
        self.bytes = _BYTES[scalar]
        self._table = table

    def address(self, pointer: str, offset: str | int) -> str:
        """The address of a scalar."""
        return pointer if offset == 0 else self.w.value(f"getelementptr inbounds {self.scalar}, ptr {pointer}, i64 {offset}")

    def complex_table(self, real: Any, imaginary: Any) -> Pair:
        """Addresses of constant real and imaginary parts."""
        real, imaginary = (self._table(np.ascontiguousarray(part, _DTYPES[self.scalar]).tobytes()) for part in (real, imaginary))
        return real, imaginary

    def constant(self, value: float) -> str:
        """A constant in all lanes."""
        return f"splat ({self.scalar} {float_constant(value, self.scalar)})"

    def _shuffle(self, a: str, b: str, places: Sequence[int]) -> str:
        mask = ", ".join([f"i32 {k}" for k in places])
        return self.w.value(f"shufflevector {self.t} {a}, {self.t} {b}, <{len(places)} x i32> <{mask}>")

    def _in_all_lanes(self, pair: Pair, offset: Index) -> Complex:
        """One complex number."""
        parts = []
        for pointer in pair:
            one = self.w.value(f"load {self.scalar}, ptr {self.address(pointer, offset)}, align {self.bytes}")
            first = self.w.value(f"insertelement {self.t} poison, {self.scalar} {one}, i64 0")
            parts.append(self._shuffle(first, "poison", [0] * self.lanes))
        return parts[0], parts[1]

    # -- interleaved memory --------------------------------------------------------------------------------------------
    def take_apart(self, pointer: str, at: Index) -> Complex:
        """Numbers `at` and following from memory where real and imaginary parts alternate."""
        start = self.w.mul(at, 2)
        places = [self.address(pointer, self.w.add(start, k)) for k in (0, self.lanes)]
        a, b = (self.w.value(f"load {self.t}, ptr {place}, align {self.bytes}") for place in places)
        even = [2 * k for k in range(self.lanes)]
        return self._shuffle(a, b, even), self._shuffle(a, b, [k + 1 for k in even])

    def put_together(self, pointer: str, at: Index, value: Complex) -> None:
        """The reverse."""
        start = self.w.mul(at, 2)
        for k, part in zip((0, self.lanes), self._zip(*value, 1), strict=True):
            self.w.do(f"store {self.t} {part}, ptr {self.address(pointer, self.w.add(start, k))}, align {self.bytes}")

    def _zip(self, a: str, b: str, granule: int) -> tuple[str, str]:
        """Groups of `granule` elements of a and b in turn; the first and the second half of them."""
        groups = [[side * self.lanes + at + k for k in range(granule)] for at in range(0, self.lanes, granule) for side in (0, 1)]
        order = [place for group in groups for place in group]
        return self._shuffle(a, b, order[: self.lanes]), self._shuffle(a, b, order[self.lanes :])

    def _transposed(self, values: list[str], granule: int) -> list[str]:
        """Vectors, one for each result of a butterfly, in the order of memory: by block, then by result."""
        for _ in range(len(values).bit_length() - 1):
            half = len(values) // 2
            values = [part for a, b in zip(values[:half], values[half:], strict=True) for part in self._zip(a, b, granule)]
        return values

    # -- the stages of a line ------------------------------------------------------------------------------------------
    def transform_line(self, length: int, take: Load, give: Store, x: Pair, y: Pair) -> None:
        """Transform what `take` reads and hand it to `give`; x and y hold `length` numbers each."""
        radices = vector_radices(length, self.lanes)
        assert radices is not None
        n, s, number = length, 1, 0
        while number < len(radices):
            radix = radices[number]
            middle = radices[number:-1] if number and s % self.lanes == 0 else []
            equal = max(middle.count(4), 1) if middle[:1] == [4] else 1
            if equal > 1:
                x, y = self._equal_stages(n, s, equal, x, y)
            else:
                first, last = number == 0, number == len(radices) - 1
                read: Load = take if first else lambda at, x=x: self.load(x, at)  # type: ignore[misc]
                write: Store = give if last else lambda at, value, y=y: self.store(y, at, value)  # type: ignore[misc]
                (self._stage_of_blocks if s % self.lanes else self._stage_of_one)(n, s, radix, read, write)
                x, y = y, x
            n, s, number = n // radix**equal, s * radix**equal, number + equal

    def _stage_of_blocks(self, n: int, s: int, radix: int, read: Load, write: Store) -> None:
        """A vector holds numbers of lanes / s blocks."""
        w, m = self.w, n // radix
        factors = np.repeat(np.outer(np.arange(1, radix), np.arange(m)), s, axis=1)
        table = self.complex_table(*roots_of_unity(factors, n))
        with w.loop(m * s, 0, self.lanes, stem="blocks", metadata=NO_UNROLL) as j:
            values = self.butterfly([read(w.add(j, s * m * t)) for t in range(radix)])
            turned = [value if u == 0 else self.mul(value, self.load(table, w.add(j, (u - 1) * m * s))) for u, value in enumerate(values)]
            parts = [self._transposed([value[k] for value in turned], s) for k in (0, 1)]
            start = w.mul(j, radix)
            for k, value in enumerate(zip(*parts, strict=True)):
                write(w.add(start, k * self.lanes), value)

    def _stage_of_one(self, n: int, s: int, radix: int, read: Load, write: Store) -> None:
        """All numbers of a vector have the same factors."""
        w, m = self.w, n // radix
        table = None if m == 1 else self.complex_table(*roots_of_unity(np.outer(np.arange(m), np.arange(1, radix)), n))
        with w.loop(m, stem="block", metadata=NO_UNROLL) as p:
            factors = [] if table is None else [self._in_all_lanes(table, w.add(w.mul(p, radix - 1), u)) for u in range(radix - 1)]
            from_p, to_p = w.mul(p, s), w.mul(p, radix * s)
            with w.loop(s, 0, self.lanes, stem="lane", metadata=NO_UNROLL) as q:
                source, target = w.add(from_p, q), w.add(to_p, q)
                values = self.butterfly([read(w.add(source, s * m * t)) for t in range(radix)])
                for u, value in enumerate(values):
                    write(w.add(target, s * u), self.mul(value, factors[u - 1]) if u and factors else value)

    def _equal_stages(self, n: int, s: int, count: int, x: Pair, y: Pair) -> tuple[Pair, Pair]:
        """Several stages of radix 4 between the first and the last, as a loop. Returns where the numbers are, and the free buffers."""
        w, radix = self.w, 4
        factors = [np.outer(np.arange(n // radix**k // radix), np.arange(1, radix)) * radix**k for k in range(count)]
        table = self.complex_table(*roots_of_unity(np.concatenate([part.ravel() for part in factors]), n))
        slots = {name: w.stack_slot("i64") for name in ("m", "s", "at")}
        pointers = [w.stack_slot("ptr") for _ in range(4)]
        for name, value in (("m", n // radix), ("s", s), ("at", 0)):
            w.do(f"store i64 {value}, ptr {slots[name]}")
        for slot, pointer in zip(pointers, (*x, *y), strict=True):
            w.do(f"store ptr {pointer}, ptr {slot}")
        with w.loop(count, stem="stage", metadata=NO_UNROLL):
            m, size, first = (w.value(f"load i64, ptr {slots[name]}") for name in ("m", "s", "at"))
            a, b, c, d = (w.value(f"load ptr, ptr {slot}") for slot in pointers)
            quarter = w.mul(m, size)  # numbers from one input of a butterfly to the next
            with w.loop(m, stem="block", metadata=NO_UNROLL) as p:
                at = w.add(first, w.mul(p, radix - 1))
                turns = [self._in_all_lanes(table, w.add(at, u)) for u in range(radix - 1)]
                from_p = w.mul(p, size)
                to_p = w.mul(from_p, radix)
                with w.loop(size, 0, self.lanes, stem="lane", metadata=NO_UNROLL) as q:
                    place = w.add(from_p, q)
                    values = []
                    for t in range(radix):
                        values.append(self.load((a, b), place))
                        place = w.add(place, quarter) if t < radix - 1 else place
                    place = w.add(to_p, q)
                    for u, number in enumerate(self.butterfly(values)):
                        self.store((c, d), place, self.mul(number, turns[u - 1]) if u else number)
                        place = w.add(place, size) if u < radix - 1 else place
            w.do(f"store i64 {w.add(first, w.mul(m, radix - 1))}, ptr {slots['at']}")
            w.do(f"store i64 {w.div(m, radix)}, ptr {slots['m']}")
            w.do(f"store i64 {w.mul(size, radix)}, ptr {slots['s']}")
            for slot, pointer in zip(pointers, (c, d, a, b), strict=True):
                w.do(f"store ptr {pointer}, ptr {slot}")
        return (x, y) if count % 2 == 0 else (y, x)
