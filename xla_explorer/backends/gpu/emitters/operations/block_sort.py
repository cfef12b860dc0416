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

from collections.abc import Callable, Sequence

from xla_explorer.backends.gpu.emitters.block import Block, both, smaller
from xla_explorer.compiler.codegen.elemental.arithmetic import select_value
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import integer_key
from xla_explorer.compiler.codegen.kernels.sorting.sort import as_written, key_of_record
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.sorting import SortKey, comparator_keys
from xla_explorer.hlo.primitive_type import PrimitiveType

Record = list[Scalar]
Before = Callable[[Record, Record], str]
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

    def _place(self, at: str | int) -> str | int:
        return self.w.add(at, self.w.div(at, BANKS)) if self.padded else at

    def load(self, at: str | int) -> Record:
        """Return the record at a place."""
        place = self._place(at)
        return [array.load(place) for array in self.arrays]

    def store(self, at: str | int, record: Record) -> None:
        """Set the record at a place."""
        place = self._place(at)
        for array, value in zip(self.arrays, record, strict=True):
            array.store(place, value)

    def ranks(
        self,
        records: list[Record],
        on_right: list[str],
        low: list[str | int],
        high: list[str | int],
        steps: str | int,
    ) -> list[str]:
        """Return the ends of the binary searches for each record in the other run, `low` to `high`.

        The other run is the left one for records that are `on_right`. steps: enough to halve the
        run to nothing, the same for all threads.
        """
        w = self.w
        slots = [(w.stack_slot("i64"), w.stack_slot("i64")) for _ in records]
        for (first, last), a, b in zip(slots, low, high, strict=True):
            w.write(a, first, "i64")
            w.write(b, last, "i64")
        with w.loop(steps, stem="search"):
            for (first, last), record, right in zip(slots, records, on_right, strict=True):
                a, b = w.read(first, "i64"), w.read(last, "i64")
                middle = w.operation("lshr", w.add(a, b), 1)
                candidate = self.load(smaller(w, middle, self.count - 1))
                columns = list(zip(self.types, record, candidate, strict=True))
                from_right = [select_value(w, right, t, x, y) for t, x, y in columns]
                from_left = [select_value(w, right, t, y, x) for t, x, y in columns]
                further = w.operation("xor", self.before(from_right, from_left), right, "i1")
                inside = w.operation("and", further, w.test("ult", a, b), "i1")
                w.write(w.choose(inside, w.add(middle, 1), a), first, "i64")
                w.write(w.choose(further, b, middle), last, "i64")
        return [w.read(first, "i64") for first, _ in slots]

    def sort(self, size: int, each: int, length: str | int, kept: int | None = None) -> None:
        """Sort the first `length` records of every segment of `size` (a power of two) places.

        A thread takes `each` records. All threads must call it, with all places filled (with any
        value from `length` on) and a barrier since. kept: number of sorted records (a power of two)
        that are needed. It ends with a barrier.
        """
        w, block = self.w, self.block
        limit = min(kept or size, size)
        with w.loop(size.bit_length() - 1, stem="level") as level:
            width = w.operation("shl", 1, level)
            # Maximum number of records of a run.
            held = smaller(w, width, limit) if limit < size else width
            shift = smaller(w, level, limit.bit_length() - 1) if limit < size else level
            moved: list[tuple[str | None, str, Record]] = []
            places, rights, lows, highs, bases, present = [], [], [], [], [], []
            for number in range(each):
                counted = w.add(block.thread, number * block.threads)
                q: str | int = counted
                there: str | None = None
                if limit < size:
                    there = w.test(
                        "ult",
                        w.operation("lshr", counted, shift),
                        w.operation("lshr", self.count, level),
                    )
                    # Numbers of the kept records; later threads' records have been dropped.
                    run = w.operation("lshr", q, shift)
                    q = w.add(w.operation("shl", run, level), w.operation("and", q, w.sub(held, 1)))
                elif each * block.threads > self.count:
                    there = w.test("ult", counted, self.count)
                if there is not None:
                    q = smaller(w, q, self.count - 1)
                present.append(there)
                place = w.operation("and", q, size - 1)
                base = w.sub(q, place)
                own = w.operation("and", place, w.operation("sub", 0, width))
                other = w.operation("xor", own, width)
                rights.append(w.test("ne", w.operation("and", place, width), 0))
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
                start = w.choose(right, w.operation("sub", own, width), own)
                counts: str | None = w.test("ult", place, length)
                if limit < size:
                    counts = w.operation("and", counts, w.test("ult", offset, limit), "i1")
                counts = both(w, counts, is_there)
                moved.append((counts, str(w.add(w.add(base, start), offset)), record))
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

    def less(key: SortKey, a: Record, b: Record) -> str:
        kind = key.side.shape.element_type
        x, y = [key_of_record(w, comparator, key, record) for record in (a, b)]
        if not _has_unordered(key):
            keys = [integer_key(w, value, kind, key.ascending, key.total_order) for value in (x, y)]
            return w.compare("ult", *keys).name
        first, second = [w.widen(real(value)) for value in (x, y)]
        # Also true of a number and NaN.
        behind = w.compare("ugt" if key.ascending else "ult", second, first)
        return w.both(behind, w.compare("ord", first, first)).name

    def before(a: Record, b: Record) -> str:
        result = less(keys[-1], a, b)
        for key in reversed(keys[:-1]):
            not_after = w.operation("xor", less(key, b, a), "true", "i1")
            result = w.operation(
                "or", less(key, a, b), w.operation("and", not_after, result, "i1"), "i1"
            )
        return result

    return before


def _has_unordered(key: SortKey) -> bool:
    return key.side.shape.element_type.is_float and not key.total_order
