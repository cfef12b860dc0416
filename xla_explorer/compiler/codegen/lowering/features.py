"""Features of a target that decide what lowering steps write."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.target import Target


class CodeFeatures(NamedTuple):
    """Features of a target.

    fused: it has fused multiply-adds. saturates: it converts floats to integers with saturation in
    one instruction, also on vectors. rounds_to_bf16: LLVM converts between f32 and bfloat there.
    keeps_nan_payloads: arithmetic returns an operand's NaN unchanged, except quieted, and the lower
    16 bits of its own NaNs are zero. calls_math: mathematical functions on scalars are functions of
    the module. divides_in_floats: vectors are divided as floats only.
    """

    fused: bool = True
    saturates: bool = False
    rounds_to_bf16: bool = False
    keeps_nan_payloads: bool = False
    calls_math: bool = False
    divides_in_floats: bool = False


def features_of(target: Target, *, calls_math: bool = True) -> CodeFeatures:
    """Return the features of a target."""
    return CodeFeatures(
        target.vector.fma,
        target.abilities.saturates,
        target.abilities.rounds_to_bf16,
        target.abilities.keeps_nan_payloads,
        calls_math,
        target.vectorizes_itself and not target.is_launched,
    )
