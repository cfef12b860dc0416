"""Stable sort of one row of records in scratch memory: by radix if there are keys, else by merging.

A record has an element of each operand. Radix sort: least significant digit first, alternating
between two buffers; a digit that is equal in all records needs no pass. The key is recomputed in
each pass, which is cheaper than storing it. Merge sort: insertion sort of short runs, then merges
of growing width with the comparator inlined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.comparison import total_order_key
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.marks import NO_VECTOR
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

Record = list[Scalar]
INSERTION_RUN = 12  # records of a run that insertion sort prepares for merging
RADIX_WORTH = 32  # records per radix pass from which radix sort is faster
WIDE_DIGIT_ROW = (
    1 << 16
)  # records from which 11-bit digits (fewer passes, more buckets) are faster than 8-bit ones


class RadixKey(NamedTuple):
    """A key of records.

    bits: its width. of: returns the unsigned integer of a record, an LLVM value of i<bits>; smaller
    is first.
    """

    bits: int
    of: Callable[[Record], str]


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


@contextmanager
def repeat_while(w: FunctionWriter, condition: Callable[[], str]) -> Iterator[None]:
    """Open the body of `while (condition())`; variables are in stack slots."""
    head, inside, end = (
        w.fresh_label("while"),
        w.fresh_label("while.body"),
        w.fresh_label("while.end"),
    )
    w.branch(head)
    w.start_block(head)
    w.branch_if(condition(), inside, end)
    w.start_block(inside)
    yield
    w.branch(head)
    w.start_block(end)


class RowSort:
    """Two buffers for a row of `length` records, and the code that sorts it.

    `store` fills one buffer.
    """

    def __init__(self, context: KernelContext, types: Sequence[PrimitiveType], length: int) -> None:
        self.w = context.writer
        self.context = context
        self.length = length
        self.shapes = [array_shape(t, (length,)) for t in types]
        self.home = [context.scratch(shape.byte_size) for shape in self.shapes]
        self.spare = [context.scratch(shape.byte_size) for shape in self.shapes]
        self.current = [self.w.stack_slot("ptr") for _ in types]
        self.other = [self.w.stack_slot("ptr") for _ in types]

    def begin(self) -> None:
        """Start with a new row."""
        for slots, pointers in ((self.current, self.home), (self.other, self.spare)):
            for slot, pointer in zip(slots, pointers, strict=True):
                self.w.do(f"store ptr {pointer}, ptr {slot}")

    def arrays(self, other: bool = False) -> list[ArrayInMemory]:
        """Return the buffers with the records, or the spare ones."""
        return [
            ArrayInMemory(self.w.value(f"load ptr, ptr {slot}"), shape)
            for slot, shape in zip(self.other if other else self.current, self.shapes, strict=True)
        ]

    def _load(self, arrays: list[ArrayInMemory], at: str | int) -> Record:
        return [array.load_linear(self.w, at) for array in arrays]

    def store_results(self, arrays: list[ArrayInMemory], at: str | int, record: Record) -> None:
        """Store a record at a position of the buffers."""
        for array, value in zip(arrays, record, strict=True):
            array.store_linear(self.w, at, value)

    def _swap(self) -> None:
        w = self.w
        for a, b in zip(self.current, self.other, strict=True):
            x, y = w.value(f"load ptr, ptr {a}"), w.value(f"load ptr, ptr {b}")
            w.do(f"store ptr {y}, ptr {a}")
            w.do(f"store ptr {x}, ptr {b}")

    # -- radix -------------------------------------------------------------------------------------
    def sort(self, keys: Sequence[RadixKey], before: Callable[[Record, Record], str]) -> None:
        """Sort by keys, the most significant first, or by a comparator.

        A row that is too short for radix passes, or has no keys, uses `before(a, b)`, an i1 that is
        true if a must precede b.
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

    def _radix_of_key(self, key: RadixKey, counts: str, width: int) -> None:
        w, length = self.w, self.length
        buckets, passes, t = 1 << width, -(-key.bits // width), f"i{key.bits}"

        def digit(record: Record, shift: str | int) -> str:
            moved = w.value(f"lshr {t} {key.of(record)}, {shift}") if shift != 0 else key.of(record)
            low = w.value(f"and {t} {moved}, {buckets - 1}") if key.bits > width else moved
            return low if key.bits == 64 else w.value(f"zext {t} {low} to i64")

        def cell(table: str, at: str | int) -> str:
            return w.value(f"getelementptr inbounds i32, ptr {table}, i64 {at}")

        with w.loop(passes * buckets, stem="clear") as j:
            w.do(f"store i32 0, ptr {cell(counts, j)}")
        source = self.arrays()
        with w.loop(length, stem="count", metadata=NO_VECTOR) as j:
            record = self._load(source, j)
            for step in range(passes):
                address = cell(counts, w.add(digit(record, step * width), step * buckets))
                count = w.value(f"load i32, ptr {address}")
                w.do(f"store i32 {w.value(f'add i32 {count}, 1')}, ptr {address}")
        with w.loop(passes, stem="pass", metadata=NO_VECTOR) as number:
            shift: str | int = w.mul(number, width)
            if isinstance(shift, str) and key.bits != 64:
                shift = w.value(f"trunc i64 {shift} to {t}")
            source, target = self.arrays(), self.arrays(other=True)
            table = cell(counts, w.mul(number, buckets))
            first = cell(table, digit(self._load(source, 0), shift))
            same = w.value(f"icmp eq i32 {w.value(f'load i32, ptr {first}')}, {length}")
            move, end = w.fresh_label("move"), w.fresh_label("sorted")
            w.branch_if(same, end, move)
            w.start_block(move)
            total = w.stack_slot("i32")
            w.do(f"store i32 0, ptr {total}")
            with w.loop(buckets, stem="bucket", metadata=NO_VECTOR) as j:
                address = cell(table, j)
                before, count = (
                    w.value(f"load i32, ptr {total}"),
                    w.value(f"load i32, ptr {address}"),
                )
                w.do(f"store i32 {before}, ptr {address}")
                w.do(f"store i32 {w.value(f'add i32 {before}, {count}')}, ptr {total}")
            with w.loop(length, stem="move", metadata=NO_VECTOR) as j:
                record = self._load(source, j)
                address = cell(table, digit(record, shift))
                place = w.value(f"load i32, ptr {address}")
                w.do(f"store i32 {w.value(f'add i32 {place}, 1')}, ptr {address}")
                self.store_results(target, w.value(f"zext i32 {place} to i64"), record)
            self._swap()
            w.branch(end)
            w.start_block(end)

    # -- merging -----------------------------------------------------------------------------------
    def _insertion_runs(self, before: Callable[[Record, Record], str]) -> None:
        w, length = self.w, self.length
        arrays = self.arrays()
        hole = w.stack_slot("i64")
        with w.loop(length, 0, INSERTION_RUN, stem="run", metadata=NO_VECTOR) as start:
            end = w.smaller(w.add(start, INSERTION_RUN), length)
            position = w.stack_slot("i64")
            w.do(f"store i64 {w.add(start, 1)}, ptr {position}")

            def inside_run(position: str = position, end: str | int = end) -> str:
                return w.value(f"icmp slt i64 {w.value(f'load i64, ptr {position}')}, {end}")

            with repeat_while(w, inside_run):
                at = w.value(f"load i64, ptr {position}")
                record = self._load(arrays, at)
                w.do(f"store i64 {at}, ptr {hole}")

                def moves(start: str | int = start, record: Record = record) -> str:
                    place = w.value(f"load i64, ptr {hole}")
                    inside = w.value(f"icmp sgt i64 {place}, {start}")
                    left = w.value(f"select i1 {inside}, i64 {w.sub(place, 1)}, i64 {place}")
                    return w.value(f"and i1 {inside}, {before(record, self._load(arrays, left))}")

                with repeat_while(w, moves):
                    place = w.value(f"load i64, ptr {hole}")
                    left = w.sub(place, 1)
                    self.store_results(arrays, place, self._load(arrays, left))
                    w.do(f"store i64 {left}, ptr {hole}")
                self.store_results(arrays, w.value(f"load i64, ptr {hole}"), record)
                w.do(f"store i64 {w.add(at, 1)}, ptr {position}")

    def _merge_runs(self, before: Callable[[Record, Record], str]) -> None:
        w, length = self.w, self.length
        width, low = w.stack_slot("i64"), w.stack_slot("i64")
        left, right = w.stack_slot("i64"), w.stack_slot("i64")

        def below_length(slot: str) -> Callable[[], str]:
            return lambda: w.value(f"icmp slt i64 {w.value(f'load i64, ptr {slot}')}, {length}")

        w.do(f"store i64 {INSERTION_RUN}, ptr {width}")
        with repeat_while(w, below_length(width)):
            source, target = self.arrays(), self.arrays(other=True)
            size = w.value(f"load i64, ptr {width}")
            w.do(f"store i64 0, ptr {low}")
            with repeat_while(w, below_length(low)):
                start = w.value(f"load i64, ptr {low}")
                middle, end = [
                    w.smaller(w.add(start, w.mul(size, times)), length) for times in (1, 2)
                ]
                w.do(f"store i64 {start}, ptr {left}")
                w.do(f"store i64 {middle}, ptr {right}")
                with w.loop(end, start, stem="merge", metadata=NO_VECTOR) as out:
                    i, k = w.value(f"load i64, ptr {left}"), w.value(f"load i64, ptr {right}")
                    # Both are loaded even if one side is exhausted; its last element replaces the
                    # missing one.
                    a, b = [self._load(source, w.smaller(at, length - 1)) for at in (i, k)]
                    left_over = w.value(f"icmp sge i64 {i}, {middle}")
                    right_left = w.value(f"icmp slt i64 {k}, {end}")
                    take = w.value(
                        f"and i1 {right_left}, {w.value(f'or i1 {left_over}, {before(b, a)}')}"
                    )
                    chosen = w.value(f"select i1 {take}, i64 {k}, i64 {i}")
                    self.store_results(target, out, self._load(source, chosen))
                    step = w.value(f"zext i1 {take} to i64")
                    w.do(f"store i64 {w.add(k, step)}, ptr {right}")
                    w.do(f"store i64 {w.sub(w.add(i, 1), step)}, ptr {left}")
                w.do(f"store i64 {end}, ptr {low}")
            self._swap()
            w.do(f"store i64 {w.mul(size, 2)}, ptr {width}")
