"""Passes that make programs smaller or cheaper without deciding anything about the machine."""

from __future__ import annotations

from xla_explorer.compiler.transforms.simplifiers import (
    common_subexpressions,
    constant_folding,
    dead_code,
    reshape_mover,
    transpose_folding,
    tuple_simplifier,
    zero_sized,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic import algsimp

__all__ = [
    "algsimp",
    "common_subexpressions",
    "constant_folding",
    "dead_code",
    "reshape_mover",
    "transpose_folding",
    "tuple_simplifier",
    "zero_sized",
]
