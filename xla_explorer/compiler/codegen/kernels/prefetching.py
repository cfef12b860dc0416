"""Asking for memory before its turn, where the hardware cannot foresee what will be read, or does so in a bad order.

A prefetch may name any address: what is not there is not fetched.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.policies.prefetches import MOST_LINES


def ask_for(w: FunctionWriter, address: str) -> None:
    """Prefetch the line of an address for reading."""
    w.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    w.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")


def later_of(w: FunctionWriter, number: str | int, ahead: int, count: str | int) -> str | int:
    """The number of the row so many rows later, or of the last one."""
    return w.smaller(w.add(number, ahead), w.sub(count, 1))


def ask_for_row(w: FunctionWriter, array: ArrayInMemory, offset: str | int, row_bytes: int) -> None:
    """Prefetch a row, or the first lines of a long one. offset: its first element."""
    first = w.mul(offset, array.shape.element_type.bytes)
    for line in range(min(-(-row_bytes // LINE_BYTES), MOST_LINES)):
        ask_for(w, w.value(f"getelementptr i8, ptr {array.pointer}, i64 {w.add(first, line * LINE_BYTES)}"))
