"""Widths of accesses, lengths of sweeps and lanes of axes, for threads of a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType

from xla_explorer.compiler.codegen.nest.accesses import are_contiguous
from xla_explorer.compiler.codegen.nest.directives import Split, Vectorize
from xla_explorer.compiler.codegen.nest.ir import Load, Store, walk
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, linearize


def contiguous_lanes(axis: AxisHandle, width: int) -> AxisHandle:
    """Make adjacent steps of an axis lanes if contiguous, else unrolled instances.

    Return the remaining outer axis.
    """
    if width == 1:
        return axis
    blocks = axis.split(width)
    if Vectorize(blocks.inner.name).accesses_are_contiguous(axis.plan.nest) is None:
        blocks.inner.vectorize()
    else:
        blocks.inner.unroll()
    return blocks.outer


def common_length(sweeps: Sequence[AxisHandle | None], what: str, tuning: Tuning) -> int | Reason:
    """Return the common length of the sweeps over a row or column, or a refusal.

    A sweep over no dimension has one element.
    """
    lengths = {axis.extent if axis is not None else 1 for axis in sweeps}
    if len(lengths) > 1:
        text = (
            f"the loops over a {what} must have one length, got "
            f"{' and '.join(map(str, sorted(lengths)))}"
        )
        return refuse("rows-of-different-lengths", text)
    (length,) = lengths
    return length if length > tuning.short else is_short(what, length)


def is_contiguous_along(axis: AxisHandle) -> bool:
    """Return True if some array is contiguous along an axis, or none is read."""
    return bool(_contiguous(axis, 2, Load)[0]) or not any(
        isinstance(s, Load) and s.place for s, _ in walk(axis.plan.nest.body)
    )


def width_of_access(axes: Sequence[AxisHandle], most: int) -> int:
    """Return the adjacent elements per thread: an aligned access of the widest array.

    axes: at least one, of one plan.
    """
    width = _widest(axes[0].plan, most) if axes else 1
    while width > 1 and not all(
        keeps_runs(axis, width) and _loads_are_aligned(axis, width) for axis in axes
    ):
        width //= 2
    return width


def width_of_runs(axis: AxisHandle) -> int:
    """Return the elements per thread if all arrays are contiguous along an axis, else 1."""
    width = _widest(axis.plan, axis.plan.tuning.most_elements)
    while width > 1:
        offsets, lane = _offsets(axis, width) if axis.extent % width == 0 else ([], None)
        if lane is not None and all(are_contiguous(x, lane, width) for x in offsets if x.axes):
            break
        width //= 2
    return width


def _widest(plan: Plan, most: int) -> int:
    """Return the elements of the widest array per access."""
    arrays = {s.array for s, _ in walk(plan.nest.body) if isinstance(s, Load | Store)}
    read = [a for a in plan.nest.arrays if a.name in arrays and not a.written and a.shape.rank]
    widest = max([a.shape.element_type.bytes for a in read], default=4)
    return min(max(plan.tuning.register_bytes // widest, 1), most)


def keeps_runs(axis: AxisHandle, width: int) -> bool:
    """Return True if adjacent steps of an axis have a constant stride in every array."""
    if axis.extent % width:
        return False
    offsets, lane = _offsets(axis, width)
    return all(x.coefficient(lane) is not None for x in offsets)


def stores_are_aligned(axis: AxisHandle, width: int) -> bool:
    """Return True if some result is contiguous and aligned along an axis."""
    offsets, lane = _contiguous(axis, width, Store)
    return bool(offsets) and all(are_contiguous(x, lane, width) for x in offsets)


def _loads_are_aligned(axis: AxisHandle, width: int) -> bool:
    """Return True if contiguous loads along an axis are aligned."""
    offsets, lane = _contiguous(axis, width, Load)
    return all(are_contiguous(x, lane, width) for x in offsets)


def _offsets(
    axis: AxisHandle, width: int, kind: type[Load | Store] | UnionType = Load | Store
) -> tuple[list[IndexExpression], Axis]:
    """Return (offsets of accesses, the axis of the lanes along an axis)."""
    split = Split(axis.name, width)
    after, lane = split.changed(axis.plan.nest), split.new_axes(axis.plan.nest)[1]
    accesses = [
        (s.place, a.shape.strides)
        for s, _ in walk(after.body)
        if isinstance(s, kind) and (a := after.array(s.array))
    ]
    return [linearize(place, strides) for place, strides in accesses], after.axes()[lane].axis


def _contiguous(
    axis: AxisHandle, width: int, kind: type[Load] | type[Store]
) -> tuple[list[IndexExpression], Axis]:
    """Return (offsets of accesses with stride one between lanes, the axis of the lanes)."""
    offsets, lane = _offsets(axis, width, kind)
    first, second = [
        [x.substitute({lane: IndexExpression((), k)}) for x in offsets] for k in (0, 1)
    ]
    return [
        x for x, a, b in zip(offsets, first, second, strict=True) if b - a == IndexExpression((), 1)
    ], lane


def is_short(what: str, length: int) -> Reason:
    """Return the refusal of separate threads for short rows or columns."""
    return refuse(
        "reduction-is-short",
        f"{what}s of {length} elements: one thread reduces each",
        elements=length,
    )
