"""topk: the k largest (or smallest) of each row in total order, ties to the lower index, and where they are.

A small k keeps a sorted list: blocks of the row are compared with its last entry at once, and only
a block that holds something better is looked at element by element. A larger k in a long row does
the same, but first finds the best of each block: the k-th best of these is a limit that k elements
reach, and few blocks hold others that do. Any other k sorts the row.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import NO_VECTOR
from xla_explorer.compiler.codegen.ir.types import PTR, Type
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import (
    RadixKey,
    Record,
    RowSort,
    integer_key,
    repeat_while,
)
from xla_explorer.compiler.codegen.llvm_types import memory_type, stored_type, type_bits
from xla_explorer.hlo.primitive_type import S32

SORTED_LIST = 64  # largest k that is kept as a sorted list
LARGEST_WITH_LIMIT = 512  # and of one behind a limit
BLOCK = 64  # elements compared with the list's last entry at once


def write_topk_kernel(context: KernelContext) -> None:
    """Row by row along the last dimension."""
    k = context.outputs[0].shape.dimensions[-1]
    if 0 in context.outputs[0].shape.dimensions:
        return
    blocks = (
        (context.roots[0].operands[0].shape.dimensions[-1] - k) // BLOCK
        if _is_compared_in_registers(context)
        else 0
    )
    if k <= SORTED_LIST or (k <= LARGEST_WITH_LIMIT and blocks >= 2 * k):
        _by_sorted_list(context, k, blocks, k > SORTED_LIST)
    else:
        _by_sorting(context, k)


def _is_compared_in_registers(context: KernelContext) -> bool:
    """Whether neighbours of a row are in a register as they are in memory; else each element is looked at."""
    shape = context.roots[0].operands[0].shape
    return (
        not shape.element_type.is_pred
        and shape.element_type.bits >= 8
        and shape.strides[-1] == 1
        and context.target.vector.bits >= 128
    )


def _key(context: KernelContext, value: Scalar) -> str:
    """Smaller is better. As wide as it is stored: a byte at least."""
    element_type = context.outputs[0].shape.element_type
    ascending = context.roots[0].attributes.get("largest", True) is False
    key = integer_key(context.writer, value, element_type, ascending)
    return (context.writer.convert("zext", key, "i8") if key.type.bits < 8 else key).name


def _key_bits(context: KernelContext) -> int:
    return type_bits(memory_type(context.outputs[0].shape.element_type))


def _by_sorting(context: KernelContext, k: int) -> None:
    w, x = context.writer, context.roots[0].operands[0]
    values, indices = context.outputs
    length = x.shape.dimensions[-1]
    sort = RowSort(context, [x.shape.element_type, S32], length)
    key = RadixKey(_key_bits(context), lambda record: _key(context, record[0]))

    def before(a: Record, b: Record) -> str:
        return w.value(f"icmp ult i{key.bits} {key.of(a)}, {key.of(b)}")

    source = context.arrays[x]
    with context.iterate(list(x.shape.dimensions[:-1])) as row:
        sort.begin()
        buffers = sort.arrays()
        with w.loop(length, stem="take") as j:
            buffers[0].store_linear(w, j, source.load(w, (*row, j)))
            buffers[1].store_linear(
                w, j, w.value(f"trunc i64 {j} to i32") if isinstance(j, str) else str(j)
            )
        sort.sort([key], before)
        buffers = sort.arrays()
        with w.loop(k, stem="give") as j:
            values.store(w, (*row, j), buffers[0].load_linear(w, j))
            indices.store(w, (*row, j), buffers[1].load_linear(w, j))


def _by_sorted_list(context: KernelContext, k: int, blocks: int, limited: bool) -> None:
    """blocks: how many whole blocks behind the first k elements are compared at once.

    limited: they give a limit.
    """
    w, x = context.writer, context.roots[0].operands[0]
    length, t = x.shape.dimensions[-1], f"i{_key_bits(context)}"
    key_bytes = _key_bits(context) // 8
    keys, places, bests = (
        context.scratch(k * key_bytes),
        context.scratch(4 * k),
        context.scratch(blocks * key_bytes) if limited else "",
    )
    hole, limit = w.stack_slot("i64"), w.stack_slot(t)
    emitter: ElementalEmitter = context.emitter()

    def key_at(at: str | int) -> str:
        return w.value(f"getelementptr inbounds {t}, ptr {keys}, i64 {at}")

    def place_at(at: str | int) -> str:
        return w.value(f"getelementptr inbounds i32, ptr {places}, i64 {at}")

    def element_key(row: IndexTuple, at: str | int) -> str:
        return _key(context, emitter.element(x, (*row, at)))

    def insert(key: str, at: str | int, held: str | int) -> None:
        """Put in behind what is as good; position `held` is free."""
        w.do(f"store i64 {held}, ptr {hole}")

        def moves() -> str:
            place = w.value(f"load i64, ptr {hole}")
            inside = w.value(f"icmp sgt i64 {place}, 0")
            left = w.value(f"select i1 {inside}, i64 {w.sub(place, 1)}, i64 {place}")
            return w.value(
                f"and i1 {inside}, {w.value(f'icmp ult {t} {key}, ' + w.value(f'load {t}, ptr {key_at(left)}'))}"
            )

        with repeat_while(w, moves):
            place = w.value(f"load i64, ptr {hole}")
            left = w.sub(place, 1)
            w.do(f"store {t} {w.value(f'load {t}, ptr {key_at(left)}')}, ptr {key_at(place)}")
            w.do(f"store i32 {w.value(f'load i32, ptr {place_at(left)}')}, ptr {place_at(place)}")
            w.do(f"store i64 {left}, ptr {hole}")
        place = w.value(f"load i64, ptr {hole}")
        w.do(f"store {t} {key}, ptr {key_at(place)}")
        index = str(at) if isinstance(at, int) else w.value(f"trunc i64 {at} to i32")
        w.do(f"store i32 {index}, ptr {place_at(place)}")

    def best_at(number: str | int) -> str:
        return w.value(f"getelementptr inbounds {t}, ptr {bests}, i64 {number}")

    def enters(key: str) -> str:
        """Whether a key comes into the list: before its last entry, and within the limit."""
        better = w.value(f"icmp ult {t} {key}, {w.value(f'load {t}, ptr {key_at(k - 1)}')}")
        return (
            w.value(
                f"and i1 {better}, {w.value(f'icmp ule {t} {key}, ' + w.value(f'load {t}, ptr {limit}'))}"
            )
            if limited
            else better
        )

    def best_of_block(row: IndexTuple, start: str | int) -> str:
        """The best of a block, in as many registers as it takes."""
        array = context.arrays[x]
        element, at = (
            stored_type(x.shape.element_type),
            w.linear((*row, start), array.shape.strides),
        )
        lanes = min(context.target.vector.bits // element.bits, BLOCK)
        keys = []
        for register in range(0, BLOCK, lanes):
            address = w.address(w.named(array.pointer, PTR), element, w.add(at, register))
            value = w.load(address, element.of_lanes(lanes), x.shape.element_type.bytes)
            keys.append(w.named(_key(context, value), Type(t, lanes)))
        while len(keys) > 1:
            keys = [w.per_lane("umin", a, b) for a, b in zip(keys[::2], keys[1::2], strict=True)]
        return w.intrinsic(f"llvm.vector.reduce.umin.{keys[0].type.suffix}", Type(t), *keys).name

    def find_limit(row: IndexTuple) -> None:
        """The best of each block, and the k-th best of those: so many elements are as good, one in each of k blocks."""
        with w.loop(blocks, stem="best", metadata=NO_VECTOR) as number, emitter.scope():
            w.do(
                f"store {t} {best_of_block(row, w.add(k, w.mul(number, BLOCK)))}, ptr {best_at(number)}"
            )
        w.do(f"store {t} -1, ptr {limit}")
        with w.loop(k, stem="first", metadata=NO_VECTOR) as number:
            insert(w.value(f"load {t}, ptr {best_at(number)}"), number, number)
        with w.loop(blocks, k, stem="next", metadata=NO_VECTOR) as number:
            take_if(w.value(f"load {t}, ptr {best_at(number)}"), number)
        w.do(f"store {t} {w.value(f'load {t}, ptr {key_at(k - 1)}')}, ptr {limit}")

    def take_if(key: str, at: str | int) -> None:
        with w.where(enters(key)):
            insert(key, at, k - 1)

    def scan(row: IndexTuple, start: str | int, count: str | int) -> None:
        """Look at each of `count` elements."""
        with w.loop(count, stem="look", metadata=NO_VECTOR) as j, emitter.scope():
            at = w.add(start, j)
            take_if(element_key(row, at), at)

    with context.iterate(list(x.shape.dimensions[:-1])) as row, emitter.scope():
        if limited:
            find_limit(row)
        with w.loop(k, stem="first", metadata=NO_VECTOR) as j, emitter.scope():
            insert(element_key(row, j), j, j)
        if blocks:
            with w.loop(blocks, stem="block", metadata=NO_VECTOR) as number, emitter.scope():
                start = w.add(k, w.mul(number, BLOCK))
                best = (
                    w.value(f"load {t}, ptr {best_at(number)}")
                    if limited
                    else best_of_block(row, start)
                )
                with w.where(enters(best)), emitter.scope():
                    scan(row, start, BLOCK)
        if length > k + blocks * BLOCK:
            scan(row, k + blocks * BLOCK, length - k - blocks * BLOCK)
        values, indices = context.outputs
        with w.loop(k, stem="give", metadata=NO_VECTOR) as j:
            place = w.value(f"load i32, ptr {place_at(j)}")
            indices.store(w, (*row, j), place)
            values.store(
                w, (*row, j), context.arrays[x].load(w, (*row, w.value(f"sext i32 {place} to i64")))
            )
