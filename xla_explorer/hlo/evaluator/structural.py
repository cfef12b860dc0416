"""Structural opcodes: tuples, copies, tokens, barriers.

Parameters and constants are slots of a plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.plan import literal_value
from xla_explorer.hlo.evaluator.registry import TOKEN_VALUE, Value, evaluates
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates("parameter")
def parameter(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Raise TypeError: plans fill parameters from the arguments."""
    raise TypeError("the value of a parameter is an argument of its computation")


@evaluates("constant")
def constant(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the literal's value."""
    return literal_value(i.literal)


@evaluates("tuple")
def make_tuple(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the operands as a tuple."""
    return tuple(operands)


@evaluates("get-tuple-element")
def get_tuple_element(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return one element of a tuple."""
    return operands[0][i.attributes["index"]]


@evaluates("copy", "opt-barrier", "domain", "copy-done", "add-dependency")
def first_operand(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return operand 0 itself (of `copy-done`: the destination)."""
    return operands[0][0] if i.opcode.name == "copy-done" else operands[0]


@evaluates("copy-start")
def copy_start(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (destination, source, context)."""
    return (operands[0], operands[0], np.zeros((), np.uint32))


@evaluates("after-all")
def after_all(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return a token."""
    return TOKEN_VALUE


def zeros(shape: Shape) -> Value:
    """Return the value of a shape with all elements zero."""
    if shape.is_tuple:
        return tuple(map(zeros, shape.tuple_shapes))
    return np.zeros(shape.dimensions, shape.element_type.dtype) if shape.is_array else TOKEN_VALUE
