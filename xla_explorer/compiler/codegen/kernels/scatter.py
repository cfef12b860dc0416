"""The opcode scatter: update windows are combined into the operand; others are skipped.

Skipped windows are those that do not fit. On a CPU index rows are processed in order, so duplicates
combine in order; the operand is copied first unless it is updated in place. On a GPU, in place,
each update element has a thread. It uses an atomic operation if the hardware has one, else
compare-and-swap, so the order of duplicates is undefined (as in XLA). Unique indices need neither.
Other scatters on a GPU, out of place or with few index rows, are loop nests.
"""

from __future__ import annotations

import math
from contextlib import ExitStack

from xla_explorer.compiler.codegen.elemental.data_movement import as_index
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, ElementalEmitter
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import I1, I8, I32, I64, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import (
    from_memory,
    real,
    stored_type,
    to_memory,
)
from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.policies.prefetches import MOST_LINES, rows_ahead
from xla_explorer.hlo.identity_element import simple_combiner
from xla_explorer.hlo.instruction import HloInstruction

FEW_ROWS = 16  # index rows that every element of the operand can visit
_ATOMIC_INTEGER = {
    "add": "add",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "maximum": "max",
    "minimum": "min",
}


def atomic_operation(scatter: HloInstruction) -> str | None:
    """Return the `atomicrmw` operation of the scatter's combiner, or None."""
    if scatter.shape.is_tuple:
        return None
    element_type = scatter.shape.element_type
    combiner = simple_combiner(scatter.to_apply)
    if element_type.is_complex or element_type.bits not in (32, 64) or combiner is None:
        return None
    if scatter.to_apply.root.shape.element_type is not element_type:
        return None
    if element_type.is_float:
        return "fadd" if combiner == "add" else None  # the hardware's float maximum ignores NaN
    operation = _ATOMIC_INTEGER.get(combiner)
    return (
        f"u{operation}" if operation in ("max", "min") and not element_type.is_signed else operation
    )


def updates_compare_and_swap(scatter: HloInstruction) -> bool:
    """Return True if updates use compare-and-swap.

    Otherwise every element visits every index row: for few rows, complex numbers, several operands,
    and arrays that end within a word.
    """
    if (
        scatter.shape.is_tuple
        or scatter.shape.element_type.is_complex
        or scatter.shape.byte_size % 4
    ):
        return False
    return int(scatter.operands[1].shape.element_count) > FEW_ROWS


class _Scatter:
    """The attributes of one scatter, and the windows of its index rows."""

    def __init__(self, context: KernelContext, emitter: ElementalEmitter) -> None:
        self.w, self.emitter = context.writer, emitter
        self.root = root = context.roots[0]
        count = len(root.operands) // 2
        self.operands, self.all_updates = root.operands[:count], root.operands[count + 1 :]
        self.indices = root.operands[count]
        self.types = [o.shape.element_type for o in (*self.operands, *self.all_updates)]
        # All operands have the same dimensions, and all updates.
        self.operand, self.updates = self.operands[0], self.all_updates[0]
        self.window_dims: tuple[int, ...] = root.attribute("update_window_dims")
        self.batching = dict(
            zip(
                root.attribute("input_batching_dims"),
                root.attribute("scatter_indices_batching_dims"),
                strict=True,
            )
        )
        inserted = {*root.attribute("inserted_window_dims"), *self.batching}
        self.vector_dim: int = root.attribute("index_vector_dim")
        self.batch_dims = [d for d in range(self.updates.shape.rank) if d not in self.window_dims]
        self.operand_windows = [d for d in range(self.operand.shape.rank) if d not in inserted]
        sizes = [self.updates.shape.dimensions[u] for u in self.window_dims]
        self.window_size = dict(zip(self.operand_windows, sizes, strict=True))

    def start(self, row: list[Word]) -> tuple[dict[int, Word], Value[Integer]]:
        """Return the start of an index row's window, and the condition that it fits.

        The start is by operand dimension, 0 if absent.
        """
        w, extents = self.w, self.operand.shape.dimensions
        taken = iter(row)
        at = [0 if d == self.vector_dim else next(taken) for d in range(self.indices.shape.rank)]
        start: dict[int, Word] = {d: at[b] for d, b in self.batching.items()}
        fits: Condition = None
        for component, d in enumerate(self.root.attribute("scatter_dims_to_operand_dims")):
            found = self.emitter.element(
                self.indices,
                tuple([component if k == self.vector_dim else x for k, x in enumerate(at)]),
            )
            value = as_index(w, real(found), self.indices.shape.element_type)
            room = extents[d] - self.window_size.get(d, 1)
            inside = w.test("ule", value, room) if room >= 0 else w.number(False, I1)
            fits = inside if fits is None else w.both(fits, inside)
            start[d] = value
        return start, fits if fits is not None else w.number(True, I1)

    def update_index(self, row: list[Word], window: dict[int, Word]) -> tuple[Word, ...]:
        """Return the index into the updates; window: by dimension of the updates."""
        rows = iter(row)
        return tuple(
            [window[d] if d in window else next(rows) for d in range(self.updates.shape.rank)]
        )

    def position(self, start: dict[int, Word], window: dict[int, Word]) -> tuple[Word, ...]:
        """Return the index into the operand of an element of the window."""
        offsets = dict(
            zip(self.operand_windows, [window[u] for u in self.window_dims], strict=True)
        )
        return tuple(
            [self.w.add(offsets.get(d, 0), start.get(d, 0)) for d in range(self.operand.shape.rank)]
        )


