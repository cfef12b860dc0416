"""Kernels: one function per fusion (or per instruction that stands alone), chosen by the opcode of the root."""

from xla_explorer.compiler.codegen.kernels.kernel import (
    Kernel,
    KernelContext,
    kernel_is_emitted,
    load_kernel_writers,
    nest_kernel,
    write_kernel,
    write_opaque_kernel,
)

__all__ = ["Kernel", "KernelContext", "kernel_is_emitted", "load_kernel_writers", "nest_kernel", "write_kernel", "write_opaque_kernel"]
