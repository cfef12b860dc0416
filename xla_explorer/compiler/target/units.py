"""The parts of a machine, with their numbers and the source of each number."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol, Self

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


class Source(enum.Enum):
    """The source of a number.

    DEFAULT: not stated for this machine; the number belongs to the machine that the unit's class
    describes.
    """

    DATA_SHEET = "data sheet"
    MEASURED = "measured"
    DETECTED = "detected"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Numbers of a part of a machine. sources: of the numbers that are not defaults."""

    sources: tuple[tuple[str, Source], ...] = field(default=(), compare=False, repr=False)

    def stating(self, source: Source, *names: str, **numbers: Any) -> Self:
        """Return the unit with these numbers, and with a source for them and for `names`."""
        kept = [
            (name, known)
            for name, known in self.sources
            if name not in names and name not in numbers
        ]
        return replace(
            self, sources=(*kept, *[(name, source) for name in (*names, *numbers)]), **numbers
        )

    def source(self, name: str) -> Source:
        """Return the source of a number."""
        return dict(self.sources).get(name, Source.DEFAULT)

    def rows(self) -> Iterator[tuple[str, object, Source]]:
        """Return name, value and source of each number."""
        for one in fields(self):
            if one.name != "sources":
                yield one.name, getattr(self, one.name), self.source(one.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorUnit(Unit):
    """The vector registers.

    bits: width of a register that code is written for; 0 for scalar code. registers: number of
    architectural registers. units: multiply-adds of whole registers that a core starts per clock.
    fma: one instruction computes a * b + c in f32 and f64. masks: element
    sizes in bytes with masked loads and stores in one instruction. is_fixed: code may use vectors
    of this width, rather than have LLVM vectorise. is_scalable: there are also registers whose
    length is known only at run time, for which LLVM vectorises.
    """

    bits: int = 0
    registers: int = 32
    units: int = 2
    fma: bool = True
    masks: frozenset[int] = frozenset()
    is_fixed: bool = False
    is_scalable: bool = False

    @property
    def bytes(self) -> int:
        """Bytes of a vector register."""
        return self.bits // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache(Unit):
    """A cache.

    bytes: capacity. ways: lines of a set. line: bytes of a line. nanoseconds_per_byte: for an array
    that one core streams from the cache. refill: bytes per nanosecond from the next level.
    shared_by: number of cores that share it, 0 for all.
    """

    bytes: int
    ways: int = 8
    line: int = 64
    nanoseconds_per_byte: float
    refill: float = 10.0
    shared_by: int = 1

    @property
    def set_distance(self) -> int:
        """Distance in bytes of lines that map to the same set."""
        return self.bytes // self.ways


@dataclass(frozen=True, slots=True, kw_only=True)
class MainMemory(Unit):
    """The main memory. nanoseconds_per_byte: for an array that one core streams."""

    nanoseconds_per_byte: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cores(Unit):
    """The cores.

    count: number of cores that programs are partitioned for. pointer_bits: width of an address and
    of `size_t` in C. gigahertz: clock of a core. window: instructions in flight in a core.
    wake_nanoseconds: until a sleeping thread runs.
    """

    count: int = 1
    pointer_bits: int = 64
    gigahertz: float = 2.6
    window: int = 400
    wake_nanoseconds: float = 5000.0


class ProductRates(NamedTuple):
    """Multiply-adds that a multiprocessor starts per clock, by operand type; 0 for none."""

    f16: float
    tf32: float
    f32: float
    f64: float


_LIBRARY_RATES, _OWN_RATES = (
    ProductRates(2048.0, 1024.0, 128.0, 128.0),
    ProductRates(1024.0, 0.0, 128.0, 64.0),
)


WARP_SIZE = 32  # threads in step; PTX fixes it for every NVIDIA GPU
SECTOR_BYTES = 32  # the least transfer of every NVIDIA GPU's memory


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUnit(Unit):
    """A GPU. The defaults are an H100's (SXM), for estimates of GPUs without stated numbers.

    multiprocessors: of the device. threads_per_multiprocessor: resident at once. warp_size: threads
    in step. lanes: f32 operations that a multiprocessor starts per clock; double_rate: the fraction
    of them for f64. clock_gigahertz: boost. l2_bytes, l1_bytes: cache capacities; l2_rate, l1_rate:
    their bandwidth as a multiple of DRAM's. dram_nanoseconds: latency of an access. sector_bytes:
    the least transfer of memory. registers_per_multiprocessor, registers_per_thread: of 32 bits.
    function_instructions: of a transcendental function, the mean of frequent ones in `device_math`
    (tanh 16, log 35). library_rates, own_rates: of products by libraries, and by our kernels.
    library_share: fraction of this rate that a library reaches.
    """

    multiprocessors: int = 132
    threads_per_multiprocessor: int = 2048
    warp_size: int = WARP_SIZE
    lanes: int = 128
    double_rate: float = 0.5
    clock_gigahertz: float = 1.98
    dram_bytes_per_nanosecond: float = 3350.0
    dram_nanoseconds: float = 600.0
    l2_bytes: int = 50 << 20
    l2_rate: float = 2.5
    l1_bytes: int = 256 << 10
    l1_rate: float = 20.0
    sector_bytes: int = SECTOR_BYTES
    registers_per_multiprocessor: int = 65536
    registers_per_thread: int = 255
    function_instructions: float = 20.0
    library_rates: ProductRates = _LIBRARY_RATES
    own_rates: ProductRates = _OWN_RATES
    library_share: float = 0.75

    @property
    def resident_threads(self) -> int:
        """Threads that the whole device holds at once."""
        return self.multiprocessors * self.threads_per_multiprocessor

    @property
    def operations_per_nanosecond(self) -> float:
        """f32 operations per nanosecond on all lanes."""
        return self.multiprocessors * self.lanes * self.clock_gigahertz


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Unit):
    """Launches. nanoseconds: from the end of a kernel to the start of the next."""

    nanoseconds: float = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Unit):
    """A link between devices; the defaults are NVLink's of an H100.

    nanoseconds: until the first byte arrives.
    """

    nanoseconds: float = 10_000.0
    bytes_per_nanosecond: float = 300.0