def write_scatter_kernel(context: KernelContext) -> None:
    """Emit a scatter by index rows or by update elements."""
    root, outputs = context.roots[0], context.outputs
    if 0 in outputs[0].shape.dimensions:
        return
    emitter = context.emitter()
    scatter = _Scatter(context, emitter)
    arrays = [context.arrays.get(operand) for operand in scatter.operands]
    in_place = [
        a is not None and a.pointer.name == output.pointer.name
        for a, output in zip(arrays, outputs, strict=True)
    ]
    if not context.target.is_launched:
        _by_row(context, scatter, outputs, in_place)
    elif 0 not in scatter.updates.shape.dimensions:
        assert in_place == [True], "updates that atomic operations do not combine are a nest"
        _by_update(context, scatter, outputs[0], atomic_operation(root))


def _rows_are_owned(context: KernelContext, scatter: _Scatter) -> bool:
    """Return True if tasks can own rows of the operand.

    A window must be within one row, and its work must exceed the search of all tasks for theirs.
    """
    tasks, dimensions = context.partition.tasks, scatter.updates.shape.dimensions
    window_bytes = (
        math.prod([dimensions[u] for u in scatter.window_dims])
        * scatter.operand.shape.element_type.bytes
    )
    one_row = (
        0 in scatter.root.attribute("scatter_dims_to_operand_dims")
        and scatter.window_size.get(0, 1) == 1
    )
    worth_it = window_bytes >= LINE_BYTES * tasks
    return (
        one_row
        and 0 not in dimensions
        and context.partition.can_partition(scatter.operand.shape.dimensions[0])
        and worth_it
    )


def _by_row(
    context: KernelContext, scatter: _Scatter, outputs: list[ArrayInMemory], in_place: list[bool]
) -> None:
    """Emit the loop over index rows, with the window as the inner nest.

    A task owns rows of the operand: it copies them, lists the index rows that point to them, and
    processes these in order.
    """
    dimensions = scatter.updates.shape.dimensions
    if context.partition.tasks > 1 and not _rows_are_owned(context, scatter):
        return  # not partitioned, so the kernel is emitted again for one thread
    own: tuple[Word, Word] = (
        0,
        scatter.operand.shape.dimensions[0] if scatter.operand.shape.rank else 1,
    )
    if context.partition.tasks > 1:
        own = context.partition.bounds(scatter.operand.shape.dimensions[0])
    _copy_operands(context, scatter, outputs, in_place, own)
    if 0 in dimensions:
        return
    counts = [dimensions[d] for d in scatter.batch_dims]
    ahead = _rows_ahead(context, scatter)
    if context.partition.tasks == 1:
        _combine_all_rows(context, scatter, outputs, counts, ahead)
    else:
        _combine_owned_rows(context, scatter, outputs, counts, ahead, own)


def _copy_operands(
    context: KernelContext,
    scatter: _Scatter,
    outputs: list[ArrayInMemory],
    in_place: list[bool],
    own: tuple[Word, Word],
) -> None:
    """Copy the owned rows of operands that are not updated in place."""
    w, emitter = context.writer, scatter.emitter
    for operand, output, same in zip(scatter.operands, outputs, in_place, strict=True):
        if same:
            continue
        with ExitStack() as loops:
            limits = (
                [own, *[(0, extent) for extent in operand.shape.dimensions[1:]]]
                if operand.shape.rank
                else []
            )
            index = tuple(
                [loops.enter_context(w.loop(end, begin, stem="copy")) for begin, end in limits]
            )
            loops.enter_context(emitter.scope())
            output.store(w, index, emitter.element(operand, index))


