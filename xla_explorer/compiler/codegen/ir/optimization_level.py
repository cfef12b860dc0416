"""How much of LLVM's optimiser a function needs: a field of a kernel, and an attribute of its LLVM function."""

from __future__ import annotations

import enum


class OptimizationLevel(enum.IntEnum):
    """What LLVM does to a function before it generates code; of several parts of a function the highest counts.

    DEFAULT: the whole pipeline. SHORT: variables become registers, constants fold, nothing is
    vectorised or unrolled; for loops that are scalar by their nature, and for those in vectors
    among others that are not. FINAL: nothing; vectors, tiles and addresses are chosen.
    """

    DEFAULT = 0
    SHORT = 1
    FINAL = 2

    @property
    def attribute(self) -> str:
        """The function attribute that states the effort, with a blank in front; empty for DEFAULT."""
        return f' "effort"="{self.name.lower()}"' if self else ""