class OwnProduct(NamedTuple):
    """Our kernel for a product.

    arithmetic_us: the estimate of its plan, without launches, as if memory were free.
    """

    emitter: str
    arithmetic_us: float


class PlansProducts(Protocol):
    """A function that selects our kernel for a product."""

    def __call__(self, dot: HloInstruction) -> OwnProduct | None:
        """Return the kernel and its arithmetic; None if no plan of a product has an estimate."""
        ...


class ServesCalls(Protocol):
    """A check that the installed library, on the present device, computes a call."""

    def __call__(self, call: Any) -> Reason | None:
        """Return why it does not, or None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """The abilities of a backend.

    libraries: name of each library -> why code must not call it, or empty. serves: the check of
    each call; None without a device. tf32: a library may use TF32 for f32 products of default
    precision. product_epilogues: kernels of products fuse a whole epilogue. products: the kernel
    that a product gets. takes_arguments: the caller donates the memory of arguments, so that
    results may stand there. saturates: conversions of floats to integers saturate.
    rounds_to_bf16: LLVM converts f32 to bfloat correctly there. keeps_nan_payloads: arithmetic
    returns an operand's NaN unchanged, except quieted. streams: non-temporal stores pay.
    reads_invariant: memory that a kernel does not write is constant while it runs, so that loads
    may move anywhere.
    """

    libraries: Mapping[str, str] = field(default_factory=dict, hash=False)
    serves: ServesCalls | None = field(default=None, hash=False, compare=False)
    tf32: bool = True
    product_epilogues: bool = False
    products: PlansProducts | None = None
    takes_arguments: bool = False
    saturates: bool = False
    rounds_to_bf16: bool = False
    keeps_nan_payloads: bool = False
    streams: bool = False
    reads_invariant: bool = False

    @property
    def calls_libraries(self) -> bool:
        """True if there is a library that code may call."""
        return any(not why for why in self.libraries.values())
