"""Directives: what may be done to a loop nest, as frozen passes of the ordinary pass runner.

Each has checks by name, asked through `PassContext.decide`, so that refusals are Reasons in the journal and users can force and forbid by
kernel and axis, of the kind `loop-split` and so on. What is not legal is refused whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, cast

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Choose,
    Combination,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Store,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.transformations import inner_loop, loop_of
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.indexing import IndexExpression, linearize
from xla_explorer.hlo.instruction import HloInstruction

MOST_LANES, MOST_COPIES = 64, 64


class NestModule:
    """A nest in the making, as the pass runner sees a module: it asks for these methods and no others.

    checked: what the verifier cannot prove after a directive is refused.
    """

    is_scheduled = False
    computations: ClassVar[dict[str, Any]] = {}

    def __init__(self, nest: LoopNest, checked: bool = True) -> None:
        self.nest, self.name, self.checked = nest, nest.name, checked

    def snapshot(self) -> LoopNest:
        """The nest: it is frozen, and an unchanged one is the same object."""
        return self.nest

    def instruction_count(self) -> int:
        """The number of statements."""
        return sum([1 for _ in walk(self.nest.body)])

    def instructions(self) -> Iterator[Any]:
        """None: statements are no instructions."""
        return iter(())

    def set_listener(self, listener: Callable[..., None] | None) -> None:
        """Nests are replaced, not edited: there is nothing to listen to."""


class Subject(NamedTuple):
    """What a decision is about, as the journal names it: a kernel, or an axis."""

    name: str
    id: int = -1
    opcode: None = None


@dataclass(frozen=True)
class Directive:
    """A change of one axis. Subclasses have checks, and say what they make of a nest."""

    name: ClassVar[str]
    axis: str

    def checks(self) -> tuple[Predicate, ...]:
        """What must hold of the nest, in the order in which it is asked."""
        raise NotImplementedError

    def applied(self, nest: LoopNest) -> LoopNest:
        """The nest afterwards; the checks hold."""
        raise NotImplementedError

    def run(self, module: NestModule, context: PassContext) -> bool:
        """Decide, and change the nest."""
        nest = module.nest
        subjects = cast("tuple[HloInstruction, ...]", (Subject(nest.name), Subject(self.axis)))  # names, as the journal wants them
        checks = (*self.checks(), *((self.stays_well_formed,) if module.checked else ()))
        if context.decide(f"loop-{self.name}", checks, (), *subjects, candidate=nest, facts=lambda: self.facts(nest)) is not None:
            return False
        module.nest = self.applied(nest)
        return True

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """The numbers of a decision that went ahead."""
        return {"extent": nest.axes()[self.axis].axis.extent}

    def __str__(self) -> str:
        values = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return f"{self.name}{{{','.join([name if value is True else str(value) for name, value in values if value is not False])}}}"

    # -- checks that several share -----------------------------------------------------------------------------------
    def axis_exists(self, nest: LoopNest) -> Reason | None:
        """The axis is one of the nest's."""
        axes = nest.axes()
        return None if self.axis in axes else refuse("no-such-axis", f"unknown axis {self.axis}; the axes are: {', '.join(axes)}")

    def axis_is_serial(self, nest: LoopNest) -> Reason | None:
        """The axis has no kind yet."""
        kind = nest.axes()[self.axis].kind
        return None if kind is AxisKind.SERIAL else refuse("axis-not-serial", f"axis {self.axis} is {kind.value} already", kind=kind.value)

    def steps_are_independent(self, nest: LoopNest) -> Reason | None:
        """No step sees what another stored, and a reduction may combine in any order."""
        loop = loop_of(nest, self.axis)
        if isinstance(loop, For) and loop.ordered:
            return refuse("ordered-steps", f"steps of {self.axis} see what those before have stored")
        if isinstance(loop, Reduce) and isinstance(loop.combiner, Combination):
            return refuse("order-must-be-kept", f"%{loop.ids[0]} combines by several operations, in the order of {self.axis}")
        return None

    def stays_well_formed(self, nest: LoopNest) -> Reason | None:
        """The verifier proves the nest afterwards."""
        found = why_not_well_formed(self.applied(nest))
        return refuse("not-proved", found[0].message, problem=found[0].code) if found else None


