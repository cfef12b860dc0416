"""Kernels as a GPU wants them: warps and blocks that work together, wide loads, tensor cores. One file per kind; `selection.py` chooses."""

from xla_explorer.backends.gpu.emitters.operations import OPERATIONS, operation_is_emitted
from xla_explorer.backends.gpu.emitters.selection import EmittedKernel, EmittedKernels, write_gpu_kernels

__all__ = ["OPERATIONS", "EmittedKernel", "EmittedKernels", "operation_is_emitted", "write_gpu_kernels"]
