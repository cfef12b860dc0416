"""What a vector-math function is: the finished text and the recipe that writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from xla_explorer.compiler.codegen.vector_math.scalar_builder import ScalarBuilder, Value

ELEMENT_TYPES: Final = ("f32", "f64")
# What the separate roundings of products cost at most on targets without fma.
UNFUSED_ULPS: Final = 1.0


@dataclass(frozen=True)
class VectorMathFunction:
    """A transcendental function as LLVM IR text: one straight-line scalar `define`, inlined away by the optimiser.

    `name` has no '@'. `dependencies` are names of further vector-math functions that the text calls, `declarations` the
    `declare` lines of the LLVM intrinsics it uses. `max_ulps` bounds the error in units in the last place of a normal
    result; `source` names the algorithm.
    """

    name: str
    text: str
    dependencies: tuple[str, ...]
    declarations: tuple[str, ...]
    max_ulps: float
    source: str


@dataclass(frozen=True)
class Recipe:
    """How to write one opcode's function for any element type. `max_ulps` is keyed by element type."""

    opcode: str
    emit: Callable[[ScalarBuilder], Value]
    max_ulps: Mapping[str, float]
    source: str
    parameters: tuple[str, ...] = ("x",)

    def build(self, element_type: str, fused_multiply_add: bool = True) -> VectorMathFunction:
        name = function_name(self.opcode, element_type)
        builder = ScalarBuilder(name, element_type, self.parameters, fused_multiply_add)
        text = builder.text(self.emit(builder))
        max_ulps = self.max_ulps[element_type] + (0.0 if fused_multiply_add else UNFUSED_ULPS)
        return VectorMathFunction(name, text, builder.dependencies, builder.declarations, max_ulps, self.source)


def function_name(opcode: str, element_type: str) -> str:
    """The LLVM name; without '.' and '-', which ptxas does not accept in names."""
    return f"xe_{opcode.replace('-', '_')}_{element_type}"
