"""Facts about values for the algebraic rules: non-negative, power of two, plain reducer.

Source: algebraic_simplifier.cc, IsNonNegative and IsPositive.
"""

from __future__ import annotations

import math

import numpy as np

from xla_explorer.compiler.rewriting.patterns import Pattern, operator, uniform_value
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT

_DEPTH = 8


def is_non_negative(i: HloInstruction, depth: int = _DEPTH) -> bool:
    """Return True if every element is provably >= +0 (a NaN passes, -0.0 does not)."""
    name, kind = i.opcode.name, i.shape.element_type
    if depth == 0 or kind is None or kind.is_complex:
        return False
    if kind.is_unsigned or kind.is_pred:
        return True
    operands = i.operands
    if name == "exponential" or is_variance(i):
        return True
    if name == "multiply":
        return kind.is_float and operands[0] is operands[1]
    if name == "abs":
        return kind.is_float or is_non_negative(operands[0], depth - 1)
    if name in ("broadcast", "reshape", "transpose", "slice", "copy"):
        return is_non_negative(operands[0], depth - 1)
    if name == "constant":
        value = uniform_value(i)
        return (
            value is not None
            and not isinstance(value, complex)
            and not math.isnan(value)
            and math.copysign(1, value) > 0
        )
    if name == "iota":
        dimension = i.shape.dimensions[i.attributes["iota_dimension"]]
        return kind.is_float or dimension <= 1 << (kind.bits - 1)
    if name == "minimum":
        return is_non_negative(operands[0], depth - 1) and is_non_negative(operands[1], depth - 1)
    if name == "maximum":
        return is_non_negative(operands[0], depth - 1) or is_non_negative(operands[1], depth - 1)
    if name == "select":
        return is_non_negative(operands[1], depth - 1) and is_non_negative(operands[2], depth - 1)
    return False


def is_variance(i: HloInstruction) -> bool:
    """Return True for the variance that cuDNN's batch normalization returns."""
    return (
        i.opcode.name == "get-tuple-element"
        and int(i.attributes["index"]) == 2
        and custom_call_target(i.operands[0]) == "__cudnn$batchNormalizationForwardTraining"
    )


def non_negative(x: HloInstruction) -> Reason | None:
    """Require a non-negative x."""
    return None if is_non_negative(x) else refuse("may-be-negative", f"%{x.name} may be negative")


def is_fixed(i: HloInstruction) -> bool:
    """Return True for a constant of any values, or the broadcast of a uniform one."""
    return i.opcode is CONSTANT or uniform_value(i) is not None


_constant_or_broadcast = operator("constant", "broadcast")


def fixed(name: str) -> Pattern:
    """Return the pattern of a constant of any values, or of the broadcast of a uniform one."""
    return _constant_or_broadcast(name=name).that(is_fixed)


def power_of_two(i: HloInstruction) -> int | None:
    """Return k if the uniform integer constant equals 2**k (k >= 0), else None."""
    value = uniform_value(i)
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and value > 0
        and value & (value - 1) == 0
    ):
        return value.bit_length() - 1
    return None


def plain_reducer(computation: HloComputation) -> str | None:
    """Return the opcode of a reducer that is one operation on two scalar parameters, else None."""
    root = computation.root
    if len(computation.instructions) != 3 or len(root.operands) != 2 or not root.shape.is_scalar:
        return None
    if {o.opcode.name for o in root.operands} != {"parameter"} or root.operands[0] is root.operands[
        1
    ]:
        return None
    in_order = int(root.operands[0].payload) == 0
    return root.opcode.name if root.opcode.commutative or in_order else None


def component_reducers(computation: HloComputation, count: int) -> list[str | None]:
    """Return for each of `count` reduced arrays the operation on its two scalars, or None.

    Parameters k and count + k are the two sides of array k.
    """
    if count == 1 and not computation.root.shape.is_tuple:
        return [plain_reducer(computation)]
    root = computation.root
    if root.opcode.name != "tuple" or len(root.operands) != count:
        return [None] * count
    found: list[str | None] = []
    for number, part in enumerate(root.operands):
        sides = [int(o.payload) for o in part.operands if o.opcode.name == "parameter"]
        ours = sides == [number, count + number] or (
            part.opcode.commutative and sides == [count + number, number]
        )
        found.append(part.opcode.name if ours and len(part.operands) == 2 else None)
    return found


def identity_of(name: str | None, start: HloInstruction) -> Reason | None:
    """Require an initial value that is the identity of the operation.

    None as the operation stands for a reducer of several operations.
    """
    if name is None:
        return refuse("reducer-not-plain", "the reducer is more than one operation")
    wanted, value = identity_element(name, start.shape.element_type), uniform_value(start)
    if wanted is None or value is None or value != wanted:
        return refuse("start-not-identity", f"%{start.name} is not the identity of {name}")
    return None


def placed_first(made: HloComputation) -> HloComputation:
    """Return the new computation, moved before all others of its module, as callees must be."""
    module = made.module
    del module.computations[made.name]
    module.computations = {made.name: made, **module.computations}
    return made


def same_value(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True for the same instruction, or constants with the same bits."""
    if a is b:
        return True
    if a.opcode.name == b.opcode.name == "constant":
        return bool(a.literal == b.literal)
    return False


def as_integer(i: HloInstruction) -> int | None:
    """Return the value of a scalar integer constant, else None."""
    value = uniform_value(i) if i.shape.is_scalar else None
    return int(value) if isinstance(value, (int, np.integer)) else None
