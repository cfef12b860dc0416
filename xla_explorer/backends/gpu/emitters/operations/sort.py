"""sort and topk: rows in shared memory if they fit, else sorted tiles and merge passes.

A merge pass doubles the length of the sorted runs in global memory. A block makes one tile of the
result: binary searches on its two diagonals give its parts of the two runs (merge path), which the
block ranks in shared memory. The passes alternate between the result and scratch memory. topk keeps
only the candidates for the first k of every tile, until one tile is left. Comparators must be
strict weak orders, as HLO requires (`order_of_records` ensures this for NaN); equal records keep
their order. Source: Green, McColl, Bader, "GPU merge path", 2012; XLA's own kernels sort
bitonically (xla/service/llvm_ir/sort_util.cc).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, smaller
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    ScratchArrays,
    fresh_context,
)
from xla_explorer.backends.gpu.emitters.operations.block_sort import (
    SharedRecords,
    order_of_records,
    padded_count,
)
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I32, I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import Before, Record, integer_key
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32, S64, PrimitiveType
from xla_explorer.hlo.shape import array_shape

LARGEST_TILE = 2048  # records
EACH = 4  # records of a thread in a large tile
SMALL_BLOCK = 128


class Rows:
    """Rows along one dimension of arrays of equal dimensions.

    numbered: the last component of a record is its position.
    """

    def __init__(
        self,
        context: KernelContext,
        arrays: Sequence[ArrayInMemory],
        axis: int,
        numbered: bool = False,
    ) -> None:
        self.w, self.arrays, self.axis, self.numbered = context.writer, arrays, axis, numbered
        dimensions = arrays[0].shape.dimensions
        self.others = [n for d, n in enumerate(dimensions) if d != axis]

    def _index(self, row: Word, at: Word) -> tuple[Word, ...]:
        index = self.w.unravel(row, self.others)
        return (*index[: self.axis], at, *index[self.axis :]) if self.arrays[0].shape.rank else ()

    def load(self, row: Word, at: Word) -> Record:
        """Return the record of a row at a position."""
        index = self._index(row, at)
        record = [array.load(self.w, index) for array in self.arrays]
        if self.numbered:
            record.append(self.w.index_as(at, I32))
        return record

    def store(self, row: Word, at: Word, record: Record) -> None:
        """Set the record of a row at a position."""
        index = self._index(row, at)
        for array, value in zip(self.arrays, record, strict=True):
            array.store(self.w, index, value)


def scratch_rows(
    context: KernelContext, slots: tuple[int, ...], memory: ScratchArrays, rows: int, length: int
) -> Rows:
    """Return rows of records in scratch memory, one after the other."""
    arrays = [
        (a, array_shape(a.shape.element_type, (rows, length)))
        for a in memory.arrays(context, slots)
    ]
    return Rows(context, [ArrayInMemory(a.pointer, shape) for a, shape in arrays], 1)


class TilePlan(NamedTuple):
    """Plan of tiles.

    size: places of a segment, a power of two. segments: of different rows, in a block. tiles:
    segments of a row. each: records of a thread. interleaved: rows are adjacent in memory, so
    adjacent threads move adjacent rows.
    """

    rows: int
    length: int
    size: int
    segments: int
    tiles: int
    each: int
    threads: int
    interleaved: bool

    @property
    def blocks(self) -> int:
        """Blocks of the launch."""
        return -(-self.rows // self.segments) * self.tiles


def plan_tiles(rows: int, length: int, record_bytes: int, interleaved: bool = False) -> TilePlan:
    """Return the largest tile for shared memory and the row length; short rows share a block."""
    largest = LARGEST_TILE
    while largest * record_bytes > STATIC_SHARED_BYTES:
        largest //= 2
    size = min(1 << max(length - 1, 1).bit_length(), largest)
    threads = max(min(size, SMALL_BLOCK), size // EACH)
    each = size // threads
    segments = 1
    if size < SMALL_BLOCK:
        threads, each, segments = SMALL_BLOCK, 1, SMALL_BLOCK // size
    tiles = -(-length // size)
    if interleaved and tiles == 1:
        while segments < 32 and segments * size * 2 <= largest and segments * 2 <= rows:
            segments *= 2
        threads = min(segments * size, 4 * SMALL_BLOCK)
        each = segments * size // threads
    while segments > 1 and segments // 2 >= rows:
        segments //= 2
        if each > 1:
            each //= 2
        else:
            threads //= 2
    return TilePlan(
        rows, length, size, segments, tiles, each, max(threads, 32), interleaved and segments > 1
    )


def _kept(k: int) -> int:
    return 1 << max(k - 1, 0).bit_length()


def write_tile_kernel(context: KernelContext, plan: TilePlan, types: Sequence[PrimitiveType], before: Before, source: Rows, target: Rows,
                      wanted: int | None = None, what: str = "sorted") -> KernelDescriptor:  # fmt: skip
    """Write the kernel that sorts every tile of every row.

    wanted: number of records to store for each tile; by default all.
    """
    w = context.writer
    block = Block(context, plan.threads)
    places = plan.segments * plan.size
    padded = plan.interleaved and padded_count(places) * _record_bytes(types) <= STATIC_SHARED_BYTES
    memory = SharedRecords(block, types, places, before, padded)
    group, tile = w.div(block.number, plan.tiles), w.mod(block.number, plan.tiles)
    first_row, start = w.mul(group, plan.segments), w.mul(tile, plan.size)
    length: Word = plan.length if plan.tiles == 1 else plan.size
    if plan.tiles > 1 and plan.length % plan.size:
        length = smaller(w, w.sub(plan.length, start), plan.size)

    def position(number: int) -> tuple[Word, Word, Word]:
        """Return (place in shared memory, row, position in the segment) of a thread's record."""
        q = w.add(block.thread, number * block.threads)
        if plan.interleaved:
            segment, at = w.mod(q, plan.segments), w.div(q, plan.segments)
            return w.add(w.mul(segment, plan.size), at), w.add(first_row, segment), at
        return (
            q,
            w.add(first_row, w.div(q, plan.size)),
            w.mod(q, plan.size) if plan.segments > 1 else q,
        )

    for number in range(plan.each):
        place, row, at = position(number)
        there = smaller(w, row, plan.rows - 1)
        record = source.load(there, w.add(start, smaller(w, at, w.sub(length, 1))))
        if places < plan.threads:  # a block has whole warps
            place = smaller(w, place, places - 1)
            with block.only_if(w.test("ult", block.thread, places)):
                memory.store(place, record)
        else:
            memory.store(place, record)
    block.barrier()
    memory.sort(plan.size, plan.each, length, None if wanted is None else _kept(wanted))
    count: Word = length if wanted is None else smaller(w, length, wanted)
    step = plan.size if wanted is None else wanted
    for number in range(plan.each):
        place, row, at = position(number)
        inside = w.test("ult", at, count)
        if plan.rows % plan.segments or places < plan.threads:
            inside = w.both(inside, w.test("ult", row, plan.rows))
        if places < plan.threads:
            inside = w.both(inside, w.test("ult", block.thread, places))
        with block.only_if(inside):
            target.store(row, w.add(w.mul(tile, step), at), memory.load(place))
    block.finish()
    how = f"{what} in shared memory, {plan.each} records a thread"
    if plan.tiles > 1:
        why = (
            f"{plan.rows} rows of {plan.length} records: {plan.tiles} tiles of {plan.size} each, "
            f"{how}"
        )
    else:
        why = (
            f"{plan.rows} rows of {plan.length} records ({plan.size} places): {plan.segments} in "
            f"a block, {how}"
        )
    launch = LaunchDimensions(plan.blocks, plan.threads, plan.blocks * plan.threads, why)
    return KernelDescriptor(context, launch, block.shared_bytes, "")


