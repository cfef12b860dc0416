"""Directives that set how an axis runs: unrolled, in vector lanes, in parallel tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.accesses import axis_along_memory, is_inside
from xla_explorer.compiler.codegen.nest.directives.base import (
    MOST_LANES,
    Directive,
    offsets_of,
    order_of_sums,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Combination,
    For,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    Store,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch import opened_axes
from xla_explorer.compiler.codegen.nest.rewriting import overwrites
from xla_explorer.compiler.codegen.nest.verifier import runs_in_order
from xla_explorer.foundation.reason import Reason, refuse

MOST_UNROLLED = 64  # of one axis
MOST_INSTANCES = 1024  # of all axes around a statement: LLVM takes seconds for some thousand


@dataclass(frozen=True)
class Binding(Directive):
    """A directive that changes only the kind of an axis."""

    kind: ClassVar[AxisKind]
    axis: str

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        return transformations.bind(nest, self.axis, self.kind)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}

    def partial_results_combine(self, nest: LoopNest) -> Reason | None:
        """Refuse as `Directive`, but let a scan of one operation keep its order.

        Its unrolled axes must be inside of its loops, and its vector lanes inside of these.
        """
        s = nest.loop(self.axis)
        if not isinstance(s, Reduce) or not s.each or isinstance(s.combiner, Combination):
            return super().partial_results_combine(nest)
        if runs_in_order(
            [b._replace(kind=self.kind) if b.axis.name == self.axis else b for b in s.axes]
        ):
            return None
        message = (
            f"%{s.ids[0]} gives running values in order: unrolled axes must be inside of its "
            "loops, and vector lanes inside of these"
        )
        return refuse("order-must-be-kept", message)


@dataclass(frozen=True)
class Unroll(Binding):
    """The axis is unrolled: one instance of the body for each step, in registers."""

    name: ClassVar[str] = "unroll"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "instances_within_limit",
        "partial_results_combine",
    )
    kind = AxisKind.UNROLLED

    def instances_within_limit(self, nest: LoopNest) -> Reason | None:
        """Refuse if this and other unrolled axes together make too many instances."""
        extent = nest.axes()[self.axis].axis.extent
        if extent > MOST_UNROLLED:
            message = f"{self.axis} has {extent} steps, at most {MOST_UNROLLED} are unrolled"
            return refuse("axis-too-long", message, extent=extent, limit=MOST_UNROLLED)
        paths = [opened_axes(around, s) for s, around in nest.statements()]
        mine = [path for path in paths if self.axis in [b.axis.name for b in path]]
        together = extent * max(
            [
                math.prod([b.axis.extent for b in path if b.kind is AxisKind.UNROLLED])
                for path in mine
            ],
            default=1,
        )
        if together <= MOST_INSTANCES:
            return None
        message = (
            f"with {self.axis} there would be {together} unrolled instances, the limit is "
            f"{MOST_INSTANCES}"
        )
        return refuse("axis-too-long", message, extent=together, limit=MOST_INSTANCES)


@dataclass(frozen=True)
class Vectorize(Binding):
    """The axis becomes the lanes of a vector register.

    strided: allow accesses that are not contiguous; their lanes are gathered one by one.
    """

    name: ClassVar[str] = "vectorize"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "is_a_vector",
        "partial_results_combine",
        "no_other_vector",
        "accesses_are_contiguous",
    )
    kind = AxisKind.VECTOR
    strided: bool = False

    def is_a_vector(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the number of lanes is a power of two."""
        lanes = nest.axes()[self.axis].axis.extent
        if 2 <= lanes <= MOST_LANES and lanes & (lanes - 1) == 0:
            return None
        message = (
            f"a vector must have a power of two lanes, from 2 to {MOST_LANES}; {self.axis} has "
            f"{lanes} steps"
        )
        return refuse("not-a-vector", message, lanes=lanes)

    def no_other_vector(self, nest: LoopNest) -> Reason | None:
        """Refuse a vector axis around or inside another one."""
        loop = nest.loop(self.axis)
        for other in [name for name, bound in nest.axes().items() if bound.kind is AxisKind.VECTOR]:
            if loop in nest.around(other) or nest.loop(other) in (*nest.around(self.axis), loop):
                return refuse(
                    "nested-vector",
                    f"{self.axis} and {other} cannot both be vectors: one contains the other",
                    other=other,
                )
        return None

    def accesses_are_contiguous(self, nest: LoopNest) -> Reason | None:
        """Refuse an access that is neither contiguous nor uniform along the axis, unless `strided`.

        A load may be contiguous along an unrolled axis with as many steps instead.
        """
        axis = nest.axes()[self.axis].axis
        if self.strided:
            return None
        unrolled = [b.axis for b in nest.axes().values() if b.kind is AxisKind.UNROLLED]
        for s, what, offset in offsets_of(nest, self.axis, iotas=False):
            step = offset.coefficient(axis)
            array = nest.array(s.array) if isinstance(s, Load) else None
            if step in (0, 1) or (
                isinstance(s, Load)
                and array is not None
                and is_inside(s, array)
                and axis_along_memory(offset, axis, unrolled) is not None
            ):
                continue  # as they lie, or transposed in registers
            if step is None:
                return refuse(
                    "strided-access",
                    f"{what} is at {offset}, which has no constant step along {axis}",
                    offset=str(offset),
                )
            return refuse(
                "strided-access",
                f"{what} is at every {step}th element along {axis}",
                step=step,
                offset=str(offset),
            )
        return None


