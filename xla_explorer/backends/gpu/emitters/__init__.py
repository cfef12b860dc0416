"""GPU kernels with cooperating threads, wide loads and tensor cores.

One folder per kind of work, one file per kind of kernel. `selection.py` tries them in order.
`block.py` is shared; `kernel_descriptors.py` has the records of kernels.
"""

from xla_explorer.backends.gpu.emitters.operations.registry import OPERATIONS, operation_is_emitted
from xla_explorer.backends.gpu.emitters.selection import (
    EmittedKernels,
    write_gpu_kernels,
)

__all__ = [
    "OPERATIONS",
    "EmittedKernels",
    "operation_is_emitted",
    "write_gpu_kernels",
]
