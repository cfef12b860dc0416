"""The schedule of a concatenation: its loop is cut where an operand ends, so that no element asks which operand it comes from."""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.drafts import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.applied import Applied
from xla_explorer.backends.gpu.emitters.nests.elementwise import distributed, loops_of
from xla_explorer.backends.gpu.emitters.nests.tuning import GpuTuning
from xla_explorer.compiler.codegen.nest.directives import Cut, Reorder
from xla_explorer.compiler.codegen.nest.ir import Choose, For, LoopNest, walk
from xla_explorer.compiler.codegen.nest.launch import LANES
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis, index


def concatenation_schedule(nest: LoopNest, architecture: GpuArchitecture, tuning: GpuTuning) -> NestSchedule | Reason:
    """The pieces, each by loops of its own over the threads of one launch."""
    applied = Applied(nest)
    applied.sink()
    loops = loops_of(tuple([s for s in applied.nest.body if isinstance(s, For)]))
    if isinstance(loops, Reason):
        return loops
    axes = [loop.axis for loop in loops]
    along, cuts = next(((a, found) for a in axes if (found := _cuts(applied.nest, a))), (None, []))
    if along is not None:
        _cut(applied, axes, along, cuts)
    return distributed(applied, architecture, tuning, LANES)


def _cuts(nest: LoopNest, axis: Axis) -> list[int]:
    """The steps of an axis at which some choice changes."""
    found = set()
    for s, _ in walk(nest.body):
        for g in [g for case in s.cases for g in case.guards] if isinstance(s, Choose) else ():
            start = (g.expression - index(axis)) * -1
            if not start.terms:
                found |= {start.constant, start.constant + g.bound}
    return sorted([at for at in found if 0 < at < axis.extent])


def _cut(applied: Applied, axes: list[Axis], along: Axis, cuts: list[int]) -> None:
    """Pieces outermost, then each with its loops in the order in which the result lies in memory."""
    at = axes.index(along)
    for other in reversed(axes[:at]):
        applied.then(Reorder(other.name, along.name))
    name, begin = along.name, 0
    for end in cuts:
        applied.then(Cut(name, end - begin))
        name, begin = f"{name}r", end
    for piece in [s for s in applied.nest.body if isinstance(s, For)]:
        loops = loops_of((piece,))
        assert not isinstance(loops, Reason)
        for loop in loops[1 : at + 1]:
            applied.then(Reorder(piece.axis.name, loop.axis.name))
