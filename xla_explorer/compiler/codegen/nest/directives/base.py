"""The interface of directives: passes of the pass runner that change one loop nest.

A directive has named checks. Each returns None or a Reason for a refusal, which the journal
records. Users force and forbid directives by kernel and axis, as decisions of the kind
`loop-<name>`. A directive that is not legal is refused even if it is forced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field, fields
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Store,
    bodies_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, linearize
from xla_explorer.hlo.instruction import HloInstruction

D = TypeVar("D", bound="Directive")

MOST_LANES = 64  # of a vector
MOST_STAGED = 16 << 20  # bytes of a tile in memory that a kernel is given


class NestModule:
    """A loop nest in the form that the pass runner takes: the methods of a module that it calls.

    Parameters
    ----------
    nest : LoopNest
        The nest; directives replace it.
    checked : bool
        Whether a directive is refused if the verifier cannot prove the nest afterwards.
    """

    is_scheduled = False
    computations: ClassVar[dict[str, Any]] = {}

    def __init__(self, nest: LoopNest, checked: bool = True) -> None:
        self.nest, self.name, self.checked = nest, nest.name, checked

    def snapshot(self) -> LoopNest:
        """Return the nest. It is frozen, so an unchanged nest is the same object."""
        return self.nest

    def instruction_count(self) -> int:
        """Return the number of statements."""
        return sum([1 for _ in walk(self.nest.body)])

    def instructions(self) -> Iterator[Any]:
        """Return no instructions, since a nest consists of statements."""
        return iter(())

    def set_listener(self, listener: Callable[..., None] | None) -> None:
        """Ignore the listener, since nests are replaced and never edited."""


class Subject(NamedTuple):
    """The subject of a decision in the journal: a kernel or an axis, by name."""

    name: str
    id: int = -1
    opcode: None = None


class DirectiveRefusedError(XlaExplorerError):
    """A directive that is not legal for a nest.

    reason: of the check that failed.
    """

    def __init__(self, directive: Directive, reason: Reason) -> None:
        super().__init__(f"{directive}: {reason.message}")
        self.directive, self.reason = directive, reason


class Directive:
    """A change of a loop nest.

    Subclasses are frozen dataclasses, whose fields are the arguments of the directive.

    Attributes
    ----------
    name : str
        The name in the text of a schedule.
    axis : str
        The axis that the journal names.
    bare : str
        The field whose leading `%` is optional in the text and dropped here.
    check_names : tuple of str
        The methods that check legality, in the order of their calls.
    new_suffixes : str
        Letters; each names a new axis, behind the name of the old one.
    """

    name: ClassVar[str]
    bare: ClassVar[str] = ""
    check_names: ClassVar[tuple[str, ...]] = ()
    new_suffixes: ClassVar[str] = ""
    axis: str

    def __post_init__(self) -> None:
        if self.bare:
            object.__setattr__(self, self.bare, getattr(self, self.bare).removeprefix("%"))

    def checks(self) -> tuple[Predicate, ...]:
        """Return the checks, in the order of their calls."""
        return tuple([getattr(self, name) for name in self.check_names])

    def changed(self, nest: LoopNest) -> LoopNest:
        """Return the changed nest; all checks must hold.

        Callers use `applied`, which calls the checks first.
        """
        raise NotImplementedError

    def applied(self, nest: LoopNest, waived: Collection[str] = ()) -> LoopNest:
        """Return the changed nest after all checks.

        waived: codes of refusals that the caller accepts.

        Raises
        ------
        DirectiveRefusedError
            If a check fails.
        """
        for check in self.checks():
            reason = check(nest)
            if reason is not None and reason.code not in waived:
                raise DirectiveRefusedError(self, reason)
        return self.changed(nest)

    def run(self, module: NestModule, context: PassContext) -> bool:
        """Decide whether to apply the directive, and apply it. Return True if applied."""
        nest = module.nest
        subjects = cast(
            "tuple[HloInstruction, ...]", (Subject(nest.name), Subject(self.axis))
        )  # names, as the journal records them
        held: list[
            LoopNest
        ] = []  # the nest, once all checks hold: the numbers of a refusal are in its Reason
        checks = (
            *self.checks(),
            *((self.stays_well_formed,) if module.checked else ()),
            held.append,
        )
        facts = lambda: self.facts(nest) if held else {}  # noqa: E731
        if (
            context.decide(f"loop-{self.name}", checks, (), *subjects, candidate=nest, facts=facts)
            is not None
        ):
            return False
        module.nest = self.changed(nest)
        return True

    def renamed(self: D, arrays: Mapping[str, str]) -> D:
        """Return the directive for a nest whose arrays have other names.

        The field `bare` and values like `%name` are arrays. An axis may have the same name as an
        array.
        """
        written = {f"%{old}": f"%{new}" for old, new in arrays.items()}
        given = {field.name: getattr(self, field.name) for field in fields_of(self)}
        return type(self)(
            **{
                name: (arrays if name == self.bare else written).get(value, value)
                for name, value in given.items()
            }
        )

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Return the numbers that the journal records with an accepted decision."""
        return {"extent": nest.axes()[self.axis].axis.extent}

    def __str__(self) -> str:
        given = [(field, getattr(self, field.name)) for field in fields_of(self)]
        while given[-1][1] == given[-1][0].default:
            given.pop()
        found = [
            field.name if value is True else str(value)
            for field, value in given
            if value is not False
        ]
        return f"{self.name}{{{','.join(found)}}}"

    # -- checks that several share -----------------------------------------------------------------
    def axis_exists(self, nest: LoopNest) -> Reason | None:
        """Refuse an axis that the nest does not have."""
        axes = nest.axes()
        return (
            None
            if self.axis in axes
            else refuse(
                "no-such-axis", f"unknown axis {self.axis}; the axes are: {', '.join(axes)}"
            )
        )

    def is_a_loop(self, nest: LoopNest) -> Reason | None:
        """Refuse an axis of a reduction."""
        found = nest.loop(self.axis)
        return (
            None
            if isinstance(found, For)
            else refuse("not-a-loop", f"{self.axis} is an axis of a reduction, not of a loop")
        )

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the names of the axes that the directive creates, in the order of its handles."""
        return tuple([self.axis + letter for letter in self.new_suffixes])

    def names_are_free(self, nest: LoopNest) -> Reason | None:
        """Refuse if another axis has one of the new names."""
        taken = nest.axes().keys() & set(self.new_axes(nest))
        return refuse("name-taken", f"the nest has an axis {min(taken)} already") if taken else None

    def axis_is_serial(self, nest: LoopNest) -> Reason | None:
        """Refuse an axis that has another kind than `serial`."""
        kind = nest.axes()[self.axis].kind
        return (
            None
            if kind is AxisKind.SERIAL
            else refuse(
                "axis-not-serial", f"axis {self.axis} is {kind.value} already", kind=kind.value
            )
        )

    def steps_are_independent(self, nest: LoopNest) -> Reason | None:
        """Refuse if the steps of the axis must stay in order.

        They must if a step reads what an earlier one stored, or if a reduction combines in order.
        """
        loop = nest.loop(self.axis)
        if isinstance(loop, For) and loop.ordered:
            return refuse(
                "ordered-steps", f"steps of {self.axis} read what earlier steps have stored"
            )
        if isinstance(loop, Reduce) and loop.each:
            return refuse(
                "order-must-be-kept",
                f"%{loop.ids[0]} gives every running value along {self.axis}, in the order of "
                "its steps",
            )
        if isinstance(loop, Reduce) and isinstance(loop.combiner, Combination):
            return refuse(
                "order-must-be-kept",
                f"%{loop.ids[0]} combines by several operations, in the order of {self.axis}",
            )
        return None

    def partial_results_combine(self, nest: LoopNest) -> Reason | None:
        """Refuse if partial results over some steps of the axis cannot be combined in any order."""
        loop = nest.loop(self.axis)
        joins = (
            isinstance(loop, Reduce)
            and isinstance(loop.combiner, Combination)
            and loop.combiner.join is not None
        )
        return None if joins else self.steps_are_independent(nest)

    def stays_well_formed(self, nest: LoopNest) -> Reason | None:
        """Refuse if the verifier cannot prove the changed nest."""
        found = why_not_well_formed(self.changed(nest))
        return refuse("not-proved", found[0].message, problem=found[0].code) if found else None


def fields_of(directive: Directive | type[Directive]) -> tuple[Field[Any], ...]:
    """Return the dataclass fields of a directive, which are its arguments."""
    return fields(cast(Any, directive))


def offsets_of(
    nest: LoopNest, axis: str, iotas: bool = True
) -> Iterator[tuple[Load | Store | Iota, str, IndexExpression]]:
    """Yield each access along an axis, and each iota if `iotas`.

    Yields
    ------
    tuple
        The statement, its array or value as text, and its offset in elements or its index.
    """
    loop = nest.loop(axis)
    for s, _ in walk(sum(bodies_of(loop), ()) if loop is not None else ()):
        if isinstance(s, (Load, Store)) and (array := nest.array(s.array)) is not None:
            yield s, f"%{array.name}", linearize(s.place, array.shape.strides)
        elif iotas and isinstance(s, Iota):
            yield s, f"%{s.id}", s.index


def is_collapsible(offset: IndexExpression, outer: Axis, inner: Axis) -> bool:
    """Return True if an offset is linear over two nested axes as over their product."""
    a, b = offset.coefficient(outer), offset.coefficient(inner)
    return a is not None and b is not None and a == b * inner.extent


def order_of_sums(nest: LoopNest, axis: str) -> dict[str, Any]:
    """Return the fact `reorders-sum` if changing the axis reassociates a float reduction."""
    loop = nest.loop(axis)
    if (
        not isinstance(loop, Reduce)
        or isinstance(loop.combiner, Combination)
        or loop.combiner.name not in ("add", "multiply")
    ):
        return {}
    return {"reorders-sum": True} if any(t.is_float or t.is_complex for t in loop.elements) else {}
