"""sqrt, rsqrt and cbrt."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.scalar_builder import ScalarBuilder, Value


def square_root(b: ScalarBuilder) -> Value:
    return b.square_root(b.argument())


def reciprocal_square_root(b: ScalarBuilder) -> Value:
    return 1.0 / b.square_root(b.argument())


RECIPES: Final = (
    Recipe("sqrt", square_root, {"f32": 0.5, "f64": 0.5}, "llvm.sqrt, correctly rounded"),
    Recipe("rsqrt", reciprocal_square_root, {"f32": 1.5, "f64": 1.5}, "1/sqrt(x), both correctly rounded"),
)
