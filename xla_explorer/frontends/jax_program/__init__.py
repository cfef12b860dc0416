"""JAX functions, with the user's file and line on each instruction.

Needs the extra `jax`.
"""

from __future__ import annotations

from xla_explorer.frontends.jax_program.capture import captured_programs
from xla_explorer.frontends.jax_program.lowered_program import JaxProgram
from xla_explorer.frontends.jax_program.lowering import from_jax, lower
from xla_explorer.frontends.jax_program.mlir import module_from_mlir

__all__ = ["JaxProgram", "captured_programs", "from_jax", "lower", "module_from_mlir"]
