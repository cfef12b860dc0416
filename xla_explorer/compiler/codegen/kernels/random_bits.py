"""The opcode rng-bit-generator: Philox4x32-10 and ThreeFry2x32-20, bit for bit.

Loops over counters, which vectorise. Source: Salmon et al., "Parallel random numbers: as easy as 1,
2, 3"; the order of counters and words is XLA:CPU's (RngBitGeneratorExpander, prng.cc).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import register_type, type_bits
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.threefry import paired_dimension
from xla_explorer.hlo.instruction import HloInstruction

_ALGORITHMS = ("rng_default", "rng_philox", "rng_three_fry")
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PHILOX_MULTIPLIERS, _PHILOX_STEPS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_THREEFRY_PARITY = 0x1BD11BDA
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
            f"%{i.name}: {i.attributes.get('algorithm')} with a state of {i.operands[0].shape} has no native code",
        )
    return None


class _Words:
    """The result as a sequence of 32-bit words.

    A 64-bit element has two of them; a narrower element is the low bits of one.
    """

    def __init__(self, context: KernelContext) -> None:
        array = context.outputs[-1]
        self.w = context.writer
        self.pointer, self.pointer_type = array.pointer, array.pointer_type
        self.element_bits = type_bits(register_type(array.shape.element_type))
        self.count = array.shape.element_count * max(self.element_bits // 32, 1)

    def store(self, at: str | int, word: str) -> None:
        """Store word number `at`."""
        w, t = self.w, f"i{min(self.element_bits, 32)}"
        if t != "i32":
            word = w.value(f"trunc i32 {word} to {t}")
        if self.element_bits < 8:
            word, t = w.value(f"zext {t} {word} to i8"), "i8"
        address = w.value(
            f"getelementptr inbounds {t}, {self.pointer_type} {self.pointer}, i64 {at}"
        )
        w.do(f"store {t} {word}, {self.pointer_type} {address}, align {int(t[1:]) // 8}")


class _State:
    """The generator's state as 64-bit words: key and counter.

    Philox with three words also has the counter's upper half.
    """

    def __init__(self, context: KernelContext) -> None:
        source, self.target = (
            context.arrays[context.roots[0].operands[0]],
            context.outputs[0] if len(context.outputs) > 1 else None,
        )
        self.w = context.writer
        self.pointer_type = source.pointer_type
        self.words = [
            self.w.value(f"load i64, {self.pointer_type} {self._at(source.pointer, k)}, align 4")
            for k in range(source.shape.byte_size // 8)
        ]
        self.key = self.halves(self.words[0])

    def _at(self, pointer: str, k: int) -> str:
        return self.w.value(f"getelementptr inbounds i64, {self.pointer_type} {pointer}, i64 {k}")

    def halves(self, word: str | int) -> tuple[str, str]:
        """Lower and upper 32 bits of an i64."""
        w = self.w
        return w.value(f"trunc i64 {word} to i32"), w.value(
            f"trunc i64 {w.value(f'lshr i64 {word}, 32')} to i32"
        )

    def store(self, counter: list[str]) -> None:
        """Store the state after the run, if it is a result."""
        if self.target is None:
            return
        for k, word in enumerate([self.words[0], *counter]):
            self.w.do(
                f"store i64 {word}, {self.pointer_type} {self._at(self.target.pointer, k)}, align 4"
            )


def write_random_bits_kernel(context: KernelContext) -> None:
    """Emit the kernel; the state is loaded before the bits and stored after them."""
    if context.roots[0].attributes.get("algorithm", "rng_default") == "rng_three_fry":
        _write_threefry(context)
    else:
        _write_philox(context)


def philox4x32(w: FunctionWriter, counter: list[str], key: tuple[str, str]) -> list[str]:
    """Emit ten rounds on four i32 counter words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for step in range(10):
        if step:
            k0, k1 = [
                w.value(f"add i32 {k}, {bump}")
                for k, bump in zip((k0, k1), _PHILOX_STEPS, strict=True)
            ]
        low, high = [], []
        for c, factor in zip((c0, c2), _PHILOX_MULTIPLIERS, strict=True):
            product = w.value(f"mul i64 {w.value(f'zext i32 {c} to i64')}, {factor}")
            low.append(w.value(f"trunc i64 {product} to i32"))
            high.append(w.value(f"trunc i64 {w.value(f'lshr i64 {product}, 32')} to i32"))
        c0, c1, c2, c3 = (
            w.value(f"xor i32 {w.value(f'xor i32 {high[1]}, {c1}')}, {k0}"),
            low[1],
            w.value(f"xor i32 {w.value(f'xor i32 {high[0]}, {c3}')}, {k1}"),
            low[0],
        )
    return [c0, c1, c2, c3]


