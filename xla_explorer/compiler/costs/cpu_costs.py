"""Estimated nanoseconds of elementwise work and memory traffic on one CPU core, to rank fusions.

The constants were measured on one core of an AVX-512 server; those of launches, caches and memory
are the target's.
"""

from __future__ import annotations

from xla_explorer.compiler.target import Cache, Launch, MainMemory, Target
from xla_explorer.hlo.instruction import HloInstruction

# Nanoseconds per f32 element of vectorised code; what is not listed costs _CHEAP.
_CHEAP = 0.03
_NANOSECONDS: dict[str, float] = {
    "exponential": 0.13,
    "exponential-minus-one": 0.2,
    "log": 0.2,
    "log-plus-one": 0.25,
    "logistic": 0.2,
    "tanh": 0.2,
    "sqrt": 0.1,
    "rsqrt": 0.15,
    "cbrt": 0.6,
    "erf": 0.25,
    "sine": 0.4,
    "cosine": 0.4,
    "tan": 0.6,
    "atan2": 0.7,
    "power": 0.6,
    "divide": 0.1,
    "remainder": 0.5,
    "asin": 0.5,
    "acos": 0.5,
    "atan": 0.5,
    "sinh": 0.5,
    "cosh": 0.5,
    "asinh": 0.6,
    "acosh": 0.6,
    "atanh": 0.6,
    "gather": 0.8,
    "dynamic-slice": 0.05,
    "pad": 0.08,
    "concatenate": 0.15,
    "broadcast": 0.0,
    "constant": 0.0,
    "parameter": 0.0,
    "bitcast": 0.01,
    "reshape": 0.01,
    "iota": 0.02,
}
# LLVM instructions of one scalar evaluation; what is not listed counts one.
_EMITTED: dict[str, int] = {
    "exponential": 18,
    "exponential-minus-one": 26,
    "log": 24,
    "log-plus-one": 30,
    "logistic": 22,
    "tanh": 26,
    "rsqrt": 2,
    "cbrt": 30,
    "erf": 30,
    "sine": 40,
    "cosine": 40,
    "tan": 60,
    "atan2": 50,
    "power": 60,
    "remainder": 4,
    "asin": 50,
    "acos": 50,
    "atan": 50,
    "sinh": 40,
    "cosh": 40,
    "asinh": 60,
    "acosh": 60,
    "atanh": 60,
    "gather": 8,
    "dynamic-slice": 4,
    "pad": 5,
    "concatenate": 6,
    "broadcast": 0,
    "constant": 0,
    "parameter": 0,
    "bitcast": 0,
    "clamp": 2,
    "reshape": 0,
}


# An array stays until the next kernel in a part of a cache, because others are read beside it. L1
# keeps nothing that long.
_SHARES_OF_CACHES = (0.0, 0.25, 0.5)


class FusionCostModel:
    """Times in nanoseconds.

    launch: fixed cost of one kernel. caches: bytes of the largest array that a cache keeps, and
    time of a byte. memory: time of a byte of a larger array. rows: per byte of rows that
    cache-blocked kernels write and read again, in L2.
    """

    __slots__ = ("_cache", "caches", "launch", "memory", "rows")

    def __init__(
        self, launch: Launch, caches: tuple[Cache, ...], memory: MainMemory, rows: float = 0.006
    ) -> None:
        self.launch, self.memory = launch.nanoseconds, memory.nanoseconds_per_byte
        shares = _SHARES_OF_CACHES if len(caches) > 1 else _SHARES_OF_CACHES[-1:]
        self.caches = [
            (cache.bytes * shares[min(k, len(shares) - 1)], cache.nanoseconds_per_byte)
            for k, cache in enumerate(caches)
        ]
        self.rows = rows
        self._cache: dict[tuple[str, str], float] = {}

    @classmethod
    def of(cls, target: Target) -> FusionCostModel:
        """Return the model of a target."""
        return cls(target.launch, target.caches, target.memory)

    def element(self, i: HloInstruction) -> float:
        """Return the nanoseconds to compute one element of the result."""
        kind = i.operands[0].shape.element_type if i.shape.is_tuple else i.shape.element_type
        key = (i.opcode.name, kind.name)
        found = self._cache.get(key)
        if found is None:
            found = _NANOSECONDS.get(i.opcode.name, _CHEAP)
            if i.opcode.name in ("divide", "remainder") and kind.is_integer:
                found = 1.0
            if kind.bytes == 8 and found > 0.02:
                found *= 2.0 if found <= _CHEAP else 3.0
            elif kind.bytes == 16:
                found *= 6.0
            self._cache[key] = found
        if i.opcode.name == "reduce":
            found *= max(1, i.operands[0].shape.element_count // max(1, i.shape.element_count))
        return found

    def traffic(self, size: float) -> float:
        """Return the nanoseconds to stream an array of `size` bytes once."""
        for held, nanoseconds in self.caches:
            if size <= held:
                return size * nanoseconds
        return size * self.memory


def emitted_instructions(i: HloInstruction) -> int:
    """Estimate the LLVM instructions that one evaluation of an element takes."""
    return _EMITTED.get(i.opcode.name, 1)
