"""Which copies of values are neighbours in memory."""

from __future__ import annotations

from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression


def are_neighbours(offset: IndexExpression, axis: Axis, width: int) -> bool:
    """Whether elements along an axis lie beside one another, and each `width` of them at a multiple of as many."""
    first = offset.substitute({axis: IndexExpression()})
    if first.constant % width or any(factor % width for _, factor in first.terms):
        return False
    steps = [offset.substitute({axis: IndexExpression((), k)}) - first for k in range(1, axis.extent)]
    return all(step.constant == k and not step.terms for k, step in enumerate(steps, 1))
