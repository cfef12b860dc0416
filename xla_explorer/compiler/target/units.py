"""The parts of a machine, with their numbers, and where each number comes from."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol, Self

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


class Source(enum.Enum):
    """Where a number comes from. DEFAULT: it was not stated for this machine; it is that of the machine which the unit describes."""

    DATA_SHEET = "data sheet"
    MEASURED = "measured"
    ASKED = "asked of the machine"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Numbers of a part of a machine. sources: of those that are no defaults."""

    sources: tuple[tuple[str, Source], ...] = field(default=(), compare=False, repr=False)

    def stating(self, source: Source, *names: str, **numbers: Any) -> Self:
        """The same with these numbers, and with a source for them and for the numbers that are named."""
        kept = [
            (name, known)
            for name, known in self.sources
            if name not in names and name not in numbers
        ]
        return replace(
            self, sources=(*kept, *[(name, source) for name in (*names, *numbers)]), **numbers
        )

    def source(self, name: str) -> Source:
        """Where a number comes from."""
        return dict(self.sources).get(name, Source.DEFAULT)

    def rows(self) -> Iterator[tuple[str, object, Source]]:
        """Name, number and source of each."""
        for one in fields(self):
            if one.name != "sources":
                yield one.name, getattr(self, one.name), self.source(one.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorUnit(Unit):
    """bits: of a vector register that code is written for; 0: there are none, code is scalar. registers: how many code may name.
    fma: one instruction for a * b + c in f32 and f64. masks: bytes of elements that are read and written under a mask in one
    instruction. is_fixed: whether code may name vectors of this width, rather than have LLVM make them. is_scalable: whether there are
    also registers whose length is known only when code runs, for which LLVM makes vectors."""

    bits: int = 0
    registers: int = 32
    fma: bool = True
    masks: frozenset[int] = frozenset()
    is_fixed: bool = False
    is_scalable: bool = False

    @property
    def bytes(self) -> int:
        """Of a vector register."""
        return self.bits // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache(Unit):
    """bytes: that it holds. line: bytes of a line. nanoseconds_per_byte: of an array that is streamed from it by one core.
    shared_by: how many cores have it together, 0: all."""

    bytes: int
    line: int = 64
    nanoseconds_per_byte: float
    shared_by: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Unit):
    """nanoseconds_per_byte: of an array that one core streams."""

    nanoseconds_per_byte: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cores(Unit):
    """count: that programs are cut for. pointer_bits: width of an address, which is that of a size in C."""

    count: int = 1
    pointer_bits: int = 64


class ProductRates(NamedTuple):
    """Multiplications with additions that a multiprocessor starts per clock, by type of the operands; 0: it has none."""

    f16: float
    tf32: float
    f32: float
    f64: float


_LIBRARY_RATES, _OWN_RATES = (
    ProductRates(2048.0, 1024.0, 128.0, 128.0),
    ProductRates(1024.0, 0.0, 128.0, 64.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUnit(Unit):
    """A GPU. The defaults are an H100's (SXM), in whose terms the estimates of a GPU without stated numbers are.

    multiprocessors: of the device. threads_per_multiprocessor: resident at once. warp_size: threads in step. lanes: f32 operations that a
    multiprocessor starts per clock; double_rate: share of them for f64. clock_gigahertz: boost. l2_bytes, l1_bytes: of the caches;
    l2_rate, l1_rate: their bandwidth as a multiple of DRAM's. dram_nanoseconds: latency of an access. registers_per_multiprocessor: of 32
    bits. library_rates, own_rates: of products by libraries, and by kernels of ours. library_share: of that rate, which a library reaches.
    """

    multiprocessors: int = 132
    threads_per_multiprocessor: int = 2048
    warp_size: int = 32
    lanes: int = 128
    double_rate: float = 0.5
    clock_gigahertz: float = 1.98
    dram_bytes_per_nanosecond: float = 3350.0
    dram_nanoseconds: float = 600.0
    l2_bytes: int = 50 << 20
    l2_rate: float = 2.5
    l1_bytes: int = 256 << 10
    l1_rate: float = 20.0
    registers_per_multiprocessor: int = 65536
    library_rates: ProductRates = _LIBRARY_RATES
    own_rates: ProductRates = _OWN_RATES
    library_share: float = 0.75

    @property
    def resident_threads(self) -> int:
        """Threads that the whole device holds at once."""
        return self.multiprocessors * self.threads_per_multiprocessor

    @property
    def operations_per_nanosecond(self) -> float:
        """Of f32, on all lanes."""
        return self.multiprocessors * self.lanes * self.clock_gigahertz


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Unit):
    """nanoseconds: from the end of a kernel to the start of the next, on top of their work."""

    nanoseconds: float = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Unit):
    """Between devices; the defaults are NVLink's of an H100. nanoseconds: until the first byte arrives."""

    nanoseconds: float = 10_000.0
    bytes_per_nanosecond: float = 300.0


class OwnProduct(NamedTuple):
    """Our kernel for a product. arithmetic_us: the estimate of its plan, without launches, as if memory did not matter."""

    emitter: str
    arithmetic_us: float


class PlansProducts(Protocol):
    """Says which kernel of ours a product gets."""

    def __call__(self, dot: HloInstruction) -> OwnProduct | None:
        """The kernel and its arithmetic; None where no plan of a product has an estimate."""
        ...


class ServesCalls(Protocol):
    """Says whether the library that is installed, on the device that there is, computes a call."""

    def __call__(self, call: Any) -> Reason | None:
        """Why it does not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a backend does for programs.

    libraries: those that code may call, name -> why not, empty where it may. serves: who is asked about each call; None where there is
    no device to ask. tf32: whether a library may take TF32 for f32 products of
    default precision. product_epilogues: whether kernels of products take a whole fusion along. products: which kernel a product gets.
    takes_arguments: whether the caller gives the memory of arguments away, so that results may stand there. saturates: whether
    conversions of floats to integers saturate. keeps_nan_payloads: whether arithmetic hands an operand's NaN on as it is, but quiet.
    streams: whether stores past the caches pay. reads_invariant: whether what a kernel does not write stays as it is while it runs, so
    that loads may be moved anywhere.
    """

    libraries: Mapping[str, str] = field(default_factory=dict, hash=False)
    serves: ServesCalls | None = field(default=None, hash=False, compare=False)
    tf32: bool = True
    product_epilogues: bool = False
    products: PlansProducts | None = None
    takes_arguments: bool = False
    saturates: bool = False
    keeps_nan_payloads: bool = False
    streams: bool = False
    reads_invariant: bool = False

    @property
    def calls_libraries(self) -> bool:
        """Whether there is a library that code may call."""
        return any(not why for why in self.libraries.values())
