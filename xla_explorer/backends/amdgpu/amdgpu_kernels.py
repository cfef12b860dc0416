"""AMD GPU architectures, their kernel calling convention in LLVM, and register use of kernels.

A new architecture is a row of `ARCHITECTURES`. Source: LLVM, docs/AMDGPUUsage.rst (processors,
address spaces, code object metadata); AMD CDNA 2 and CDNA 3 white papers (compute units, resident
wavefronts of a compute unit).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from xla_explorer.backends.gpu.architecture import UnknownArchitectureError
from xla_explorer.backends.gpu.kernel_module import KernelDialect
from xla_explorer.backends.llvm.target_machine import TargetDescription, describe_target
from xla_explorer.compiler.target import AMDGPU, GpuUnit, Source, Target

DEFAULT_ARCHITECTURE = "gfx942"
_KERNEL_NAME = re.compile(r"^\s+\.name:\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AmdArchitecture:
    """One AMD architecture.

    name: LLVM's processor name. compute_units: of the largest product. wavefronts_per_unit: of one
    compute unit, resident at once.
    """

    name: str
    product: str
    compute_units: int
    wavefronts_per_unit: int = 32
    warp_size: int = 64

    @property
    def target(self) -> TargetDescription:
        """The LLVM target triple, processor and relocation model."""
        return describe_target(AMDGPU.triple, self.name, "", "pic")

    @property
    def described(self) -> Target:
        """The target for passes and code generation; it states no other numbers than these two."""
        numbers = {"multiprocessors": self.compute_units, "warp_size": self.warp_size}
        threads = self.wavefronts_per_unit * self.warp_size
        return replace(
            AMDGPU,
            gpu=GpuUnit().stating(Source.DATA_SHEET, threads_per_multiprocessor=threads, **numbers),
        )

    @property
    def multiprocessors(self) -> int:
        """The number of compute units, which NVIDIA calls multiprocessors."""
        return self.compute_units

    @property
    def resident_threads(self) -> int:
        """Resident threads of the whole device."""
        return self.compute_units * self.wavefronts_per_unit * self.warp_size


ARCHITECTURES = {
    a.name: a
    for a in (
        AmdArchitecture("gfx90a", "MI250X (one die)", 110),
        AmdArchitecture("gfx942", "MI300X", 304),
    )
}


def amd_architecture(name: str | None = None) -> AmdArchitecture:
    """Return an architecture by name; UnknownArchitectureError lists the existing names."""
    try:
        return ARCHITECTURES[name or DEFAULT_ARCHITECTURE]
    except KeyError:
        raise UnknownArchitectureError(
            f"unknown AMD architecture {name!r}", f"choose from {', '.join(ARCHITECTURES)}"
        ) from None


AMD_KERNELS = KernelDialect(
    AMDGPU.triple, "amdgpu_kernel", '"amdgpu-flat-work-group-size"="1,{threads}"'
)


@dataclass(frozen=True, slots=True)
class KernelRegisters:
    """Registers of a kernel: vector, scalar and spilled ones, and bytes of stack per thread."""

    name: str
    vector_registers: int
    scalar_registers: int
    spilled: int
    stack_bytes: int


def kernel_registers(assembly: str) -> list[KernelRegisters]:
    """Return the registers of each kernel, from the metadata at the end of the assembly text."""
    if ".amdgpu_metadata" not in assembly:
        return []
    metadata = assembly.split(".amdgpu_metadata", 1)[1]
    found = []
    for part in re.split(r"(?m)^  - (?=\.)", metadata)[1:]:
        fields = dict(re.findall(r"^\s*\.(\w+):\s+(\S+)", part, re.MULTILINE))
        name = _KERNEL_NAME.findall("\n" + part)[-1:]
        if not name or "vgpr_count" not in fields:
            continue
        spilled = int(fields["vgpr_spill_count"]) + int(fields["sgpr_spill_count"])
        stack = int(fields["private_segment_fixed_size"])
        found.append(
            KernelRegisters(
                name[0], int(fields["vgpr_count"]), int(fields["sgpr_count"]), spilled, stack
            )
        )
    return found
