"""Reductions in parts: for the tasks of CPU threads, or for more blocks of a GPU's grid."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.nest.plan import AxisHandle


def reduce_in_parts(
    axes: Sequence[AxisHandle], size: int, parts: int, by_result: bool = False
) -> AxisHandle:
    """Reduce parts of some axes first; return the loop over the parts.

    The combination adds the remainder.

    axes: one of each reduction, all of one length. size: elements of a part. by_result: the partial
    results of a result are adjacent in memory.
    """
    first, *others = [_split(axis, size, parts) for axis in axes]
    first.rfactor_before(*others, by_result=by_result)
    return first


def _split(axis: AxisHandle, size: int, parts: int) -> AxisHandle:
    """Return the loop over whole parts of an axis."""
    whole = axis.cut(size * parts)[0] if size * parts < axis.extent else axis
    return whole.split(size).outer
