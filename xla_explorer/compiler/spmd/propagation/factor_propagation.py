"""One step of propagation: axes go along the factors of an operation's rule.

Conflicts between factors go to the factor whose source tensor is larger. Source: Shardy's
basic_factor_propagation.cc, aggressive_factor_propagation.cc.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xla_explorer.compiler.spmd.propagation.axis_lists import (
    Axes,
    Axis,
    common_major,
    is_prefix,
    is_strict_prefix,
    prefix_without,
    total,
)
from xla_explorer.compiler.spmd.propagation.value_sharding import TensorProjection
from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule


class Direction(enum.Flag):
    """The directions in which an operation passes a factor's axes on."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3


@dataclass(frozen=True)
class Refused:
    """The reason why a tensor did not take an axis. code: one of REFUSAL_CODES."""

    code: str
    tensor: int
    factor: int
    axis: Axis
    holder: int | None = None


Report = Callable[[Refused], None]


@dataclass
class FactorStep:
    """One operation whose tensors are projected to factors.

    elementwise: a tie between factors goes to the most sharded one, and operands take no axes that
    the result refuses.
    """

    rule: FactorRule
    tensors: list[TensorProjection]
    directions: Sequence[Direction]
    elementwise: bool
    report: Report

    @property
    def operands(self) -> int:
        """Number of operands."""
        return len(self.rule.operands)

    def propagate(self) -> set[int]:
        """Expand the axes of the tensors; returns the numbers of those that changed."""
        wanted = [self._common_axes(k) for k in range(len(self.rule.sizes))]
        if not any(wanted):
            return set()
        order = self._order(wanted)
        changed = set()
        places = range(len(self.tensors))
        for place in (*places[self.operands :], *places[: self.operands]):
            for factor in order:
                if wanted[factor] and self._expand(place, factor, wanted[factor]):
                    changed.add(place)
        return changed

    def _common_axes(self, factor: int) -> Axes:
        """Return the longest list of axes that no tensor contradicts."""
        direction = self.directions[factor]
        if direction is Direction.NONE:
            return ()
        sides = [self.tensors[: self.operands], self.tensors[self.operands :]]
        if direction is Direction.BACKWARD:
            sides.reverse()
        found: Axes = ()
        may_expand = True
        for side, tensors in enumerate(sides):
            if side == 1 and direction is not Direction.BOTH:
                may_expand = False
            for tensor in tensors:
                if factor in tensor.factors:
                    found, may_expand = common_major(found, tensor.factors[factor].axes, may_expand)
        return found

    def _order(self, wanted: Sequence[Axes]) -> list[int]:
        """Return the factors by preference: the largest source first."""
        sources = [(-1, -1)] * len(wanted)
        for place, tensor in enumerate(self.tensors):
            size = math.prod([self.rule.sizes[factor] for factor in tensor.factors])
            for factor, one in tensor.factors.items():
                is_source = wanted[factor] and is_prefix(wanted[factor], one.axes)
                if is_source and size > sources[factor][0]:
                    sources[factor] = size, place
        return sorted(
            range(len(wanted)),
            key=lambda k: (
                -sources[k][0],
                -total(wanted[k]) if self.elementwise else 0,
                sources[k][1],
                k,
            ),
        )

    def _expand(self, place: int, factor: int, wanted: Axes) -> bool:
        """Give a factor of a tensor the axes that it can take; False if nothing changes."""
        tensor = self.tensors[place]
        held = tensor.factors.get(factor)
        if held is None:
            return False
        new = self._truncated(
            wanted, lambda axis, before: self._within_factor(place, factor, axis, before)
        )
        if not is_strict_prefix(held.axes, new):
            return False
        new = self._truncated(new, lambda axis, _: self._across_factors(place, factor, axis))
        if self.elementwise and place < self.operands:
            for result in self.tensors[self.operands :]:
                of_result = result.factors.get(factor)
                if of_result is not None and is_strict_prefix(of_result.axes, new):
                    new = of_result.axes
        if not is_strict_prefix(held.axes, new):
            return False
        held.axes = new
        return True

    @staticmethod
    def _truncated(axes: Axes, fit: Callable[[Axis, int], Axis | None]) -> Axes:
        """Return the axes up to the first that does not fit, which may fit in part."""
        found: list[Axis] = []
        for axis in axes:
            one = fit(axis, total(found))
            if one is None:
                break
            found.append(one)
            if one != axis:
                break
        return tuple(found)

    def _across_factors(self, place: int, factor: int, axis: Axis) -> Axis | None:
        """Return the part of an axis that no other factor of the tensor uses."""
        found: Axis | None = axis
        for other, one in self.tensors[place].factors.items():
            if other != factor:
                found = prefix_without(axis, (*one.overflow, *one.axes))
                if found != axis:
                    self.report(Refused("axis-in-use", place, factor, axis, other))
                if found is None:
                    return None
                axis = found
        return found

    def _within_factor(self, place: int, factor: int, axis: Axis, before: int) -> Axis | None:
        """Return the part of an axis that the tensor's factor can hold."""
        tensor = self.tensors[place]
        held = tensor.factors[factor]
        for code, axes in (
            ("explicitly-replicated", tensor.given.replicated),
            ("unreduced", tensor.given.unreduced),
        ):
            found = prefix_without(axis, axes)
            if found != axis:
                self.report(Refused(code, place, factor, axis))
            if found is None:
                return None
            axis = found
        if any(one.contains(axis) for one in held.axes):
            return axis
        code = "closed"
        if not held.closed and not held.overflow:
            if held.minor:
                return axis
            size = self.rule.sizes[factor]
            common = math.gcd(size // before, axis.size) if size % before == 0 else 1
            if common > 1:
                return Axis(axis.name, axis.before, common)
            code = "indivisible"
        self.report(Refused(code, place, factor, axis))
        return held.axes[-1] if held.axes and held.axes[-1].is_prefix_of(axis) else None
