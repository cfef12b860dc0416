"""Stable sort of records in a block's shared memory, by any comparator, through merges by rank.

Runs of one, two, four ... records are merged. A record's place in the merged run is its place in
its own run plus its rank in the other one, found by binary search; equal records of the left run
come first. So neither a comparison of positions nor a power of two of records is needed. All
threads execute the same number of steps. For top-k only the first records of every run are kept, so
that the work halves from level to level. Source: ranking merge as in Satish, Harris, Garland,
"Designing efficient sorting algorithms for manycore GPUs", 2009.

`a < b` is not a strict weak order on floats with NaN, which would compare as equal to everything.
Merging by rank would then give two records one place and lose others. If the comparator orders by
keys, NaN therefore compares after the numbers and equal to itself. XLA leaves this order open too,
but keeps all records, because it sorts bitonically.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.backends.gpu.emitters.block import Block, both, smaller
from xla_explorer.compiler.codegen.elemental.arithmetic import select_value
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import Before, Record, integer_key
from xla_explorer.compiler.codegen.kernels.sorting.sort import as_written, key_of_record
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.sorting import SortKey, comparator_keys
from xla_explorer.hlo.primitive_type import PrimitiveType

BANKS = 32  # of shared memory


def padded_count(count: int) -> int:
    """Return the number of places of `count` padded records."""
    return count + count // BANKS


class SharedRecords:
    """`count` records in shared memory, an array per component.

    before(a, b): an i1, true if a must come before b. padded: one place after every 32 records
    stays free, so that records a power of two apart are in different banks.
    """

    def __init__(
        self,
        block: Block,
        types: Sequence[PrimitiveType],
        count: int,
        before: Before,
        padded: bool = False,
    ) -> None:
        self.w, self.block, self.types, self.count, self.before, self.padded = (
            block.w,
            block,
            types,
            count,
            before,
            padded,
        )
        self.arrays = [block.shared(t, padded_count(count) if padded else count) for t in types]

    def _place(self, at: Word) -> Word:
        return self.w.add(at, self.w.div(at, BANKS)) if self.padded else at

    def load(self, at: Word) -> Record:
        """Return the record at a place."""
        place = self._place(at)
        return [array.load(place) for array in self.arrays]

    def store(self, at: Word, record: Record) -> None:
        """Set the record at a place."""
        place = self._place(at)
        for array, value in zip(self.arrays, record, strict=True):
            array.store(place, value)

    def ranks(
        self,
        records: list[Record],
        on_right: list[Value[Integer]],
        low: list[Word],
        high: list[Word],
        steps: Word,
    ) -> list[Value[Integer]]:
        """Return the ends of the binary searches for each record in the other run, `low` to `high`.

        The other run is the left one for records that are `on_right`. steps: enough to halve the
        run to nothing, the same for all threads.
        """
        w = self.w
        slots = [(w.variable(I64), w.variable(I64)) for _ in records]
        for (first, last), a, b in zip(slots, low, high, strict=True):
            first.set(a)
            last.set(b)
        with w.loop(steps, stem="search"):
            for (first, last), record, right in zip(slots, records, on_right, strict=True):
                a, b = first.get(), last.get()
                middle = w.index_operation("lshr", w.add(a, b), 1)
                candidate = self.load(smaller(w, middle, self.count - 1))
                columns = list(zip(record, candidate, strict=True))
                from_right = [select_value(w, right, x, y) for x, y in columns]
                from_left = [select_value(w, right, y, x) for x, y in columns]
                further = self.before(from_right, from_left) ^ right
                inside = w.both(further, w.test("ult", a, b))
                first.set(w.choose(inside, w.add(middle, 1), a))
                last.set(w.choose(further, b, middle))
        return [first.get() for first, _ in slots]

    def sort(self, size: int, each: int, length: Word, kept: int | None = None) -> None:
        """Sort the first `length` records of every segment of `size` (a power of two) places.

        A thread takes `each` records. All threads must call it, with all places filled (with any
        value from `length` on) and a barrier since. kept: number of sorted records (a power of two)
        that are needed. It ends with a barrier.
        """
        w, block = self.w, self.block
        limit = min(kept or size, size)
        with w.loop(size.bit_length() - 1, stem="level") as level:
            width = w.index_operation("shl", 1, level)
            # Maximum number of records of a run.
            held = smaller(w, width, limit) if limit < size else width
            shift = smaller(w, level, limit.bit_length() - 1) if limit < size else level
            moved: list[tuple[Condition, Word, Record]] = []
            places, rights, lows, highs, bases, present = [], [], [], [], [], []
            for number in range(each):
                counted = w.add(block.thread, number * block.threads)
                q: Word = counted
                there: Condition = None
                if limit < size:
                    there = w.test(
                        "ult",
                        w.index_operation("lshr", counted, shift),
                        w.index_operation("lshr", self.count, level),
                    )
                    # Numbers of the kept records; later threads' records have been dropped.
                    run = w.index_operation("lshr", q, shift)
                    q = w.add(
                        w.index_operation("shl", run, level),
                        w.index_operation("and", q, w.sub(held, 1)),
                    )
                elif each * block.threads > self.count:
                    there = w.test("ult", counted, self.count)
                if there is not None:
                    q = smaller(w, q, self.count - 1)
                present.append(there)
                place = w.index_operation("and", q, size - 1)
                base = w.sub(q, place)
                own = w.index_operation("and", place, w.index_operation("sub", 0, width))
                other = w.index_operation("xor", own, width)
                rights.append(w.test("ne", w.index_operation("and", place, width), 0))
                low = w.add(base, smaller(w, other, length))
                high = w.add(base, smaller(w, w.add(other, held), length))
                lows.append(low)
                highs.append(high)
                places.append((q, place, own, low))
                bases.append(base)
            records = [self.load(q) for q, *_ in places]
            ranks = self.ranks(records, rights, lows, highs, w.add(shift, 1))
            ranked = zip(places, bases, rights, ranks, records, present, strict=True)
            for (_, place, own, low), base, right, rank, record, is_there in ranked:
                offset = w.add(w.sub(place, own), w.sub(rank, low))
                start = w.choose(right, w.index_operation("sub", own, width), own)
                counts: Condition = w.test("ult", place, length)
                if limit < size:
                    counts = both(w, counts, w.test("ult", offset, limit))
                counts = both(w, counts, is_there)
                moved.append((counts, w.add(w.add(base, start), offset), record))
            block.barrier()
            for stored, at, record in moved:
                with block.only_if(stored):
                    self.store(at, record)
            block.barrier()


def order_of_records(context: KernelContext, comparator: HloComputation) -> Before:
    """Return a strict weak order if the comparator orders by keys, else the comparator."""
    w, keys = context.writer, comparator_keys(comparator)
    if (
        keys is None
        or not any(map(_has_unordered, keys))
        or any(key.side.shape.element_type.is_complex for key in keys)
    ):
        return as_written(context, comparator)

    def less(key: SortKey, a: Record, b: Record) -> Value[Integer]:
        kind = key.side.shape.element_type
        x, y = [key_of_record(w, comparator, key, record) for record in (a, b)]
        if not _has_unordered(key):
            keys = [integer_key(w, value, kind, key.ascending, key.total_order) for value in (x, y)]
            return w.compare("ult", *keys)
        first, second = [w.widen(real(value)) for value in (x, y)]
        # Also true of a number and NaN.
        behind = w.compare("ugt" if key.ascending else "ult", second, first)
        return w.both(behind, w.compare("ord", first, first))

    def before(a: Record, b: Record) -> Value[Integer]:
        result = less(keys[-1], a, b)
        for key in reversed(keys[:-1]):
            not_after = w.negated(less(key, b, a))
            result = w.either(less(key, a, b), w.both(not_after, result))
        return result

    return before


def _has_unordered(key: SortKey) -> bool:
    return key.side.shape.element_type.is_float and not key.total_order
