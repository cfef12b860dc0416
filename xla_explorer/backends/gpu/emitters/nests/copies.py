"""Copies of a value: one for each point of the unrolled and vector axes that it depends on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression

Point: TypeAlias = Mapping[Axis, int]


class Copies:
    """values: by the steps of the axes."""

    __slots__ = ("axes", "values")

    def __init__(self, axes: Sequence[Axis], values: Mapping[tuple[int, ...], Scalar]) -> None:
        self.axes, self.values = tuple(axes), values

    @classmethod
    def of(cls, axes: Sequence[Axis], value: Callable[[Point], Scalar]) -> Copies:
        """A value for each point."""
        return cls(axes, {tuple(point.values()): value(point) for point in points(axes)})

    def at(self, point: Point) -> Scalar:
        """The copy of a point, which may have more axes."""
        return self.values[tuple([point[a] for a in self.axes])]


class Late(Copies):
    """Values that are written where they are used, again and again: `value` finds out whether it has been here before."""

    __slots__ = ("value",)

    def __init__(self, axes: Sequence[Axis], value: Callable[[Point], Scalar]) -> None:
        super().__init__(axes, {})
        self.value = value

    def at(self, point: Point) -> Scalar:
        """See `Copies.at`."""
        return self.value({a: point[a] for a in self.axes})


def points(axes: Sequence[Axis]) -> Iterator[dict[Axis, int]]:
    """All points of axes, the last varying fastest."""
    for steps in itertools.product(*[range(a.extent) for a in axes]):
        yield dict(zip(axes, steps, strict=True))


def are_neighbours(offset: IndexExpression, axis: Axis, width: int) -> bool:
    """Whether elements along an axis lie beside one another, and each `width` of them at a multiple of as many."""
    first = offset.substitute({axis: IndexExpression()})
    if first.constant % width or any(factor % width for _, factor in first.terms):
        return False
    steps = [offset.substitute({axis: IndexExpression((), k)}) - first for k in range(1, axis.extent)]
    return all(step.constant == k and not step.terms for k, step in enumerate(steps, 1))
