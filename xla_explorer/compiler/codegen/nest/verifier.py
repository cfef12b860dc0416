"""The verifier of loop nests.

Extents are constant and indices are affine, so it proves that every access is inside its array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.independence import why_not_independent
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    BoundAxis,
    Combination,
    Compute,
    For,
    Iota,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    SelectRegion,
    Space,
    Statement,
    Store,
    axes_of,
    elements_of,
    ids_of,
)
from xla_explorer.compiler.codegen.nest.launch import launch_problems
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Guard,
    IndexExpression,
    Place,
    Quotient,
    Remainder,
    RuntimeValue,
)
from xla_explorer.hlo.primitive_type import PRED, PrimitiveType

_MIXED_TYPES = frozenset(
    {
        "convert",
        "bitcast-convert",
        "stochastic-convert",
        "compare",
        "select",
        "is-finite",
        "real",
        "imag",
        "abs",
        "complex",
    }
)


class NestVerificationError(XlaExplorerError):
    """A nest that is not well formed.

    reasons: all problems.
    """

    def __init__(self, nest: LoopNest, reasons: list[Reason]) -> None:
        super().__init__(
            f"@{nest.name} is not well formed: " + "; ".join([reason.message for reason in reasons])
        )
        self.reasons = reasons


def verify_nest(nest: LoopNest) -> None:
    """Check that a nest is well formed.

    Raises
    ------
    NestVerificationError
        If it is not.
    """
    if found := why_not_well_formed(nest):
        raise NestVerificationError(nest, found)


def why_not_well_formed(nest: LoopNest) -> list[Reason]:
    """Return every problem of a nest."""
    verifier = _Verifier(nest)
    verifier.body(nest.body, _VisibleNames({a.name: a for a in nest.arrays}, {}, {}, ()))
    return [*verifier.found, *why_not_independent(nest), *launch_problems(nest)]


class Fact(NamedTuple):
    """low <= expression <= high, at the place of a statement."""

    expression: IndexExpression
    low: int
    high: int


class _VisibleNames:
    """The arrays, axes, values and facts at the place of a statement."""

    def __init__(
        self,
        arrays: dict[str, NestArray],
        axes: Mapping[Axis, AxisKind],
        values: dict[int, PrimitiveType],
        facts: tuple[Fact, ...],
    ) -> None:
        self.arrays, self.axes, self.values, self.facts = arrays, axes, values, facts

    def inside(
        self, axes: tuple[BoundAxis, ...] = (), facts: tuple[Fact, ...] = ()
    ) -> _VisibleNames:
        return _VisibleNames(
            dict(self.arrays), {**self.axes, **dict(axes)}, dict(self.values), (*self.facts, *facts)
        )

    @property
    def never_runs(self) -> bool:
        """True if an axis has no steps or a fact cannot hold."""
        ranges = [(fact, *fact.expression.bounds) for fact in self.facts]
        return any(axis.extent == 0 for axis in self.axes) or any(
            high < fact.low or low > fact.high for fact, low, high in ranges
        )


class _Verifier:
    def __init__(self, nest: LoopNest) -> None:
        self.arrays = {a.name for a in nest.arrays}
        self.found: list[Reason] = []
        self.defined: set[int] = set()
        self.opened: set[str] = set()
        self.tasks = nest.tasks
        if len(self.arrays) < len(nest.arrays):
            self.problem("array-declared-twice", f"@{nest.name} has two arrays of one name")

    def problem(self, code: str, message: str) -> None:
        self.found.append(refuse(code, message))

    def body(self, body: Body, scope: _VisibleNames) -> None:
        for s in body:
            self.statement(s, scope)
            for number, element in zip(ids_of(s), elements_of(s), strict=True):
                if number in self.defined:
                    self.problem("value-defined-twice", f"%{number} is defined twice")
                self.defined.add(number)
                scope.values[number] = element

    def statement(self, s: Statement, scope: _VisibleNames) -> None:
        self.axes(s, scope)
        if isinstance(s, For):
            if s.ordered and s.kind is not AxisKind.SERIAL:
                self.problem(
                    "ordered-not-serial",
                    f"axis {s.axis}: ordered steps must be a serial loop, got {s.kind.value}",
                )
            inner = scope.inside(axes_of(s), facts_of(s.guards))
            self.guards(f"axis {s.axis}", s.guards, inner)
            self.body(s.body, inner)
        elif isinstance(s, Store):
            self.access(
                f"store to %{s.array}",
                s.array,
                s.place,
                scope,
                self.type_of(f"store to %{s.array}", s.value, scope),
                True,
            )
        elif isinstance(s, Load):
            self.access(f"%{s.id}", s.array, s.place, scope, s.element, False)
        elif isinstance(s, Allocate):
            self.allocate(s.array, scope)
        elif isinstance(s, Iota):
            self.index(f"%{s.id}", s.index, scope)
        elif isinstance(s, Compute):
            self.compute(s, scope)
        elif isinstance(s, SelectRegion):
            self.select_region(s, scope)
        elif isinstance(s, Reduce):
            self.reduce(s, scope)

    def axes(self, s: Statement, scope: _VisibleNames) -> None:
        for axis, kind in axes_of(s):
            if axis.name in self.opened:
                self.problem("axis-opened-twice", f"axis {axis} is opened twice")
            self.opened.add(axis.name)
            if kind is AxisKind.VECTOR and AxisKind.VECTOR in scope.axes.values():
                self.problem("nested-vector", f"axis {axis}: a vector axis inside another one")
            if kind is AxisKind.PARALLEL and (scope.axes or isinstance(s, Reduce)):
                self.problem(
                    "parallel-not-outermost", f"axis {axis}: a parallel loop must be outermost"
                )
        if isinstance(s, Reduce) and sum([kind is AxisKind.VECTOR for _, kind in s.axes]) > 1:
            self.problem("nested-vector", f"%{s.ids[0]}: a vector axis inside another one")

    def allocate(self, array: NestArray, scope: _VisibleNames) -> None:
        if array.name in self.arrays:
            self.problem("array-declared-twice", f"%{array.name} is declared twice")
        if not array.written or array.space is Space.PARAMETER:
            self.problem(
                "array-not-allocated",
                f"%{array.name}: an array that is allocated must be written, in scratch or "
                "shared memory",
            )
        for axis, kind in scope.axes.items():
            if kind in (AxisKind.UNROLLED, AxisKind.VECTOR):
                self.problem(
                    "inside-registers",
                    f"%{array.name} is allocated inside axis {axis}, which is unrolled or "
                    "vectorized",
                )
        self.arrays.add(array.name)
        scope.arrays[array.name] = array

    def compute(self, s: Compute, scope: _VisibleNames) -> None:
        what = f"%{s.id}"
        types = [self.type_of(what, o, scope) for o in s.operands]
        if s.opcode.arity is not None and len(types) != s.opcode.arity:
            self.problem(
                "operand-count",
                f"{what}: {s.opcode.name} takes {s.opcode.arity} operands, got {len(types)}",
            )
        elif s.opcode.name == "select" and (
            types[0] not in (PRED, None) or any(t not in (s.element, None) for t in types[1:])
        ):
            self.problem("types-differ", f"{what}: select of {_names(types)} must give {s.element}")
        elif s.opcode.name not in _MIXED_TYPES and any(t not in (s.element, None) for t in types):
            self.problem(
                "types-differ", f"{what}: {s.opcode.name} of {_names(types)} must give {s.element}"
            )

    def select_region(self, s: SelectRegion, scope: _VisibleNames) -> None:
        if not s.cases or s.cases[-1].guards:
            self.problem("no-last-case", f"%{s.id}: the last case must have no guards")
        before: tuple[Fact, ...] = ()
        for case in s.cases:
            inner = scope.inside((), (*before, *facts_of(case.guards)))
            before += denied_facts(case.guards, (*scope.facts, *before))
            self.guards(f"%{s.id}", case.guards, scope)
            self.body(case.body, inner)
            if self.type_of(f"%{s.id}", case.value, inner) not in (s.element, None):
                self.problem(
                    "types-differ",
                    f"%{s.id}: a case gives {inner.values[case.value]}, the value is {s.element}",
                )

    def reduce(self, s: Reduce, scope: _VisibleNames) -> None:
        what = f"%{s.ids[0]}"
        for number, element in zip(s.initial, s.elements, strict=False):
            if self.type_of(what, number, scope) not in (element, None):
                self.problem(
                    "types-differ",
                    f"{what}: the initial value %{number} is {scope.values[number]}, the result "
                    f"{element}",
                )
        inner = scope.inside(s.axes, facts_of(s.guards))
        self.guards(what, s.guards, inner)
        self.body(s.body, inner)
        counts = {len(s.ids), len(s.elements), len(s.initial), len(s.values)}
        given = [self.type_of(what, number, inner) for number in s.values]
        if isinstance(s.combiner, Combination):
            for c in s.combiner.combinations:
                counts |= {len(c.left), len(c.right), len(c.results)}
                combining = scope.inside()
                combining.values.update(
                    zip((*c.left, *c.right), (*s.elements, *s.elements), strict=False)
                )
                self.defined.update((*c.left, *c.right))
                self.body(c.body, combining)
                given += [self.type_of(what, number, combining) for number in c.results]
        if len(counts) > 1:
            self.problem(
                "value-count", f"{what}: initial values, values and results must be equally many"
            )
        elif any(t not in (e, None) for t, e in zip(given, s.elements * 3, strict=False)):
            self.problem(
                "types-differ",
                f"{what}: values of {_names(given)} are combined into {_names(list(s.elements))}",
            )
        if s.each:
            self.each(what, s, inner)

    def each(self, what: str, s: Reduce, inner: _VisibleNames) -> None:
        """Check the statements at each point of a scan, in the scope of its values."""
        if not runs_in_order(s.axes):
            self.problem(
                "scan-out-of-order",
                f"{what} is a scan: its loops must be outermost, then its unrolled axes, then "
                "its vector lanes",
            )
        if isinstance(s.combiner, Combination) and any(b.kind is AxisKind.VECTOR for b in s.axes):
            self.problem(
                "scan-out-of-order",
                f"{what} combines by several operations, in the order of its points: they cannot "
                "be lanes",
            )
        if len(s.running) != len(s.ids):
            self.problem(
                "value-count", f"{what}: a scan must have as many running values as results"
            )
        inner.values.update(zip(s.running, s.elements, strict=False))
        self.defined.update(s.running)
        self.body(s.each, inner)

    # -- uses --------------------------------------------------------------------------------------
    def type_of(self, what: str, number: int, scope: _VisibleNames) -> PrimitiveType | None:
        if number not in scope.values:
            self.problem("value-not-defined", f"{what}: %{number} is not defined here")
        return scope.values.get(number)

    def index(self, what: str, x: IndexExpression, scope: _VisibleNames) -> None:
        for atom in x.atoms():
            if isinstance(atom, Axis) and atom not in scope.axes:
                self.problem("axis-not-open", f"{what}: axis {atom} of {x} is not open here")
            if isinstance(atom, RuntimeValue):
                element = self.type_of(what, int(atom.source[1:]), scope)
                if element is not None and not element.is_integer:
                    self.problem(
                        "index-not-integer",
                        f"{what}: the index {x} uses {atom.source}, which is {element}",
                    )

    def guards(self, what: str, guards: tuple[Guard, ...], scope: _VisibleNames) -> None:
        for g in guards:
            self.index(what, g.expression, scope)

    def access(
        self,
        what: str,
        name: str,
        place: Place,
        scope: _VisibleNames,
        element: PrimitiveType | None,
        store: bool,
    ) -> None:
        array = scope.arrays.get(name)
        if array is None:
            return self.problem(
                "array-unknown", f"{what}: there is an access to %{name}, which is not declared"
            )
        if element not in (array.shape.element_type, None):
            self.problem(
                "types-differ",
                f"{what}: the value is {element}, %{name} has {array.shape.element_type}",
            )
        if store and not array.written:
            self.problem(
                "operand-written", f"{what}: %{name} is an operand, and cannot be stored to"
            )
        if len(place) != array.shape.rank:
            return self.problem(
                "place-of-another-rank",
                f"{what}: {len(place)} indices for the {array.shape.rank} dimensions of %{name}",
            )
        for x, extent in zip(place, array.shape.dimensions, strict=True):
            self.index(what, x, scope)
            low, high = bounds_under(x, scope.facts)
            if (low < 0 or high >= extent) and not scope.never_runs:
                self.problem(
                    "access-not-inside",
                    f"{what}: the index {x} is in {low} to {high}, the dimension of %{name} has "
                    f"{extent}",
                )
        return None


def runs_in_order(axes: Sequence[BoundAxis]) -> bool:
    """Return True if the points of a scan's axes run in the order of the text.

    Loops must be outermost, then unrolled axes, then vector lanes.
    """
    order = (AxisKind.SERIAL, AxisKind.UNROLLED, AxisKind.VECTOR)
    kinds = [b.kind for b in axes if b.axis.extent != 1]
    return all(kind in order for kind in kinds) and [order.index(kind) for kind in kinds] == sorted(
        map(order.index, kinds)
    )


def facts_of(guards: Iterable[Guard]) -> tuple[Fact, ...]:
    """Return the facts that hold under guards."""
    return tuple([Fact(g.expression, 0, g.bound - 1) for g in guards])


def denied_facts(guards: tuple[Guard, ...], facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the facts that hold where one guard does not.

    A guard that cannot fail below gives: the expression is at least the bound.
    """
    if len(guards) != 1 or bounds_under(guards[0].expression, facts)[0] < 0:
        return ()
    return (
        Fact(
            guards[0].expression,
            guards[0].bound,
            max(guards[0].bound, guards[0].expression.bounds[1]),
        ),
    )


