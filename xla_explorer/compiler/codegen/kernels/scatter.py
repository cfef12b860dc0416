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
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import (
    from_memory,
    memory_type,
    real,
    to_memory,
    type_bits,
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

    def start(self, row: list[str | int]) -> tuple[dict[int, str | int], str]:
        """Return the start of an index row's window, and the condition that it fits.

        The start is by operand dimension, 0 if absent.
        """
        w, extents = self.w, self.operand.shape.dimensions
        taken = iter(row)
        at = [0 if d == self.vector_dim else next(taken) for d in range(self.indices.shape.rank)]
        start: dict[int, str | int] = {d: at[b] for d, b in self.batching.items()}
        fits: str | None = None
        for component, d in enumerate(self.root.attribute("scatter_dims_to_operand_dims")):
            found = self.emitter.element(
                self.indices,
                tuple([component if k == self.vector_dim else x for k, x in enumerate(at)]),
            )
            value = as_index(w, real(found), self.indices.shape.element_type).name
            room = extents[d] - self.window_size.get(d, 1)
            inside = w.value(f"icmp ule i64 {value}, {room}") if room >= 0 else "false"
            fits = inside if fits is None else w.value(f"and i1 {fits}, {inside}")
            start[d] = value
        return start, fits or "true"

    def update_index(
        self, row: list[str | int], window: dict[int, str | int]
    ) -> tuple[str | int, ...]:
        """Return the index into the updates; window: by dimension of the updates."""
        rows = iter(row)
        return tuple(
            [window[d] if d in window else next(rows) for d in range(self.updates.shape.rank)]
        )

    def position(
        self, start: dict[int, str | int], window: dict[int, str | int]
    ) -> tuple[str | int, ...]:
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
        a is not None and a.pointer == output.pointer
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
    own: tuple[str | int, str | int] = (
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
    own: tuple[str | int, str | int],
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
    row: list[str | int],
    start: dict[int, str | int],
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
    own: tuple[str | int, str | int],
) -> None:
    """List the index rows that point to owned rows, then emit the loop over the list."""
    w, emitter = context.writer, scatter.emitter
    listed, length = context.scratch(8 * math.prod(counts)), w.stack_slot("i64")
    w.do(f"store i64 0, ptr {length}")
    with w.loop(math.prod(counts), stem="look") as number, emitter.scope():
        start, fits = scatter.start(w.unravel(number, counts))
        mine = w.value(
            f"and i1 {w.value(f'icmp sge i64 {start[0]}, {own[0]}')}, {w.value(f'icmp slt i64 {start[0]}, {own[1]}')}"
        )
        held = w.value(f"load i64, ptr {length}")
        w.do(
            f"store i64 {number}, ptr {w.value(f'getelementptr inbounds i64, ptr {listed}, i64 {held}')}"
        )
        one = w.value(f"zext i1 {w.value(f'and i1 {mine}, {fits}')} to i64")
        w.do(f"store i64 {w.value(f'add i64 {held}, {one}')}, ptr {length}")
    found = w.value(f"load i64, ptr {length}")

    def row_number(place: str | int) -> str:
        return w.value(
            f"load i64, ptr {w.value(f'getelementptr inbounds i64, ptr {listed}, i64 {place}')}"
        )

    with (
        w.where(w.value(f"icmp ne i64 {found}, 0")),
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
    context: KernelContext, scatter: _Scatter, outputs: list[ArrayInMemory], row: list[str | int]
) -> None:
    """Prefetch the first lines of the window of an index row, and of its update.

    A prefetch accepts any address, even that of an index out of range.
    """
    w = scatter.w
    window: dict[int, str | int] = dict.fromkeys(scatter.window_dims, 0)
    bytes_ = math.prod(scatter.window_size.values()) * scatter.operand.shape.element_type.bytes
    w.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")

    def prefetch(array: ArrayInMemory, at: tuple[str | int, ...]) -> None:
        first = w.mul(w.linear(at, array.shape.strides), array.shape.element_type.bytes)
        for line in range(min(-(-bytes_ // LINE_BYTES), MOST_LINES)):
            address = w.value(
                f"getelementptr i8, ptr {array.pointer}, i64 {w.add(first, line * LINE_BYTES)}"
            )
            w.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")

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
                t = memory_type(scatter.root.shape.element_type)
                address = w.value(
                    f"getelementptr inbounds {t}, {output.pointer_type} {output.pointer}, i64 {offset}"
                )
                w.value(
                    f"atomicrmw {operation} {output.pointer_type} {address}, {t} {update} monotonic"
                )
            else:
                _compare_and_swap(scatter, output, offset, update)


def _compare_and_swap(
    scatter: _Scatter, output: ArrayInMemory, offset: str | int, update: Scalar
) -> None:
    """Combine an update into an element by a compare-and-swap loop.

    An element of less than 32 bits is exchanged together with the rest of its word.
    """
    w, element_type = scatter.w, scatter.root.shape.element_type
    t, bits = memory_type(element_type), type_bits(memory_type(element_type))
    narrow, word = f"i{bits}", f"i{max(bits, 32)}"
    at, shift = offset, "0"
    if bits < 32:
        per_word = 32 // bits
        at = w.div(offset, per_word)
        shift = w.value(f"trunc i64 {w.mul(w.mod(offset, per_word), bits)} to i32")
    pointer = f"{output.pointer_type} " + w.value(
        f"getelementptr inbounds {word}, {output.pointer_type} {output.pointer}, i64 {at}"
    )
    attempt, done, guess = w.fresh_label("attempt"), w.fresh_label("done"), w.stack_slot(word)
    w.do(f"store {word} 0, ptr {guess}")
    w.branch(attempt)
    w.start_block(attempt)
    whole = w.value(f"load {word}, ptr {guess}")
    old = (
        whole
        if bits >= 32
        else w.value(f"trunc i32 {w.value(f'lshr i32 {whole}, {shift}')} to {narrow}")
    )
    held = from_memory(
        w, old if t == narrow else w.value(f"bitcast {narrow} {old} to {t}"), element_type
    )
    with scatter.emitter.scope():
        (value,) = scatter.emitter.combine(scatter.root.to_apply, [held, update], scatter.types)
    stored = to_memory(w, real(value), element_type).name
    new = stored if t == narrow else w.value(f"bitcast {t} {stored} to {narrow}")
    if bits < 32:
        mask = w.value(f"shl i32 {(1 << bits) - 1}, {shift}")
        others = w.value(f"and i32 {whole}, {w.value(f'xor i32 {mask}, -1')}")
        new = w.value(
            f"or i32 {others}, {w.value('shl i32 ' + w.value(f'zext {narrow} {new} to i32') + f', {shift}')}"
        )
    result = w.value(f"cmpxchg {pointer}, {word} {whole}, {word} {new} monotonic monotonic")
    w.do(f"store {word} {w.value(f'extractvalue {{ {word}, i1 }} {result}, 0')}, ptr {guess}")
    w.branch_if(w.value(f"extractvalue {{ {word}, i1 }} {result}, 1"), done, attempt)
    w.start_block(done)
