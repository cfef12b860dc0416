"""Kernels: one function per fusion (or per instruction that stands alone), chosen by the opcode of the root (`placement`)."""

from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext

__all__ = ["Kernel", "KernelContext"]
