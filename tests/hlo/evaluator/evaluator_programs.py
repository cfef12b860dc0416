"""Small modules for the evaluator's tests: one opcode over parameters, with its reducers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, primitive_type_of
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape


def dtype(name: str) -> np.dtype[Any]:
    """Numpy's dtype of an HLO type name."""
    return PRIMITIVE_TYPES[name].dtype


def shape_of(array: np.ndarray[Any, Any]) -> Shape:
    """Return the default-layout shape of an array."""
    return array_shape(primitive_type_of(array.dtype), array.shape)


def shape(name: str, *dimensions: int) -> Shape:
    """`shape("f32", 2, 3)`."""
    return array_shape(PRIMITIVE_TYPES[name], dimensions)


def tuple_of(*parts: Shape) -> Shape:
    """Return a tuple shape."""
    return tuple_shape(parts)


def scalar_computation(
    module: HloModule, opcode: str, element: str, result: str | None = None, **attributes: Any
) -> HloComputation:
    """`opcode(p0, p1)` on scalars."""
    computation = module.add_computation(f"scalar_{opcode}")
    operands = [computation.add_parameter(k, shape(element)) for k in range(2)]
    computation.set_root(
        computation.add(opcode, shape(result or element), operands, attributes_of(attributes))
    )
    return computation


def run(
    opcode: str,
    result: Shape | None,
    *arrays: Any,
    to_apply: tuple[str, ...] | None = None,
    called: Any = None,
    **attributes: Any,
) -> Any:
    """Evaluate one opcode. result None: the shape of operand 0.

    to_apply: (opcode, element type[, result type, attributes]).
    """
    module = HloModule("test")
    bodies: tuple[HloComputation, ...] = ()
    if to_apply is not None:
        name, element, *rest = to_apply
        extra = rest[1] if len(rest) > 1 else {}
        bodies = (scalar_computation(module, name, element, rest[0] if rest else None, **extra),)
    elif called is not None:
        bodies = called(module)
    entry = module.add_computation("main", entry=True)
    values = [np.asarray(a) for a in arrays]
    operands = [entry.add_parameter(k, shape_of(a)) for k, a in enumerate(values)]
    entry.set_root(
        entry.add(
            opcode, result or operands[0].shape, operands, attributes_of(attributes), called=bodies
        )
    )
    return evaluate(module, *values)


def run_text(text: str, *arrays: Any) -> Any:
    """Evaluate an HLO module given as text."""
    from xla_explorer.hlo.text import parse_hlo

    return evaluate(parse_hlo(text), *arrays)


SCALAR_COMPUTATIONS = """
add { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = T[] add(a, b) }
mul { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = T[] multiply(a, b) }
max { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = T[] maximum(a, b) }
second { a = T[] parameter(0)  ROOT b = T[] parameter(1) }
ge { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }
lt { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
"""


def module_text(entry: str, element: str = "f32", *computations: str) -> str:
    """Return a module with the listed scalar computations (add, mul, max, second, ge, lt)."""
    lines = [
        line.replace("  ", "\n  ")
        .replace(" { ", " {\n  ")
        .replace(" }", "\n}")
        .replace("T[]", f"{element}[]")
        for line in SCALAR_COMPUTATIONS.strip().splitlines()
        if line.split()[0] in computations
    ]
    body = "\n".join(["  " + line.strip() for line in entry.strip().splitlines()])
    return "HloModule test\n\n" + "\n\n".join(lines) + "\n\nENTRY main {\n" + body + "\n}\n"
