"""Choice of the lowering strategy of an instruction, and the kernel writer of each opcode."""

from xla_explorer.compiler.codegen.dispatch.cpu_strategies import (
    CPU_STRATEGIES,
    cpu_strategy,
    operation_strategy,
)
from xla_explorer.compiler.codegen.dispatch.kernel_checks import kernel_is_emitted
from xla_explorer.compiler.codegen.dispatch.kernel_rows import (
    KERNEL_ROWS,
    KernelRow,
    has_own_writer,
    kernel_row,
)
from xla_explorer.compiler.codegen.dispatch.kernel_writing import (
    nest_kernel,
    opaque_kernel,
    write_blocked_kernel,
    write_kernel,
    write_opaque_kernel,
    write_overlapping_kernel,
)
from xla_explorer.compiler.codegen.dispatch.strategies import (
    ChosenStrategy,
    LoweringKind,
    LoweringStrategy,
    choose_strategy,
)

__all__ = [
    "CPU_STRATEGIES",
    "KERNEL_ROWS",
    "ChosenStrategy",
    "KernelRow",
    "LoweringKind",
    "LoweringStrategy",
    "choose_strategy",
    "cpu_strategy",
    "has_own_writer",
    "kernel_is_emitted",
    "kernel_row",
    "nest_kernel",
    "opaque_kernel",
    "operation_strategy",
    "write_blocked_kernel",
    "write_kernel",
    "write_opaque_kernel",
    "write_overlapping_kernel",
]  # fmt: skip
