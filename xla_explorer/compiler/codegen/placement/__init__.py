"""Who runs an instruction: opcodes with their kernel writers."""

from xla_explorer.compiler.codegen.placement.cpu_rows import (
    CPU_ROWS,
    cpu_placement,
    operation_placement,
)
from xla_explorer.compiler.codegen.placement.kernel_checks import kernel_is_emitted
from xla_explorer.compiler.codegen.placement.kernel_rows import (
    KERNEL_ROWS,
    KernelRow,
    has_own_writer,
    kernel_row,
)
from xla_explorer.compiler.codegen.placement.kernel_writing import (
    nest_kernel,
    write_kernel,
    write_kernel_in_rows,
    write_opaque_kernel,
    write_overlapping_kernel,
)
from xla_explorer.compiler.codegen.placement.placement import Placement, PlacementRow, Way, placed

__all__ = [
    "CPU_ROWS", "KERNEL_ROWS", "KernelRow", "Placement", "PlacementRow", "Way", "cpu_placement", "has_own_writer", "kernel_is_emitted",
    "kernel_row", "nest_kernel", "operation_placement", "placed", "write_kernel", "write_kernel_in_rows", "write_opaque_kernel",
    "write_overlapping_kernel",
]  # fmt: skip
