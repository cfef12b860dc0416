"""Epilogues of a product on its register tiles: a bias, an activation, a residual.

A fusion of kind kOutput has a dot and elementwise operations on its result. Other operands are
scalars, vectors along the last dimension, or arrays of the result's shape; all have the dot's type.
Source of the idea: BLAS extensions' epilogues (cublasLtEpilogue_t), oneDNN's post-ops.
"""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

_IN_REGISTERS = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "negate")


def epilogue_dot(fusion: HloInstruction) -> HloInstruction | None:
    """Return the dot of a fusion that is a product with an epilogue, else None."""
    if fusion.opcode.name != "fusion" or fusion.attributes.get("kind") != "kOutput":
        return None
    return next((i for i in fusion.called[0].instructions.values() if i.opcode.name == "dot"), None)


def belongs_into_epilogue(i: HloInstruction, dot: HloInstruction) -> Reason | None:
    """Return a refusal unless an operation can be part of a dot's epilogue."""
    name, shape = i.opcode.name, i.shape
    if (
        not shape.is_array
        or shape.element_type is not dot.shape.element_type
        or not shape.layout.is_default
    ):
        return refuse(
            "type-differs",
            f"%{i.name} must have the shape of the product, {dot.shape}, got {shape}",
        )
    if not shape.element_type.is_float:
        return refuse(
            "not-in-registers",
            f"%{i.name} computes integers; only tiles of floats have an epilogue",
        )
    if name == "broadcast":
        operand = i.operands[0]
        scalar = operand.shape.element_count == 1 and operand.shape.rank == 0
        if shape.dimensions == dot.shape.dimensions and (
            scalar or i.attribute("dimensions") == (shape.rank - 1,)
        ):
            return None
        return refuse(
            "not-in-registers",
            f"%{i.name} must broadcast its operand along the rows of the product",
        )
    if name in _IN_REGISTERS and shape.dimensions == dot.shape.dimensions:
        return None
    return refuse(
        "not-in-registers", f"%{i.name} ({name}) cannot be computed in the registers of a tile"
    )
