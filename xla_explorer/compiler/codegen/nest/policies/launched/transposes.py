"""GPU schedules of transposes: square tiles through shared memory.

A tile is read along the input's contiguous dimension and written along the result's. An odd pitch
avoids bank conflicts. Elements of one and two bytes are moved four and two at a time. If there are
too few threads to saturate the memory bandwidth, tiles become smaller. If this is not enough, each
tile gets more threads. A dimension that is too short for tiles is transposed in
the registers of each thread, if the estimate is below that of one element per thread.

Source: xla/backends/gpu/codegen/emitters/transpose.cc (Transpose and PackedTranspose).
"""

from __future__ import annotations

import math
from dataclasses import replace

from xla_explorer.compiler.codegen.nest.directives.staging import leaves
from xla_explorer.compiler.codegen.nest.gpu_estimate import estimate_launch
from xla_explorer.compiler.codegen.nest.ir import Load, LoopNest, walk
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.compiler.codegen.nest.launch_dimensions import (
    LaunchArchitecture,
    counted,
    launch_dimensions,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan, collapse_all
from xla_explorer.compiler.codegen.nest.policies.base import accesses
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import (
    distribute,
    elementwise_schedule,
    loops_of,
)
from xla_explorer.compiler.codegen.nest.policies.launched.widths import contiguous_lanes
from xla_explorer.compiler.codegen.nest.policies.transposes import read_along
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.target import NVPTX, WARP_SIZE, GpuUnit
from xla_explorer.compiler.target.launch_time import threads_for_full_bandwidth
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis


def transpose_schedule(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning
) -> Schedule | Reason:
    """Return a schedule with tiles in shared memory, or a refusal."""
    assert isinstance(architecture, GpuUnit)  # its memory bandwidth is needed below
    plan = Plan(nest, tuning)
    plan.sink()
    nest = plan.nest
    loops = loops_of(nest.body)
    if isinstance(loops, Reason):
        return loops
    axes = [loop.axis for loop in loops]
    transposed = _transposed_loads(nest, axes)
    if isinstance(transposed, Reason):
        return transposed
    staged, read = transposed
    written = axes[-1]
    short = min(read.extent, written.extent)
    if short < tuning.shortest_side:
        return _short_schedule(nest, axes, read, architecture, tuning)
    sizes = [s.element.bytes for s in staged]
    width = max(4 // max(sizes), 1)
    while width > 1 and (read.extent % width or written.extent % width):
        width //= 2
    matrices, enough = (
        math.prod([a.extent for a in axes if a not in (read, written)]),
        threads_for_full_bandwidth(architecture),
    )
    widest, rows = width, tuning.rows_at_once
    while (width > 1 or rows < WARP_SIZE) and matrices * _tiles(
        read, written, WARP_SIZE * width
    ) * WARP_SIZE * rows < enough:
        width, rows = max(width // 2, 1), rows if width > 1 else 2 * rows
    side = WARP_SIZE * width
    if side * max([_pitch(side, width, size) for size in sizes]) * sum(sizes) > STATIC_SHARED_BYTES:
        return refuse(
            "shared-memory",
            f"tiles of {len(staged)} arrays need more than {STATIC_SHARED_BYTES} bytes of shared "
            "memory",
        )
    i, j, around = _tiled([plan.axis(a) for a in axes], plan.axis(read), side)
    for s in staged:
        pitch = _pitch(side, width, s.element.bytes)
        copied = around.stage(s.array, space="shared", pitch=pitch)
        _threads(copied[j], copied[i], width, rows)
    _threads(i, j, width, rows)
    why = (
        f"{counted(_tiles(read, written, side), 'tile')} of {side} x {side} elements for each "
        "matrix, "
        f"{WARP_SIZE * rows} threads each"
    )
    if width > 1:
        why += f", {width} elements a thread at once"
    if (width, rows) != (widest, tuning.rows_at_once):
        before = (
            f"tiles of {WARP_SIZE * widest} x {WARP_SIZE * widest} elements with "
            f"{WARP_SIZE * tuning.rows_at_once} threads each"
        )
        why += f": {before} have fewer than the {enough} threads that saturate the memory bandwidth"
    return plan.schedule("transpose", why)


def _transposed_loads(nest: LoopNest, axes: list[Axis]) -> tuple[list[Load], Axis] | Reason:
    """Return the loads to stage in tiles, and the axis along which these loads are contiguous.

    A refusal if no load is transposed, or if none can be staged.
    """
    found = [
        (s, a)
        for s, offset in accesses(nest, nest.body)
        if isinstance(s, Load) and (a := read_along(offset, axes)) is not None
    ]
    if not found:
        return refuse(
            "not-transposed",
            "every array is read along the dimension that the result is written along",
        )
    arrays = {a.name: a for a in nest.arrays}
    inside = [(s, a) for s, a in found if not leaves(arrays[s.array], s.place)]
    if not inside:
        return refuse(
            "not-staged",
            f"%{found[0][0].array} is read under a condition that keeps its index in bounds, "
            "which a tile does not check",
        )
    read = inside[0][1]
    staged = [
        s
        for s, a in inside
        if a == read
        and [x.array for x, _ in walk(nest.body) if isinstance(x, Load)].count(s.array) == 1
    ]
    if not staged:
        return refuse(
            "several-tiles",
            f"%{inside[0][0].array} is read by several loads, but a tile holds the elements of one",
        )
    return staged, read


def _short_schedule(
    nest: LoopNest,
    axes: list[Axis],
    read: Axis,
    architecture: LaunchArchitecture,
    tuning: Tuning,
) -> Schedule | Reason:
    """Return a schedule in registers for a short dimension, or a refusal if it is slower."""
    short = min(read.extent, axes[-1].extent)
    elements = elementwise_schedule(nest, architecture, tuning)
    if read.extent == short and not isinstance(elements, Reason):
        assert isinstance(architecture, GpuUnit)
        target = replace(NVPTX, gpu=architecture)
        made = _in_registers(nest, axes, read, architecture, tuning)
        if (
            estimate_launch(made.nest, target).nanoseconds
            < estimate_launch(elements.nest, target).nanoseconds
        ):
            return made
    return refuse(
        "transposed-dimension-is-short",
        f"a dimension of {short} elements does not fill a tile",
        extent=short,
    )


def _in_registers(
    nest: LoopNest, axes: list[Axis], short: Axis, architecture: LaunchArchitecture, tuning: Tuning
) -> Schedule:
    """Return a schedule that unrolls the short loop, so that its elements are in registers.

    A thread reads contiguous elements, and a warp writes contiguous elements.
    """
    plan = Plan(nest, tuning)
    kept = plan.axis(short)
    kept.reorder(*[plan.axis(a) for a in axes[axes.index(short) + 1 :]])
    kept.unroll()
    others = collapse_all([plan.axis(a) for a in axes if a is not short])
    assert others is not None
    launch = launch_dimensions(others.extent, architecture)
    if others.extent > 1:
        distribute(others, launch)
    return plan.schedule(
        "transpose",
        f"{counted(short.extent, 'element')} a thread, in registers; {launch.reasoning}",
    )


def _tiles(read: Axis, written: Axis, side: int) -> int:
    """Return the number of square tiles that cover a matrix."""
    return -(-read.extent // side) * -(-written.extent // side)


def _tiled(
    axes: list[AxisHandle], read: AxisHandle, side: int
) -> tuple[AxisHandle, AxisHandle, AxisHandle]:
    """Split two axes into tiles and assign the tiles to blocks.

    Return the two axes within a tile, and the innermost axis of blocks.
    """
    *others, written = [axis for axis in axes if axis != read]
    read.reorder(*axes[axes.index(read) + 1 : -1])
    tiles = []
    for axis in (read, written):
        if axis.extent < side:
            axis.pad(side)
        tiles.append(axis.split(side))
    rows, columns = tiles
    rows.inner.reorder(columns.outer)
    outer = [rows.outer, columns.outer]
    if rows.outer.extent == 1:
        rows.outer.reorder(columns.outer)
        outer.reverse()
    for axis in (*others, *outer):
        if axis.extent > 1:
            axis.block()
    return rows.inner, columns.inner, outer[1]


def _threads(across: AxisHandle, along: AxisHandle, width: int, rows: int) -> None:
    """Assign a warp to each row of the tile, `rows` rows at once, and unroll over the others."""
    if across.extent > rows:
        unrolled, across, _ = across.split(rows)
        unrolled.unroll()
    across.thread()
    contiguous_lanes(along, width).warp()


def _pitch(side: int, width: int, size: int) -> int:
    """Return the row pitch of a tile in elements; `width` rows are an odd number of words."""
    pitch = side + 1
    while size < 4 and width * pitch * size % 8 != 4:
        pitch += 1
    return pitch
