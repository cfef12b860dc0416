"""Results too large for any cache are written past it.

An ordinary store reads the cache line before it changes it, so a kernel that writes an array moves it twice. A streaming store
(nontemporal) does not, and leaves the cache to what is read. It pays where the result would not stay in the cache anyway and no other
kernel reads it: ten elementwise operations on two arrays of 40 MB take 0.7 of the time.

Streaming stores want whole, aligned cache lines, while the loop that computes may be anything: it writes a tile on the stack, and the tile
goes out in lines. Memory that does not begin at a line (an array of the caller's that was given away) gets ordinary stores.

What a tile is computed from is asked for first, one array after the other: memory then reads one row of its chips for a while, instead of
changing between two with every line. A sum of two arrays of 40 MB takes 0.75 of the time, on the processors that we have. Four arrays do
not gain by it, and much arithmetic has the same effect.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import NONTEMPORAL, FunctionWriter
from xla_explorer.compiler.codegen.ir.types import PTR
from xla_explorer.compiler.codegen.kernels.collapse import CollapsedEmitter
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.prefetching import LINE, ask_for_run
from xla_explorer.compiler.codegen.llvm_types import memory_type, real, stored_type, to_memory
from xla_explorer.compiler.codegen.nest.policies.base import RUNS_ASKED_FOR, STREAMED_BYTES, WORK_BETWEEN_READS, leaves_the_program
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

TILE_BYTES = 2048  # of the widest result: the tile and what it is computed from stay in the first-level cache


def is_streamed(context: KernelContext, output: ArrayInMemory, at_least: int) -> bool:
    """Whether a result is written past the cache: x86-64 has the stores, nothing here reads it, and it is large. at_least: bytes."""
    if not context.target.abilities.streams or output.shape.byte_size < at_least:
        return False
    read = {array.pointer for array in context.arrays.values()}
    t = output.shape.element_type
    return t.bits in (32, 64) and not t.is_complex and output.pointer not in read and leaves_the_program(context.instruction)


def tile_elements(rows: list[tuple[HloInstruction, ArrayInMemory]]) -> int:
    """How many elements of each result are computed before they are written."""
    return TILE_BYTES // max([output.shape.element_type.bytes for _, output in rows])


def streams(context: KernelContext, rows: list[tuple[HloInstruction, ArrayInMemory]], extents: list[int]) -> bool:
    """Whether the results of a loop nest are streamed. extents: of its loops, the last one along contiguous elements."""
    if not extents or extents[-1] < tile_elements(rows):
        return False
    if context.in_rows and len(extents) == 1:  # shares would be of tiles
        return False
    whole_lines = len(extents) == 1 or all(extents[-1] * output.shape.element_type.bytes % LINE == 0 for _, output in rows)
    return whole_lines and all(is_streamed(context, output, STREAMED_BYTES) for _, output in rows)


def in_lines_or_not(w: FunctionWriter, address: str, in_lines: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Code for an address that begins a cache line, and for others."""
    low = w.value(f"and i64 {w.value(f'ptrtoint ptr {address} to i64')}, {LINE - 1}")
    lines, bytes_, end = w.fresh_label("lines"), w.fresh_label("bytes"), w.fresh_label("sent")
    w.branch_if(w.value(f"icmp eq i64 {low}, 0"), lines, bytes_)
    for label, write in ((lines, in_lines), (bytes_, otherwise)):
        w.start_block(label)
        write()
        w.branch(end)
    w.start_block(end)


def end_streaming(context: KernelContext) -> None:
    """Streaming stores are not in order with others: another thread must not find that this one is done before they are."""
    context.writer.declare("declare void @llvm.x86.sse.sfence()")
    context.writer.do("call void @llvm.x86.sse.sfence()")


def write_streaming_nest(
    context: KernelContext,
    rows: list[tuple[HloInstruction, ArrayInMemory]],
    emitter: CollapsedEmitter,
    extents: list[int],
    strides: list[int],
) -> None:
    """The nest: tiles of the last loop, and one after the other what is left of it."""
    w, size = context.writer, tile_elements(rows)
    whole, rest = divmod(extents[-1], size)
    tiles = [w.stack_slot(memory_type(output.shape.element_type), size) for _, output in rows]
    with context.iterate([*extents[:-1], whole]) as (*outer, number), emitter.scope():
        start = w.mul(number, size)
        runs = emitter.runs_from((*outer, start)) if _waits_for_memory(context) else []
        for array, offset in runs if len(runs) <= RUNS_ASKED_FOR else []:
            ask_for_run(w, array, offset, size)
        with w.loop(size, stem="tile") as j, emitter.scope():
            values = [emitter.element(root, (*outer, w.add(start, j))) for root, _ in rows]
            for value, (_, output), tile in zip(values, rows, tiles, strict=True):
                t = output.shape.element_type
                address = w.address(w.named(tile, PTR), stored_type(t), j)
                w.store(to_memory(w, real(value), t), address, t.bytes)
        for (_, output), tile in zip(rows, tiles, strict=True):
            _send(context, tile, output, w.linear((*outer, start), strides), size)
    if rest:
        with context.iterate([*extents[:-1], rest]) as (*outer, j), emitter.scope():
            index = (*outer, w.add(j, whole * size))
            values = [emitter.element(root, index) for root, _ in rows]
            for value, (_, output) in zip(values, rows, strict=True):
                output.store_linear(w, w.linear(index, strides), value)
    end_streaming(context)


def copy_lines(
    w: FunctionWriter, source: ArrayInMemory, start: str | int, output: ArrayInMemory, offset: str | int, elements: int
) -> None:
    """Elements from a place of one array to one of another of the same type that begins a cache line, past the cache; whole lines."""
    bytes_ = output.shape.element_type.bytes
    t, lanes = memory_type(output.shape.element_type), LINE // bytes_
    from_ = w.value(f"getelementptr inbounds {t}, ptr {source.pointer}, i64 {start}")
    to = w.value(f"getelementptr inbounds {t}, ptr {output.pointer}, i64 {offset}")
    with w.loop(elements, 0, lanes, stem="line") as k:
        line = w.value(f"load <{lanes} x {t}>, ptr {w.value(f'getelementptr inbounds {t}, ptr {from_}, i64 {k}')}, align {bytes_}")
        place = w.value(f"getelementptr inbounds {t}, ptr {to}, i64 {k}")
        w.do(f"store <{lanes} x {t}> {line}, ptr {place}, align {LINE}{NONTEMPORAL}")


def _waits_for_memory(context: KernelContext) -> bool:
    """Whether so little is computed that what is read could come at once; a kernel that computes more spreads its reads by itself."""
    cost = instruction_cost(context.instruction)
    elements = max([leaf.element_count for _, leaf in context.instruction.shape.leaves()])
    return cost.transcendentals == 0 and cost.flops <= WORK_BETWEEN_READS * elements


def _send(context: KernelContext, tile: str, output: ArrayInMemory, offset: str | int, elements: int) -> None:
    """The tile to memory, in lines where memory begins with one."""
    w, t = context.writer, memory_type(output.shape.element_type)
    address = w.value(f"getelementptr inbounds {t}, ptr {output.pointer}, i64 {offset}")

    def in_lines() -> None:
        copy_lines(w, ArrayInMemory(tile, output.shape), 0, output, offset, elements)

    def otherwise() -> None:
        w.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {address}, ptr {tile}, i64 {elements * output.shape.element_type.bytes}, i1 false)")

    in_lines_or_not(w, address, in_lines, otherwise)
