"""The GPU launch of a nest: blocks and threads that its axes need, and rules for these axes.

A block number counts the steps of the `block` axes around a statement. A thread number counts those
of the `thread` axes and, fastest, the `warp` axis, whose extent is the same everywhere. A statement
with fewer such axes than the launch runs only where the other numbers are 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    BoundAxis,
    For,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    axes_of,
)
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis

MOST_THREADS = 1024
STATIC_SHARED_BYTES = 48 << 10  # of a block; more must be requested and is dynamic


class NestLaunch(NamedTuple):
    """A launch.

    blocks: of the grid. threads: of a block. lanes: steps of the `warp` axes, 1 if there are none.
    """

    blocks: int
    threads: int
    lanes: int


def opened_axes(around: Sequence[Statement], s: Statement) -> list[BoundAxis]:
    """Return the axes around a statement and its own, outermost first."""
    return [b for x in (*around, s) for b in axes_of(x)]


def extent_of(axes: Sequence[BoundAxis], *kinds: AxisKind) -> int:
    """Return the product of the extents of axes of some kinds."""
    return math.prod([b.axis.extent for b in axes if b.kind in kinds])


def launch_of(nest: LoopNest) -> NestLaunch:
    """Return the launch with a block and a thread for every step."""
    paths = [opened_axes(around, s) for s, around in nest.statements() if axes_of(s)]
    blocks, threads, lanes = [max([extent_of(path, kind) for path in paths], default=1)
                              for kind in (AxisKind.BLOCK, AxisKind.THREAD, AxisKind.WARP)]  # fmt: skip
    return NestLaunch(blocks, threads * lanes, lanes)


def crosses_threads(s: Statement) -> bool:
    """Return True if threads must synchronise to compute a statement."""
    return isinstance(s, Reduce) and any(b.kind in (AxisKind.THREAD, AxisKind.WARP) for b in s.axes)


def launch_problems(nest: LoopNest) -> list[Reason]:
    """Return refusals for axes that no launch can have."""
    launch = launch_of(nest)
    found: list[Reason] = []
    if launch.threads > MOST_THREADS:
        found.append(
            refuse(
                "too-many-threads",
                f"a block has at most {MOST_THREADS} threads, got {launch.threads}",
            )
        )
    if nest.tasks > 1 and (launch.blocks, launch.threads) != (1, 1):
        found.append(
            refuse(
                "tasks-and-launch", f"@{nest.name} has tasks for CPU threads and a launch of a GPU"
            )
        )
    for s, around in nest.statements():
        for axis, kind in axes_of(s):
            if kind is AxisKind.BLOCK and (
                isinstance(s, Reduce) or not all(_is_block(x) for x in around)
            ):
                found.append(
                    refuse(
                        "block-not-outermost", f"axis {axis}: blocks must be the outermost loops"
                    )
                )
        if any(b.kind.is_launched for b in axes_of(s)):
            found += _path_problems(s, around, launch)
    return found


def _path_problems(s: Statement, around: tuple[Statement, ...], launch: NestLaunch) -> list[Reason]:
    path = opened_axes(around, s)
    threads, lanes = extent_of(path, AxisKind.THREAD) * launch.lanes, extent_of(path, AxisKind.WARP)
    name = axes_of(s)[-1].axis.name
    if (
        lanes not in (1, launch.lanes)
        or lanes > WARP_SIZE
        or lanes & (lanes - 1)
        or sum([b.kind is AxisKind.WARP for b in path]) > 1
    ):
        return [
            refuse(
                "warps-disagree",
                f"axis {name}: a warp axis must have the same power of two of steps everywhere, "
                f"at most {WARP_SIZE}",
            )
        ]
    if launch.threads % threads or launch.blocks % extent_of(path, AxisKind.BLOCK):
        return [
            refuse(
                "launches-disagree",
                f"axis {name}: its {threads} threads do not divide the {launch.threads} of the "
                "launch",
            )
        ]
    if not crosses_threads(s):
        return []
    if any(isinstance(x, SelectRegion) for x in around):
        return [
            refuse(
                "threads-synchronise-in-a-case",
                f"axis {name}: threads would synchronise in a case that not all of them take",
            )
        ]
    if threads != launch.threads or lanes != launch.lanes:
        return [
            refuse(
                "launches-disagree",
                f"axis {name}: all {launch.threads} threads must synchronise, the axis has "
                f"{threads}",
            )
        ]
    odd = next(
        (b.axis for b in axes_of(s) if b.kind is AxisKind.THREAD and not is_power_of_two(b.axis)),
        None,
    )
    return (
        [
            refuse(
                "not-a-power-of-two",
                f"axis {odd}: threads that combine must be a power of two, got {odd.extent}",
            )
        ]
        if odd
        else []
    )


def is_power_of_two(axis: Axis) -> bool:
    """Return True if the extent of an axis is a power of two."""
    return axis.extent & (axis.extent - 1) == 0


def _is_block(s: Statement) -> bool:
    return isinstance(s, For) and s.kind is AxisKind.BLOCK
