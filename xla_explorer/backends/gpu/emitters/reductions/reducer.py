"""The reducer of running values as parallel code needs it: how partial results combine."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.arithmetic import select_value
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.reducer import Reducer


class ParallelReducer(Reducer):
    """A reducer of one operation whose partial results threads, warps and blocks combine."""

    def combine(self, a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
        """Two partial results into one."""
        return self.join(a, b)

    def select(self, condition: str, then: list[Scalar], otherwise: list[Scalar]) -> list[Scalar]:
        """`condition ? then : otherwise`."""
        return [select_value(self.w, condition, t, a, b) for a, b, t in zip(then, otherwise, self.wide, strict=True)]
