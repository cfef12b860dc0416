"""Kernels with reductions, by rows or by columns; where blocks share a result, a second kernel combines what the first leaves.

Source: xla/backends/gpu/codegen/emitters/reduction.cc.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context, scratch_pointer
from xla_explorer.backends.gpu.emitters.reductions.column_reduction import plan_columns, write_column_kernel, write_column_partials_kernel
from xla_explorer.backends.gpu.emitters.reductions.fused_reduction import FusedReduction, analyse_reduction
from xla_explorer.backends.gpu.emitters.reductions.row_reduction import plan_rows, scratch_arrays, write_partials_kernel, write_row_kernel
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

# Elements that one thread takes at once, at most: of a row; of columns, each of which has accumulators of its own.
_ROW_NEIGHBOURS, _COLUMN_NEIGHBOURS = 8, 4


def write_reduction(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """One kernel, or two where rows or columns are cut; or why there is nothing to do here."""
    analysis = analyse_reduction(fresh_context(i, slots))
    if isinstance(analysis, Reason):
        return analysis
    simple = all(reducer.identity() is not None for reducer in analysis.reducers.values())
    may_split = simple and not analysis.whole and len(analysis.phases) == 1
    if analysis.is_reduced[-1]:
        return _by_rows(analysis, architecture, slots, may_split)
    if len(analysis.phases) > 1 or analysis.late:
        return refuse("columns-after-one-another", f"%{i.name}: values that depend on a reduced column are not kept for a second pass")
    return _by_columns(analysis, architecture, slots, may_split)


def _by_rows(analysis: FusedReduction, architecture: GpuArchitecture, slots: tuple[int, ...], may_split: bool) -> OperationDraft:
    scratch = scratch_pointer(slots)
    plan = plan_rows(analysis.rows, analysis.length, analysis.vector_width(_ROW_NEIGHBOURS), architecture, may_split)
    first = KernelDraft(analysis.context, plan.launch, write_row_kernel(analysis, plan, scratch))
    if plan.splits == 1:
        return OperationDraft((first,), "row-reduction")
    again = _once_more(analysis, slots)
    last = KernelDraft(again.context, *write_partials_kernel(again, plan.splits, scratch, architecture), "_combine")
    return OperationDraft((first, last), "row-reduction", scratch_arrays(again, plan.splits, "")[1])


def _by_columns(analysis: FusedReduction, architecture: GpuArchitecture, slots: tuple[int, ...], may_split: bool) -> OperationDraft:
    scratch, columns = scratch_pointer(slots), analysis.extents[-1]
    outer = analysis.rows // columns
    plan = plan_columns(outer, analysis.length, columns, analysis.vector_width(_COLUMN_NEIGHBOURS), architecture, may_split)
    first = KernelDraft(analysis.context, plan.launch, write_column_kernel(analysis, plan, scratch))
    if plan.splits == 1:
        return OperationDraft((first,), "column-reduction")
    again = _once_more(analysis, slots)
    last = KernelDraft(again.context, *write_column_partials_kernel(again, plan.splits, outer, scratch, architecture), "_combine")
    return OperationDraft((first, last), "column-reduction", scratch_arrays(again, plan.splits, "")[1])


def _once_more(analysis: FusedReduction, slots: tuple[int, ...]) -> FusedReduction:
    """The same analysis for a second kernel."""
    again = analyse_reduction(fresh_context(analysis.context.instruction, slots))
    assert not isinstance(again, Reason)
    return again
