"""What code generation knows of a target: how kernels are called and what the vector unit offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class CodegenTarget:
    """kind: `cpu` (loop nests) or `gpu` (one thread an element). pointer: the LLVM pointer type of buffers.
    vector_bits: width of a vector register, 0 when the code is scalar (GPU threads). libraries: whether the code may call BLAS and
    LAPACK, whose addresses somebody supplies when it is loaded. pointer_bits: width of an address, which is that of a size in C.
    features: names, as LLVM spells them, of what the CPU has beyond what its triple says."""

    kind: str
    pointer: str
    triple: str
    vector_bits: int = 0
    fused_multiply_add: bool = True
    libraries: bool = True
    pointer_bits: int = 64
    features: frozenset[str] = frozenset()


_FIXED_WIDTH = ("x86_64", "aarch64")  # elsewhere vectors have no width before the program runs, or none worth it


def vectorizes_itself(target: CodegenTarget) -> bool:
    """Whether kernels for this target may be written with vectors, rather than have LLVM make them."""
    return target.kind == "cpu" and target.vector_bits >= 128 and target.triple.startswith(_FIXED_WIDTH)


def cpu_target_of(fact: Callable[..., Any]) -> CodegenTarget:
    """The CPU that passes optimise for, by the facts they may ask about."""
    bits, features = int(fact("vector_register_bits", 0)), frozenset(fact("features", ()))
    return CodegenTarget("cpu", "ptr", str(fact("triple", "")), bits, bool(fact("fused_multiply_add", False)), features=features)


class GroupedProduct(NamedTuple):
    """An instruction that multiplies small integers, `group` of them in each 32 bits of two vectors, and adds the products to the 32-bit
    sums of a third, modulo 2^32. intrinsic: LLVM's, with a place for the width of the vectors in bits. right_first: of the two factors.
    biased: the instruction wants the left factors with the other signedness: their highest bit is flipped, which adds 2^(bits - 1) to
    signed numbers and takes as much from unsigned ones."""

    intrinsic: str
    group: int
    right_first: bool = False
    biased: bool = False


_BYTES, _WORDS = "llvm.x86.avx512.vpdpbusd.{}", "llvm.x86.avx512.vpdpwssd.{}"  # unsigned times signed; signed times signed
_VNNI = {
    ("u8", "s8"): GroupedProduct(_BYTES, 4),
    ("s8", "u8"): GroupedProduct(_BYTES, 4, right_first=True),
    ("s8", "s8"): GroupedProduct(_BYTES, 4, biased=True),
    ("u8", "u8"): GroupedProduct(_BYTES, 4, right_first=True, biased=True),
    ("s16", "s16"): GroupedProduct(_WORDS, 2),
}
# Features that are needed together, bits of the widest vectors that they serve (LLVM aborts on wider ones), and what there is by the names
# of the factors' types.
_GROUPED_PRODUCTS = ((frozenset(["avx512vnni", "avx512vl"]), 512, _VNNI), (frozenset(["avxvnni"]), 256, _VNNI))


def grouped_product(target: CodegenTarget, left: str, right: str) -> GroupedProduct | None:
    """The target's instruction for factors of these types, None where it has none."""
    for needed, widest, table in _GROUPED_PRODUCTS:
        if needed <= target.features and target.vector_bits <= widest:
            return table.get((left, right))
    return None


HOST_LIKE = CodegenTarget("cpu", "ptr", "", 512)
NVPTX = CodegenTarget("gpu", "ptr addrspace(1)", "nvptx64-nvidia-cuda", 0)
AMDGPU = CodegenTarget("gpu", "ptr addrspace(1)", "amdgcn-amd-amdhsa", 0)
