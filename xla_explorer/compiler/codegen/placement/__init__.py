"""Who runs an instruction: rows of opcodes with their writers, what is checked, and in which order ways are asked."""

from xla_explorer.compiler.codegen.placement.kernel_checks import kernel_is_emitted
from xla_explorer.compiler.codegen.placement.kernel_rows import KERNEL_ROWS, KernelRow, has_own_writer, kernel_row
from xla_explorer.compiler.codegen.placement.kernel_writing import nest_kernel, write_kernel, write_opaque_kernel

__all__ = [
    "KERNEL_ROWS", "KernelRow", "has_own_writer", "kernel_is_emitted", "kernel_row", "nest_kernel", "write_kernel", "write_opaque_kernel",
]  # fmt: skip
