"""Kernels that are not loop nests: one function per fusion."""

from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext

__all__ = ["Kernel", "KernelContext"]