def _write_philox(context: KernelContext) -> None:
    """Emit Philox: one counter yields four consecutive words.

    A state of two words has the key as the counter's upper half.
    """
    w, state, words = context.writer, _State(context), _Words(context)
    low, high = state.words[1], state.words[2] if len(state.words) > 2 else state.words[0]

    def advanced(by: str | int) -> tuple[str, str]:
        """Return the 128-bit counter plus `by`."""
        lower = w.value(f"add i64 {low}, {by}")
        carry = w.value(f"zext i1 {w.value(f'icmp ult i64 {lower}, {low}')} to i64")
        return lower, w.value(f"add i64 {high}, {carry}")

    def block(number: str | int, length: int) -> None:
        counter = [half for word in advanced(number) for half in state.halves(word)]
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


def threefry2x32(w: FunctionWriter, x: str, y: str, key: tuple[str, str]) -> tuple[str, str]:
    """Emit twenty rounds on two i32 counter words."""
    third = w.value(f"xor i32 {w.value(f'xor i32 {key[0]}, {key[1]}')}, {_THREEFRY_PARITY}")
    keys = (key[0], key[1], third)
    x, y = w.value(f"add i32 {x}, {keys[0]}"), w.value(f"add i32 {y}, {keys[1]}")
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = w.value(f"add i32 {x}, {y}")
            rotated = w.call_intrinsic(
                "llvm.fshl.i32", "i32", ("i32", y), ("i32", y), ("i32", str(rotation))
            )
            y = w.value(f"xor i32 {rotated}, {x}")
        x = w.value(f"add i32 {x}, {keys[(group + 1) % 3]}")
        y = w.value(f"add i32 {y}, {w.value(f'add i32 {keys[(group + 2) % 3]}, {group + 1}')}")
    return x, y


def _write_threefry(context: KernelContext) -> None:
    """Emit ThreeFry: one counter yields two words.

    They are one 64-bit element, or two adjacent elements along the paired dimension; an odd
    dimension is rounded up.
    """
    w, state, words = context.writer, _State(context), _Words(context)
    dimensions = context.outputs[-1].shape.dimensions

    def pair(number: str | int) -> tuple[str, str]:
        x, y = state.halves(w.value(f"add i64 {state.words[1]}, {number}"))
        return threefry2x32(w, x, y, state.key)

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

    def run(
        extents: list[int], place: Callable[..., tuple[str | int, str | int, str | int]], both: bool
    ) -> None:
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
        state.store([w.value(f"add i64 {state.words[1]}, {outer * half * inner}")])


def write_random_state_kernel(context: KernelContext) -> None:
    """Emit rng-get-and-update-state: return the state and add to it.

    The addition is atomic, so that concurrent callers draw different numbers. The first state is
    the evaluator's.
    """
    w, output, delta = context.writer, context.outputs[0], context.roots[0].attribute("delta")
    context.define_variable(_STATE, "[2 x i64]", "[i64 1, i64 0]", 16)
    high = f"getelementptr inbounds (i8, ptr @{_STATE}, i64 8)"
    before = w.value(f"load atomic i64, ptr {high} monotonic, align 8")
    low = w.value(f"atomicrmw add ptr @{_STATE}, i64 {delta} monotonic")
    after = w.value(f"add i64 {low}, {delta}")
    wrapped = w.value(f"icmp ult i64 {after}, {low}")
    carry = w.value(f"zext i1 {wrapped} to i64")
    w.value(f"atomicrmw add ptr {high}, i64 {carry} monotonic")
    for k, word in enumerate((low, before)):
        output.store_linear(w, k, word)
