"""From optimised HLO to NPU instructions, by family of opcodes."""

from __future__ import annotations

from xla_explorer_npu.lowering import contraction, elementwise, movement, reduction  # noqa: F401  # they register their opcodes
from xla_explorer_npu.lowering.program import NpuProgram, write_program
from xla_explorer_npu.lowering.writer import supports

__all__ = ["NpuProgram", "supports", "write_program"]