def write_merge_kernel(context: KernelContext, plan: TilePlan, width: int, types: Sequence[PrimitiveType], before: Before, source: Rows,
                       target: Rows, wanted: int | None = None) -> KernelDescriptor:  # fmt: skip
    """Write the kernel that merges adjacent runs of `width` records.

    A block makes a tile of the result. wanted: number of records to store; by default all.
    """
    w, rows, length, tile = context.writer, plan.rows, plan.length, plan.size
    threads = max(tile // EACH, 32)
    each = tile // threads
    block = Block(context, threads)
    memory = SharedRecords(block, types, tile, before)
    splits = block.shared(S64, 2)
    tiles = -(-length // tile)
    row, number = w.div(block.number, tiles), w.mod(block.number, tiles)
    start = w.mul(number, tile)
    pair = w.mul(w.div(start, 2 * width), 2 * width)
    middle = smaller(w, w.add(pair, width), length)
    left, right = w.sub(middle, pair), w.sub(smaller(w, w.add(pair, 2 * width), length), middle)
    diagonal = w.sub(start, pair)
    count = smaller(w, w.sub(w.add(left, right), diagonal), tile)

    with block.only_if(w.test("ult", block.thread, 2)):
        is_end = w.test("eq", block.thread, 1)
        d = w.add(diagonal, w.choose(is_end, count, 0))
        low, high = w.variable(I64), w.variable(I64)
        low.set(w.per_lane("smax", w.named(w.sub(d, right), I64), w.number(0, I64)))
        high.set(smaller(w, d, left))
        with w.loop(width.bit_length(), stem="diagonal"):
            a, b = low.get(), high.get()
            at = w.index_operation("lshr", w.add(a, b), 1)
            inside = w.test("ult", a, b)
            # Both exist during the search; afterwards the row's last record is read instead.
            other = w.index_operation("sub", w.index_operation("add", middle, d), w.add(at, 1))
            from_left = source.load(row, smaller(w, w.add(pair, at), length - 1))
            from_right = source.load(row, smaller(w, other, length - 1))
            further = w.both(inside, w.negated(before(from_right, from_left)))
            low.set(w.choose(further, w.add(at, 1), a))
            high.set(w.choose(further, b, at))
        splits.store(block.thread, low.get())
    block.barrier()
    begin, end = real(splits.load(0)), real(splits.load(1))
    from_left_run = w.sub(end, begin)
    records, rights, places = [], [], []
    for step in range(each):
        q = w.add(block.thread, step * threads)
        on_right = w.test("uge", q, from_left_run)
        in_left = w.add(w.add(pair, begin), q)
        in_right = w.add(w.add(middle, w.sub(diagonal, begin)), w.sub(q, from_left_run))
        at = w.choose(on_right, in_right, in_left)
        records.append(source.load(row, smaller(w, at, length - 1)))
        memory.store(q, records[-1])
        rights.append(on_right)
        places.append(q)
    block.barrier()
    lows: list[Word] = [w.choose(on_right, 0, from_left_run) for on_right in rights]
    highs: list[Word] = [w.choose(on_right, from_left_run, count) for on_right in rights]
    ranks = memory.ranks(records, rights, lows, highs, tile.bit_length())
    block.barrier()
    for q, rank, record, on_right in zip(places, ranks, records, rights, strict=True):
        # A left record's rank counts from the start of the right run, and vice versa.
        at = w.choose(
            on_right, w.add(w.sub(q, from_left_run), rank), w.add(q, w.sub(rank, from_left_run))
        )
        with block.only_if(w.test("ult", q, count)):
            memory.store(at, record)
    block.barrier()
    for q in places:
        inside = w.test("ult", q, count)
        if wanted is not None:
            inside = w.both(inside, w.test("ult", w.add(start, q), wanted))
        with block.only_if(inside):
            target.store(row, w.add(start, q), memory.load(q))
    block.finish()
    why = (
        f"{rows} rows of {length} records: runs of {width} merged into runs of {2 * width}, a "
        f"block for {tile} of the result"
    )
    return KernelDescriptor(
        context,
        LaunchDimensions(rows * tiles, threads, rows * tiles * threads, why),
        block.shared_bytes,
        f"_merge{width}",
    )


def _record_bytes(types: Sequence[PrimitiveType]) -> int:
    return sum([max(t.bytes, 1) for t in types])


def why_no_sort(i: HloInstruction) -> Reason | None:
    """Return None if enough records fit into shared memory, else a refusal."""
    types = [o.shape.element_type for o in i.operands]
    if _record_bytes(types) * 32 > STATIC_SHARED_BYTES:
        text = (
            f"records that %{i.name} sorts must have at most {STATIC_SHARED_BYTES // 32} bytes, "
            f"got {_record_bytes(types)}"
        )
        return refuse("record-too-large", text, bytes=_record_bytes(types))
    return None


def write_sort(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernels of a sort of any number of operands along any dimension."""
    types = [o.shape.element_type for o in i.operands]
    dimensions = i.operands[0].shape.dimensions
    given = i.attributes.get("dimensions")
    axis = given[0] if given else max(len(dimensions) - 1, 0)
    length = dimensions[axis] if dimensions else 1
    rows = math.prod(dimensions) // length
    shape = i.operands[0].shape
    interleaved = shape.rank > 1 and shape.layout.minor_to_major[0] != axis
    tiles = plan_tiles(rows, length, _record_bytes(types), interleaved)
    passes = max(tiles.tiles - 1, 0).bit_length()
    scratch = ScratchArrays(types, rows * length) if passes else None
    kernels: list[KernelDescriptor] = []

    def kernel(number: int) -> tuple[KernelContext, Rows, Rows, Before]:
        """Return the parts of pass `number`.

        The last one stores the result, earlier ones alternate.
        """
        context = fresh_context(i, slots)
        before = order_of_records(context, i.to_apply)
        operands = Rows(context, [context.arrays[o] for o in i.operands], axis)
        results = Rows(context, context.outputs, axis)

        def after(done: int) -> Rows:
            if scratch is None or (passes - done) % 2 == 0:
                return results
            return scratch_rows(context, slots, scratch, rows, length)

        return context, operands if number == 0 else after(number - 1), after(number), before

    context, source, target, before = kernel(0)
    kernels.append(write_tile_kernel(context, tiles, types, before, source, target))
    for number in range(1, passes + 1):
        context, source, target, before = kernel(number)
        width = tiles.size << (number - 1)
        kernels.append(write_merge_kernel(context, tiles, width, types, before, source, target))
    return OperationDescriptor(tuple(kernels), "sort", scratch.end if scratch else 0)


def write_topk(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernels of a topk along the last dimension.

    Values and indices, lower index first.
    """
    x = i.operands[0]
    element_type = x.shape.element_type
    types = [element_type, S32]
    k = i.shape.tuple_shapes[0].dimensions[-1]
    length = x.shape.dimensions[-1]
    rows = x.shape.element_count // length
    smallest = i.attributes.get("largest", True) is False
    axis = x.shape.rank - 1

    def comparator(context: KernelContext) -> Before:
        w = context.writer

        def before(a: Record, b: Record) -> Value[Integer]:
            # Equal values keep the order of their positions.
            keys = [
                integer_key(w, record[0], element_type, ascending=smallest) for record in (a, b)
            ]
            return w.compare("ult", *keys)

        return before

    # Rows of candidates get shorter from kernel to kernel, until one tile holds a row.
    lengths = [length]
    while True:
        tiles = plan_tiles(rows, lengths[-1], _record_bytes(types))
        if tiles.tiles == 1 or 2 * k > tiles.size:
            break
        lengths.append((tiles.tiles - 1) * k + min(k, lengths[-1] - (tiles.tiles - 1) * tiles.size))
    passes = max(
        tiles.tiles - 1, 0
    ).bit_length()  # k is most of a tile: the candidates are sorted as a whole
    steps = len(lengths) + passes
    stored = [
        *lengths[1:],
        *[lengths[-1]] * passes,
    ]  # records of a row after each kernel but the last
    places: list[ScratchArrays] = []
    for _ in range(min(steps - 1, 2)):
        places.append(ScratchArrays(types, rows * max(stored), places[-1].end if places else 0))
    kernels: list[KernelDescriptor] = []

    def rows_of(context: KernelContext, step: int) -> Rows:
        """Return the output rows of kernel `step`."""
        if step == steps - 1:
            return Rows(context, context.outputs, axis)
        return scratch_rows(context, slots, places[step % 2], rows, stored[step])

    for step, size in enumerate(lengths):
        context = fresh_context(i, slots)
        source = (
            Rows(context, [context.arrays[x]], axis, True)
            if step == 0
            else rows_of(context, step - 1)
        )
        wanted = k if step + 1 < len(lengths) or not passes else None
        plan = plan_tiles(rows, size, _record_bytes(types))
        descriptor = write_tile_kernel(
            context,
            plan,
            types,
            comparator(context),
            source,
            rows_of(context, step),
            wanted,
            f"first {k} found",
        )
        kernels.append(descriptor._replace(suffix=f"_round{step}" if step else ""))
    for number in range(passes):
        context = fresh_context(i, slots)
        step = len(lengths) + number
        source, target, wanted = (
            rows_of(context, step - 1),
            rows_of(context, step),
            k if number + 1 == passes else None,
        )
        width, before = tiles.size << number, comparator(context)
        kernels.append(
            write_merge_kernel(context, tiles, width, types, before, source, target, wanted)
        )
    return OperationDescriptor(tuple(kernels), "topk", places[-1].end if places else 0)
