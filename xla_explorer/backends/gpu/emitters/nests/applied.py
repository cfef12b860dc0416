"""Schedules under construction: directives applied one by one by a policy, if legal."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType

from xla_explorer.backends.gpu.emitters.kernel_descriptors import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.questions import are_contiguous
from xla_explorer.backends.gpu.emitters.nests.tuning import GpuTuning
from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.directives import (
    Collapse,
    Directive,
    Sink,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.ir import For, Load, LoopNest, Store, walk
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, linearize


class Applied:
    """A schedule under construction. nest: after the directives so far.

    DirectiveRefusedError for an illegal directive. Tests run the nest verifier on all policies'
    results.
    """

    def __init__(self, nest: LoopNest) -> None:
        self.start = self.nest = nest
        self.directives: list[Directive] = []

    def then(self, *directives: Directive) -> None:
        """Apply more directives."""
        for directive in directives:
            self.nest = directive.applied(
                self.nest, ("order-must-be-kept",)
            )  # pairs of argmax are combined by their indices
            self.directives.append(directive)

    def sink(self) -> None:
        """Sink statements beside a single loop into it, outermost first."""
        for s, _ in walk(self.nest.body):
            if (
                isinstance(s, For)
                and len(s.body) > 1
                and Sink(s.axis.name).only_computes(self.nest) is None
            ):
                self.then(Sink(s.axis.name))
                self.sink()
                return

    def extent(self, axis: str) -> int:
        """Return the extent of an axis."""
        return self.nest.axes()[axis].axis.extent

    def joined(self, axes: Sequence[str]) -> str:
        """Collapse nested axes and return the result's name; empty for no axes."""
        name = ""
        for axis in axes:
            if name:
                self.then(Collapse(name, axis, True))
            name += axis
        return name

    def contiguous_lanes(self, name: str, width: int) -> str:
        """Make adjacent steps of an axis lanes if contiguous, else unrolled instances.

        Returns the remaining outer axis.
        """
        if width == 1:
            return name
        self.then(Split(name, width))
        lanes = Vectorize(f"{name}i")
        self.then(lanes if lanes.accesses_are_contiguous(self.nest) is None else Unroll(f"{name}i"))
        return f"{name}o"

    def overlap_loads(self, name: str, steps: int) -> None:
        """Unroll a loop so that `steps` iterations overlap, or all of them."""
        if self.extent(name) > steps:
            self.then(Split(name, steps), Unroll(f"{name}i"))
        elif self.extent(name) > 1:
            self.then(Unroll(name))

    def length(self, sweeps: Sequence[str], what: str, tuning: GpuTuning) -> int | Reason:
        """Return the common length of the sweeps over a row or column, or a refusal.

        A sweep over no dimension has one element.
        """
        lengths = {self.extent(name) if name else 1 for name in sweeps}
        if len(lengths) > 1:
            text = f"the loops over a {what} must have one length, got {' and '.join(map(str, sorted(lengths)))}"
            return refuse("rows-of-different-lengths", text)
        (length,) = lengths
        return length if length > tuning.short else is_short(what, length)

    def is_contiguous_along(self, name: str) -> bool:
        """Return True if some array is contiguous along an axis, or none is read."""
        return bool(self._contiguous(name, 2, Load)[0]) or not any(
            isinstance(s, Load) and s.place for s, _ in walk(self.nest.body)
        )

    def width(self, names: Sequence[str], tuning: GpuTuning, most: int) -> int:
        """Return the adjacent elements per thread: 16 aligned bytes of the widest array."""
        width = self._widest(tuning, most)
        while width > 1 and not all(
            self.keeps_runs(name, width) and self.loads_are_aligned(name, width) for name in names
        ):
            width //= 2
        return width

    def width_of_runs(self, name: str, tuning: GpuTuning) -> int:
        """Return the elements per thread if all arrays are contiguous along an axis, else 1."""
        width = self._widest(tuning, tuning.most_elements)
        while width > 1:
            offsets, lane = (
                self._offsets(name, width) if self.extent(name) % width == 0 else ([], None)
            )
            if lane is not None and all(are_contiguous(x, lane, width) for x in offsets if x.axes):
                break
            width //= 2
        return width

    def _widest(self, tuning: GpuTuning, most: int) -> int:
        """Return the elements of the widest array per access."""
        arrays = {s.array for s, _ in walk(self.nest.body) if isinstance(s, Load | Store)}
        read = [a for a in self.nest.arrays if a.name in arrays and not a.written and a.shape.rank]
        return min(
            max(
                tuning.bytes_at_once // max([a.shape.element_type.bytes for a in read], default=4),
                1,
            ),
            most,
        )

    def keeps_runs(self, name: str, width: int) -> bool:
        """Return True if adjacent steps of an axis have a constant stride in every array."""
        return self.extent(name) % width == 0 and None not in self._steps(name, width)

    def stores_are_aligned(self, name: str, width: int) -> bool:
        """Return True if some result is contiguous and aligned along an axis."""
        offsets, lane = self._contiguous(name, width, Store)
        return bool(offsets) and all(are_contiguous(x, lane, width) for x in offsets)

    def loads_are_aligned(self, name: str, width: int) -> bool:
        """Return True if contiguous loads along an axis are aligned."""
        offsets, lane = self._contiguous(name, width, Load)
        return all(are_contiguous(x, lane, width) for x in offsets)

    def _offsets(
        self, name: str, width: int, kind: type[Load | Store] | UnionType = Load | Store
    ) -> tuple[list[IndexExpression], Axis]:
        """Return (offsets of accesses, the axis of the lanes along an axis)."""
        after = transformations.split(self.nest, name, width)
        accesses = [
            (s.place, a.shape.strides)
            for s, _ in walk(after.body)
            if isinstance(s, kind) and (a := after.array(s.array))
        ]
        return [linearize(place, strides) for place, strides in accesses], after.axes()[
            f"{name}i"
        ].axis

    def _contiguous(
        self, name: str, width: int, kind: type[Load] | type[Store]
    ) -> tuple[list[IndexExpression], Axis]:
        """Return (offsets of accesses with stride one between lanes, the axis of the lanes)."""
        offsets, lane = self._offsets(name, width, kind)
        first, second = [
            [x.substitute({lane: IndexExpression((), k)}) for x in offsets] for k in (0, 1)
        ]
        return [
            x
            for x, a, b in zip(offsets, first, second, strict=True)
            if b - a == IndexExpression((), 1)
        ], lane

    def _steps(self, name: str, width: int) -> list[int | None]:
        """Return the stride of each access along the lanes of an axis; None if it varies."""
        offsets, lane = self._offsets(name, width)
        return [x.coefficient(lane) for x in offsets]

    def schedule(self, emitter: str, reasoning: str) -> NestSchedule:
        """Return the schedule."""
        return NestSchedule(tuple(self.directives), self.nest, emitter, reasoning, self.start)


def is_short(what: str, length: int) -> Reason:
    """Return the refusal of separate threads for short rows or columns."""
    return refuse(
        "reduction-is-short",
        f"{what}s of {length} elements: one thread reduces each",
        elements=length,
    )
