"""The step `wide-memory`: loads and stores that several instances of an unrolled axis share.

contiguous, on GPUs: elements that are contiguous along the axis and aligned to the width of the
access, up to 16 bytes. square, on CPUs: the array is contiguous along the unrolled axis instead of
the vector axis; whole registers are loaded along the former and transposed. pair, on CPUs: the axis
has the two bf16 of a 32-bit word, and lanes are consecutive words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from xla_explorer.compiler.codegen.lowering.nest_step import INSTANCES, NestStep
from xla_explorer.compiler.codegen.lowering.nest_steps.bind_launch import THREAD
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, points
from xla_explorer.compiler.codegen.nest.accesses import (
    are_contiguous,
    axis_along_memory,
    is_inside,
    packed_pair_axis,
)
from xla_explorer.compiler.codegen.nest.ir import (
    WITH_BODIES,
    AxisKind,
    Body,
    For,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    Store,
    axes_of,
    with_bodies,
)
from xla_explorer.compiler.codegen.nest.lowered_axes import WideAccess
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, index
from xla_explorer.hlo.primitive_type import BF16

CONTIGUOUS, SQUARE, PAIR = "contiguous", "square", "pair"
WIDEST = 16  # bytes
NARROWEST = 2  # bytes; LLVM joins accesses to shorter elements itself, and splits wide ones


def with_wide_accesses(nest: LoopNest) -> LoopNest:
    """Return the nest whose wide accesses are marked."""
    launched = any(axis.name == THREAD for axis in nest.launch)
    find = _contiguous if launched else _of_lanes
    body = _marked(nest, nest.body, _Around(), find)
    return nest if body is nest.body else replace(nest, body=body)


class _Around(NamedTuple):
    """The axes and conditions around a statement.

    unrolled: axes of instances, the innermost last. vector: the axis of lanes. apart: axes whose
    instances choose different cases. guarded: guards are conditions of accesses.
    """

    unrolled: tuple[Axis, ...] = ()
    vector: Axis | None = None
    apart: frozenset[Axis] = frozenset()
    guarded: bool = False

    def inside(self, s: Statement) -> _Around:
        """Return what is around the statements of a body."""
        vector = next((b.axis for b in axes_of(s) if b.kind is AxisKind.VECTOR), self.vector)
        own = [b.axis for b in axes_of(s) if b.kind in INSTANCES]
        guarded = isinstance(s, SelectRegion) or bool(isinstance(s, For | Reduce) and s.guards)
        apart = self.apart
        if isinstance(s, SelectRegion):
            apart = apart.union(*[g.expression.axes for c in s.cases for g in c.guards])
        return _Around((*self.unrolled, *own), vector, apart, self.guarded or guarded)


_Search = Callable[[LoopNest, Load | Store, _Around], WideAccess | None]


def _marked(nest: LoopNest, body: Body, around: _Around, find: _Search) -> Body:
    made: list[Statement] = []
    for s in body:
        if isinstance(s, Load | Store):
            wide = find(nest, s, around) if around.unrolled or around.vector else None
            made.append(s if wide is None else replace(s, wide=wide))
        elif s.__class__ in WITH_BODIES:
            inner = partial(_marked, nest, around=around.inside(s), find=find)
            made.append(with_bodies(s, inner))
        else:
            made.append(s)
    return body if all(x is y for x, y in zip(body, made, strict=True)) else tuple(made)


def _of_lanes(nest: LoopNest, s: Load | Store, around: _Around) -> WideAccess | None:
    """Return the wide access of a vector whose lanes are not contiguous."""
    vector = around.vector
    if vector is None or not any(vector in x.axes for x in s.place):
        return None
    array, offset = nest.array(s.array), nest.offset_of(s)
    assert array is not None
    axes = [a for a in around.unrolled if any(a in x.axes for x in s.place)]
    if isinstance(s, Load) and is_inside(s, array):
        rows = axis_along_memory(offset, vector, axes)
        if rows is not None:
            return WideAccess(SQUARE, rows.name, rows.extent)
    if around.guarded or array.shape.element_type is not BF16:
        return None
    pair = packed_pair_axis(offset, vector, axes)
    return WideAccess(PAIR, pair.name, 2) if pair is not None else None


def _contiguous(nest: LoopNest, s: Load | Store, around: _Around) -> WideAccess | None:
    """Return the wide access of aligned contiguous elements, by one thread."""
    array = nest.array(s.array)
    if array is None or all(a is not array for a in nest.arrays):
        return None
    element, offset = array.shape.element_type, nest.offset_of(s)
    if (element.bytes // 2 if element.is_complex else element.bytes) < NARROWEST:
        return None
    axes = [a for a in around.unrolled if a in offset.axes]
    for axis in [a for a in reversed(axes) if a not in around.apart]:
        width = min(WIDEST // element.bytes, axis.extent & -axis.extent)
        rest = [a for a in axes if a != axis]
        if width > 1 and all(
            are_contiguous(_at(offset, point), axis, width) for point in points(rest)
        ):
            return WideAccess(CONTIGUOUS, axis.name, width)
    return None


def _at(offset: IndexExpression, point: Point) -> IndexExpression:
    return offset.substitute({axis: index(step) for axis, step in point.items()})


WIDE_MEMORY = NestStep(
    "wide-memory",
    "Load or store several instances by one access.",
    with_wide_accesses,
)
