"""The cost of one evaluation of an HLO opcode: of its recipe, or of its index arithmetic."""

from __future__ import annotations

from xla_explorer.compiler.codegen.vector_math.recipe_cost import (
    PLAIN,
    InstructionCost,
    operation_cost,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_FREE = InstructionCost(0.0, 0.0, 0)
# Opcodes that select an element by its index, for a register of 16 lanes. The cycles were measured
# on one core with AVX-512; the instructions are those of one lane.
_MOVES = {
    **dict.fromkeys(("broadcast", "constant", "parameter", "bitcast", "reshape"), _FREE),
    "clamp": InstructionCost(2 * PLAIN.cycles, 2 * PLAIN.latency, 2),
    "dynamic-slice": InstructionCost(2.5, 6.0, 4),
    "pad": InstructionCost(6.0, 8.0, 5),
    "concatenate": InstructionCost(14.0, 8.0, 6),
    "gather": InstructionCost(89.0, 12.0, 8),
}


def opcode_cost(opcode: str, element: PrimitiveType, lanes: int = 1) -> InstructionCost:
    """Return the cost of an opcode on one register of `lanes` elements."""
    return _MOVES.get(opcode) or operation_cost(opcode, element, lanes)


def element_type_of(i: HloInstruction) -> PrimitiveType:
    """Return the element type that an instruction computes with."""
    return i.operands[0].shape.element_type if i.shape.is_tuple else i.shape.element_type


def emitted_instructions(i: HloInstruction) -> int:
    """Estimate the LLVM instructions that one evaluation of an element takes."""
    if i.shape.is_tuple and not i.operands:
        return PLAIN.instructions
    return opcode_cost(i.opcode.name, element_type_of(i)).instructions
