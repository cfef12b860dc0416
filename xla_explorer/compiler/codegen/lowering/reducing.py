"""The part of lowering a reduction that all targets share: accumulators and combiners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.compiler.codegen.lowering.elements import (
    chosen,
    in_lanes,
    lanes_of,
)
from xla_explorer.compiler.codegen.lowering.statements import StatementWriter
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, UnrolledValue
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    Reduce,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard
from xla_explorer.hlo.identity_element import identity_element

Accumulators: TypeAlias = list[list[Scalar]]  # the values of each accumulator
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
    sequential : bool
        Values are combined one after the other, as multiply-adds need, not in a tree.
    """

    def __init__(self, host: H, s: Reduce, neutral: float | None = None) -> None:
        self.l, self.b, self.s = host, host.b, s
        self.element, self.lanes, self.neutral = s.elements[0], 1, neutral
        self.serial = [axis for axis, kind in s.axes if kind is AxisKind.SERIAL]
        self.sequential = False
        self._identities: dict[int, Scalar] = {}

    def needed(self) -> frozenset[Axis]:
        """Return the axes on which values and guards depend."""
        found = [self.l.depends.get(v, frozenset()) for v in self.s.values]
        return frozenset().union(*found, *[g.expression.axes for g in self.s.guards])

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
        """Return the accumulators after a loop."""
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


def flat(values: Sequence[Sequence[Scalar]]) -> list[Value]:
    """Return the parts of all accumulators in one list."""
    return [
        part for mine in values for x in mine for part in (x if isinstance(x, Complex) else (x,))
    ]


def like(values: Sequence[Sequence[Scalar]], parts: Sequence[Value]) -> list[list[Scalar]]:
    """Return accumulators of parts, the inverse of `flat`."""
    rest = iter(parts)
    return [
        [Complex(next(rest), next(rest)) if isinstance(x, Complex) else next(rest) for x in mine]
        for mine in values
    ]
