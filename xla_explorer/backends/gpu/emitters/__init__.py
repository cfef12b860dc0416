"""Kernels as a GPU wants them: warps and blocks that work together, wide loads, tensor cores. A folder per kind of work, a file per kind of
kernel; `selection.py` asks them in turn. `block.py` is what they share, `drafts.py` what those hand back that make several kernels."""

from xla_explorer.backends.gpu.emitters.operations.registry import OPERATIONS, operation_is_emitted
from xla_explorer.backends.gpu.emitters.selection import (
    EmittedKernel,
    EmittedKernels,
    write_gpu_kernels,
)

__all__ = [
    "OPERATIONS",
    "EmittedKernel",
    "EmittedKernels",
    "operation_is_emitted",
    "write_gpu_kernels",
]
