"""The schedule of a kernel that reads an array along one dimension of its result and writes along another: a square tile is read along the
array, put into shared memory, and taken along the result. A pitch that is odd keeps the columns of the tile in different banks."""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.drafts import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.applied import Applied
from xla_explorer.backends.gpu.emitters.nests.elementwise import loops_of
from xla_explorer.backends.gpu.emitters.nests.tuning import GpuTuning
from xla_explorer.compiler.codegen.nest.directives import Reorder, Split, Stage, Unroll
from xla_explorer.compiler.codegen.nest.gpu_directives import Block, Thread, Warp
from xla_explorer.compiler.codegen.nest.ir import Load, LoopNest, walk
from xla_explorer.compiler.codegen.nest.launch import LANES
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, linearize


def transpose_schedule(nest: LoopNest, architecture: GpuArchitecture, tuning: GpuTuning) -> NestSchedule | Reason:
    """Tiles through shared memory, or why not."""
    loops = loops_of(nest.body)
    if isinstance(loops, Reason):
        return loops
    axes = [loop.axis for loop in loops]
    staged = [(s, a) for s, _ in walk(nest.body) if isinstance(s, Load) and (a := _read_along(nest, s, axes)) is not None]
    if not staged:
        return refuse("not-transposed", "no array is read along another dimension than the result is written along")
    load, read = staged[0]
    if len(staged) > 1:
        return refuse("several-tiles", f"{len(staged)} arrays would be staged, one tile is", arrays=len(staged))
    if load.element.is_complex or load.element.bytes < tuning.narrowest_tile:
        return refuse("narrow-elements", f"%{load.array}: elements of {load.element} are moved several at once by another emitter")
    if min(read.extent, axes[-1].extent) < LANES:
        short = min(read.extent, axes[-1].extent)
        return refuse("transposed-dimension-is-short", f"a dimension of {short} elements does not fill a tile", extent=short)
    applied = Applied(nest)
    i, j = read.name, axes[-1].name
    for other in axes[axes.index(read) + 1 : -1]:
        applied.then(Reorder(i, other.name))
    applied.then(Split(i, LANES), Split(j, LANES), Reorder(f"{i}i", f"{j}o"))
    for name in (*[a.name for a in axes if a.name not in (i, j)], f"{i}o", f"{j}o"):
        if applied.extent(name) > 1:
            applied.then(Block(name))
    applied.then(Stage(f"%{load.array}", f"{j}o", "shared", LANES + 1))
    for across, along in ((f"{j}is", f"{i}is"), (f"{i}i", f"{j}i")):
        applied.then(Split(across, tuning.rows_at_once), Unroll(f"{across}o"), Thread(f"{across}i"), Warp(along))
    tiles = -(-read.extent // LANES) * -(-axes[-1].extent // LANES)
    why = f"{tiles} tiles of {LANES} x {LANES} elements for each matrix, {LANES * tuning.rows_at_once} threads each"
    return applied.schedule("transpose", why)


def _read_along(nest: LoopNest, s: Load, axes: list[Axis]) -> Axis | None:
    """The loop along which an array lies that the innermost one reads in steps."""
    array = nest.array(s.array)
    assert array is not None
    offset = linearize(s.place, array.shape.strides)
    if not axes or offset.coefficient(axes[-1]) in (0, 1):
        return None
    return next((a for a in axes[:-1] if offset.coefficient(a) == 1), None)
