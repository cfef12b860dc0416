"""Kernels as a GPU wants them: warps and blocks that work together, wide loads, tensor cores. One file per kind; `selection.py` chooses."""

from xla_explorer.backends.gpu.emitters.selection import EmittedKernel, EmittedKernels, write_gpu_kernels

__all__ = ["EmittedKernel", "EmittedKernels", "write_gpu_kernels"]
