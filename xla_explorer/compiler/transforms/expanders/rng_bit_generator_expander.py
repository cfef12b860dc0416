"""Random bits by the integer operations of Philox or ThreeFry.

Source: xla/service/rng_bit_generator_expander.cc; Salmon et al., "Parallel random numbers: as easy
as 1, 2, 3".
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.analysis.threefry import paired_dimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, U32, U64

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def philox_rounds(counter: list[HloValue], key: list[HloValue]) -> list[HloValue]:
    """Return four counter words after ten rounds of Philox.

    Words are u64 that hold 32 bits each, keys broadcast to their shape.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (
            (second >> 32) ^ c1 ^ k0,
            second & 0xFFFFFFFF,
            (first >> 32) ^ c3 ^ k1,
            first & 0xFFFFFFFF,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


def threefry_rounds(counter: list[HloValue], key: list[HloValue]) -> tuple[HloValue, HloValue]:
    """Return two u32 counter words after twenty rounds of ThreeFry."""
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << rotation) | (y >> (32 - rotation))) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + (group + 1)
    return x, y


def _scalars(b: HloBuilder, state: HloValue) -> list[HloValue]:
    """Return the words of the state as u64 scalars."""
    if state.dtype.bits == 32:
        state = b.bitcast_convert(b.reshape(state, (state.size // 2, 2)), U64)
    return [b.reshape(b.slice(state, slice=[(k, k + 1, 1)]), ()) for k in range(state.size)]


def _state_of(b: HloBuilder, words: list[HloValue], like: HloValue) -> HloValue:
    state = b.concatenate(*[b.reshape(w, (1,)) for w in words], dimensions=[0])
    return (
        state
        if like.dtype is U64
        else b.reshape(b.bitcast_convert(state, like.dtype), like.shape.dimensions)
    )


def philox(b: HloBuilder, given: HloValue, count: int, width: int) -> tuple[HloValue, HloValue]:
    """Return the new state, and a vector of `count` words of 32 or 64 bits."""
    words = _scalars(b, given)
    key, low, high = words[0], words[1], words[2] if len(words) > 2 else words[0]
    total = count * width // 32
    blocks = -(-total // 4)
    spread = [b.broadcast(w, (blocks,), ()) for w in (low, high, key & 0xFFFFFFFF, key >> 32)]
    lows = spread[0] + b.arange(blocks, U64)
    highs = spread[1] + (lows < spread[0]).astype(U64)
    made = philox_rounds(
        [lows & 0xFFFFFFFF, lows >> 32, highs & 0xFFFFFFFF, highs >> 32], spread[2:]
    )
    columns = [b.reshape(w.astype(U32), (blocks, 1)) for w in made]
    flat = b.reshape(b.concatenate(*columns, dimensions=[1]), (4 * blocks,))
    flat = b.slice(flat, slice=[(0, total, 1)])
    after = low + blocks
    new = [key, after, high + (after < low).astype(U64)][: len(words)]
    return _state_of(b, new, given), b.bitcast_convert(
        b.reshape(flat, (count, 2)), U64
    ) if width == 64 else flat


def threefry(
    b: HloBuilder, given: HloValue, dimensions: tuple[int, ...], width: int
) -> tuple[HloValue, HloValue]:
    """Return the new state, and words of 32 or 64 bits in the given dimensions."""
    key, start, *unused = _scalars(b, given)
    split, half = 0, dimensions
    if width == 32 and dimensions:
        split = paired_dimension(dimensions)
        half = tuple([-(-n // 2) if d == split else n for d, n in enumerate(dimensions)])
    pairs = math.prod(half)
    counters = b.broadcast(start, (pairs,), ()) + b.arange(pairs, U64)
    keys = [b.broadcast(k.astype(U32), (pairs,), ()) for k in (key & 0xFFFFFFFF, key >> 32)]
    x, y = threefry_rounds(
        [(counters & 0xFFFFFFFF).astype(U32), (counters >> 32).astype(U32)], keys
    )
    new = _state_of(b, [key, start + pairs, *unused], given)
    if width == 64:
        return new, b.reshape(x.astype(U64) | (y.astype(U64) << 32), dimensions)
    if not dimensions:
        return new, b.reshape(x, ())
    apart = (*half[: split + 1], 1, *half[split + 1 :])
    both = b.concatenate(b.reshape(x, apart), b.reshape(y, apart), dimensions=[split + 1])
    whole = b.reshape(both, [2 * n if d == split else n for d, n in enumerate(half)])
    return new, b.slice(whole, slice=[(0, n, 1) for n in dimensions])


@register_pass()
@dataclasses.dataclass(frozen=True)
class RngBitGeneratorExpander(OpExpanderPass):
    """Expand the generator to operations on arrays of counters.

    default_algorithm: the meaning of rng_default, `rng_philox` or `rng_three_fry`.
    """

    name: ClassVar[str] = "rng-bit-generator-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["rng-bit-generator"])
    default_algorithm: str = "rng_philox"

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the new state and the bits."""
        [given] = values_of(b, i)
        shape = i.shape.tuple_shapes[1] if i.shape.is_tuple else i.shape
        algorithm = i.attributes.get("algorithm", "rng_default")
        if algorithm == "rng_default":
            algorithm = self.default_algorithm
        width = 64 if shape.element_type.bits == 64 else 32
        if algorithm == "rng_three_fry":
            new, words = threefry(b, given, shape.dimensions, width)
        else:
            new, words = philox(b, given, shape.element_count, width)
        kind = shape.element_type
        if kind.bits < 32:
            words = words.astype(PRIMITIVE_TYPES[f"u{kind.bits}"])
        bits = b.reshape(
            b.bitcast_convert(words, kind) if words.dtype is not kind else words, shape.dimensions
        )
        return b.tuple(new, bits) if i.shape.is_tuple else bits
