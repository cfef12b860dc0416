"""Modules of real XLA: which instructions a kernel computes, and other groups of them."""

from xla_explorer.compiler.xla.regrouping import fuse, keep_apart, kernel_of, named

__all__ = ["fuse", "keep_apart", "kernel_of", "named"]
