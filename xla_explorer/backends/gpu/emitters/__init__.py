"""GPU kernels with cooperating threads, wide loads and tensor cores.

One folder per kind of work, one file per kind of kernel. `selection.py` tries them in order.
`block.py` is shared; `drafts.py` describes results of several kernels.
"""

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
