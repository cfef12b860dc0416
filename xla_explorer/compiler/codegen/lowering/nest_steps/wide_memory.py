"""The step `wide-memory`: loads and stores that move several elements at once.

contiguous: the lanes of a CPU, or the unrolled instances of a GPU's thread. The latter are aligned
to the width of the access, up to 16 bytes. All other forms are of a CPU's lanes. backwards:
contiguous elements in reverse order. strided, gathered: one access for each lane; the index of a
gathered one is a value of the lane. streamed: contiguous, by non-temporal stores. square: the array
is contiguous along an unrolled axis instead of the vector axis; whole registers are loaded along
the former and transposed. pair: an unrolled axis has the two bf16 of a 32-bit word, and lanes are
consecutive words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from xla_explorer.compiler.codegen.lowering.lowering_checks import dependencies
from xla_explorer.compiler.codegen.lowering.nest_step import INSTANCES, NestStep
from xla_explorer.compiler.codegen.lowering.nest_steps.bind_launch import THREAD
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, points
from xla_explorer.compiler.codegen.nest.accesses import (
    are_contiguous,
    axis_along_memory,
    is_inside,
    packed_pair_axis,
    whole_registers,
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
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, RuntimeValue, index
from xla_explorer.hlo.primitive_type import BF16

CONTIGUOUS, BACKWARDS, STRIDED, GATHERED = "contiguous", "backwards", "strided", "gathered"
STREAMED, SQUARE, PAIR = "streamed", "square", "pair"
WIDEST = 16  # bytes
NARROWEST = 2  # bytes; LLVM joins accesses to shorter elements itself, and splits wide ones


def with_wide_accesses(nest: LoopNest) -> LoopNest:
    """Return the nest whose wide accesses are marked."""
    launched = any(axis.name == THREAD for axis in nest.launch)
    find = (
        _contiguous if launched else partial(_of_lanes, depends=cache(partial(dependencies, nest)))
    )
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


def _of_lanes(
    nest: LoopNest,
    s: Load | Store,
    around: _Around,
    depends: Callable[[], Mapping[int, frozenset[Axis]]],
) -> WideAccess | None:
    """Return the access of lanes, None if they all have one element.

    depends: see `dependencies`.
    """
    vector = around.vector
    if vector is None:
        return None
    array, offset = nest.array(s.array), nest.offset_of(s)
    assert array is not None
    read = [int(atom.source[1:]) for atom in offset.atoms() if isinstance(atom, RuntimeValue)]
    if any(vector in depends()[number] for number in read):
        return WideAccess(GATHERED, vector.name, vector.extent)
    step = offset.coefficient(vector)
    if step == 0:
        return None
    axes = [a for a in around.unrolled if any(a in x.axes for x in s.place)]
    if isinstance(s, Load) and is_inside(s, array):
        rows = axis_along_memory(offset, vector, axes)
        if rows is not None:
            return WideAccess(SQUARE, rows.name, rows.extent)
    if not around.guarded and array.shape.element_type is BF16:
        pair = packed_pair_axis(offset, vector, axes)
        if pair is not None:
            return WideAccess(PAIR, pair.name, 2)
    form = CONTIGUOUS if step == 1 else BACKWARDS if step == -1 else STRIDED
    if (
        form == CONTIGUOUS
        and isinstance(s, Store)
        and array.streamed
        and not around.guarded
        and whole_registers(offset, vector, vector.extent, array.shape.element_type)
    ):
        form = STREAMED
    return WideAccess(form, vector.name, vector.extent)


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
    "Choose the form of each access of several elements.",
    with_wide_accesses,
)
