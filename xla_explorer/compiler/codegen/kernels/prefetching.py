"""Asking for memory before its turn, where the hardware cannot foresee what will be read, or does so in a bad order.

A prefetch may name any address: what is not there is not fetched.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import FunctionWriter

LINE = 64  # bytes of a cache line
MOST_LINES = 16  # of a row that is asked for
FEWEST_LINES = 2
LINES_AHEAD = 96  # about as many as arrive while memory answers once


def ask_for(w: FunctionWriter, address: str) -> None:
    """Prefetch the line of an address for reading."""
    w.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    w.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")


def rows_ahead(row_bytes: int) -> int:
    """How many rows before its turn a row that lies anywhere is asked for; 0 for what is less than two lines."""
    lines = -(-row_bytes // LINE)
    return max(LINES_AHEAD // min(lines, MOST_LINES), 1) if lines >= FEWEST_LINES else 0


def later_of(w: FunctionWriter, number: str | int, ahead: int, count: str | int) -> str:
    """The number of the row so many rows later, or of the last one."""
    return w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(w.add(number, ahead))), ("i64", str(w.sub(count, 1))))


def ask_for_row(w: FunctionWriter, array: ArrayInMemory, offset: str | int, row_bytes: int) -> None:
    """Prefetch a row, or the first lines of a long one. offset: its first element."""
    first = w.mul(offset, array.shape.element_type.bytes)
    for line in range(min(-(-row_bytes // LINE), MOST_LINES)):
        ask_for(w, w.value(f"getelementptr i8, ptr {array.pointer}, i64 {w.add(first, line * LINE)}"))