@dataclass(frozen=True)
class Split(Directive):
    """The axis becomes factor * <axis>o + <axis>i; where the factor does not divide its extent, a guard remains."""

    name: ClassVar[str] = "split"
    factor: int

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        return self.axis_exists, self.axis_is_serial, self.factor_fits, self.names_are_free

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return transformations.split(nest, self.axis, self.factor)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        extent = nest.axes()[self.axis].axis.extent
        return {"extent": extent, "factor": self.factor, "rest": extent % self.factor}

    def factor_fits(self, nest: LoopNest) -> Reason | None:
        """1 <= factor <= extent."""
        extent = nest.axes()[self.axis].axis.extent
        if 1 <= self.factor <= extent:
            return None
        message = f"the factor must be from 1 to {extent}, the steps of {self.axis}, got {self.factor}"
        return refuse("factor-too-large", message, extent=extent, factor=self.factor)

    def names_are_free(self, nest: LoopNest) -> Reason | None:
        """No other axis has the names of the new ones."""
        taken = {f"{self.axis}o", f"{self.axis}i"} & nest.axes().keys()
        return refuse("name-taken", f"the nest has an axis {min(taken)} already") if taken else None


@dataclass(frozen=True)
class Pair(Directive):
    """A change of two axes, one directly inside the other."""

    inner: str

    def axes_are_nested(self, nest: LoopNest) -> Reason | None:
        """The inner axis is all that the outer one contains."""
        if self.inner in nest.axes() and inner_loop(nest, self.axis, self.inner) is not None:
            return None
        return refuse("not-perfectly-nested", f"{self.inner} is not all that {self.axis} contains", outer=self.axis, inner=self.inner)

    def both_are_serial(self, nest: LoopNest) -> Reason | None:
        """Neither axis has a kind yet."""
        return self.axis_is_serial(nest) or replace(self, axis=self.inner).axis_is_serial(nest)

    def neither_is_ordered(self, nest: LoopNest) -> Reason | None:
        """No step sees what another stored."""
        pair = inner_loop(nest, self.axis, self.inner) or ()
        ordered = any(isinstance(loop, For) and loop.ordered for loop in pair)
        return refuse("ordered-steps", f"steps of {self.axis} or {self.inner} see what those before have stored") if ordered else None


@dataclass(frozen=True)
class Collapse(Pair):
    """Two nested axes become one. repeating: also where indices then need quotients and remainders."""

    name: ClassVar[str] = "collapse"
    repeating: bool = False

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        names = (self.axis_exists, self.axes_are_nested, self.both_are_serial, self.neither_is_ordered, self.name_is_free)
        return names if self.repeating else (*names, self.accesses_collapse)

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return transformations.collapse(nest, self.axis, self.inner)

    def name_is_free(self, nest: LoopNest) -> Reason | None:
        """No other axis has the name of the new one."""
        name = self.axis + self.inner
        return refuse("name-taken", f"the nest has an axis {name} already") if name in nest.axes() else None

    def accesses_collapse(self, nest: LoopNest) -> Reason | None:
        """Every access runs along both axes as along one."""
        after = self.applied(nest)
        one = after.axes()[self.axis + self.inner].axis
        for what, offset in _indices(after):
            if offset.coefficient(one) is None:
                message = f"{what} would be at {offset}: it does not run along {self.axis} and {self.inner} as along one"
                return refuse("access-does-not-collapse", message, offset=str(offset))
        return None


@dataclass(frozen=True)
class Reorder(Pair):
    """Two nested axes change places."""

    name: ClassVar[str] = "reorder"

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        return self.axis_exists, self.axes_are_nested, self.neither_is_ordered, self.steps_are_independent, self.stays_outermost

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return transformations.reorder(nest, self.axis, self.inner)

    def stays_outermost(self, nest: LoopNest) -> Reason | None:
        """The loop that threads share is not moved inside."""
        shared = nest.axes()[self.axis].kind is AxisKind.SHARE
        return refuse("share-not-outermost", f"the threads share {self.axis}, which must stay the outermost loop") if shared else None

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}


@dataclass(frozen=True)
class Unroll(Directive):
    """The axis becomes copies in registers."""

    name: ClassVar[str] = "unroll"

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        return self.axis_exists, self.axis_is_serial, self.copies_within_limit, self.steps_are_independent

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return transformations.bind(nest, self.axis, AxisKind.UNROLLED)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}

    def copies_within_limit(self, nest: LoopNest) -> Reason | None:
        """The code stays small."""
        extent = nest.axes()[self.axis].axis.extent
        if extent <= MOST_COPIES:
            return None
        message = f"{self.axis} has {extent} steps, at most {MOST_COPIES} are unrolled"
        return refuse("axis-too-long", message, extent=extent, limit=MOST_COPIES)


