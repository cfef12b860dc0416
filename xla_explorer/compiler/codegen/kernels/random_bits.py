"""The opcode rng-bit-generator: Philox4x32-10 and ThreeFry2x32-20, bit for bit.

Loops over counters, which vectorise. Source: Salmon et al., "Parallel random numbers: as easy as 1,
2, 3"; the order of counters and words is XLA:CPU's (RngBitGeneratorExpander, prng.cc).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import value_type
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.threefry import paired_dimension
from xla_explorer.hlo.instruction import HloInstruction

_ALGORITHMS = ("rng_default", "rng_philox", "rng_three_fry")
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PHILOX_MULTIPLIERS, _PHILOX_STEPS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_THREEFRY_PARITY = 0x1BD11BDA
Pair = tuple[Value[Integer], Value[Integer]]
_STATE = "random_state"  # of the process, while the program is loaded


def rng_bit_generator_is_emitted(i: HloInstruction) -> Reason | None:
    """Return a refusal unless elements are row-major and the state is two or three 64-bit words."""
    bits = i.shape.tuple_shapes[1] if i.shape.is_tuple else i.shape
    if bits.element_type.is_complex:
        text = f"%{i.name} generates random {bits.element_type}, which has no native code"
        return refuse("random-element-type", text, element_type=bits.element_type.name)
    if bits.rank > 1 and not bits.layout.is_default:
        return refuse("layout-differs", f"the result of %{i.name} must be row-major")
    if i.attributes.get("algorithm", "rng_default") not in _ALGORITHMS or i.operands[
        0
    ].shape.byte_size not in (16, 24):
        return refuse(
            "random-algorithm",
            f"%{i.name}: {i.attributes.get('algorithm')} with a state of {i.operands[0].shape} "
            "has no native code",
        )
    return None


class _Words:
    """The result as a sequence of 32-bit words.

    A 64-bit element has two of them; a narrower element is the low bits of one.
    """

    def __init__(self, context: KernelContext) -> None:
        array = context.outputs[-1]
        self.w = context.writer
        self.pointer = array.pointer
        self.element_bits = value_type(array.shape.element_type).bits
        self.count = array.shape.element_count * max(self.element_bits // 32, 1)

    def store(self, at: Word, word: Value[Integer]) -> None:
        """Store word number `at`."""
        w = self.w
        word = w.index_as(word, Type(f"i{min(self.element_bits, 32)}"))
        if self.element_bits < 8:
            word = w.convert("zext", word, "i8")
        w.store(word, w.address(self.pointer, word.type, at), word.type.bits // 8)


class _State:
    """The generator's state as 64-bit words: key and counter.

    Philox with three words also has the counter's upper half.
    """

    def __init__(self, context: KernelContext) -> None:
        source, self.target = (
            context.arrays[context.roots[0].operands[0]],
            context.outputs[0] if len(context.outputs) > 1 else None,
        )
        self.w = w = context.writer
        self.words = [
            w.load(w.address(source.pointer, I64, k), I64, 4)
            for k in range(source.shape.byte_size // 8)
        ]
        self.key = halves(w, self.words[0])

    def store(self, counter: list[Value[Integer]]) -> None:
        """Store the state after the run, if it is a result."""
        if self.target is None:
            return
        w = self.w
        for k, word in enumerate([self.words[0], *counter]):
            w.store(word, w.address(self.target.pointer, I64, k), 4)


def halves(w: FunctionWriter, word: Value[Integer]) -> Pair:
    """Return the lower and the upper 32 bits of an i64."""
    return w.convert("trunc", word, "i32"), w.convert("trunc", word >> 32, "i32")


def write_random_bits_kernel(context: KernelContext) -> None:
    """Emit the kernel; the state is loaded before the bits and stored after them."""
    if context.roots[0].attributes.get("algorithm", "rng_default") == "rng_three_fry":
        _write_threefry(context)
    else:
        _write_philox(context)


def philox4x32(w: FunctionWriter, counter: list[Value[Integer]], key: Pair) -> list[Value[Integer]]:
    """Emit ten rounds on four i32 counter words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for step in range(10):
        if step:
            k0, k1 = [k + bump for k, bump in zip((k0, k1), _PHILOX_STEPS, strict=True)]
        (low0, high0), (low1, high1) = [
            halves(w, w.convert("zext", c, "i64") * factor)
            for c, factor in zip((c0, c2), _PHILOX_MULTIPLIERS, strict=True)
        ]
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return [c0, c1, c2, c3]


