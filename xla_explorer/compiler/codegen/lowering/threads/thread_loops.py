"""Loops, branches and cases of a thread.

serial: a loop. unrolled, vector: an instance of each value for each point of these axes that it
depends on. block, thread, warp: a number of the launch. Guards are branches or conditions of the
accesses inside, as the step `choose-guards` has decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from xla_explorer.compiler.codegen.elemental.data_movement import index_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.lowering.elements import element_of
from xla_explorer.compiler.codegen.lowering.lowering_checks import needed_by_all_threads
from xla_explorer.compiler.codegen.lowering.threads.block_of_threads import BlockOfThreads
from xla_explorer.compiler.codegen.lowering.threads.thread_accesses import ThreadAccesses
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Point,
    UnrolledValue,
    flat,
    points,
)
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Case,
    For,
    Iota,
    Load,
    LoopNest,
    SelectRegion,
    axes_of,
    walk,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    IndexExpression,
    Quotient,
    Remainder,
    RuntimeValue,
)


class NotLoweredError(Exception):
    """The nest cannot be lowered to GPU threads."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.message)
        self.reason = reason


class ThreadLoops(ThreadAccesses):
    """The loops and branches of a thread.

    crossings: the reductions over threads around.
    """

    def __init__(
        self,
        nest: LoopNest,
        b: StructuredBuilder,
        arrays: Mapping[str, ArrayInMemory],
        block: BlockOfThreads,
    ) -> None:
        super().__init__(nest, b, arrays, block)
        self.for_all = needed_by_all_threads(nest)
        self.crossings = 0

    def iota(self, s: Iota, point: Point) -> Scalar:
        """Return an index as an element at a point."""
        return index_value(self.b, self.word(s.index, point), s.element)

    def synchronise(self) -> None:
        """Synchronise all threads of the block, so that stores are visible."""
        if self.branches:
            raise NotLoweredError(
                refuse(
                    "not-lowered", "threads would synchronise in a branch that not all of them take"
                )
            )
        self.block.barrier()

    def branch_points(self, s: SelectRegion) -> Iterator[Point]:
        """Yield the points of unrolled axes that a select region's guards depend on.

        Each has its own branch, in which only the other unrolled axes are open.
        """
        axes = frozenset().union(*[g.expression.axes for case in s.cases for g in case.guards])
        outer, apart = self.unrolled, [a for a in self.unrolled if a in axes]
        inside = [x for case in s.cases for x, _ in walk(case.body)] if apart else []
        later = {*outer, *[bound.axis for x in inside for bound in axes_of(x)]}
        for atom in dict.fromkeys(
            [atom for x in inside if isinstance(x, Load) for y in x.place for atom in y.atoms()]
        ):
            if not isinstance(atom, Quotient | Remainder) or not later.isdisjoint(
                atom.dividend.axes
            ):
                continue
            if not any(isinstance(x, RuntimeValue) for x in atom.dividend.atoms()):
                self.word(
                    IndexExpression(((atom, 1),)), {}
                )  # once for all branches, which do not share values
        self.unrolled = [a for a in outer if a not in apart]
        for point in points(apart):
            with self.at_point(point):
                yield point
        self.unrolled = outer

    def select_region(self, s: SelectRegion) -> UnrolledValue:
        """Write a branch to the first case that holds, for each point that the guards depend on."""
        unrolled_axes, apart, rest = self.unrolled_axes_of(s.id), list[Axis](), list[Axis]()
        found: dict[tuple[int, ...], Scalar] = {}
        for point in self.branch_points(s):
            apart, rest = list(point), [a for a in unrolled_axes if a not in point]
            for inner, value in zip(points(rest), self._first_case(s, 0, rest), strict=True):
                found[(*point.values(), *inner.values())] = value
        return UnrolledValue((*apart, *rest), lambda point: found[tuple(point.values())])

    def chosen_case(self, case: Case) -> bool | Value[Integer]:
        """Return whether a case holds at the current point."""
        return self.all_hold(case.guards, {}) if case.guards else True

    def in_case(self, case: Case) -> UnrolledValue:
        """Write a case and return its value."""
        self.open_select_regions += 1
        self.body(case.body)
        self.open_select_regions -= 1
        return self.values[case.value]

    def _first_case(self, s: SelectRegion, number: int, rest: list[Axis]) -> list[Scalar]:
        case = s.cases[number]
        holds = self.chosen_case(case)
        if holds is False:
            return self._first_case(s, number + 1, rest)

        def this() -> list[Scalar]:
            value = self.in_case(case)
            return [value.at({**self.fixed, **point}) for point in points(rest)]

        if holds is True:
            return this()
        made = self.b.branches(
            holds, lambda: flat([this()]), lambda: flat([self._first_case(s, number + 1, rest)])
        )
        parts = 2 if s.element.is_complex else 1
        return [element_of(made[k : k + parts]) for k in range(0, len(made), parts)]

    def under_guards(self, s: For) -> None:
        """Write the body under the guards: as a branch, or as conditions of its accesses."""
        if not self.nest.form(s.axis).branches:
            super().under_guards(s)
            return
        holds = self.all_hold(s.guards, {})
        if holds is not False:
            with self.only_if(holds if isinstance(holds, Value) else None):
                self.entered += s.guards
                self.body(s.body)
                del self.entered[len(self.entered) - len(s.guards) :]

    @contextmanager
    def opened(self, axes: Sequence[tuple[Axis, AxisKind]]) -> Iterator[None]:
        """Open axes without a loop inside."""
        instances = [axis for axis, kind in axes if not kind.is_launched]
        numbered = [(axis, kind) for axis, kind in axes if kind.is_launched]
        with self.instances_of(instances), self.launched(numbered):
            yield
