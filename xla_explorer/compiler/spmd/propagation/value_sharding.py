"""The sharding of a value while it is propagated, and its projection to the factors of a rule.

Source: Shardy's sdy/transforms/propagation/sharding_projection.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from xla_explorer.compiler.spmd.propagation.axis_lists import (
    Axes,
    Axis,
    axis_of,
    joined,
    part_of,
    total,
)
from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule, Tensor
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.mesh import Mesh


@dataclass(frozen=True)
class ValueSharding:
    """The sharding of one value.

    Attributes
    ----------
    dimensions : tuple of Axes
        The axes of each dimension, from major to minor.
    closed : tuple of bool
        True for a dimension to which propagation must not add axes.
    replicated, unreduced : Axes
        Axes along which every device has a copy, or a term of a sum.
    priorities : tuple of int
        The user's priority of each dimension; () if all are 0.
    reduction : str
        The operation that combines the terms of an unreduced value.
    """

    dimensions: tuple[Axes, ...]
    closed: tuple[bool, ...]
    replicated: Axes = ()
    unreduced: Axes = ()
    priorities: tuple[int, ...] = ()
    reduction: str = ""

    @classmethod
    def read(cls, given: AxisSharding, mesh: Mesh) -> ValueSharding:
        """Return a sharding with the sizes of its axes; axes of size 1 are dropped."""

        def sized(parts: Sequence[object]) -> Axes:
            found = [axis_of(part, mesh) for part in parts]  # type: ignore[arg-type]
            return tuple([axis for axis in found if axis.size > 1])

        priorities = tuple([one or 0 for one in given.priorities])
        return cls(
            tuple([sized(axes) for axes in given.dimensions]),
            tuple([not one for one in given.open]) or (True,) * len(given.dimensions),
            tuple(sorted(sized(given.replicated), key=lambda axis: _place(axis, mesh))),
            sized(given.unreduced),
            priorities if any(priorities) else (),
            given.reduction,
        )

    @classmethod
    def open_everywhere(cls, rank: int) -> ValueSharding:
        """Return the sharding without axes to which every axis may be added."""
        return cls(((),) * rank, (False,) * rank)

    def named(self, mesh: Mesh, name: str = "mesh", *, closed: bool = True) -> AxisSharding:
        """Return the sharding as axes of a mesh, closed unless said otherwise."""

        def parts(axes: Axes) -> tuple[object, ...]:
            return tuple([part_of(axis, mesh) for axis in axes])

        return AxisSharding(
            name,
            tuple([parts(axes) for axes in self.dimensions]),  # type: ignore[misc]
            tuple([not closed and not one for one in self.closed]),
            (None,) * len(self.dimensions),
            parts(self.replicated),  # type: ignore[arg-type]
            parts(self.unreduced),  # type: ignore[arg-type]
            self.reduction,
        )

    @property
    def is_empty(self) -> bool:
        """True if no dimension, replicated or unreduced axis is named."""
        return not any((*self.dimensions, self.replicated, self.unreduced))

    @property
    def axes(self) -> list[Axis]:
        """Every axis that splits a dimension."""
        return [axis for axes in self.dimensions for axis in axes]

    def without_manual(self, manual: frozenset[str]) -> ValueSharding:
        """Return the sharding inside a manual region: the manual axes are gone."""

        def kept(axes: Axes) -> Axes:
            return tuple([axis for axis in axes if axis.name not in manual])

        return replace(
            self,
            dimensions=tuple([kept(axes) for axes in self.dimensions]),
            replicated=kept(self.replicated),
            unreduced=kept(self.unreduced),
        )

    def evenly(self, sizes: Sequence[int]) -> ValueSharding:
        """Return the largest prefix of each dimension's axes that divides its size."""
        found = []
        for axes, size in zip(self.dimensions, sizes, strict=True):
            kept: list[Axis] = []
            for axis in axes:
                common = math.gcd(axis.size, size // total(kept))
                if common > 1:
                    kept.append(Axis(axis.name, axis.before, common))
                if common < axis.size:
                    break
            found.append(axes if size % total(axes) == 0 else tuple(kept))
        return replace(self, dimensions=tuple(found))

    def without_parts(self, mesh: Mesh) -> ValueSharding:
        """Return the sharding whose open dimensions end before the first part of an axis."""
        whole = dict(mesh.axes)
        found = []
        for axes, closed in zip(self.dimensions, self.closed, strict=True):
            kept = takewhile(lambda axis: whole[axis.name] == axis.size, axes)
            found.append(axes if closed else tuple(kept))
        return replace(self, dimensions=tuple(found))


def _place(axis: Axis, mesh: Mesh) -> tuple[int, int]:
    return [name for name, _ in mesh.axes].index(axis.name), axis.before


@dataclass
class FactorSharding:
    """The axes of one factor of one tensor.

    overflow: axes after those that the factor can hold. minor: True for the minor-most factor of
    its dimension, whose axes may leave a rest.
    """

    axes: Axes = ()
    overflow: Axes = ()
    closed: bool = False
    minor: bool = False


@dataclass
class TensorProjection:
    """The sharding of one tensor of an operation, in terms of the factors of its rule."""

    factors: dict[int, FactorSharding]
    given: ValueSharding

    @classmethod
    def of(cls, sharding: ValueSharding, tensor: Tensor, rule: FactorRule) -> TensorProjection:
        """Distribute the axes of each dimension over its factors, from major to minor."""
        found = cls({}, sharding)
        for factors, axes, closed in zip(tensor, sharding.dimensions, sharding.closed, strict=True):
            found._project(factors, list(axes), closed, rule)
        return found

    def _project(
        self, factors: Sequence[int], rest: list[Axis], closed: bool, rule: FactorRule
    ) -> None:
        overflowed = False
        for k, factor in enumerate(factors):
            made = self.factors[factor] = FactorSharding(minor=k == len(factors) - 1)
            made.closed = closed or overflowed
            if overflowed:
                break
            if made.minor:
                made.axes = tuple(joined([], rest))
                break
            taken, left = _fill(rest, rule.sizes[factor])
            made.axes = tuple(taken)
            if left > 1 and rest:
                overflowed = True
                made.overflow = tuple(joined([], rest))

    def sharding(self, tensor: Tensor, sizes: Sequence[int]) -> ValueSharding:
        """Return the tensor's sharding; axes after a factor that is not full are left out."""
        found = []
        for factors in tensor:
            axes: list[Axis] = []
            for factor in factors:
                one = self.factors[factor]
                joined(axes, one.axes)
                if one.overflow:
                    joined(axes, one.overflow)
                    break
                if total(one.axes) < sizes[factor]:
                    break
            found.append(tuple(axes))
        return replace(self.given, dimensions=tuple(found))


def _fill(rest: list[Axis], size: int) -> tuple[list[Axis], int]:
    """Move axes, or parts of them, from `rest` to a factor. Returns (axes, unfilled size)."""
    taken = []
    while rest:
        axis = rest[0]
        common = math.gcd(size, axis.size)
        if common == 1 and axis.size > 1:
            break
        size //= common
        taken.append(Axis(axis.name, axis.before, common))
        if axis.size > common:
            rest[0] = Axis(axis.name, axis.before * common, axis.size // common)
        else:
            rest.pop(0)
    return taken, size