def _write_philox(context: KernelContext) -> None:
    """Emit Philox: one counter yields four consecutive words.

    A state of two words has the key as the counter's upper half.
    """
    w, state, words = context.writer, _State(context), _Words(context)
    low, high = state.words[1], state.words[2] if len(state.words) > 2 else state.words[0]

    def advanced(by: Word) -> Pair:
        """Return the 128-bit counter plus `by`."""
        lower = low + by
        return lower, high + w.convert("zext", w.compare("ult", lower, low), "i64")

    def block(number: Word, length: int) -> None:
        counter = [half for word in advanced(number) for half in halves(w, word)]
        for k, word in enumerate(philox4x32(w, counter, state.key)[:length]):
            words.store(w.add(w.mul(number, 4), k), word)

    whole, rest = divmod(words.count, 4)
    if whole:
        with context.partition.phase(), context.iterate([whole]) as (number,):
            block(number, 4)
    # The old state and the new one may be the same memory: it is written after all tasks have read
    # it.
    with context.partition.phase(alone=True), context.iterate([1]):
        if rest:
            block(whole, rest)
        after = advanced(whole + (rest > 0))
        state.store(list(after)[: len(state.words) - 1])


def threefry2x32(w: FunctionWriter, x: Value[Integer], y: Value[Integer], key: Pair) -> Pair:
    """Emit twenty rounds on two i32 counter words."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ _THREEFRY_PARITY)
    x, y = x + keys[0], y + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = w.per_lane("fshl", y, y, w.number(rotation, y.type)) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + (keys[(group + 2) % 3] + (group + 1))
    return x, y


def _write_threefry(context: KernelContext) -> None:
    """Emit ThreeFry: one counter yields two words.

    They are one 64-bit element, or two adjacent elements along the paired dimension; an odd
    dimension is rounded up.
    """
    w, state, words = context.writer, _State(context), _Words(context)
    dimensions = context.outputs[-1].shape.dimensions

    def pair(number: Word) -> Pair:
        return threefry2x32(w, *halves(w, state.words[1] + number), state.key)

    if words.element_bits == 64:
        outer, size, inner = 1, words.count, 1
    elif not dimensions:
        outer, size, inner = 1, 1, 1
    else:
        split = paired_dimension(dimensions)
        outer, size, inner = (
            math.prod(dimensions[:split]),
            dimensions[split],
            math.prod(dimensions[split + 1 :]),
        )
    half = -(-size // 2)

    def run(extents: list[int], place: Callable[..., tuple[Word, Word, Word]], both: bool) -> None:
        if 0 in extents:
            return
        with context.iterate(extents) as index:
            before, middle, after = place(*index)
            number = w.add(w.mul(w.add(w.mul(before, half), middle), inner), after)
            at = w.add(w.mul(w.add(w.mul(before, size), w.mul(middle, 2)), inner), after)
            x, y = pair(number)
            words.store(at, x)
            if both:
                words.store(w.add(at, inner), y)

    with context.partition.phase():
        run([outer, size // 2, inner], lambda a, b, c: (a, b, c), True)
        if size % 2:
            run([outer, inner], lambda a, c: (a, size // 2, c), False)
    with context.partition.phase(alone=True), context.iterate([1]):
        state.store([state.words[1] + outer * half * inner])


def write_random_state_kernel(context: KernelContext) -> None:
    """Emit rng-get-and-update-state: return the state and add to it.

    The addition is atomic, so that concurrent callers draw different numbers. The first state is
    the evaluator's.
    """
    w, output, delta = context.writer, context.outputs[0], context.roots[0].attribute("delta")
    context.define_variable(_STATE, "[2 x i64]", "[i64 1, i64 0]", 16)
    state = w.named(f"@{_STATE}", PTR)
    high = w.address(state, I64, 1)
    before = w.load_atomic(high, I64)
    low = w.atomic("add", state, w.number(delta, I64))
    carry = w.convert("zext", w.compare("ult", low + delta, low), "i64")
    w.atomic("add", high, carry)
    for k, word in enumerate((low, before)):
        output.store_linear(w, k, word)
