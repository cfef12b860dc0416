"""Directives in the making: applied one by one by a policy, if they are legal."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType

from xla_explorer.backends.gpu.emitters.drafts import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.questions import are_neighbours
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
    """nest: after the directives so far; DirectiveRefused where one is not legal. Tests ask the verifier for the nests of all policies."""

    def __init__(self, nest: LoopNest) -> None:
        self.start = self.nest = nest
        self.directives: list[Directive] = []

    def then(self, *directives: Directive) -> None:
        """More directives."""
        for directive in directives:
            self.nest = directive.applied(
                self.nest, ("order-must-be-kept",)
            )  # pairs of argmax meet by their indices
            self.directives.append(directive)

    def sink(self) -> None:
        """What stands beside the only loop of another goes into it, outermost first."""
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
        """The steps of an axis."""
        return self.nest.axes()[axis].axis.extent

    def joined(self, axes: Sequence[str]) -> str:
        """Axes in one another as one: its name; empty where there are none."""
        name = ""
        for axis in axes:
            if name:
                self.then(Collapse(name, axis, True))
            name += axis
        return name

    def neighbours(self, name: str, width: int) -> str:
        """So many neighbours along an axis as lanes, or as copies where some array has other steps along them: the axis of the rest."""
        if width == 1:
            return name
        self.then(Split(name, width))
        lanes = Vectorize(f"{name}i")
        self.then(lanes if lanes.accesses_are_contiguous(self.nest) is None else Unroll(f"{name}i"))
        return f"{name}o"

    def in_flight(self, name: str, steps: int) -> None:
        """So many steps of a loop at once, or all of them."""
        if self.extent(name) > steps:
            self.then(Split(name, steps), Unroll(f"{name}i"))
        elif self.extent(name) > 1:
            self.then(Unroll(name))

    def length(self, sweeps: Sequence[str], what: str, tuning: GpuTuning) -> int | Reason:
        """How long the sweeps over a row or column are, if all alike and worth several threads. One over no dimension has one element."""
        lengths = {self.extent(name) if name else 1 for name in sweeps}
        if len(lengths) > 1:
            text = f"the loops over a {what} must have one length, got {' and '.join(map(str, sorted(lengths)))}"
            return refuse("rows-of-different-lengths", text)
        (length,) = lengths
        return length if length > tuning.short else is_short(what, length)

    def runs_along(self, name: str) -> bool:
        """Whether an array is read along an axis as it lies in memory, in runs of some length; or none is read."""
        return bool(self._contiguous(name, 2, Load)[0]) or not any(
            isinstance(s, Load) and s.place for s, _ in walk(self.nest.body)
        )

    def width(self, names: Sequence[str], tuning: GpuTuning, most: int) -> int:
        """Neighbours that a thread takes at once: 16 bytes of the widest array, if they never lie across the end of a run."""
        width = self._widest(tuning, most)
        while width > 1 and not all(
            self.keeps_runs(name, width) and self.loads_are_aligned(name, width) for name in names
        ):
            width //= 2
        return width

    def width_of_runs(self, name: str, tuning: GpuTuning) -> int:
        """The same where every array with dimensions is read and written along an axis as it lies in memory; 1 where some is not."""
        width = self._widest(tuning, tuning.most_elements)
        while width > 1:
            offsets, lane = (
                self._offsets(name, width) if self.extent(name) % width == 0 else ([], None)
            )
            if lane is not None and all(are_neighbours(x, lane, width) for x in offsets if x.axes):
                break
            width //= 2
        return width

    def _widest(self, tuning: GpuTuning, most: int) -> int:
        """Elements of the widest array that is read in one access."""
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
        """Whether so many neighbours along an axis have a constant step in every array."""
        return self.extent(name) % width == 0 and None not in self._steps(name, width)

    def stores_are_aligned(self, name: str, width: int) -> bool:
        """Whether so many neighbours along an axis lie beside one another in some result, and there at a multiple of as many."""
        offsets, lane = self._contiguous(name, width, Store)
        return bool(offsets) and all(are_neighbours(x, lane, width) for x in offsets)

    def loads_are_aligned(self, name: str, width: int) -> bool:
        """Whether so many neighbours along an axis, where they lie beside one another, are loaded from a multiple of as many."""
        offsets, lane = self._contiguous(name, width, Load)
        return all(are_neighbours(x, lane, width) for x in offsets)

    def _offsets(
        self, name: str, width: int, kind: type[Load | Store] | UnionType = Load | Store
    ) -> tuple[list[IndexExpression], Axis]:
        """(offsets of accesses, the axis of so many lanes along an axis)."""
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
        """(offsets of accesses that move on by one element from lane to lane, the axis of the lanes)."""
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
        """By how much the offset of each access grows along the lanes of an axis; None where that differs."""
        offsets, lane = self._offsets(name, width)
        return [x.coefficient(lane) for x in offsets]

    def schedule(self, emitter: str, reasoning: str) -> NestSchedule:
        """The schedule."""
        return NestSchedule(tuple(self.directives), self.nest, emitter, reasoning, self.start)


def is_short(what: str, length: int) -> Reason:
    """Why rows or columns have no threads of their own."""
    return refuse(
        "reduction-is-short",
        f"{what}s of {length} elements: one thread reduces each",
        elements=length,
    )
