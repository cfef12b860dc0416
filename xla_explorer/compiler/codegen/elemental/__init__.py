"""Emission of one element of a result, by opcode family.

`emitter.py` has the recursion over operands and the memo; each family registers one function per
opcode.
"""

from xla_explorer.compiler.codegen.elemental import (
    arithmetic,
    comparison,
    complex_numbers,
    conversion,
    data_movement,
    transcendental,
)
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter
from xla_explorer.compiler.codegen.elemental.registry import (
    ELEMENTWISE_EMITTERS,
    INDEXED_EMITTERS,
    elemental_opcodes,
)

__all__ = [
    "ELEMENTWISE_EMITTERS",
    "INDEXED_EMITTERS",
    "ElementalEmitter",
    "arithmetic",
    "comparison",
    "complex_numbers",
    "conversion",
    "data_movement",
    "elemental_opcodes",
    "transcendental",
]
