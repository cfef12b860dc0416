"""Directives that map the steps of an axis to blocks, threads or warp lanes of a GPU launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.argmax import argmax_direction
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.directives.kinds import Binding
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    For,
    LoopNest,
    Reduce,
    Store,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch import (
    MOST_THREADS,
    is_power_of_two,
    launch_of,
)
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse


@dataclass(frozen=True)
class _Launched(Binding):
    """A directive that gives an axis a kind of the launch."""

    def partial_results_combine(self, nest: LoopNest) -> Reason | None:
        """Refuse as `Directive`, but let threads combine the pairs of an argmax."""
        loop = nest.loop(self.axis)
        return (
            None
            if isinstance(loop, Reduce) and argmax_direction(loop) is not None
            else super().partial_results_combine(nest)
        )

    def has_several_steps(self, nest: LoopNest) -> Reason | None:
        """Refuse an axis with one step."""
        extent = nest.axes()[self.axis].axis.extent
        text = f"{self.axis} must have at least two steps for {self.kind.value}s, got {extent}"
        return None if extent > 1 else refuse("too-few-steps", text, extent=extent)

    def threads_fit(self, nest: LoopNest) -> Reason | None:
        """Refuse more threads than a block can have."""
        most = launch_of(transformations.bind(nest, self.axis, self.kind)).threads
        if most <= MOST_THREADS:
            return None
        return refuse(
            "too-many-threads",
            f"a block has at most {MOST_THREADS} threads, got {most}",
            threads=most,
            limit=MOST_THREADS,
        )


@dataclass(frozen=True)
class BindBlocks(_Launched):
    """The axis is distributed over the blocks of the grid."""

    name: ClassVar[str] = "block"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "has_several_steps",
        "partial_results_combine",
        "is_outermost",
        "fills_no_array_of_a_block",
    )
    kind = AxisKind.BLOCK

    def is_outermost(self, nest: LoopNest) -> Reason | None:
        """Refuse unless all loops around are block loops."""
        found = nest.around(self.axis)
        loop = nest.loop(self.axis)
        if isinstance(loop, For) and all(
            isinstance(s, For) and s.kind is AxisKind.BLOCK for s in found
        ):
            return None
        return refuse(
            "block-not-outermost", f"axis {self.axis}: blocks must be the outermost loops"
        )

    def fills_no_array_of_a_block(self, nest: LoopNest) -> Reason | None:
        """Refuse if each block would fill only a part of an array that it owns."""
        inside = [s for s, _ in walk(getattr(nest.loop(self.axis), "body", ()))]
        own = {s.array.name for s in inside if isinstance(s, Allocate)}
        outside = {s.array.name for s, _ in nest.statements() if isinstance(s, Allocate)} - own
        filled = sorted({s.array for s in inside if isinstance(s, Store)} & outside)
        if not filled:
            return None
        text = (
            f"axis {self.axis}: each block would store a part of %{filled[0]} that other blocks "
            "cannot read"
        )
        return refuse("blocks-share-no-array", text)


@dataclass(frozen=True)
class BindThreads(_Launched):
    """The axis is distributed over the threads of a block."""

    name: ClassVar[str] = "thread"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "has_several_steps",
        "partial_results_combine",
        "threads_fit",
        "can_be_halved",
    )
    kind = AxisKind.THREAD

    def can_be_halved(self, nest: LoopNest) -> Reason | None:
        """Refuse a reduction over threads whose number is not a power of two."""
        axis = nest.axes()[self.axis].axis
        if is_power_of_two(axis) or not isinstance(nest.loop(self.axis), Reduce):
            return None
        return refuse(
            "not-a-power-of-two",
            f"threads that combine must be a power of two, {axis} has {axis.extent}",
            extent=axis.extent,
        )


@dataclass(frozen=True)
class BindWarpLanes(_Launched):
    """The axis is distributed over consecutive lanes of a warp."""

    name: ClassVar[str] = "warp"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "has_several_steps",
        "fits_a_warp",
        "partial_results_combine",
        "threads_fit",
    )
    kind = AxisKind.WARP

    def fits_a_warp(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the steps are a power of two and fit a warp."""
        axis = nest.axes()[self.axis].axis
        if is_power_of_two(axis) and axis.extent <= WARP_SIZE:
            return None
        text = (
            f"a warp axis must have a power of two of steps, at most {WARP_SIZE}; {axis} has "
            f"{axis.extent}"
        )
        return refuse("warps-disagree", text, extent=axis.extent)


GPU_DIRECTIVES: dict[str, type[Directive]] = {
    d.name: d for d in (BindBlocks, BindThreads, BindWarpLanes)
}
