"""Dot-product instructions on small integers and bf16 (VNNI, AVX512-BF16), by target."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.target.target import Target


class DotProductInstruction(NamedTuple):
    """A dot-product instruction (VNNI, dp4a) on narrow numbers, `group` of them per 32 bits.

    It adds the products of two vectors to the 32-bit sums of a third: integers modulo 2^32, floats
    with subnormals as zero. intrinsic: LLVM's name, with a place for the width of the vectors in
    bits. right_first: the order of the two factors. biased: the instruction requires the opposite
    signedness of the left factors. Their highest bit is flipped, which adds 2^(bits - 1) to signed
    numbers and subtracts it from unsigned ones. has_float_sums: the sums are f32.
    """

    intrinsic: str
    group: int
    right_first: bool = False
    biased: bool = False
    has_float_sums: bool = False


_BYTES = "llvm.x86.avx512.vpdpbusd.{}"  # unsigned times signed
_WORDS = "llvm.x86.avx512.vpdpwssd.{}"  # signed times signed
_VNNI = {
    ("u8", "s8"): DotProductInstruction(_BYTES, 4),
    ("s8", "u8"): DotProductInstruction(_BYTES, 4, right_first=True),
    ("s8", "s8"): DotProductInstruction(_BYTES, 4, biased=True),
    ("u8", "u8"): DotProductInstruction(_BYTES, 4, right_first=True, biased=True),
    ("s16", "s16"): DotProductInstruction(_WORDS, 2),
}
_BF16 = {
    ("bf16", "bf16"): DotProductInstruction(
        "llvm.x86.avx512bf16.dpbf16ps.{}", 2, has_float_sums=True
    )
}
# Required features, bits of the widest vectors (LLVM aborts on wider ones), and instructions by the
# type names of the factors.
_INSTRUCTIONS = (
    (frozenset(["avx512vnni", "avx512vl"]), 512, _VNNI),
    (frozenset(["avxvnni"]), 256, _VNNI),
    (frozenset(["avx512bf16", "avx512vl"]), 512, _BF16),
)


def dot_product_instruction(target: Target, left: str, right: str) -> DotProductInstruction | None:
    """Return the target's dot-product instruction for factors of two types, or None."""
    for needed, widest, table in _INSTRUCTIONS:
        if needed <= target.features and target.vector.bits <= widest and (left, right) in table:
            return table[left, right]
    return None
