"""The cost of an HLO opcode on values in registers: that of the instructions in its recipe."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.vector_math import (
    vector_math_function,
    vector_math_opcodes,
    write_math,
)
from xla_explorer.compiler.codegen.vector_math.math_builder import FORMATS
from xla_explorer.hlo.primitive_type import PrimitiveType


class InstructionCost(NamedTuple):
    """The cost of one operation on one register.

    cycles: of its execution unit. latency: cycles until the result. instructions: how many it
    takes.
    """

    cycles: float
    latency: float
    instructions: int = 1


PLAIN = InstructionCost(0.5, 4.0)
_FREE = InstructionCost(0.0, 0.0, 0)
# Of a server core with two vector units; source: A. Fog, "Instruction tables", vectors of 256 bits.
DIVIDE = InstructionCost(8.0, 16.0)
SQUARE_ROOT = InstructionCost(9.0, 20.0)
_INTEGER = InstructionCost(0.5, 1.0)
_INTEGER_DIVIDE = InstructionCost(6.0, 20.0)  # of each lane: there is no instruction on vectors
_OPERATIONS = {
    "bitcast": _FREE,
    "fdiv": DIVIDE,
    **dict.fromkeys(
        ("add", "sub", "and", "or", "xor", "shl", "lshr", "ashr", "icmp", "select"), _INTEGER
    ),
}

_SQUARE_ROOTS = ("float @llvm.sqrt.f32", "double @llvm.sqrt.f64")


def operation_cost(opcode: str, element: PrimitiveType, lanes: int) -> InstructionCost:
    """Return the cost of an elementwise opcode on one register of `lanes` elements."""
    if element.is_float:
        return recipe_cost(opcode, "f64" if element.bits == 64 else "f32") or PLAIN
    if opcode in ("divide", "remainder"):
        one = _INTEGER_DIVIDE
        return InstructionCost(one.cycles * lanes, one.latency, lanes)
    return PLAIN


@cache
def recipe_cost(opcode: str, element_type: str) -> InstructionCost | None:
    """Return the cost of an opcode on f32 or f64; None if the opcode has no recipe.

    The latency is that of the longest chain of instructions.
    """
    if opcode == "divide":
        return DIVIDE
    if opcode == "sqrt":
        return SQUARE_ROOT
    if opcode not in vector_math_opcodes():
        return None
    function = vector_math_function(opcode, element_type).definition
    body, t = InOrderBuilder(), Type(FORMATS[element_type].llvm_type)
    operands = [body.named(f"%x{k}", t) for k in range(len(function.parameters))]
    write_math(body, opcode, *operands)
    ready: dict[str, float] = {}
    cycles, latency, instructions = 0.0, 0.0, 0
    for record in body.records:
        if not isinstance(record, Instruction):
            continue
        cost = _cost_of(record)
        cycles, instructions = cycles + cost.cycles, instructions + cost.instructions
        done = max([ready.get(str(o), 0.0) for o in record.operands], default=0.0) + cost.latency
        ready[str(record.result)] = done
        latency = max(latency, done)
    return InstructionCost(cycles, latency, instructions)


def _cost_of(record: Instruction) -> InstructionCost:
    if record.op == "call":
        return SQUARE_ROOT if record.detail in _SQUARE_ROOTS else PLAIN
    return _OPERATIONS.get(record.op, PLAIN)