@dataclass(frozen=True)
class Parallel(Directive):
    """The axis is partitioned into tasks for CPU threads."""

    name: ClassVar[str] = "parallel"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "steps_are_independent",
        "is_outermost",
        "task_counts_agree",
        "steps_suffice",
    )
    axis: str
    tasks: int

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        return replace(transformations.bind(nest, self.axis, AxisKind.PARALLEL), tasks=self.tasks)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {**super().facts(nest), "tasks": self.tasks}

    def is_outermost(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the loop is outermost and independent of the other loops of the kernel.

        Memory may carry values from the first loop to the others. The others then are a second
        phase, whose first loop may be parallel too.
        """
        work = [s for s in nest.body if isinstance(s, For | Reduce | Store | SelectRegion)]
        at = next(
            (
                k
                for k, s in enumerate(work)
                if isinstance(s, For) and s.axis.name == self.axis and not overwrites(nest, s)
            ),
            None,
        )
        hands_over = any(isinstance(s, Allocate) for s in nest.body)
        if at is not None and ((at == 0 and hands_over and nest.tasks == 1) or _are_apart(work)):
            return None
        first = work[0]
        if at == 1 and hands_over and isinstance(first, For) and first.kind is AxisKind.PARALLEL:
            return None
        return refuse(
            "not-outermost",
            f"only an outermost loop that is the whole kernel can be parallel; {self.axis} of "
            f"@{nest.name} is not one",
        )

    def task_counts_agree(self, nest: LoopNest) -> Reason | None:
        """Refuse another number of tasks than other parallel loops have."""
        if nest.tasks in (1, self.tasks):
            return None
        return refuse(
            "too-few-steps",
            f"another loop of @{nest.name} has {nest.tasks} tasks",
            tasks=self.tasks,
        )

    def steps_suffice(self, nest: LoopNest) -> Reason | None:
        """Refuse more tasks than steps."""
        extent = nest.axes()[self.axis].axis.extent
        if 2 <= self.tasks <= extent:
            return None
        message = (
            f"the tasks must be from 2 to {extent}, the steps of {self.axis}, got {self.tasks}"
        )
        return refuse("too-few-steps", message, extent=extent, tasks=self.tasks)


def _are_apart(work: Sequence[Statement]) -> bool:
    """Return True if no statement reads an array of the kernel that another one stores."""
    if len(work) == 1:
        return True
    loads, stores = [], []
    for outer in work:
        inside = [s for s, _ in walk((outer,))]
        own = {s.array.name for s in inside if isinstance(s, Allocate)}
        loads.append({s.array for s in inside if isinstance(s, Load)} - own)
        stores.append({s.array for s in inside if isinstance(s, Store)} - own)
    return all(
        a == b or loads[a].isdisjoint(stores[b]) for a in range(len(work)) for b in range(len(work))
    )
