"""Transcendental functions as vectorisable LLVM IR.

`vector_math_function(opcode, element_type)` returns one function, `vector_math_functions(names)`
several with their callees; `write_math` emits one inline, for vectors too. The functions
are scalar, branch-free and `alwaysinline`: no calls of libm, no tables. f16 and bf16 callers
convert to f32 and back. Nothing here imports LLVM.

The text uses fma; `fused_multiply_add=False` selects a variant for targets without it. Every
operation is IEEE arithmetic without fast-math flags: exactness depends on the program order, so
callers must not add flags.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import (
    error_function,
    exponential,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    remainder,
    root,
    trigonometric,
)
from xla_explorer.compiler.codegen.vector_math.function import (
    ELEMENT_TYPES,
    Change,
    Recipe,
    VectorMathFunction,
    function_name,
)
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

__all__ = [
    "ELEMENT_TYPES",
    "VectorMathFunction",
    "element_type_of",
    "function_name",
    "opcode_of",
    "vector_math_function",
    "vector_math_functions",
    "vector_math_opcodes",
    "write_math",
]

_FAMILIES = (
    exponential,
    logarithm,
    hyperbolic,
    trigonometric,
    inverse_trigonometric,
    root,
    power,
    remainder,
    error_function,
)
_RECIPES: dict[str, Recipe] = {
    recipe.opcode: recipe for family in _FAMILIES for recipe in family.RECIPES
}
_KEY_BY_NAME = {
    function_name(opcode, element_type): (opcode, element_type)
    for opcode in _RECIPES
    for element_type in ELEMENT_TYPES
}


def vector_math_opcodes() -> tuple[str, ...]:
    """Return the HLO opcodes with a function, in the order of the families."""
    return tuple(_RECIPES)


@cache
def vector_math_function(
    opcode: str,
    element_type: str,
    fused_multiply_add: bool = True,
    suffix: str = "",
    change: Change | None = None,
) -> VectorMathFunction:
    """Return the function of an HLO opcode ("exponential", "tanh", ...) for "f32" or "f64".

    `fused_multiply_add=False` selects the text for targets without fma (wasm32, x86-64 before
    AVX2). It has the same name and special values, and up to one more unit in the last place of
    error. Raises a LookupError with the existing functions. suffix, change: see `written_function`.
    """
    recipe = _RECIPES.get(opcode)
    if recipe is None or element_type not in recipe.max_ulps:
        raise LookupError(
            f"no vector-math function for opcode '{opcode}' and element type '{element_type}'; "
            f"opcodes: {', '.join(_RECIPES)}; element types: {', '.join(ELEMENT_TYPES)}"
        )
    return recipe.build(element_type, fused_multiply_add, suffix, change)


def write_math(b: Builder, opcode: str, *operands: Value, fused: bool = True) -> Value:
    """Emit an opcode on floats inline, for as many lanes as the operands have.

    fused: see `vector_math_function`.
    """

    def call(function: str, arguments: tuple[Value, ...]) -> Value:
        return write_math(b, opcode_of(function), *arguments, fused=fused)

    return _RECIPES[opcode].emit(MathBuilder(b, operands, call, fused))


def opcode_of(function: str) -> str:
    """Return the opcode of a function by its name."""
    return _KEY_BY_NAME[function][0]


def element_type_of(function: str) -> str:
    """Return the element type of a function by its name."""
    return _KEY_BY_NAME[function][1]


def vector_math_functions(
    names: Iterable[str], fused_multiply_add: bool = True
) -> tuple[VectorMathFunction, ...]:
    """Return the named functions and their callees, each once, callees first.

    Raises a LookupError for an unknown name.
    """
    found: dict[str, VectorMathFunction] = {}

    def visit(name: str) -> None:
        if name in found:
            return
        if name not in _KEY_BY_NAME:
            raise LookupError(
                f"no vector-math function is named '{name}'; names: {', '.join(_KEY_BY_NAME)}"
            )
        function = vector_math_function(*_KEY_BY_NAME[name], fused_multiply_add)
        for dependency in function.dependencies:
            visit(dependency)
        found[name] = function

    for name in names:
        visit(name)
    return tuple(found.values())
