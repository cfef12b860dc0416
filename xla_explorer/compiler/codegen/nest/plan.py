"""Plans: schedules in progress, which policies build over handles of axes.

A handle names one axis of a plan's nest. A directive is a method of the handle of its axis, and
returns handles of the axes that it makes. A policy is a function over handles, so a function that
vectorises any axis serves every policy. Exo's cursors and standard library are the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from xla_explorer.compiler.codegen.nest.directives import (
    ChunkScan,
    Collapse,
    CutLoop,
    Directive,
    DirectiveRefusedError,
    InterchangeReduction,
    Pad,
    Parallel,
    Reassociate,
    Reorder,
    Rfactor,
    Sink,
    Split,
    Stage,
    Tail,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.directives.gpu_directives import (
    BindBlocks,
    BindThreads,
    BindWarpLanes,
)
from xla_explorer.compiler.codegen.nest.ir import AxisKind, Body, For, Loop, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.rewriting import overwrites
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import for_of, reduction_of
from xla_explorer.compiler.codegen.nest.tuning import DEFAULT_TUNING, Tuning
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.hlo.analysis.indexing import Axis

T = TypeVar("T")


@dataclass(frozen=True)
class AxisHandle:
    """An axis of a plan's nest, by the name that the text of schedules has for it.

    A directive that replaces the axis ends the handle: its other methods fail then.
    """

    plan: Plan
    name: str

    @property
    def axis(self) -> Axis:
        """The axis as it is now."""
        return self.plan.nest.axes()[self.name].axis

    @property
    def extent(self) -> int:
        """The number of steps."""
        return self.axis.extent

    @property
    def statement(self) -> Loop:
        """The loop or the reduction over the axis."""
        found = self.plan.nest.loop(self.name)
        assert found is not None
        return found

    @property
    def loop(self) -> For:
        """The loop over the axis."""
        return for_of(self.plan.nest, self.name)

    @property
    def reduction(self) -> Reduce:
        """The reduction over the axis."""
        return reduction_of(self.plan.nest, self.name)

    @property
    def body(self) -> Body:
        """The statements of a step of the loop."""
        return self.loop.body

    def inner(self) -> AxisHandle:
        """Return the only loop directly inside."""
        (only,) = [s for s in self.body if isinstance(s, For)]
        return self.plan.axis(only.axis)

    def first_reduction(self) -> Reduce:
        """Return the first reduction inside the loop."""
        return next(s for s, _ in walk(self.body) if isinstance(s, Reduce))

    def split(self, factor: int, tail: Tail = "guard", lines_of: str = "") -> Blocks:
        """Split the axis; `rest` is the loop over the remainder of a `cut` tail.

        An axis without a remainder needs no tail.
        """
        if tail in ("cut", "overlap") and self.extent % factor == 0:
            tail = "guard"
        outer, inner, *rest = self.plan.do(Split(self.name, factor, tail, lines_of))
        return Blocks(outer, inner, rest[0] if rest else None)

    def cut(self, steps: int) -> tuple[AxisHandle, AxisHandle]:
        """Return the first steps and the rest, as two loops."""
        first, rest, *_ = self.plan.do(CutLoop(self.name, steps))
        return first, rest

    def collapse(self, inner: AxisHandle, repeating: bool = False) -> AxisHandle:
        """Return one axis in place of this and the inner one."""
        (one,) = self.plan.do(Collapse(self.name, inner.name, repeating))
        return one

    def reorder(self, *inner: AxisHandle) -> None:
        """Move the loop inside others, which follow each other inside it."""
        for other in inner:
            self.plan.do(Reorder(self.name, other.name))

    def sink(self) -> None:
        """Move values beside the inner loop into it, if any."""
        if len(self.body) > 1:
            self.plan.do(Sink(self.name))

    def unroll(self) -> None:
        """Unroll the axis."""
        self.plan.do(Unroll(self.name))

    def vectorize(self) -> None:
        """Make the axis lanes; lanes that are not contiguous in memory are marked `strided`."""
        directive = Vectorize(self.name)
        try:
            self.plan.do(directive)
        except DirectiveRefusedError as refused:
            if refused.reason.code != "strided-access" or not self.plan.tuning.gathers:
                raise
            self.plan.do(replace(directive, strided=True))

    def parallel(self, tasks: int) -> None:
        """Partition the axis into tasks for CPU threads."""
        self.plan.do(Parallel(self.name, tasks))

    def block(self) -> None:
        """Distribute the axis over the blocks of a GPU's grid."""
        self.plan.do(BindBlocks(self.name))

    def thread(self) -> None:
        """Distribute the axis over the threads of a GPU's block."""
        self.plan.do(BindThreads(self.name))

    def warp(self) -> None:
        """Distribute the axis over the lanes of a GPU's warp."""
        self.plan.do(BindWarpLanes(self.name))

    def pad(self, extent: int) -> None:
        """Add steps, which a guard skips."""
        self.plan.do(Pad(self.name, extent))

    def reassociate(self) -> None:
        """Let an argmax or argmin combine in any order."""
        self.plan.do(Reassociate(self.name))

    def rfactor(self) -> None:
        """Combine a partial result for each step."""
        self.plan.do(Rfactor(self.name))

    def rfactor_before(self, *others: AxisHandle, by_result: bool = False) -> None:
        """Store all partial results before all loops; others, by_result: see `Rfactor`."""
        together = ".".join([axis.name for axis in others])
        self.plan.do(Rfactor(self.name, True, True, together, by_result))

    def interchange(self, along: AxisHandle) -> Interchanged:
        """Move the reduction outside of a loop, with its accumulators in memory."""
        around = [s.axis for s in self.plan.nest.around(self.name) if isinstance(s, For)]
        moved = [self.plan.axis(axis) for axis in around[around.index(along.axis) :]]
        made = self.plan.do(InterchangeReduction(self.name, along.name))
        clear, add = made[: len(moved)], made[len(moved) :]
        return Interchanged(
            dict(zip(moved, clear, strict=True)), dict(zip(moved, add, strict=True))
        )

    def chunk_scan(self, by_result: bool = False) -> tuple[AxisHandle, ...]:
        """Scan in chunks; return the chunks of the second pass, and last the loops inside them."""
        return self.plan.do(ChunkScan(self.name, by_result))

    def stage(self, array: str, order: Sequence[AxisHandle] = (), **given: Any) -> Copied:
        """Copy the tile of an array that a step reads; return the loops of the copy.

        order: of the axes in memory, outermost first. given: other fields of `Stage`.
        """
        names = ".".join([a.name for a in order])
        directive = Stage(f"%{array}", self.name, **{"space": "scratch", **given}, order=names)
        (found,) = directive.found(self.plan.nest)
        read = [self.plan.axis(axis) for axis in found.axes]
        return dict(zip(read, self.plan.do(directive), strict=True))