def _combine_window(
    scatter: _Scatter,
    outputs: list[ArrayInMemory],
    row: list[Word],
    start: dict[int, Word],
) -> None:
    """Combine the window of an index row into the operand."""
    w, emitter = scatter.w, scatter.emitter
    # The maximum of two zeros may be either, as in a reduction: half the instructions.
    extreme = simple_combiner(scatter.root.to_apply) in ("maximum", "minimum")
    with ExitStack() as inner:
        window = {
            u: inner.enter_context(w.loop(scatter.updates.shape.dimensions[u], stem="window"))
            for u in scatter.window_dims
        }
        inner.enter_context(emitter.scope())
        position = scatter.position(start, window)
        at = scatter.update_index(row, window)
        values = [output.load(w, position) for output in outputs] + [
            emitter.element(u, at) for u in scatter.all_updates
        ]
        with w.fast_math("reassoc contract" if extreme else w.float_flags):
            combined = emitter.combine(scatter.root.to_apply, values, scatter.types)
        for output, value in zip(outputs, combined, strict=True):
            output.store(w, position, value)


def _combine_all_rows(
    context: KernelContext,
    scatter: _Scatter,
    outputs: list[ArrayInMemory],
    counts: list[int],
    ahead: int,
) -> None:
    """Emit the loop over all index rows. ahead: prefetch distance."""
    w, emitter = context.writer, scatter.emitter
    with ExitStack() as loops:
        if ahead:
            number = loops.enter_context(w.loop(math.prod(counts), stem="row"))
            loops.enter_context(emitter.scope())
            _prefetch_row(
                context,
                scatter,
                outputs,
                w.unravel(w.smaller(w.add(number, ahead), math.prod(counts) - 1), counts),
            )
            row = w.unravel(number, counts)
        else:
            row = [loops.enter_context(w.loop(count, stem="row")) for count in counts]
            loops.enter_context(emitter.scope())
        start, fits = scatter.start(row)
        with w.where(fits), emitter.scope():
            _combine_window(scatter, outputs, row, start)


def _combine_owned_rows(
    context: KernelContext,
    scatter: _Scatter,
    outputs: list[ArrayInMemory],
    counts: list[int],
    ahead: int,
    own: tuple[Word, Word],
) -> None:
    """List the index rows that point to owned rows, then emit the loop over the list."""
    w, emitter = context.writer, scatter.emitter
    listed, length = context.scratch(8 * math.prod(counts)), w.variable(I64)
    length.set(0)
    with w.loop(math.prod(counts), stem="look") as number, emitter.scope():
        start, fits = scatter.start(w.unravel(number, counts))
        mine = w.both(w.test("sge", start[0], own[0]), w.test("slt", start[0], own[1]))
        held = length.get()
        w.store(w.named(number, I64), w.address(listed, I64, held))
        length.set(held + w.convert("zext", w.both(mine, fits), "i64"))
    found = length.get()

    def row_number(place: Word) -> Value[Integer]:
        return w.load(w.address(listed, I64, place), I64)

    with (
        w.where(found.differs(0)),
        w.loop(found, stem="row") as k,
        emitter.scope(),
    ):
        if ahead:
            _prefetch_row(
                context,
                scatter,
                outputs,
                w.unravel(row_number(w.smaller(w.add(k, ahead), w.sub(found, 1))), counts),
            )
        row = w.unravel(row_number(k), counts)
        _combine_window(scatter, outputs, row, scatter.start(row)[0])


def _rows_ahead(context: KernelContext, scatter: _Scatter) -> int:
    """Return the prefetch distance in index rows.

    0 if a window is not a contiguous range of a few cache lines.
    """
    if (
        context.target.is_launched
        or not scatter.operand.shape.layout.is_default
        or len(scatter.operands) != 1
    ):
        return 0
    sizes = [scatter.window_size.get(d, 1) for d in range(scatter.operand.shape.rank)]
    inner = next((d for d, size in enumerate(sizes) if size > 1), 0)
    run = sizes[inner + 1 :] == list(scatter.operand.shape.dimensions[inner + 1 :])
    return rows_ahead(math.prod(sizes) * scatter.operand.shape.element_type.bytes) if run else 0


