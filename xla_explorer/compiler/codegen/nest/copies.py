"""Values in copies: an element for each point of the unrolled axes that it depends on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from xla_explorer.compiler.codegen.ir.values import Scalar
from xla_explorer.hlo.analysis.indexing import Axis

Point: TypeAlias = dict[Axis, int]


class Copies:
    """A value: an element for each point of its axes."""

    __slots__ = ("axes", "values")

    def __init__(self, axes: Sequence[Axis], value: Callable[[Point], Scalar]) -> None:
        self.axes = tuple(axes)
        self.values = {tuple(point.values()): value(point) for point in points(self.axes)}

    def at(self, point: Point) -> Scalar:
        """The copy of a point."""
        return self.values[tuple([point[a] for a in self.axes])]


def points(axes: Sequence[Axis]) -> Iterator[Point]:
    """All points of unrolled axes, the last varying fastest."""
    for steps in itertools.product(*[range(a.extent) for a in axes]):
        yield dict(zip(axes, steps, strict=True))