Copied = dict[AxisHandle, AxisHandle]  # the loops of a copy, by the axes that read it


class Blocks(NamedTuple):
    """The axes of a split: over blocks, inside a block, and over a remainder that was cut."""

    outer: AxisHandle
    inner: AxisHandle
    rest: AxisHandle | None


class Interchanged(NamedTuple):
    """The new loops of an interchanged reduction, by those that they were made of.

    clear, add: over the accumulators in memory. The old loops read the results.
    """

    clear: dict[AxisHandle, AxisHandle]
    add: dict[AxisHandle, AxisHandle]


class Plan:
    """A schedule in progress.

    Raises a DirectiveRefusedError if a directive of the policy is not legal; directives of users
    pass the same checks.
    """

    def __init__(self, start: LoopNest, tuning: Tuning = DEFAULT_TUNING) -> None:
        self.start = self.nest = start
        self.tuning = tuning
        self.directives: list[Directive] = []
        self._waived = ("order-must-be-kept",) if tuning.combines_pairs else ()

    def beginning(self, tuning: Tuning) -> Plan:
        """Return another plan that starts with the directives of this one.

        tuning: of the other plan.
        """
        plan = Plan(self.start, tuning)
        plan.nest, plan.directives = self.nest, [*self.directives]
        return plan

    def do(self, directive: Directive) -> tuple[AxisHandle, ...]:
        """Apply a directive; return the axes that it makes."""
        after = directive.applied(self.nest, self._waived)
        made = directive.new_axes(self.nest)
        self.nest = after
        self.directives.append(directive)
        return tuple([self.axis(name) for name in made])

    def attempt(self, policy: Callable[[], T]) -> T | None:
        """Return the value of a policy; undo its directives and return None if one is refused.

        They are refused, too, if the verifier cannot prove the nest afterwards.
        """
        before, count = self.nest, len(self.directives)
        try:
            made = policy()
            if self.nest is before or not why_not_well_formed(self.nest):
                return made
        except DirectiveRefusedError:
            pass
        self.nest = before
        del self.directives[count:]
        return None

    def axis(self, axis: Axis | str) -> AxisHandle:
        """Return the handle of an axis."""
        return AxisHandle(self, axis if isinstance(axis, str) else axis.name)

    def outermost(self) -> list[AxisHandle]:
        """Return the outermost loops."""
        return [self.axis(s.axis) for s in self.nest.body if isinstance(s, For)]

    def parallelize(self, tasks: int) -> None:
        """Make each long outermost loop parallel; the last task executes the others."""
        for loop in self.outermost():
            s = loop.loop
            if (
                s.kind is AxisKind.SERIAL
                and s.axis.extent >= tasks > 1
                and not overwrites(self.nest, s)
            ):
                loop.parallel(tasks)

    def sink(self) -> None:
        """Sink statements beside a single loop into it, outermost first."""
        for s, _ in walk(self.nest.body):
            if isinstance(s, For) and len(s.body) > 1:
                directive = Sink(s.axis.name)
                if directive.only_computes(self.nest) is None:
                    self.do(directive)
                    self.sink()
                    return

    def schedule(self, emitter: str = "", reasoning: str = "") -> Schedule:
        """Return the planned schedule; emitter, reasoning: see `Schedule`."""
        made = Schedule(self.start, self.nest, tuple(self.directives))
        return replace(made, emitter=emitter, reasoning=reasoning)


def collapse_all(axes: Sequence[AxisHandle]) -> AxisHandle | None:
    """Collapse nested axes into one; None for no axes."""
    one: AxisHandle | None = None
    for axis in axes:
        one = axis if one is None else one.collapse(axis, repeating=True)
    return one
