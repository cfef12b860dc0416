"""The schedule of a kernel that reduces columns: lanes beside one another on neighbouring columns, so that they read neighbours, and
threads above one another on different rows, which meet in shared memory."""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.drafts import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.applied import Applied
from xla_explorer.backends.gpu.emitters.nests.elementwise import elementwise_schedule
from xla_explorer.backends.gpu.emitters.nests.plans import ColumnPlan, plan_columns
from xla_explorer.backends.gpu.emitters.nests.questions import why_not_associative
from xla_explorer.backends.gpu.emitters.nests.splitting import cut, in_two_kernels, may_be_cut, size_of_parts
from xla_explorer.backends.gpu.emitters.nests.tuning import GpuTuning
from xla_explorer.compiler.codegen.nest.directives import Pad, Reorder, Split, Unroll, Vectorize
from xla_explorer.compiler.codegen.nest.directives.gpu_directives import Block, Thread, Warp
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest, Reduce
from xla_explorer.compiler.codegen.nest.launch import LANES
from xla_explorer.foundation.reason import Reason, refuse


def column_schedule(
    nest: LoopNest, architecture: GpuArchitecture, tuning: GpuTuning, may_split: bool = True, thin: str = ""
) -> NestSchedule | Reason:
    """Threads beside and above one another, or why not. thin: the last loop but one, of whose few steps each thread has all."""
    applied = Applied(nest)
    applied.sink()
    loops: list[For] = []
    body = applied.nest.body
    while len(inner := [s for s in body if isinstance(s, For)]) == 1 and not any(isinstance(s, Reduce) for s in body):
        if loops and len(body) > 1:
            return refuse("several-loops", f"a value is computed once for each {loops[-1].axis}, outside of the reduction")
        loops, body = [*loops, inner[0]], inner[0].body
    reductions = [s for s in body if isinstance(s, Reduce)]
    if not reductions or not loops or inner:
        return refuse("several-loops", "a value that depends on a reduced column needs another loop over it")
    for s in reductions:
        if (reason := why_not_associative(s)) is not None:
            return reason
    outer = applied.joined(tuple([loop.axis.name for loop in loops[:-1] if loop.axis.name != thin]))
    column = loops[-1].axis.name
    sweeps = [applied.joined(tuple([b.axis.name for b in s.axes])) for s in reductions]
    lengths = {applied.extent(name) if name else 1 for name in sweeps}  # a reduction over no dimension has one element
    if len(lengths) > 1:
        text = f"the loops over a column must have one length, got {' and '.join(map(str, sorted(lengths)))}"
        return refuse("rows-of-different-lengths", text)
    (length,) = lengths
    if length <= tuning.short or 0 in [applied.extent(name) for name in (outer, column) if name]:
        return refuse("reduction-is-short", f"columns of {length} elements: one thread reduces each", elements=length)
    if not applied.runs_along(column):
        return refuse("not-along-memory", "columns must be adjacent in memory")
    width = applied.width([column], tuning, tuning.most_columns)
    outers = applied.extent(outer) if outer else 1
    held = sum([element.bytes for s in reductions for element in s.elements]) * (applied.extent(thin) if thin else 1)
    plan = plan_columns(outers, length, applied.extent(column), width, held, architecture, tuning, may_split and may_be_cut(body))
    if plan.splits > 1:
        size = size_of_parts(length, plan.splits, plan.above, 1)
        halves = cut(applied, tuple([name for name in (outer, thin, column) if name]), sweeps, size, True)
        before = applied.schedule("column-reduction", plan.launch.reasoning)
        return in_two_kernels(before, halves, lambda n: column_schedule(n, architecture, tuning, False, thin),
                              lambda n: _combining(n, architecture, tuning))  # fmt: skip
    plan = plan._replace(above=min(plan.above, 1 << (length.bit_length() - 1)))
    if plan.above * plan.across < LANES:
        return refuse("reduction-is-short", f"columns of {length} elements: one thread reduces each", elements=length)
    if plan.across > applied.extent(column) // plan.width:
        applied.then(Pad(column, plan.across * plan.width))
    if thin:
        applied.then(Reorder(thin, column), Unroll(thin))
    _apply(applied, outer, column, sweeps, plan, tuning)
    return applied.schedule("column-reduction", plan.launch.reasoning)


def _combining(nest: LoopNest, architecture: GpuArchitecture, tuning: GpuTuning) -> NestSchedule | Reason:
    """The schedule of a second kernel: of few parts by one thread each, of more by several."""
    made = column_schedule(nest, architecture, tuning, False)
    return elementwise_schedule(nest, architecture, tuning) if isinstance(made, Reason) else made


def _apply(applied: Applied, outer: str, column: str, sweeps: list[str], plan: ColumnPlan, tuning: GpuTuning) -> None:
    if plan.width > 1:
        applied.then(Split(column, plan.width))
        lanes = Vectorize(f"{column}i")
        applied.then(lanes if lanes.accesses_are_contiguous(applied.nest) is None else Unroll(f"{column}i"))
        column = f"{column}o"
    if outer:
        applied.then(Block(outer))
    if applied.extent(column) > plan.across:
        applied.then(Split(column, plan.across), Block(f"{column}o"))
        column = f"{column}i"
    if plan.across > 1 and applied.extent(column) > 1:
        applied.then(Warp(column))
    for name in sweeps:
        if plan.above > 1:
            if applied.extent(name) > plan.above:
                applied.then(Split(name, plan.above), Thread(f"{name}i"))
                name = f"{name}o"
            else:
                applied.then(Thread(name))
                continue
        if applied.extent(name) > tuning.in_flight:
            applied.then(Split(name, tuning.in_flight), Unroll(f"{name}i"))
        elif applied.extent(name) > 1:
            applied.then(Unroll(name))
