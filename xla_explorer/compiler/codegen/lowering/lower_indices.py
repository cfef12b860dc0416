"""Indices of lanes and unrolled instances, for the code of one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import I32, I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.elements import Memory, joined
from xla_explorer.compiler.codegen.lowering.statements import StatementWriter
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, divisors_below
from xla_explorer.compiler.codegen.nest.ir import AxisKind, LoopNest
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Guard,
    IndexExpression,
    Remainder,
    RuntimeValue,
    Substitution,
    index,
)


class _Sum(NamedTuple):
    """An affine index: its loop terms in two sums, their least value, and its unrolled terms.

    of: the index, kept alive so that its id stays unique.
    """

    of: IndexExpression  # the index itself
    outer: Value[Integer]
    inner: Value[Integer]
    least: int
    unrolled: list[tuple[Axis, int]]


class NestIndices(StatementWriter):
    """The indices of a nest that is being lowered.

    Attributes
    ----------
    vector : Axis, optional
        The axis around whose steps are lanes.
    """

    def __init__(self, nest: LoopNest, b: StructuredBuilder, memory: dict[str, Memory]) -> None:
        super().__init__(nest, b, memory)
        self.vector: Axis | None = None
        self._sums: dict[int, _Sum] = {}  # by the identity of the index

    @property
    def lanes(self) -> int:
        """The number of lanes of a value that varies along the vector axis."""
        return self.vector.extent if self.vector is not None else 1

    @contextmanager
    def opened(self, axes: Sequence[tuple[Axis, AxisKind]]) -> Iterator[None]:
        """Open axes of instances and lanes inside."""
        before = self.vector
        self.vector = next((a for a, kind in axes if kind is AxisKind.VECTOR), before)
        with self.instances_of([a for a, kind in axes if kind is AxisKind.UNROLLED]):
            yield
        self.vector = before

    @contextmanager
    def each_lane_alone(self) -> Iterator[list[Point]]:
        """Yield the lanes as points; inside, no axis is a vector."""
        vector, self.vector = self.vector, None
        assert vector is not None
        yield [{vector: lane} for lane in range(vector.extent)]
        self.vector = vector

    def step(self, x: IndexExpression) -> int | None:
        """Return the constant stride of an index from lane to lane, or None."""
        if self.vector is None:
            return 0
        return x.coefficient(self.vector) if self.is_uniform(x) else None

    def is_uniform(self, x: IndexExpression) -> bool:
        """Return True if an index depends on no value that varies from lane to lane."""
        found = [int(atom.source[1:]) for atom in x.atoms() if isinstance(atom, RuntimeValue)]
        return not any(self.vector in self.depends[number] for number in found)

    def index(self, x: IndexExpression, point: Point) -> Value[Integer]:
        """Return an index with a constant stride, at lane 0."""
        outer, inner, fixed, _ = self.variable_part(x, point)
        return self.b.add_index(self.b.add_index(outer, inner), fixed)

    def variable_part(
        self, x: IndexExpression, point: Point
    ) -> tuple[Value[Integer], Value[Integer], int, int]:
        """Return the parts of an index at lane 0.

        Returns
        -------
        tuple
            The sum over outer loops, the sum over the innermost loop, a constant to add, and the
            least value of the two sums together.
        """
        found = self._sums.get(id(x))
        if found is None and x.is_affine:
            found = self._sums[id(x)] = self._affine_sum(x)
        if found is not None:
            fixed = x.constant
            for axis, factor in found.unrolled:
                fixed += point.get(axis, 0) * factor
            return found.outer, found.inner, fixed, found.least
        b, fixed, least = self.b, x.constant, 0
        terms: list[tuple[Value[Integer], int]] = []
        for atom, factor in x.terms:
            if isinstance(atom, Axis):
                if atom not in self.numbers:
                    fixed += point.get(atom, 0) * factor
                    continue
                terms.append(self.number(atom, factor))
            elif isinstance(atom, RuntimeValue):
                terms.append((self.clamped(atom, point), factor))
            else:
                below = divisors_below(atom)
                quotient, rest = b.divide_index(
                    self.index(atom.dividend + below * atom.divisor, point), atom.divisor
                )
                terms.append((rest if isinstance(atom, Remainder) else quotient, factor))
                fixed -= 0 if isinstance(atom, Remainder) else below * factor
            least += factor * atom.bounds[0 if factor > 0 else 1]
        return *self._sums_of(terms), fixed, least

    def _affine_sum(self, x: IndexExpression) -> _Sum:
        """Return the parts of an affine index that all unrolled instances share."""
        terms: list[tuple[Value[Integer], int]] = []
        unrolled: list[tuple[Axis, int]] = []
        least = 0
        for atom, factor in x.terms:
            assert isinstance(atom, Axis)
            if atom not in self.numbers:
                unrolled.append((atom, factor))
            else:
                terms.append(self.number(atom, factor))
                least += min(factor * (atom.extent - 1), 0)
        return _Sum(x, *self._sums_of(terms), least, unrolled)

    def number(self, axis: Axis, factor: int) -> tuple[Value[Integer], int]:
        """Return the number of an axis, and what remains of a factor without its stride."""
        return self.b.named(self.numbers[axis], I64), factor // self.nest.form(axis).stride

    def _sums_of(
        self, terms: list[tuple[Value[Integer], int]]
    ) -> tuple[Value[Integer], Value[Integer]]:
        """Return two sums of multiples: those of outer loops, and those of the innermost loop."""
        outer = inner = self.b.index(0)
        deepest = max([value.depth for value, _ in terms], default=0)
        for value, factor in (
            sorted(terms, key=lambda term: term[0].depth) if len(terms) > 1 else terms
        ):
            if value.depth < deepest:
                outer = self.b.add_index(outer, self.b.scale_index(value, factor))
            else:
                inner = self.b.add_index(inner, self.b.counted_index(value, factor))
        return outer, inner

    def in_lanes(self, x: IndexExpression, point: Point) -> Value[Integer]:
        """Return the value of an index, a vector if it varies from lane to lane.

        Its type is i32 if that suffices.
        """
        step = self.step(x)
        low, high = x.bounds
        t = I32 if low >= -(1 << 31) and high < 1 << 31 else I64
        if step is None:
            with self.each_lane_alone() as lanes:
                found = real(joined(self.b, [self.index(x, {**point, **lane}) for lane in lanes]))
            return self.b.convert("trunc", found, "i32") if t is I32 else found
        base = self.index(x, point)
        if not step:
            return base
        if t is I32:
            base = (
                self.b.number(int(base.name), I32)
                if base.is_constant
                else self.b.convert("trunc", base, "i32")
            )
        steps = self.b.named(
            f"<{', '.join([f'{t} {k * step}' for k in range(self.lanes)])}>", t.of_lanes(self.lanes)
        )
        return self.b.binary("add", self.b.splat(base, self.lanes), steps)

    def mask(self, guards: Sequence[Guard], point: Point) -> Value[Integer] | None:
        """Return the condition of guards, None if they always hold.

        It is an i1, or a vector if lanes differ. For an unrolled axis that the point leaves open,
        it is true if the guards hold for any instance.
        """
        if not guards:
            return None
        result: Value[Integer] | None = None
        shared = next(
            (
                a
                for a in self.unrolled
                if a not in point and any(a in g.expression.axes for g in guards)
            ),
            None,
        )
        if shared is not None:
            of_instances = [self.mask(guards, {**point, shared: k}) for k in range(shared.extent)]
            found = [x for x in of_instances if x is not None]
            lanes = max([x.type.lanes for x in found], default=1)
            masks = [self.b.splat(x, lanes) for x in found]
            return reduce(self.b.either, masks) if len(masks) == len(of_instances) else None
        here: Substitution = {axis: index(step) for axis, step in point.items()}
        for g in [
            g for g in guards if not Guard(g.expression.substitute(here), g.bound).always_holds
        ]:
            x = self.in_lanes(g.expression, point)
            inside = self.b.compare("slt", x, g.bound)
            if g.expression.bounds[0] < 0:
                inside = self.b.both(inside, self.b.compare("sge", x, 0))
            result = inside if result is None else self.b.both(result, inside)
        return result
