"""Stable sort of one row of records in scratch memory: by radix if it is long, else by merging.

A record has an element of each operand. Radix sort: least significant digit first, alternating
between two buffers; a digit that is equal in all records needs no pass. The key is recomputed in
each pass, which is cheaper than storing it. It needs keys, and a row of at least `RADIX_WORTH`
records for each pass. Merge sort: insertion sort of short runs, then merges of growing width with
the comparator inlined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.comparison import total_order_key
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter, Variable
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_VECTOR
from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

Record = list[Scalar]
Before = Callable[[Record, Record], Value[Integer]]
INSERTION_RUN = 12  # records of a run that insertion sort prepares for merging
RADIX_WORTH = 32  # records per radix pass from which radix sort is faster
WIDE_DIGIT_ROW = (
    1 << 16
)  # records from which 11-bit digits (fewer passes, more buckets) are faster than 8-bit ones


class RadixKey(NamedTuple):
    """A key of records.

    bits: its width. of: returns the unsigned integer of a record; smaller is first.
    """

    bits: int
    of: Callable[[Record], Value[Integer]]


def integer_key(
    w: FunctionWriter,
    given: Scalar,
    element_type: PrimitiveType,
    ascending: bool,
    total_order: bool = True,
) -> Value[Integer]:
    """Return a value as an unsigned integer of its width (pred: i8), in the required order.

    total_order: -0 before +0; otherwise they are equal.
    """
    value = real(given)
    if element_type.is_pred:
        key, flip = w.convert("zext", value, "i8"), 0
    elif element_type.is_float:
        if not total_order and element_type.has_sign:
            value = w.select(w.widen(value).equals(0.0), 0.0, value)
        key = total_order_key(w, value)
        flip = 1 << (key.type.bits - 1)
    else:
        key, flip = value, 1 << (value.type.bits - 1) if element_type.is_signed else 0
    bits = key.type.bits
    if not ascending:
        flip ^= (1 << bits) - 1
    if flip >> (bits - 1):
        flip -= 1 << bits
    return key ^ flip


class RowSort:
    """Two buffers for a row of `length` records, and the code that sorts it.

    For each row: `begin`, `store_results` of all records into `arrays()`, `sort`. Then `arrays()`
    has the records in order.
    """

    def __init__(self, context: KernelContext, types: Sequence[PrimitiveType], length: int) -> None:
        self.w = context.writer
        self.context = context
        self.length = length
        self.shapes = [array_shape(t, (length,)) for t in types]
        self.home = [context.scratch(shape.byte_size) for shape in self.shapes]
        self.spare = [context.scratch(shape.byte_size) for shape in self.shapes]
        self.current: list[Variable[Pointer]] = [self.w.variable(PTR) for _ in types]
        self.other: list[Variable[Pointer]] = [self.w.variable(PTR) for _ in types]

    def begin(self) -> None:
        """Start with a new row."""
        for slots, pointers in ((self.current, self.home), (self.other, self.spare)):
            for slot, pointer in zip(slots, pointers, strict=True):
                slot.set(pointer)

    def arrays(self, other: bool = False) -> list[ArrayInMemory]:
        """Return the buffers with the records, or the spare ones."""
        return [
            ArrayInMemory(slot.get(), shape)
            for slot, shape in zip(self.other if other else self.current, self.shapes, strict=True)
        ]

    def _load(self, arrays: list[ArrayInMemory], at: Word) -> Record:
        return [array.load_linear(self.w, at) for array in arrays]

    def store_results(self, arrays: list[ArrayInMemory], at: Word, record: Record) -> None:
        """Store a record at a position of the buffers."""
        for array, value in zip(arrays, record, strict=True):
            array.store_linear(self.w, at, value)

    def _swap(self) -> None:
        for a, b in zip(self.current, self.other, strict=True):
            x, y = a.get(), b.get()
            a.set(y)
            b.set(x)

    # -- radix -------------------------------------------------------------------------------------
    def sort(self, keys: Sequence[RadixKey], before: Before) -> None:
        """Sort by keys, the most significant first, or by a comparator.

        A row that is too short for radix passes, or has no keys, uses `before(a, b)`, true if a
        must precede b.
        """
        if keys and self.length >= RADIX_WORTH * sum([-(-key.bits // 8) for key in keys]):
            self._by_radix(keys)
        else:
            self._insertion_runs(before)
            if self.length > INSERTION_RUN:
                self._merge_runs(before)

    def _by_radix(self, keys: Sequence[RadixKey]) -> None:
        width = 11 if self.length >= WIDE_DIGIT_ROW else 8
        passes = max([-(-key.bits // width) for key in keys])
        counts = self.context.scratch(passes * (4 << width))
        for key in reversed(keys):
            self._radix_of_key(key, counts, min(width, key.bits))

    def _radix_of_key(self, key: RadixKey, counts: Value[Pointer], width: int) -> None:
        w, length = self.w, self.length
        buckets, passes = 1 << width, -(-key.bits // width)

        def digit(record: Record, shift: Word) -> Value[Integer]:
            moved = key.of(record)
            if shift != 0:
                moved = w.binary("lshr", moved, shift)
            low = moved & (buckets - 1) if key.bits > width else moved
            return low if key.bits == 64 else w.convert("zext", low, "i64")

        def cell(table: Value[Pointer], at: Word) -> Value[Pointer]:
            return w.address(table, I32, at)

        def add(address: Value[Pointer], amount: Value[Integer] | int) -> Value[Integer]:
            """Add to a count; return its old value."""
            count = w.load(address, I32)
            w.store(count + amount, address)
            return count

        with w.loop(passes * buckets, stem="clear") as j:
            w.store(w.number(0, I32), cell(counts, j))
        source = self.arrays()
        with w.loop(length, stem="count", metadata=NO_VECTOR) as j:
            record = self._load(source, j)
            for step in range(passes):
                add(cell(counts, w.add(digit(record, step * width), step * buckets)), 1)
        with w.loop(passes, stem="pass", metadata=NO_VECTOR) as number:
            shift = w.mul(number, width)
            if not isinstance(shift, int):
                shift = w.index_as(shift, Type(f"i{key.bits}"))
            source, target = self.arrays(), self.arrays(other=True)
            table = cell(counts, w.mul(number, buckets))
            first = cell(table, digit(self._load(source, 0), shift))
            same = w.load(first, I32).equals(length)
            move, end = w.fresh_label("move"), w.fresh_label("sorted")
            w.branch_if(same, end, move)
            w.start_block(move)
            total = w.variable(I32)
            total.set(0)
            with w.loop(buckets, stem="bucket", metadata=NO_VECTOR) as j:
                address = cell(table, j)
                before, count = total.get(), w.load(address, I32)
                w.store(before, address)
                total.set(before + count)
            with w.loop(length, stem="move", metadata=NO_VECTOR) as j:
                record = self._load(source, j)
                place = add(cell(table, digit(record, shift)), 1)
                self.store_results(target, w.convert("zext", place, "i64"), record)
            self._swap()
            w.branch(end)
            w.start_block(end)

    # -- merging -----------------------------------------------------------------------------------
    def _insertion_runs(self, before: Before) -> None:
        w, length = self.w, self.length
        arrays = self.arrays()
        hole = w.variable(I64)
        with w.loop(length, 0, INSERTION_RUN, stem="run", metadata=NO_VECTOR) as start:
            end = w.smaller(w.add(start, INSERTION_RUN), length)
            position = w.variable(I64)
            position.set(w.add(start, 1))

            def inside_run() -> Value[Integer]:
                return w.test("slt", position.get(), end)

            with w.repeat_while(inside_run):
                at = position.get()
                record = self._load(arrays, at)
                hole.set(at)

                def moves() -> Value[Integer]:
                    place = hole.get()
                    inside = w.test("sgt", place, start)
                    left = w.choose(inside, w.sub(place, 1), place)
                    return w.both(inside, before(record, self._load(arrays, left)))

                with w.repeat_while(moves):
                    place = hole.get()
                    left = w.sub(place, 1)
                    self.store_results(arrays, place, self._load(arrays, left))
                    hole.set(left)
                self.store_results(arrays, hole.get(), record)
                position.set(w.add(at, 1))

    def _merge_runs(self, before: Before) -> None:
        w, length = self.w, self.length
        width, low, left, right = [w.variable(I64) for _ in range(4)]

        def below_length(variable: Variable[Integer]) -> Callable[[], Value[Integer]]:
            return lambda: w.test("slt", variable.get(), length)

        width.set(INSERTION_RUN)
        with w.repeat_while(below_length(width)):
            source, target = self.arrays(), self.arrays(other=True)
            size = width.get()
            low.set(0)
            with w.repeat_while(below_length(low)):
                start = low.get()
                middle, end = [
                    w.smaller(w.add(start, w.mul(size, times)), length) for times in (1, 2)
                ]
                left.set(start)
                right.set(middle)
                with w.loop(end, start, stem="merge", metadata=NO_VECTOR) as out:
                    i, k = left.get(), right.get()
                    # Both are loaded even if one side is exhausted, and its value is unused then.
                    # The index stays inside the row.
                    a, b = [self._load(source, w.smaller(at, length - 1)) for at in (i, k)]
                    left_over, right_left = w.test("sge", i, middle), w.test("slt", k, end)
                    take = w.both(right_left, w.either(left_over, before(b, a)))
                    self.store_results(target, out, self._load(source, w.choose(take, k, i)))
                    step = w.convert("zext", take, "i64")
                    right.set(w.add(k, step))
                    left.set(w.sub(w.add(i, 1), step))
                low.set(end)
            self._swap()
            width.set(w.mul(size, 2))
