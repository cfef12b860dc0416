"""Optimisation levels of LLVM functions: a field of a kernel, an attribute of its function."""

from __future__ import annotations

import enum


class OptimizationLevel(enum.IntEnum):
    """Passes of LLVM on a function before instruction selection.

    DEFAULT: the whole pipeline. SHORT: mem2reg and constant folding, without vectorisation or
    unrolling; for scalar loops, and for functions that mix vectorised and scalar loops. FINAL: no
    pass; vectors, tiles and addresses are emitted in their final form. A function with several
    loops has the highest level of its loops.
    """

    DEFAULT = 0
    SHORT = 1
    FINAL = 2

    @property
    def attribute(self) -> str:
        """The function attribute of the level, after a space; empty for DEFAULT."""
        return f' "optimization-level"="{self.name.lower()}"' if self else ""
