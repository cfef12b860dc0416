"""The old name of `compiler.target`, for one release."""

from xla_explorer.compiler.target.old_facts import codegen_target as CodegenTarget

__all__ = ["CodegenTarget"]
