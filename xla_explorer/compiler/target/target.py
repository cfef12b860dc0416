"""The machine that a program is compiled for, as passes, estimates and code generation see it."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from xla_explorer.compiler.target.units import (
    Abilities,
    Cache,
    Cores,
    GpuUnit,
    Launch,
    Link,
    MainMemory,
    Source,
    Unit,
    VectorUnit,
)


class Kind(enum.Enum):
    """The kind of machine.

    CPU: kernels are functions that loop. GPU: kernels are launches of many threads. OTHER: a
    backend that writes its own kernels.
    """

    CPU = "cpu"
    GPU = "gpu"
    OTHER = "other"


_LLVM_CHOOSES = 128  # bits of registers where code is scalar and LLVM vectorises it
# Measured on one core of a server with AVX-512; enough to rank fusions and schedules on any.
_CACHES = (
    Cache(bytes=32 << 10, nanoseconds_per_byte=0.011, refill=90.0),
    Cache(bytes=1 << 20, ways=16, nanoseconds_per_byte=0.015, refill=40.0),
    Cache(bytes=16 << 20, ways=16, nanoseconds_per_byte=0.04, refill=11.0, shared_by=0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A machine.

    name: of the backend, or of the device. triple: LLVM's. features: features of the CPU beyond its
    triple, as LLVM spells them. address_space, stack_space: LLVM's numbers of the memory of buffers
    and of a thread's stack. caches: the nearest first. gpu: None unless kernels are launches.
    links: to other devices, the fastest first.
    """

    name: str
    kind: Kind = Kind.OTHER
    triple: str = ""
    features: frozenset[str] = frozenset()
    address_space: int = 0
    stack_space: int = 0
    vector: VectorUnit = field(default_factory=VectorUnit)
    caches: tuple[Cache, ...] = _CACHES
    memory: MainMemory = field(default_factory=MainMemory)
    cores: Cores = field(default_factory=Cores)
    gpu: GpuUnit | None = None
    launch: Launch = field(default_factory=Launch)
    links: tuple[Link, ...] = (Link(),)
    abilities: Abilities = field(default_factory=Abilities)

    def __post_init__(self) -> None:
        """Require the numbers of a GPU for a GPU and for no other kind."""
        if (self.kind is Kind.GPU) != (self.gpu is not None):
            raise ValueError(
                f"target {self.name}: kind {self.kind.value} and {'a' if self.gpu else 'no'} "
                "GpuUnit contradict each other"
            )

    @property
    def first_cache(self) -> Cache:
        """The cache nearest to a core (L1)."""
        return self.caches[0]

    @property
    def second_cache(self) -> Cache:
        """The next cache (L2), or the only one."""
        return self.caches[min(1, len(self.caches) - 1)]

    @property
    def last_cache(self) -> Cache:
        """The cache before the main memory."""
        return self.caches[-1]

    def lanes(self, element_bits: int = 32) -> int:
        """Return the elements of a register that code is written for, or that LLVM chooses."""
        return max(self.vector.bits or _LLVM_CHOOSES, element_bits) // element_bits

    @property
    def flops_per_nanosecond(self) -> float:
        """The peak of f32 multiply-adds on one core; one counts as two operations."""
        return 2.0 * self.vector.units * self.lanes() * self.cores.gigahertz

    @property
    def is_launched(self) -> bool:
        """True if a kernel is a launch of many threads, rather than a function that loops."""
        return self.gpu is not None

    @property
    def pointer(self) -> str:
        """The LLVM pointer type of buffers."""
        return f"ptr addrspace({self.address_space})" if self.address_space else "ptr"

    @property
    def vectorizes_itself(self) -> bool:
        """True if kernels may be written with vectors, rather than vectorised by LLVM."""
        return self.vector.is_fixed and self.vector.bits >= 128

    def units(self) -> Iterator[tuple[str, Unit]]:
        """Yield the parts that have numbers, by name."""
        yield "vector", self.vector
        for k, cache in enumerate(self.caches):
            yield f"cache {k + 1}", cache
        yield "memory", self.memory
        yield "cores", self.cores
        if self.gpu is not None:
            yield "gpu", self.gpu
        yield "launch", self.launch
        for k, link in enumerate(self.links):
            yield f"link {k + 1}", link

    def numbers(self) -> Iterator[tuple[str, str, object, Source]]:
        """Yield every number: its unit, name, value and source."""
        for unit, numbers in self.units():
            for name, value, source in numbers.rows():
                yield unit, name, value, source


_FIXED_WIDTH = (
    "x86_64",
    "aarch64",
)  # elsewhere vectors have no width at compile time, or a small one
_KEEPS_NAN_PAYLOADS = ("x86_64", "aarch64", "riscv64")
_X86_MASKS = {256: frozenset({4, 8}), 512: frozenset({1, 2, 4, 8})}


def cpu_target(  # noqa: PLR0913 - keywords that authors of backends write
    name: str = "cpu", *, triple: str = "", bits: int = 0, fma: bool = True, features: frozenset[str] = frozenset(),
    libraries: bool = False, is_scalable: bool = False, cores: Cores | None = None, source: Source = Source.DEFAULT,
) -> Target:  # fmt: skip
    """Return a CPU, with the numbers that follow from its triple and features.

    bits: of vector registers. libraries: code may call BLAS and LAPACK, whose addresses are
    supplied when it is loaded. source: of the stated numbers.
    """
    is_x86 = triple.startswith("x86_64")
    masks: frozenset[int] = frozenset()
    if is_x86:
        masks = (
            _X86_MASKS[512] if {"avx512bw", "avx512vl"} <= features else _X86_MASKS.get(bits, masks)
        )
    registers = 16 if bits < 512 and triple.startswith(("x86", "i686")) else 32
    vector = VectorUnit().stating(
        source, bits=bits, fma=fma, masks=masks, registers=registers, is_fixed=triple.startswith(_FIXED_WIDTH),
        is_scalable=is_scalable,
    )  # fmt: skip
    abilities = Abilities(
        libraries={"BLAS": "", "LAPACK": ""} if libraries else {},
        keeps_nan_payloads=triple.startswith(_KEEPS_NAN_PAYLOADS),
        streams=is_x86,
    )
    return Target(
        name=name,
        kind=Kind.CPU,
        triple=triple,
        features=features,
        vector=vector,
        cores=cores or Cores(),
        abilities=abilities,
    )


_LAUNCH = Launch(nanoseconds=1000.0)
_THREADS = Abilities(saturates=True, rounds_to_bf16=True, reads_invariant=True)

UNSTATED = cpu_target("unstated", fma=False)  # for passes that run without a backend
HOST_LIKE = cpu_target(bits=512, libraries=True)
NVPTX = Target(name="gpu", kind=Kind.GPU, triple="nvptx64-nvidia-cuda", address_space=1, gpu=GpuUnit(), launch=_LAUNCH,
               abilities=_THREADS)  # fmt: skip
AMDGPU = Target(name="amdgpu", kind=Kind.GPU, triple="amdgcn-amd-amdhsa", address_space=1, stack_space=5, gpu=GpuUnit(),
                launch=_LAUNCH, abilities=_THREADS)  # fmt: skip


def gpu_numbers(target: Target) -> tuple[GpuUnit, Launch]:
    """Return the GPU and launches for estimates: the target's, or an H100's for other targets."""
    return (target.gpu, target.launch) if target.gpu is not None else (GpuUnit(), _LAUNCH)
