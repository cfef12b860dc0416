"""Vector-math functions as text, for tests that write the rest of a module themselves."""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.compiler.codegen.vector_math import vector_math_functions


def vector_math_module(names: Iterable[str], fused_multiply_add: bool = True) -> str:
    """The named functions, their callees, and the declarations, each once."""
    functions = vector_math_functions(names, fused_multiply_add)
    declarations = dict.fromkeys(d.text for function in functions for d in function.declarations)
    return "\n".join([*(function.text for function in functions), *declarations, ""])
