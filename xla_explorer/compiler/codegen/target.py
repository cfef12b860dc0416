"""What code generation knows of a target: how kernels are called and what the vector unit offers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodegenTarget:
    """kind: `cpu` (loop nests) or `gpu` (one thread an element). pointer: the LLVM pointer type of buffers.
    vector_bits: width of a vector register, 0 when the code is scalar (GPU threads)."""

    kind: str
    pointer: str
    triple: str
    vector_bits: int = 0
    fused_multiply_add: bool = True


HOST_LIKE = CodegenTarget("cpu", "ptr", "", 512)
NVPTX = CodegenTarget("gpu", "ptr addrspace(1)", "nvptx64-nvidia-cuda", 0)
