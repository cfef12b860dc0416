"""Transcendental functions as LLVM IR text that the loop vectoriser widens on every target.

`vector_math_function(opcode, element_type)` gives one function, `vector_math_module(names)` the text of several with all
that they call. The functions are scalar, branch-free and `alwaysinline`: no calls into libm, no tables. f16 and bf16
callers convert to f32 and back. Nothing here imports LLVM.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

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
    Recipe,
    VectorMathFunction,
    function_name,
)

__all__ = [
    "ELEMENT_TYPES",
    "VectorMathFunction",
    "vector_math_function",
    "vector_math_functions",
    "vector_math_module",
    "vector_math_opcodes",
]

_RECIPES: dict[str, Recipe] = {
    recipe.opcode: recipe
    for family in (exponential, logarithm, hyperbolic, root, trigonometric, inverse_trigonometric, error_function, power, remainder)
    for recipe in family.RECIPES
}
_KEY_BY_NAME = {
    function_name(opcode, element_type): (opcode, element_type)
    for opcode in _RECIPES
    for element_type in ELEMENT_TYPES
}


def vector_math_opcodes() -> tuple[str, ...]:
    """The HLO opcodes that have a function, in the order of the families."""
    return tuple(_RECIPES)


@lru_cache(maxsize=None)
def vector_math_function(opcode: str, element_type: str) -> VectorMathFunction:
    """The function of an HLO opcode ("exponential", "tanh", ...) for "f32" or "f64".

    Raises LookupError, which lists what exists, when there is none.
    """
    recipe = _RECIPES.get(opcode)
    if recipe is None or element_type not in recipe.max_ulps:
        raise LookupError(
            f"no vector-math function for opcode '{opcode}' and element type '{element_type}'; "
            f"opcodes: {', '.join(_RECIPES)}; element types: {', '.join(ELEMENT_TYPES)}"
        )
    return recipe.build(element_type)


def vector_math_functions(names: Iterable[str]) -> tuple[VectorMathFunction, ...]:
    """The named functions and all that they call, each once, callees first. LookupError for an unknown name."""
    found: dict[str, VectorMathFunction] = {}

    def visit(name: str) -> None:
        if name in found:
            return
        if name not in _KEY_BY_NAME:
            raise LookupError(f"no vector-math function is named '{name}'; names: {', '.join(_KEY_BY_NAME)}")
        function = vector_math_function(*_KEY_BY_NAME[name])
        for dependency in function.dependencies:
            visit(dependency)
        found[name] = function

    for name in names:
        visit(name)
    return tuple(found.values())


def vector_math_module(names: Iterable[str]) -> str:
    """IR text to append to a module: the named functions, all that they call, then the declarations, each once."""
    functions = vector_math_functions(names)
    declarations = dict.fromkeys(line for function in functions for line in function.declarations)
    return "\n".join([*(function.text for function in functions), *declarations, ""])