def bounds_under(x: IndexExpression, facts: tuple[Fact, ...]) -> tuple[int, int]:
    """Return the least and the greatest value of an index under facts.

    Each fact is used alone: x is k times its expression or a quotient of it, plus a rest.
    """
    low, high = x.constant, x.constant
    for atom, factor in x.terms:
        ends = atom.bounds
        if isinstance(atom, Quotient | Remainder):
            inner = bounds_under(atom.dividend, facts)
            if isinstance(atom, Quotient):
                ends = inner[0] // atom.divisor, inner[1] // atom.divisor
            elif inner[0] // atom.divisor == inner[1] // atom.divisor:
                ends = inner[0] % atom.divisor, inner[1] % atom.divisor
        low, high = (
            low + min(factor * ends[0], factor * ends[1]),
            high + max(factor * ends[0], factor * ends[1]),
        )
    divisors = {atom.divisor for atom, _ in x.terms if isinstance(atom, Quotient)}
    parts = [Fact(f.expression // n, f.low // n, f.high // n) for n in divisors for f in facts]
    for fact in (*facts, *parts):
        if not fact.expression.terms:
            continue
        atom, factor = fact.expression.terms[0]
        times = dict(x.terms).get(atom, 0) // factor
        if times:
            a, b = (x - fact.expression * times).bounds
            low = max(low, a + min(times * fact.low, times * fact.high))
            high = min(high, b + max(times * fact.low, times * fact.high))
    return low, high


def _names(types: list[PrimitiveType | None]) -> str:
    return ", ".join([t.name if t is not None else "?" for t in types])
