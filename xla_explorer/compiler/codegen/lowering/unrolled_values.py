"""Values with an instance for each point of the unrolled axes on which they depend."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.values import Complex, Scalar, Value
from xla_explorer.hlo.analysis.indexing import Axis, Quotient, Remainder

Point: TypeAlias = dict[Axis, int]
Accumulators: TypeAlias = list[list[Scalar]]  # the values of each accumulator


class UnrolledValue:
    """A value with one instance, an element, for each point of its axes.

    lazy: an instance is made at its first use. recomputed: an instance is made at each use, by a
    function that tracks where it is already visible.
    """

    __slots__ = ("_made", "_recomputed", "_value", "axes")

    def __init__(
        self,
        axes: Sequence[Axis],
        value: Callable[[Point], Scalar],
        lazy: bool = False,
        recomputed: bool = False,
    ) -> None:
        self.axes = tuple(axes)
        self._value, self._recomputed = value, recomputed
        self._made: dict[tuple[int, ...], Scalar] = {}
        if not lazy and not recomputed:
            self._made = (
                {tuple(point.values()): value(point) for point in points(self.axes)}
                if axes
                else {(): value({})}
            )

    def at(self, point: Point) -> Scalar:
        """Return the instance at a point."""
        key = tuple(map(point.__getitem__, self.axes))
        found = self._made.get(key)
        if found is None:
            found = self._value(dict(zip(self.axes, key, strict=True)))
            if not self._recomputed:
                self._made[key] = found
        return found

    def all(self) -> list[Scalar]:
        """Return the instances at all points."""
        return [self.at(point) for point in points(self.axes)]


def points(axes: Sequence[Axis]) -> list[Point]:
    """Return all points of unrolled axes, with the last axis fastest."""
    if len(axes) == 1:
        return [{axes[0]: step} for step in range(axes[0].extent)]
    return [
        dict(zip(axes, steps, strict=True))
        for steps in itertools.product(*[range(a.extent) for a in axes])
    ]


def divisors_below(atom: Quotient | Remainder) -> int:
    """Return the number of divisors to add so that a dividend is at least 0.

    Unsigned division then rounds down.
    """
    return -min(atom.dividend.bounds[0] // atom.divisor, 0)


def with_origin(
    b: StructuredBuilder, value: Callable[[Point], Scalar]
) -> Callable[[Point], Scalar]:
    """Return a function that writes a value later with the origin of the current instruction."""
    origin = b.origin

    def made(point: Point) -> Scalar:
        before, b.origin = b.origin, origin
        found = value(point)
        b.origin = before
        return found

    return made


def flat(values: Sequence[Sequence[Scalar]]) -> list[Value]:
    """Return the parts of all accumulators in one list."""
    return [
        part for mine in values for x in mine for part in (x if isinstance(x, Complex) else (x,))
    ]


def like(values: Sequence[Sequence[Scalar]], parts: Sequence[Value]) -> list[list[Scalar]]:
    """Return accumulators of parts, the inverse of `flat`."""
    rest = iter(parts)
    return [
        [Complex(next(rest), next(rest)) if isinstance(x, Complex) else next(rest) for x in mine]
        for mine in values
    ]
