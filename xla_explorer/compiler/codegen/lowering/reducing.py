"""The part of lowering a reduction that all targets share: accumulators and combiners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Generic, NamedTuple, TypeVar

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.ir.values import Integer, Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.compiler.codegen.lowering.elements import (
    chosen,
    in_lanes,
    lanes_of,
)
from xla_explorer.compiler.codegen.lowering.statements import StatementWriter
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Accumulators,
    Point,
    UnrolledValue,
    points,
)
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    Reduce,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard
from xla_explorer.hlo.identity_element import identity_element

ANY_ORDER = (
    "reassoc contract"  # the schedule sets the order of sums; products may be fused into them
)


H = TypeVar("H", bound=StatementWriter)


class Reducing(Generic[H]):
    """A reduction that is being written.

    Attributes
    ----------
    neutral : float, optional
        The begin of accumulators, if not the identity element.
    lanes : int
        Of an accumulator.
    serial : list of Axis
        The axes that are loops.
    outer : list of Axis
        The unrolled axes around on which it depends, with accumulators for each point.
    sequential : bool
        Values are combined one after the other, as multiply-adds need, not in a tree.
    """

    def __init__(
        self, host: H, s: Reduce, neutral: float | None = None, from_initial: bool = True
    ) -> None:
        """Prepare a reduction; from_initial: accumulators begin with the initial values."""
        self.l, self.b, self.s = host, host.b, s
        self.element, self.lanes, self.neutral = s.elements[0], 1, neutral
        self.serial = [axis for axis, kind in s.axes if kind is AxisKind.SERIAL]
        self.sequential = False
        self._identities: dict[int, Scalar] = {}
        values = (*s.values, *(s.initial if from_initial else ()))
        found = [host.depends.get(v, frozenset()) for v in values]
        self.needed: frozenset[Axis] = frozenset().union(
            *found, *[g.expression.axes for g in s.guards]
        )
        self.outer = [a for a in host.unrolled if a in self.needed]

    def results(
        self, ids: Sequence[int], axes: Sequence[Axis], found: Accumulators
    ) -> dict[int, UnrolledValue]:
        """Return values whose instances are in the order of the points of axes."""
        made = dict(zip([tuple(p.values()) for p in points(axes)], found, strict=True))
        return {
            number: UnrolledValue(
                axes,
                lambda point, k=k: made[tuple(point.values())][k],  # type: ignore[misc]
            )
            for k, number in enumerate(ids)
        }

    def identity(self, lanes: int = 1) -> Scalar:
        """Return the identity element."""
        assert not isinstance(self.s.combiner, Combination)
        found = self._identities.get(lanes)
        if found is None:
            value = (
                identity_element(self.s.combiner.name, self.element)
                if self.neutral is None
                else self.neutral
            )
            found = self._identities[lanes] = in_lanes(
                self.b, constant(self.b, value, self.element), lanes
            )
        return found

    def combined(self, x: Scalar, y: Scalar) -> Scalar:
        """Return two accumulators of one operation combined."""
        assert not isinstance(self.s.combiner, Combination)
        if not (isinstance(x, Value) and isinstance(y, Value) and x.type is y.type):
            lanes = max(lanes_of(x), lanes_of(y))
            x, y = in_lanes(self.b, x, lanes), in_lanes(self.b, y, lanes)
        if (
            isinstance(x, Value)
            and x.is_constant
            and x.name == real(self.identity(x.type.lanes)).name
        ):
            return y
        return self.apply_operation(x, y)

    def apply_operation(self, x: Scalar, y: Scalar) -> Scalar:
        """Write the operation on two elements with equal numbers of lanes."""
        assert not isinstance(self.s.combiner, Combination)
        before, self.b.float_flags = self.b.float_flags, ANY_ORDER
        made = binary_value(self.b, self.s.combiner.name, self.element, x, y)
        self.b.float_flags = before
        return made

    def combined_sets(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        """Return two sets of accumulators combined, with the earlier first."""
        c = self.s.combiner
        return (
            self.written(c, left, right, self.lanes)
            if isinstance(c, Combination)
            else [self.combined(left[0], right[0])]
        )

    def written(
        self, c: Combination, left: list[Scalar], right: list[Scalar], lanes: int
    ) -> list[Scalar]:
        """Write the operations of a combiner on two sets of values."""
        unrolled, self.l.unrolled = self.l.unrolled, []
        for number, element, value in zip(
            (*c.left, *c.right), (*self.s.elements, *self.s.elements), (*left, *right), strict=True
        ):
            self.l.values[number] = UnrolledValue((), lambda _, value=value: value)  # type: ignore[misc]
            self.l.types[number], self.l.depends[number] = element, frozenset()
        self.l.body(c.body)
        self.l.unrolled = unrolled
        return [in_lanes(self.b, self.l.values[number].at({}), lanes) for number in c.results]

    def tree(self, values: list[Scalar]) -> Scalar:
        """Combine values pairwise until one is left."""
        while len(values) > 1:
            pairs = [self.combined(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
            values = [*pairs, *values[2 * len(pairs) :]]
        return values[0]

    def taken(
        self, group: Sequence[Point], mine: list[Scalar], guards: Sequence[Guard]
    ) -> list[Scalar]:
        """Return accumulators combined with the values at some points where the guards hold.

        One operation combines in a tree, several operations in order.
        """
        runs: list[
            tuple[Value[Integer] | None, list[list[Scalar]]]
        ] = []  # consecutive points with one condition
        for point in group:
            values = [self.l.instance(number, point) for number in self.s.values]
            mask = self.l.mask(guards, point) if guards else None
            self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
            if mask is not None and mask.name == "false":
                continue
            if runs and (mask if mask is None else mask.name) == (
                runs[-1][0] if runs[-1][0] is None else runs[-1][0].name
            ):
                runs[-1][1].append(values)
            else:
                runs.append((mask, [values]))
        if self.sequential or isinstance(self.s.combiner, Combination):
            for mask, several in runs:
                mine = self._chosen(mask, reduce(self._with_next, several, mine), mine)
        elif runs:
            trees = [(mask, self.tree([values[0] for values in several])) for mask, several in runs]
            totals = [
                total if mask is None else self._or_identity(mask, total) for mask, total in trees
            ]
            mine = [in_lanes(self.b, self.combined(mine[0], self.tree(totals)), self.lanes)]
        return mine

    def _with_next(self, mine: list[Scalar], values: list[Scalar]) -> list[Scalar]:
        """Return accumulators combined with the values at one more point."""
        if not isinstance(self.s.combiner, Combination):
            return [self.apply_operation(mine[0], values[0])]
        return [in_lanes(self.b, x, self.lanes) for x in self.combined_sets(mine, values)]

    def _chosen(
        self, mask: Value[Integer] | None, new: list[Scalar], old: list[Scalar]
    ) -> list[Scalar]:
        """Select the new accumulators where a condition holds."""
        return (
            new
            if mask is None
            else [
                chosen(self.b, self.b.splat(mask, self.lanes), x, y)
                for x, y in zip(new, old, strict=True)
            ]
        )

    def _or_identity(self, mask: Value[Integer], value: Scalar) -> Scalar:
        lanes = max(lanes_of(value), mask.type.lanes)
        return chosen(
            self.b, self.b.splat(mask, lanes), in_lanes(self.b, value, lanes), self.identity(lanes)
        )

    def after_loops(self, serial: Sequence[Axis], accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after all steps of some loops."""
        if not serial:
            return self.step(accumulators)
        return self.repeated(
            serial[0], accumulators, lambda before: self.after_loops(serial[1:], before)
        )

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after one step."""
        raise NotImplementedError

    def repeated(
        self, axis: Axis, accumulators: Accumulators, body: Callable[[Accumulators], Accumulators]
    ) -> Accumulators:
        """Return the accumulators after a serial loop, or after each of its written-out steps."""
        if not self.l.nest.form(axis).written_out:
            return self.l.repeated(axis, accumulators, body)
        for step in range(axis.extent):
            with self.l.at_point({axis: step}):
                accumulators = body(accumulators)
        return accumulators


class Scanning(Reducing[H]):
    """A scan that is being written.

    Attributes
    ----------
    own : list of tuple
        The axes that are not loops, with their kinds.
    instances : list of Axis
        Those of instances.
    """

    def __init__(self, host: H, s: Reduce) -> None:
        super().__init__(host, s)
        self.own = [(axis, kind) for axis, kind in s.axes if kind is not AxisKind.SERIAL]
        self.instances = [axis for axis, kind in self.own if kind is AxisKind.UNROLLED]

    def write(self) -> dict[int, UnrolledValue]:
        """Write the running values, the statements for each; return the last values."""
        after = [
            [in_lanes(self.b, self.l.instance(v, point), self.lanes) for v in self.s.initial]
            for point in points(self.outer)
        ]
        if all(axis.extent for axis, _ in self.s.axes):
            with self.l.opened(self.own):
                after = self.after_loops(self.serial, after)
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        last = [[self.total(x) for x in mine] for mine in after]
        return self.results(self.s.ids, self.outer, last)

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after one step; write the statements for its running values."""
        running: Accumulators = []
        after: Accumulators = []
        with self.l.guarded(self.s.guards), self.l.instance_by_instance(False):
            self.l.body(self.s.body)
            for outer, mine in zip(points(self.outer), accumulators, strict=True):
                own = [{**outer, **own} for own in points(self.instances)]
                found, mine = self.scanned(own, mine)
                running += found
                after.append(mine)
            self.l.types.update(zip(self.s.running, self.s.elements, strict=True))
            axes = [*self.outer, *self.instances]
            self.l.values.update(self.results(self.s.running, axes, running))
            self.l.body(self.s.each)
        return after

    def element_at(self, point: Point) -> Scalar:
        """Return the element at a point, the identity outside of the guards."""
        value = in_lanes(self.b, self.l.instance(self.s.values[0], point), self.lanes)
        mask = self.l.mask(self.s.guards, point) if self.s.guards else None
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        return value if mask is None else self._or_identity(mask, value)

    def total(self, x: Scalar) -> Scalar:
        """Return the last value of an accumulator."""
        return x

    def scanned(
        self, own: Sequence[Point], before: list[Scalar]
    ) -> tuple[Accumulators, list[Scalar]]:
        """Return the running values at points in order, and the accumulators after them."""
        raise NotImplementedError


class OpenReduction(NamedTuple):
    """A reduction whose accumulators have not been combined.

    outer: the unrolled axes around. lanes: of the reduction itself, or 1. held: the accumulators at
    each point of `outer`. initial: the value to combine last.
    """

    outer: tuple[Axis, ...]
    lanes: int
    held: dict[tuple[int, ...], list[Scalar]]
    initial: int
