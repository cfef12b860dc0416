"""The topk custom call: the k largest or smallest elements of each row, and their indices.

The order is total; ties go to the lower index. A small k keeps a sorted list. Blocks of the row are
compared with its last entry at once; a block with a better element is scanned element by element. A
larger k in a long row first finds the best element of each block. The k-th best of these is a
limit: k elements reach it, and few blocks have others that do. Any other k sorts the row.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_VECTOR
from xla_explorer.compiler.codegen.ir.types import I32, I64, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import (
    RadixKey,
    Record,
    RowSort,
    integer_key,
)
from xla_explorer.compiler.codegen.llvm_types import stored_type
from xla_explorer.hlo.primitive_type import S32

SORTED_LIST = 64  # largest k with a sorted list
LARGEST_WITH_LIMIT = 512  # largest k with a sorted list after a limit
BLOCK = 64  # elements compared with the list's last entry at once


def write_topk_kernel(context: KernelContext) -> None:
    """Emit the kernel, row by row along the last dimension."""
    k = context.outputs[0].shape.dimensions[-1]
    if 0 in context.outputs[0].shape.dimensions:
        return
    blocks = (
        (context.roots[0].operands[0].shape.dimensions[-1] - k) // BLOCK
        if _is_compared_in_registers(context)
        else 0
    )
    if k <= SORTED_LIST or (k <= LARGEST_WITH_LIMIT and blocks >= 2 * k):
        _SortedList(context, k, blocks, k > SORTED_LIST).write()
    else:
        _by_sorting(context, k)


def _is_compared_in_registers(context: KernelContext) -> bool:
    """Return True if vector loads of a row compare as its elements do."""
    shape = context.roots[0].operands[0].shape
    return (
        not shape.element_type.is_pred
        and shape.element_type.bits >= 8
        and shape.strides[-1] == 1
        and context.target.vector.bits >= 128
    )


def _key(context: KernelContext, value: Scalar) -> Value[Integer]:
    """Return an integer key, smaller for a better element.

    It is as wide as the element in memory, at least a byte.
    """
    element_type = context.outputs[0].shape.element_type
    ascending = context.roots[0].attributes.get("largest", True) is False
    key = integer_key(context.writer, value, element_type, ascending)
    return context.writer.convert("zext", key, "i8") if key.type.bits < 8 else key


def _key_bits(context: KernelContext) -> int:
    return stored_type(context.outputs[0].shape.element_type).bits


def _by_sorting(context: KernelContext, k: int) -> None:
    w, x = context.writer, context.roots[0].operands[0]
    values, indices = context.outputs
    length = x.shape.dimensions[-1]
    sort = RowSort(context, [x.shape.element_type, S32], length)
    key = RadixKey(_key_bits(context), lambda record: _key(context, record[0]))

    def before(a: Record, b: Record) -> Value[Integer]:
        return w.compare("ult", key.of(a), key.of(b))

    source = context.arrays[x]
    with context.iterate(list(x.shape.dimensions[:-1])) as row:
        sort.begin()
        buffers = sort.arrays()
        with w.loop(length, stem="take") as j:
            buffers[0].store_linear(w, j, source.load(w, (*row, j)))
            buffers[1].store_linear(w, j, w.index_as(j, I32))
        sort.sort([key], before)
        buffers = sort.arrays()
        with w.loop(k, stem="give") as j:
            values.store(w, (*row, j), buffers[0].load_linear(w, j))
            indices.store(w, (*row, j), buffers[1].load_linear(w, j))


class _SortedList:
    """The sorted list of the k best elements of a row, in scratch memory.

    blocks: whole blocks after the first k elements, each compared at once. limited: the blocks
    determine a limit first.
    """

    def __init__(self, context: KernelContext, k: int, blocks: int, limited: bool) -> None:
        self.context, self.w, self.k = context, context.writer, k
        self.blocks, self.limited = blocks, limited
        self.x = context.roots[0].operands[0]
        self.t = Type(f"i{_key_bits(context)}")
        key_bytes = _key_bits(context) // 8
        self.keys, self.places = context.scratch(k * key_bytes), context.scratch(4 * k)
        self.bests = context.scratch(blocks * key_bytes) if limited else self.keys
        self.hole, self.limit = self.w.variable(I64), self.w.variable(self.t)
        self.emitter: ElementalEmitter = context.emitter()

    def write(self) -> None:
        """Emit the loop over the rows."""
        with self.context.iterate(list(self.x.shape.dimensions[:-1])) as row, self.emitter.scope():
            if self.limited:
                self._find_limit(row)
            with self._loop(self.k, "first") as j, self.emitter.scope():
                self._insert(self._element_key(row, j), j, j)
            self._scan_blocks(row)
            done = self.k + self.blocks * BLOCK
            if self.x.shape.dimensions[-1] > done:
                self._scan(row, done, self.x.shape.dimensions[-1] - done)
            self._store_results(row)

    def _loop(self, end: Word, stem: str, start: int = 0) -> AbstractContextManager[Word]:
        return self.w.loop(end, start, stem=stem, metadata=NO_VECTOR)

    def _key_at(self, at: Word) -> Value[Pointer]:
        return self.w.address(self.keys, self.t, at)

    def _place_at(self, at: Word) -> Value[Pointer]:
        return self.w.address(self.places, I32, at)

    def _best_at(self, number: Word) -> Value[Pointer]:
        return self.w.address(self.bests, self.t, number)

    def _key(self, at: Word) -> Value[Integer]:
        return self.w.load(self._key_at(at), self.t)

    def _place(self, at: Word) -> Value[Integer]:
        return self.w.load(self._place_at(at), I32)

    def _best(self, number: Word) -> Value[Integer]:
        return self.w.load(self._best_at(number), self.t)

    def _element_key(self, row: IndexTuple, at: Word) -> Value[Integer]:
        return _key(self.context, self.emitter.element(self.x, (*row, at)))

    def _insert(self, key: Value[Integer], at: Word, free: Word) -> None:
        """Insert a key after equal keys; position `free` of the list is unused."""
        w, hole = self.w, self.hole
        hole.set(free)

        def moves() -> Value[Integer]:
            place = hole.get()
            inside = place > 0
            worse = w.compare("ult", key, self._key(w.choose(inside, w.sub(place, 1), place)))
            return w.both(inside, worse)

        with w.repeat_while(moves):
            place = hole.get()
            left = w.sub(place, 1)
            w.store(self._key(left), self._key_at(place))
            w.store(self._place(left), self._place_at(place))
            hole.set(left)
        place = hole.get()
        w.store(key, self._key_at(place))
        w.store(w.index_as(at, I32), self._place_at(place))

    def _enters(self, key: Value[Integer]) -> Value[Integer]:
        """Return true if the key is better than the list's last entry, and within the limit."""
        w = self.w
        better = w.compare("ult", key, self._key(self.k - 1))
        if not self.limited:
            return better
        return w.both(better, w.compare("ule", key, self.limit.get()))

    def _best_of_block(self, row: IndexTuple, start: Word) -> Value[Integer]:
        """Return the best key of a block, by a tree of vector minimums."""
        w, array = self.w, self.context.arrays[self.x]
        element_type = self.x.shape.element_type
        element, at = stored_type(element_type), w.linear((*row, start), array.shape.strides)
        lanes = min(self.context.target.vector.bits // element.bits, BLOCK)
        keys = []
        for register in range(0, BLOCK, lanes):
            address = w.address(array.pointer, element, w.add(at, register))
            value = w.load(address, element.of_lanes(lanes), element_type.bytes)
            keys.append(_key(self.context, value))
        while len(keys) > 1:
            keys = [w.per_lane("umin", a, b) for a, b in zip(keys[::2], keys[1::2], strict=True)]
        suffix = keys[0].type.suffix
        return w.intrinsic(f"llvm.vector.reduce.umin.{suffix}", self.t, *keys)

    def _find_limit(self, row: IndexTuple) -> None:
        """Store the best key of each block; the limit is the k-th best of them.

        At least k elements reach the limit, one in each of k blocks.
        """
        w = self.w
        with self._loop(self.blocks, "best") as number, self.emitter.scope():
            best = self._best_of_block(row, w.add(self.k, w.mul(number, BLOCK)))
            w.store(best, self._best_at(number))
        self.limit.set(-1)
        with self._loop(self.k, "first") as number:
            self._insert(self._best(number), number, number)
        with self._loop(self.blocks, "next", self.k) as number:
            self._insert_if_better(self._best(number), number)
        self.limit.set(self._key(self.k - 1))

    def _insert_if_better(self, key: Value[Integer], at: Word) -> None:
        with self.w.where(self._enters(key)):
            self._insert(key, at, self.k - 1)

    def _scan(self, row: IndexTuple, start: Word, count: Word) -> None:
        """Compare `count` elements one by one."""
        with self._loop(count, "look") as j, self.emitter.scope():
            at = self.w.add(start, j)
            self._insert_if_better(self._element_key(row, at), at)

    def _scan_blocks(self, row: IndexTuple) -> None:
        """Scan the blocks whose best key is better than the list's last entry."""
        if not self.blocks:
            return
        with self._loop(self.blocks, "block") as number, self.emitter.scope():
            start = self.w.add(self.k, self.w.mul(number, BLOCK))
            best = self._best(number) if self.limited else self._best_of_block(row, start)
            with self.w.where(self._enters(best)), self.emitter.scope():
                self._scan(row, start, BLOCK)

    def _store_results(self, row: IndexTuple) -> None:
        w, (values, indices) = self.w, self.context.outputs
        with self._loop(self.k, "give") as j:
            place = self._place(j)
            indices.store(w, (*row, j), place)
            index = w.convert("sext", place, "i64")
            values.store(w, (*row, j), self.context.arrays[self.x].load(w, (*row, index)))
