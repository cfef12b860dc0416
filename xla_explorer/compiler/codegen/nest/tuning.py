"""The numbers behind the decisions of scheduling policies, for every kind of target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xla_explorer.compiler.target import HOST_LIKE, Cache, Target
from xla_explorer.hlo.instruction import HloInstruction

# As multiples of the last cache, of which a core has a part; measured with 16 MiB.
STREAMED, STREAMED_TRANSPOSE = 2.0, 0.25
NEVER = 1 << 62  # more bytes than an array has


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The numbers behind the decisions of policies.

    Attributes
    ----------
    register_bytes : int
        Of a vector register, 0 if LLVM vectorises; of the widest access of a GPU's thread.
    interleave : int
        Registers of each value in cheap code; loads of a GPU's thread before the first use.
    masks : frozenset of int
        Bytes of elements that the target loads and stores under a mask in one instruction.
    cheap_statements : int
        The most statements of cheap code.
    interleave_functions : int
        Registers of each value in code with mathematical functions.
    most_statements : int
        A limit of code size: statements times unrolled instances.
    streamed_bytes : int
        The least bytes of a result with non-temporal stores.
    streamed_transpose_bytes : int
        The same of a transposed result, whose lines conflict in cache sets if extents are powers of
        two.
    registers : int
        Of the target.
    caches : tuple of Cache
        Of the target, the nearest first.
    fused : bool
        The target has fused multiply-adds.
    overlaps_tails : bool
        Steps may be repeated, because no result aliases an operand.
    gathers : bool
        Lanes may be loaded one by one if they are not contiguous in memory.
    combines_pairs : bool
        Threads combine the pairs of an argmax by their indices, so that no order must be kept.
    divided_bits : int
        Of the widest integers that are divided in vectors, as floats.
    most_elements : int
        Of a GPU's thread in an elementwise kernel.
    most_work : int
        Machine instructions of a thread, so that code stays within the instruction cache.
    in_registers : int
        Elements of a row that one thread keeps.
    most_columns : int
        Of a thread, each with an accumulator.
    rows_at_once : int
        Of a tile to transpose, a warp each; more if memory would be idle.
    shortest_side : int
        Elements of a dimension that is worth tiles.
    block : int
        Threads of a block of reductions.
    lone_block : int
        The same if there are fewer blocks than multiprocessors.
    largest_group : int
        Threads of a row.
    least_per_split : int
        Elements of a row that are worth a block of their own.
    least_steps : int
        Rows of a thread that are worth a block of their own.
    short : int
        Elements that one thread combines.
    """

    register_bytes: int = 64
    interleave: int = 4
    masks: frozenset[int] = frozenset({1, 2, 4, 8})
    cheap_statements: int = 12
    interleave_functions: int = 1
    most_statements: int = 600
    streamed_bytes: int = field(default_factory=lambda: streamed_bytes(HOST_LIKE))
    streamed_transpose_bytes: int = field(
        default_factory=lambda: streamed_transpose_bytes(HOST_LIKE)
    )
    registers: int = 32
    caches: tuple[Cache, ...] = HOST_LIKE.caches
    fused: bool = True
    overlaps_tails: bool = True
    gathers: bool = True
    combines_pairs: bool = False
    divided_bits: int = 32
    most_elements: int = 8
    most_work: int = 1024
    in_registers: int = 32
    most_columns: int = 4
    rows_at_once: int = 8
    shortest_side: int = 8
    block: int = 256
    lone_block: int = 1024
    largest_group: int = 1024
    least_per_split: int = 4096
    least_steps: int = 8
    short: int = 8

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


def divided_bits(target: Target) -> int:
    """Return the bits of the widest integers that vectors of floats divide.

    Integers of 64 bits need conversions from and to f64, and products, in vectors: AVX512DQ.
    """
    return 64 if {"avx512dq", "avx512vl"} <= target.features else 32


def streamed_bytes(target: Target) -> int:
    """Return the least bytes of a result that non-temporal stores may write."""
    return int(STREAMED * target.last_cache.bytes)


def streamed_transpose_bytes(target: Target) -> int:
    """Return the same for a transposed result."""
    return int(STREAMED_TRANSPOSE * target.last_cache.bytes)


DEFAULT_TUNING = Tuning()
GPU_TUNING = Tuning(register_bytes=16, combines_pairs=True)


def tuning_of(target: Target, i: HloInstruction | None = None) -> Tuning:
    """Return the numbers of a CPU.

    i: the kernel; x86-64 has non-temporal stores for a result that no other kernel reads.
    """
    vector = target.vector
    tuning = Tuning(
        register_bytes=vector.bytes,
        masks=vector.masks,
        registers=vector.registers,
        caches=target.caches,
        fused=vector.fma,
        divided_bits=divided_bits(target),
        streamed_bytes=streamed_bytes(target),
        streamed_transpose_bytes=streamed_transpose_bytes(target),
    )
    if i is not None and target.abilities.streams and leaves_the_program(i):
        return tuning
    return replace(tuning, streamed_bytes=NEVER, streamed_transpose_bytes=NEVER)


def leaves_the_program(i: HloInstruction) -> bool:
    """Return True if no other kernel reads the result; a loop's next iteration is a reader."""
    passed_on = [
        user.opcode.name == "tuple"
        or (user.opcode.name == "get-tuple-element" and leaves_the_program(user))
        for user in i.users
    ]
    return i.parent.is_entry and all(passed_on)