@dataclass(frozen=True)
class Vectorize(Directive):
    """The axis becomes the lanes of a register."""

    name: ClassVar[str] = "vectorize"

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        fits = (self.axis_exists, self.axis_is_serial, self.is_a_vector, self.steps_are_independent, self.no_other_vector)
        return (*fits, self.accesses_are_contiguous)

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return transformations.bind(nest, self.axis, AxisKind.VECTOR)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}

    def is_a_vector(self, nest: LoopNest) -> Reason | None:
        """A power of two lanes."""
        lanes = nest.axes()[self.axis].axis.extent
        if 2 <= lanes <= MOST_LANES and lanes & (lanes - 1) == 0:
            return None
        message = f"a vector must have a power of two lanes, from 2 to {MOST_LANES}; {self.axis} has {lanes} steps"
        return refuse("not-a-vector", message, lanes=lanes)

    def no_other_vector(self, nest: LoopNest) -> Reason | None:
        """Neither around nor inside is another vector axis."""
        for s, around in walk(nest.body):
            opened = [b for x in (*around, s) for b in axes_of(x)]
            other = next((b.axis for b in opened if b.kind is AxisKind.VECTOR), None)
            if other is not None and self.axis in [b.axis.name for b in opened]:
                return refuse("nested-vector", f"{self.axis} and {other} would be vectors in one another", other=other.name)
        return None

    def accesses_are_contiguous(self, nest: LoopNest) -> Reason | None:
        """Every access along the axis is to neighbours, or to one element."""
        axis = nest.axes()[self.axis].axis
        for what, offset in _indices(nest, iotas=False):
            step = offset.coefficient(axis)
            if step is None:
                return refuse("strided-access", f"{what} is at {offset}, which has no constant step along {axis}", offset=str(offset))
            if step not in (0, 1):
                return refuse("strided-access", f"{what} is at every {step}th element along {axis}", step=step, offset=str(offset))
        return None


@dataclass(frozen=True)
class Parallel(Directive):
    """The axis is cut into shares for CPU threads."""

    name: ClassVar[str] = "parallel"
    shares: int

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        return self.axis_exists, self.axis_is_serial, self.steps_are_independent, self.is_outermost, self.steps_suffice

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return replace(transformations.bind(nest, self.axis, AxisKind.SHARE), shares=self.shares)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), "shares": self.shares}

    def is_outermost(self, nest: LoopNest) -> Reason | None:
        """The loop is the whole kernel, but for constants and values that are loaded once."""
        work = [s for s in nest.body if isinstance(s, For | Reduce | Store | Choose)]
        if len(work) == 1 and isinstance(work[0], For) and work[0].axis.name == self.axis:
            return None
        return refuse("not-outermost", f"threads share a loop that is the whole kernel; {self.axis} is not that of @{nest.name}")

    def steps_suffice(self, nest: LoopNest) -> Reason | None:
        """Every share has a step."""
        extent = nest.axes()[self.axis].axis.extent
        if 2 <= self.shares <= extent:
            return None
        message = f"the shares must be from 2 to {extent}, the steps of {self.axis}, got {self.shares}"
        return refuse("too-few-steps", message, extent=extent, shares=self.shares)


DIRECTIVES: dict[str, type[Directive]] = {d.name: d for d in (Split, Collapse, Reorder, Unroll, Vectorize, Parallel)}


def _indices(nest: LoopNest, iotas: bool = True) -> Iterator[tuple[str, IndexExpression]]:
    """(what it is, its offset in elements) of every access, and the index of every iota."""
    for s, _ in walk(nest.body):
        if isinstance(s, Load | Store) and (array := nest.array(s.array)) is not None:
            yield f"%{array.name}", linearize(s.place, array.shape.strides)
        elif iotas and isinstance(s, Iota):
            yield f"%{s.id}", s.index


def order_of_sums(nest: LoopNest, axis: str) -> dict[str, Any]:
    """The fact that sums of floats are made in another order."""
    loop = loop_of(nest, axis)
    if not isinstance(loop, Reduce) or isinstance(loop.combiner, Combination) or loop.combiner.name not in ("add", "multiply"):
        return {}
    return {"reorders-sum": True} if any(t.is_float or t.is_complex for t in loop.elements) else {}
