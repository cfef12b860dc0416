"""What code generation knows of a target: how kernels are called and what the vector unit offers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodegenTarget:
    """kind: `cpu` (loop nests) or `gpu` (one thread an element). pointer: the LLVM pointer type of buffers.
    vector_bits: width of a vector register, 0 when the code is scalar (GPU threads). libraries: whether the code may call BLAS and
    LAPACK, whose addresses somebody supplies when it is loaded. pointer_bits: width of an address, which is that of a size in C."""

    kind: str
    pointer: str
    triple: str
    vector_bits: int = 0
    fused_multiply_add: bool = True
    libraries: bool = True
    pointer_bits: int = 64


_FIXED_WIDTH = ("x86_64", "aarch64")  # elsewhere vectors have no width before the program runs, or none worth it


def vectorizes_itself(target: CodegenTarget) -> bool:
    """Whether kernels for this target may be written with vectors, rather than have LLVM make them."""
    return target.kind == "cpu" and target.vector_bits >= 128 and target.triple.startswith(_FIXED_WIDTH)


HOST_LIKE = CodegenTarget("cpu", "ptr", "", 512)
NVPTX = CodegenTarget("gpu", "ptr addrspace(1)", "nvptx64-nvidia-cuda", 0)
AMDGPU = CodegenTarget("gpu", "ptr addrspace(1)", "amdgcn-amd-amdhsa", 0)
