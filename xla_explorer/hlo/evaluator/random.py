"""Random numbers: Philox4x32-10 and ThreeFry2x32-20 bit for bit, and the stateful opcodes.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (both generators); StableHLO
rng_bit_generator; XLA:CPU for the order of counters and words (RngBitGeneratorExpander, prng.cc).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.analysis.threefry import paired_dimension
from xla_explorer.hlo.evaluator.conversion import convert, from_bits, widen
from xla_explorer.hlo.evaluator.registry import Array, UnsupportedOpcodeError, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def philox4x32(counter: Sequence[Array], key: tuple[int, int]) -> list[Array]:
    """Run ten rounds on four u32 counter words (arrays of u64 that hold 32 bits each)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (second >> _32) ^ c1 ^ np.uint64(k0),
            second & _LOW,
            (first >> _32) ^ c3 ^ np.uint64(k1),
            first & _LOW,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry2x32(counter: tuple[Array, Array], key: tuple[int, int]) -> tuple[Array, Array]:
    """Run twenty rounds on two u32 counter words (u32 arrays)."""
    keys = [np.uint32(key[0]), np.uint32(key[1]), np.uint32(key[0] ^ key[1] ^ 0x1BD11BDA)]
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def philox_bits(state: Array, count: int, bits: int) -> tuple[Array, Array]:
    """Return (new state, `count` words of 32 or 64 bits).

    state: u64 key, counter low [, counter high; the key by default].
    """
    key = int(state[0])
    words = count * bits // 32
    blocks = -(-words // 4)
    low = int(state[1])
    high = int(state[2]) if state.size > 2 else key
    steps = np.arange(blocks, dtype=np.uint64)
    lows = np.uint64(low) + steps
    highs = np.uint64(high) + (lows < np.uint64(low))
    counter = [lows & _LOW, lows >> _32, highs & _LOW, highs >> _32]
    out = (
        np.stack(philox4x32(counter, (key & 0xFFFFFFFF, key >> 32)), axis=-1)
        .astype(np.uint32)
        .reshape(-1)
    )
    after = ((high << 64) | low) + blocks
    new = np.array([key, after & (2**64 - 1), (after >> 64) & (2**64 - 1)][: state.size], np.uint64)
    return new, out[:words] if bits == 32 else out[: 2 * count].view(np.uint64)


def threefry_bits(state: Array, dimensions: tuple[int, ...], bits: int) -> tuple[Array, Array]:
    """Return (new state, words of 32 or 64 bits in the given dimensions).

    state: u64 key, counter.
    """
    key = (int(state[0]) & 0xFFFFFFFF, int(state[0]) >> 32)
    start = np.uint64(state[1])
    count = math.prod(dimensions)
    if bits == 64:
        pairs = count
    else:
        split = paired_dimension(dimensions) if dimensions else 0
        half = tuple([-(-n // 2) if d == split else n for d, n in enumerate(dimensions)])
        pairs = math.prod(half)
    counters = start + np.arange(pairs, dtype=np.uint64)
    x, y = threefry2x32(
        ((counters & _LOW).astype(np.uint32), (counters >> _32).astype(np.uint32)), key
    )
    new = np.array([state[0], start + np.uint64(pairs)], np.uint64)
    if bits == 64:
        return new, (x.astype(np.uint64) | (y.astype(np.uint64) << _32)).reshape(dimensions)
    if not dimensions:
        return new, x.reshape(())
    doubled = [2 * n if d == split else n for d, n in enumerate(half)]
    whole = np.stack([x.reshape(half), y.reshape(half)], axis=split + 1).reshape(doubled)
    return new, whole[tuple([slice(0, n) for n in dimensions])]


@evaluates("rng-bit-generator")
def rng_bit_generator(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (new state, bits), or the bits alone.

    The state is u64[2] or u64[3] (Philox), key first, then the counter; or the same as u32 words.
    """
    given = operands[0]
    if given.nbytes not in (16, 24) or given.ndim != 1:
        raise UnsupportedOpcodeError(
            "rng-bit-generator",
            f"%{i.name} has a state of {i.operands[0].shape.text_without_layout}",
            "give it two or three words of 64 bits",
        )
    state = np.ascontiguousarray(given).view(np.uint64)
    algorithm = i.attributes.get("algorithm", "rng_default")
    shape = i.shape.tuple_shapes[1] if i.shape.is_tuple else i.shape
    width = 64 if shape.element_type.bits == 64 else 32
    if algorithm == "rng_three_fry":
        new, words = threefry_bits(state, shape.dimensions, width)
    elif algorithm in ("rng_philox", "rng_default"):
        new, words = philox_bits(state, shape.element_count, width)
    else:
        raise UnsupportedOpcodeError(
            "rng-bit-generator", f"%{i.name}: unknown algorithm {algorithm}"
        )
    element = shape.element_type
    if element.bits < 32:
        words = words.astype(np.uint16 if element.bits == 16 else np.uint8)
    width = 1 if element.is_pred else element.bits
    bits = from_bits(words & words.dtype.type((1 << width) - 1) if width < 8 else words, element)
    return (
        (new.view(given.dtype), bits.reshape(shape.dimensions))
        if i.shape.is_tuple
        else bits.reshape(shape.dimensions)
    )


@evaluates("rng")
def rng(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Draw rng_uniform in [a, b) or rng_normal with mean a and deviation b.

    The numbers equal those of `rng-expander` for the evaluator's state, so compiled programs draw
    the same. Source: xla/service/rng_expander.cc.
    """
    a, b = operands
    element, dimensions = i.shape.element_type, i.shape.dimensions
    normal = i.attributes.value("distribution") == "rng_normal"
    count, width = i.shape.element_count * (2 if normal else 1), 64 if element.bits > 32 else 32
    _, words = philox_bits(_next_state(evaluator, count), count, width)
    if not element.is_float:
        low, high = (0, 2) if element.is_pred else (int(widen(a)), int(widen(b)))
        numbers = words.reshape(dimensions) % words.dtype.type((high - low) % 2**width or 1)
        numbers = numbers + words.dtype.type(low % 2**width)
        return numbers.astype(np.bool_) if element.is_pred else convert(numbers, element)
    wide = np.float64 if element.bits == 64 else np.float32
    mantissa = 52 if element.bits == 64 else 23
    unit = (words >> words.dtype.type(width - mantissa)).astype(wide) * wide(2.0**-mantissa)
    first, second = wide(widen(a)), wide(widen(b))
    if normal:
        u, v = unit.reshape((2, *dimensions))
        return convert(
            np.asarray(
                first
                + np.sqrt(wide(-2) * np.log(wide(1) - u)) * np.cos(v * wide(2 * math.pi)) * second
            ),
            element,
        )
    drawn = convert(np.asarray(first + unit.reshape(dimensions) * (second - first)), element)
    # Rounding may reach b, which is excluded.
    return (
        np.where(widen(drawn) >= second, a, drawn).astype(element.dtype)
        if second > first
        else drawn
    )


def _next_state(evaluator: Evaluator, delta: int) -> Array:
    state = evaluator.rng_state
    evaluator.rng_state = (state + delta) & (2**128 - 1)
    return np.array([state & (2**64 - 1), state >> 64], np.uint64)


@evaluates("rng-get-and-update-state")
def rng_get_and_update_state(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return the 128-bit state as u64[2], low word first, then add `delta` to the state."""
    return _next_state(evaluator, i.attributes.value("delta"))
