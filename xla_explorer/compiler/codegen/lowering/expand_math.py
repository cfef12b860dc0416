"""The step `expand-math`: a mathematical function becomes the operations of its recipe.

Functions on scalars stay calls if the module defines the functions, which LLVM inlines.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep, RewriteBuilder
from xla_explorer.compiler.codegen.vector_math import opcode_of, write_math


def _is_inline(i: Instruction, features: CodeFeatures) -> bool:
    return not features.calls_math or i.operands[0].type.lanes > 1


def _recipe(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    return write_math(b, opcode_of(str(i.detail)), *i.operands, fused=features.fused)


EXPAND_MATH = RecordStep(
    "expand-math",
    "Write mathematical functions as the operations of their recipes.",
    {"math": _recipe},
    _is_inline,
    "m",
)
