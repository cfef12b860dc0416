"""Estimated nanoseconds of elementwise work and memory traffic on one CPU core, to rank fusions.

The numbers of launches, registers, caches and memory are the target's.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.vector_math.recipe_cost import PLAIN, InstructionCost
from xla_explorer.compiler.costs.opcode_cost import element_type_of, opcode_cost
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

# Of the cycles that instructions take one after the other, because several registers are in flight;
# and the cycles of a register's share of loads and of the loop. Both were fitted to exponential,
# log, tanh, square root and division (0.10 to 0.20 ns an element on one core with AVX-512); the
# errors are at most 15 %.
_SHARE, _AROUND = 0.36, 3.0
_COMPLEX = 1.5  # of a real operation on the same bytes
_TYPICAL = "tanh"  # of functions whose opcode is not known
# An array stays until the next kernel in a part of a cache, because others are read beside it. L1
# keeps nothing that long.
_SHARES_OF_CACHES = (0.0, 0.25, 0.5)
_SHARE_OF_ROWS = 0.4  # of the time of a byte that is streamed from L2


class FusionCostModel:
    """Times in nanoseconds.

    launch: fixed cost of one kernel. plain, function: of an f32 element of an ordinary operation,
    and of a function. caches: bytes of the largest array that a cache keeps, and time of a byte.
    memory: time of a byte of a larger array. rows: per byte of rows that cache-blocked kernels
    write and read again, in L2.
    """

    __slots__ = ("_cache", "_target", "caches", "function", "launch", "memory", "plain", "rows")

    def __init__(self, target: Target) -> None:
        caches = target.caches
        self.launch, self.memory = target.launch.nanoseconds, target.memory.nanoseconds_per_byte
        shares = _SHARES_OF_CACHES if len(caches) > 1 else _SHARES_OF_CACHES[-1:]
        self.caches = [
            (cache.bytes * shares[min(k, len(shares) - 1)], cache.nanoseconds_per_byte)
            for k, cache in enumerate(caches)
        ]
        self.rows = _SHARE_OF_ROWS * target.second_cache.nanoseconds_per_byte
        self._target = target
        self._cache: dict[tuple[str, str], float] = {}
        self.plain = self._each(PLAIN, 32)
        self.function = self._each(opcode_cost(_TYPICAL, F32), 32)

    def element(self, i: HloInstruction) -> float:
        """Return the nanoseconds to compute one element of the result."""
        kind = element_type_of(i)
        key = (i.opcode.name, kind.name)
        found = self._cache.get(key)
        if found is None:
            bits = max(kind.bits, 32)  # narrow elements are computed in 32 bits
            found = self._each(opcode_cost(i.opcode.name, kind, self._target.lanes(bits)), bits)
            found *= _COMPLEX if kind.is_complex else 1.0
            self._cache[key] = found
        if i.opcode.name == "reduce":
            found *= max(1, i.operands[0].shape.element_count // max(1, i.shape.element_count))
        return found

    def traffic(self, size: float) -> float:
        """Return the nanoseconds to stream an array of `size` bytes once."""
        return size * self.nanoseconds_per_byte(size)

    def nanoseconds_per_byte(self, size: float) -> float:
        """Return the nanoseconds of a byte of an array of `size` bytes."""
        return next((each for held, each in self.caches if size <= held), self.memory)

    def _each(self, cost: InstructionCost, bits: int) -> float:
        """Return the nanoseconds of one element of `bits` bits."""
        if not cost.instructions:
            return 0.0
        clocks = _SHARE * (cost.cycles + _AROUND) / self._target.lanes(bits)
        return clocks / self._target.cores.gigahertz
