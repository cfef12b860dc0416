"""Copies of values that are made late, and which copies are neighbours in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_explorer.compiler.codegen.ir.values import Scalar
from xla_explorer.compiler.codegen.nest.lower_indices import Copies, Point
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression


class Late(Copies):
    """Values that are written where they are used, again and again: the function finds out whether it has been here before."""

    __slots__ = ()

    def __init__(self, axes: Sequence[Axis], value: Callable[[Point], Scalar]) -> None:
        super().__init__(axes, value, later=True)

    def at(self, point: Point) -> Scalar:
        """See `Copies.at`."""
        return self._value({a: point[a] for a in self.axes})


def are_neighbours(offset: IndexExpression, axis: Axis, width: int) -> bool:
    """Whether elements along an axis lie beside one another, and each `width` of them at a multiple of as many."""
    first = offset.substitute({axis: IndexExpression()})
    if first.constant % width or any(factor % width for _, factor in first.terms):
        return False
    steps = [offset.substitute({axis: IndexExpression((), k)}) - first for k in range(1, axis.extent)]
    return all(step.constant == k and not step.terms for k, step in enumerate(steps, 1))
