"""Lists of mesh axes and parts of axes: prefixes, overlaps, merges.

An axis is `(name, steps before it, size)`; a whole axis has 1 step before it and its full size.
Source: Shardy's docs/sharding_representation.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh


class Axis(NamedTuple):
    """An axis of a mesh, or a part of one, with its size."""

    name: str
    before: int
    size: int

    @property
    def end(self) -> int:
        """The steps up to the end of the part."""
        return self.before * self.size

    def is_prefix_of(self, other: Axis) -> bool:
        """Return True if this is the other, or its major part."""
        return self.name == other.name and self.before == other.before and self.size <= other.size

    def contains(self, other: Axis) -> bool:
        """Return True if the other is this or a part of it."""
        return self.name == other.name and self.before <= other.before and other.end <= self.end

    def overlaps(self, other: Axis) -> bool:
        """Return True if both have a common part."""
        return self.name == other.name and self.before < other.end and other.before < self.end


Axes = tuple[Axis, ...]


def axis_of(part: AxisPart, mesh: Mesh) -> Axis:
    """Return an axis of a mesh with its size. KeyError if the mesh lacks it."""
    return Axis(part.name, part.before, mesh.size(part))


def part_of(axis: Axis, mesh: Mesh) -> AxisPart:
    """Return an axis in the form of shardings, in which a whole axis has size 0."""
    whole = dict(mesh.axes)[axis.name] == axis.size
    return AxisPart(axis.name) if whole else AxisPart(axis.name, axis.before, axis.size)


def total(axes: Iterable[Axis]) -> int:
    """Return the product of the sizes."""
    return math.prod([axis.size for axis in axes])


def joined(axes: list[Axis], more: Sequence[Axis]) -> list[Axis]:
    """Append axes; the first is merged with the last one if it continues it."""
    for k, axis in enumerate(more):
        last = axes[-1] if axes and k == 0 else None
        if last is not None and last.name == axis.name and last.end == axis.before:
            axes[-1] = Axis(axis.name, last.before, last.size * axis.size)
        else:
            axes.append(axis)
    return axes


def prefix_without(axis: Axis, others: Iterable[Axis]) -> Axis | None:
    """Return the longest major part of an axis that overlaps no other, or None."""
    for other in others:
        if axis.overlaps(other):
            if axis.before >= other.before:
                return None
            axis = Axis(axis.name, axis.before, other.before // axis.before)
    return axis


def is_prefix(first: Sequence[Axis], second: Sequence[Axis]) -> bool:
    """Return True if a list of axes is the other, or splits the same dimension less finely."""
    if not first:
        return True
    if len(first) > len(second):
        return False
    last = len(first) - 1
    return tuple(first[:last]) == tuple(second[:last]) and first[last].is_prefix_of(second[last])


def is_strict_prefix(first: Sequence[Axis], second: Sequence[Axis]) -> bool:
    """Return True if a list of axes is a prefix of another and differs from it."""
    return tuple(first) != tuple(second) and is_prefix(first, second)


def common_major(old: Axes, new: Axes, may_expand: bool) -> tuple[Axes, bool]:
    """Return the axes that two lists agree on, the longer list if there is no conflict.

    may_expand: False if the new list must not add axes. The second result is False after a
    conflict.
    """
    found: list[Axis] = []
    for k, (a, b) in enumerate(zip(old, new, strict=False)):
        if a == b:
            found.append(b)
        elif b.is_prefix_of(a):
            if k + 1 < len(new):
                return (*found, b), False
            found.append(a)
        elif a.is_prefix_of(b):
            if not may_expand or k + 1 < len(old):
                return (*found, a), False
            found.append(b)
        else:
            return tuple(found), False
    rest = old[len(found) :] or (new[len(found) :] if may_expand else ())
    return (*found, *rest), may_expand
