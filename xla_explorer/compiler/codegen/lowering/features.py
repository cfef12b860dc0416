"""Features of a target that decide what lowering steps write."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.tuning import divided_bits
from xla_explorer.compiler.target import Target


class CodeFeatures(NamedTuple):
    """Features of a target.

    fused: it has fused multiply-adds. saturates: it converts floats to integers with saturation in
    one instruction, also on vectors. rounds_to_bf16: LLVM converts between f32 and bfloat there.
    keeps_nan_payloads: arithmetic returns an operand's NaN unchanged, except quieted, and the lower
    16 bits of its own NaNs are zero. calls_math: mathematical functions on scalars are functions of
    the module. divided_bits: of the widest integers that are divided in vectors, as floats.
    """

    fused: bool = True
    saturates: bool = False
    rounds_to_bf16: bool = False
    keeps_nan_payloads: bool = False
    calls_math: bool = False
    divided_bits: int = 0


def features_of(target: Target, *, calls_math: bool = True) -> CodeFeatures:
    """Return the features of a target."""
    return CodeFeatures(
        target.vector.fma,
        target.abilities.saturates,
        target.abilities.rounds_to_bf16,
        target.abilities.keeps_nan_payloads,
        calls_math,
        divided_bits(target) if target.vectorizes_itself and not target.is_launched else 0,
    )