def _prefetch_row(
    context: KernelContext, scatter: _Scatter, outputs: list[ArrayInMemory], row: list[Word]
) -> None:
    """Prefetch the first lines of the window of an index row, and of its update.

    A prefetch accepts any address, even that of an index out of range.
    """
    w = scatter.w
    window: dict[int, Word] = dict.fromkeys(scatter.window_dims, 0)
    bytes_ = math.prod(scatter.window_size.values()) * scatter.operand.shape.element_type.bytes

    def prefetch(array: ArrayInMemory, at: tuple[Word, ...]) -> None:
        first = w.mul(w.linear(at, array.shape.strides), array.shape.element_type.bytes)
        for line in range(min(-(-bytes_ // LINE_BYTES), MOST_LINES)):
            address = w.address(array.pointer, I8, w.add(first, line * LINE_BYTES), inside=False)
            w.call_effect("llvm.prefetch.p0", address, *[w.number(n, I32) for n in (0, 3, 1)])

    with scatter.emitter.scope():
        (output,), start = outputs, scatter.start(row)[0]
        prefetch(output, scatter.position(start, window))
        updates = context.arrays.get(scatter.updates)
        if updates is not None and updates.shape.layout.is_default:
            prefetch(updates, scatter.update_index(row, window))


def _by_update(
    context: KernelContext, scatter: _Scatter, output: ArrayInMemory, operation: str | None
) -> None:
    """Emit one thread per update element.

    It uses an atomic operation, a compare-and-swap loop, or, for unique indices, a plain store.
    """
    w, emitter, dimensions = context.writer, scatter.emitter, scatter.updates.shape.dimensions
    with context.iterate(list(dimensions)) as index, emitter.scope():
        row = [index[d] for d in scatter.batch_dims]
        start, fits = scatter.start(row)
        with w.where(fits), emitter.scope():
            update = emitter.element(scatter.updates, index)
            offset = w.linear(
                scatter.position(start, {u: index[u] for u in scatter.window_dims}),
                output.shape.strides,
            )
            if scatter.root.attributes.get("unique_indices") and operation is None:
                (value,) = emitter.combine(
                    scatter.root.to_apply, [output.load_linear(w, offset), update], scatter.types
                )
                output.store_linear(w, offset, value)
            elif operation is not None:
                value = real(update)
                w.atomic(operation, w.address(output.pointer, value.type, offset), value)
            else:
                _compare_and_swap(scatter, output, offset, update)


def _compare_and_swap(
    scatter: _Scatter, output: ArrayInMemory, offset: Word, update: Scalar
) -> None:
    """Combine an update into an element by a compare-and-swap loop.

    An element of less than 32 bits is exchanged together with the rest of its word.
    """
    w, element_type = scatter.w, scatter.root.shape.element_type
    stored = stored_type(element_type)
    bits = stored.bits
    word = Type(f"i{max(bits, 32)}")
    at, shift = offset, w.number(0, I32)
    if bits < 32:
        per_word = 32 // bits
        at = w.div(offset, per_word)
        shift = w.index_as(w.mul(w.mod(offset, per_word), bits), I32)
    pointer = w.address(output.pointer, word, at)
    attempt, done, guess = w.fresh_label("attempt"), w.fresh_label("done"), w.variable(word)
    guess.set(0)
    w.branch(attempt)
    w.start_block(attempt)
    whole = guess.get()
    old = whole if bits >= 32 else w.convert("trunc", w.binary("lshr", whole, shift), f"i{bits}")
    old = w.from_bits(old) if stored.is_float else w.retyped(old, stored)
    held = from_memory(w, old, element_type)
    with scatter.emitter.scope():
        (value,) = scatter.emitter.combine(scatter.root.to_apply, [held, update], scatter.types)
    new = w.to_bits(to_memory(w, real(value), element_type))
    if bits < 32:
        mask = w.binary("shl", w.number((1 << bits) - 1, I32), shift)
        others = whole & (mask ^ -1)
        new = others | w.binary("shl", w.convert("zext", new, "i32"), shift)
    found, swapped = w.compare_and_swap(pointer, whole, new)
    guess.set(found)
    w.branch_if(swapped, done, attempt)
    w.start_block(done)
