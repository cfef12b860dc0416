"""What a kernel with reductions computes: which dimensions, in which order, what is stored as a whole and what once a result.

All reductions of the kernel run over the same dimensions of arrays of the same dimensions (a softmax has two, one after the
other). Everything else has either those dimensions or those that are kept, and moves nothing.
Source: xla/service/gpu/hlo_fusion_analysis.cc, reduction_utils.cc, for the pure reductions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from xla_explorer.backends.gpu.emitters.reductions.reducer import ParallelReducer, why_not_parallel
from xla_explorer.compiler.codegen.elemental import elemental_opcodes
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.collapse import CollapsedEmitter, extents_of, group_dimensions, operands_along
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.nest.policies.columns import SMALL
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import DimensionMap
from xla_explorer.hlo.instruction import HloInstruction


class ReductionEmitter(CollapsedEmitter):
    """Elements by collapsed index. `opaque` instructions (they move data) are computed dimension by dimension; of reductions the
    values are set when they are known."""

    def __init__(self, context: KernelContext, arrays: dict[HloInstruction, ArrayInMemory], maps: dict[HloInstruction, DimensionMap],
                 groups: list[list[int]], opaque: set[HloInstruction]) -> None:  # fmt: skip
        super().__init__(context.writer, arrays, maps, groups)
        self.rank = len(groups)
        self.plain = context.emitter()
        for i in opaque:
            self.sources[i] = self._opaque(i, maps[i])

    def _opaque(self, i: HloInstruction, mapping: DimensionMap) -> Callable[[IndexTuple], Scalar]:
        return lambda index: self.plain.element(i, tuple([index[self._group_of[d]] for d in mapping]))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """See `ElementalEmitter`."""
        with super().scope(), self.plain.scope():
            yield

    def set(self, reduce: HloInstruction, values: list[Scalar]) -> None:
        """The values of a reduction, the same for all elements of its row from here on."""
        self.sources[reduce] = lambda _index: values[0]

    def scalar(self, i: HloInstruction) -> Scalar:
        """The value of a scalar instruction."""
        return self.element(i, (0,) * self.rank)


class FusedReduction:
    """The analysis. extents, is_reduced: by group of dimensions. phases: reductions that need no other, those that need these ...

    whole: (root, output) pairs with all dimensions. kept: (root, outputs) pairs with a value per result.
    """

    def __init__(self, context: KernelContext, phases: list[list[HloInstruction]], dimensions: tuple[int, ...], reduced: set[int],
                 maps: dict[HloInstruction, DimensionMap], opaque: set[HloInstruction],
                 depending: set[HloInstruction]) -> None:  # fmt: skip
        self.context, self.phases, self.dimensions, self.reduced = context, phases, dimensions, reduced
        borders = {d for d in range(len(dimensions) - 1) if (d in reduced) != (d + 1 in reduced)}
        for i in opaque:
            for d in maps[i]:
                borders |= {d - 1, d}
        outputs = context.outputs
        if any(not o.shape.layout.is_default and o.shape.rank > 1 for o in outputs):
            borders |= set(range(len(dimensions)))
        self.groups = group_dimensions(dimensions, maps, borders)
        self.extents = extents_of(self.groups, dimensions)
        self.is_reduced = [group[0] in reduced for group in self.groups]
        arrays = {i: a for i, a in context.arrays.items() if i in maps and i not in opaque}
        self.emitter = ReductionEmitter(context, arrays, maps, self.groups, opaque)
        self.reducers = {r: ParallelReducer(context.writer, self.emitter, r) for phase in phases for r in phase}
        self.maps, self.opaque = maps, opaque
        self.kept: list[tuple[HloInstruction, list[ArrayInMemory]]] = []
        self.whole: list[tuple[HloInstruction, ArrayInMemory]] = []
        if context.roots[0] in self.reducers and len(outputs) > len(context.roots):
            self.kept = [(context.roots[0], outputs)]
        else:
            for root, output in zip(context.roots, outputs, strict=True):
                if root.shape.dimensions == dimensions:
                    self.whole.append((root, output))
                else:
                    self.kept.append((root, [output]))
        # Stored while the first phase reads, when they need no reduction.
        self.early = [pair for pair in self.whole if pair[0] not in depending]
        self.late = [pair for pair in self.whole if pair[0] in depending]

    @property
    def rows(self) -> int:
        """Number of results."""
        return math.prod([e for e, flag in zip(self.extents, self.is_reduced, strict=True) if not flag])

    @property
    def length(self) -> int:
        """Number of elements of each result."""
        return math.prod([e for e, flag in zip(self.extents, self.is_reduced, strict=True) if flag])

    def vector_width(self, limit: int) -> int:
        """Neighbouring elements of the last group that one thread takes, so that the widest array is read by 16 bytes."""
        last = len(self.groups) - 1
        widest = max([i.shape.element_type.bytes for i in self.maps if i in self.context.arrays and i.shape.rank], default=4)
        width = min(limit, max(16 // widest, 1), 2 if any(self.groups[last][0] in self.maps[i] for i in self.opaque) else limit)
        width = 1 << (width.bit_length() - 1)
        while self.extents[last] % width:
            width //= 2
        return width

    def index(self, kept: str | int, reduced: str | int, width: int = 1, within: str | int = 0) -> IndexTuple:
        """The collapsed index of linear positions among kept and among reduced groups.

        width: the last group is counted in steps of so many elements (which keeps the address's alignment visible); within: added to it.
        """
        w = self.context.writer
        extents = [*self.extents[:-1], self.extents[-1] // width]
        index: list[str | int] = [0] * len(self.groups)
        for position, flag in ((kept, False), (reduced, True)):
            chosen = [g for g, r in enumerate(self.is_reduced) if r == flag]
            rest: str | int = position
            for g in reversed(chosen):
                index[g] = w.mod(rest, extents[g]) if g != chosen[0] else rest
                rest = w.div(rest, extents[g]) if g != chosen[0] else rest
        index[-1] = w.add(w.mul(index[-1], width), within)
        return tuple(index)

    def start(self, reducer: ParallelReducer) -> list[Scalar]:
        """What an accumulator starts from: the identity element, or the initial value where there is none (argmax)."""
        identity = reducer.identity()
        return identity if identity is not None else [self.emitter.scalar(i) for i in reducer.initial]

    def results(self, reduce: HloInstruction, total: list[Scalar]) -> list[Scalar]:
        """A reduction's values, from its combined elements."""
        reducer = self.reducers[reduce]
        return reducer.final([self.emitter.scalar(i) for i in reducer.initial], total)

    def announce(self, reduce: HloInstruction, total: list[Scalar]) -> list[Scalar]:
        """The same, and known to what follows."""
        values = self.results(reduce, total)
        self.emitter.set(reduce, values)
        return values

    def store_kept(self, index: IndexTuple, known: dict[HloInstruction, list[Scalar]]) -> None:
        """Store what there is one of for each result."""
        w = self.context.writer
        place = {d: k for k, d in enumerate([d for d in range(len(self.dimensions)) if d not in self.reduced])}
        for root, outputs in self.kept:
            values = known[root] if root in known else [self.emitter.element(root, index)]
            for value, output in zip(values, outputs, strict=True):
                strides = [0 if flag else output.shape.strides[place[group[-1]]]
                           for group, flag in zip(self.groups, self.is_reduced, strict=True)]  # fmt: skip
                output.store_linear(w, w.linear(index, strides), value)

    def store_whole(self, pairs: list[tuple[HloInstruction, ArrayInMemory]], indices: list[IndexTuple]) -> None:
        """Store elements of roots with all dimensions: all are computed before the first is stored."""
        w = self.context.writer
        for root, output in pairs:
            values = [self.emitter.element(root, index) for index in indices]
            strides = [output.shape.strides[group[-1]] for group in self.groups]
            for index, value in zip(indices, values, strict=True):
                output.store_linear(w, w.linear(index, strides), value)


def _depending(on: set[HloInstruction], body: list[HloInstruction]) -> set[HloInstruction]:
    found, stack, inside = set(on), list(on), set(body)
    while stack:
        for user in stack.pop().users:
            if user not in found and user in inside:
                found.add(user)
                stack.append(user)
    return found


def analyse_reduction(context: KernelContext) -> FusedReduction | Reason:
    """The analysis of a kernel, or why it is none of this kind."""
    body = (
        list(context.instruction.called[0].instructions.values()) if context.instruction.opcode.name == "fusion" else [context.instruction]
    )
    reduces = [i for i in body if i.opcode.name == "reduce"]
    if not reduces:
        return refuse("no-reduction", f"%{context.instruction.name} reduces nothing")
    dimensions = reduces[0].operands[0].shape.dimensions
    reduced = set(reduces[0].attribute("dimensions"))
    kept = tuple([d for d in range(len(dimensions)) if d not in reduced])
    for r in reduces:
        if r.operands[0].shape.dimensions != dimensions or set(r.attribute("dimensions")) != reduced:
            return refuse("reductions-of-different-shapes", f"%{r.name} and %{reduces[0].name} reduce different shapes or dimensions")
        if (reason := why_not_parallel(r)) is not None:
            return reason
        if r.shape.is_tuple and r not in context.roots:
            return refuse("variadic-reduction-inside", f"%{r.name} has several results and is not the root")
    if math.prod([dimensions[d] for d in reduced]) <= SMALL or 0 in dimensions:
        return refuse("reduction-is-short", f"%{reduces[0].name} combines at most {SMALL} elements, one thread does it")
    depending = _depending(set(reduces), body)
    maps = _dimension_maps(context, dimensions, kept, depending)
    if isinstance(maps, Reason):
        return maps
    return FusedReduction(context, _phases(reduces, body), dimensions, reduced, *maps, depending)


def _phases(reduces: list[HloInstruction], body: list[HloInstruction]) -> list[list[HloInstruction]]:
    phases: list[list[HloInstruction]] = []
    rest = list(reduces)
    while rest:
        now = [r for r in rest if not any(other is not r and r in _depending({other}, body) for other in rest)]
        phases.append(now)
        rest = [r for r in rest if r not in now]
    return phases


def _dimension_maps(
    context: KernelContext, dimensions: tuple[int, ...], kept: tuple[int, ...], depending: set[HloInstruction]
) -> tuple[dict[HloInstruction, DimensionMap], set[HloInstruction]] | Reason:
    """How each instruction's dimensions run along the reduced array's, and the instructions that move data."""
    maps: dict[HloInstruction, DimensionMap] = {}
    opaque: set[HloInstruction] = set()
    whole = tuple(range(len(dimensions)))
    stack: list[tuple[HloInstruction, DimensionMap]] = []
    for root in context.roots:
        if root.opcode.name == "reduce" or root.shape.dimensions == tuple([dimensions[d] for d in kept]):
            stack.append((root, kept))
        elif root.shape.dimensions == dimensions:
            if not root.shape.layout.is_default and root.shape.rank > 1:
                return refuse("layout-not-row-major", f"%{root.name} is stored in another order than it is computed in")
            stack.append((root, whole))
        else:
            return refuse("root-of-another-shape", f"%{root.name} has neither the reduced nor the kept dimensions")
    while stack:
        i, mapping = stack.pop()
        known = maps.get(i)
        if known is not None:
            if known != mapping:
                return refuse("read-in-two-ways", f"%{i.name} is read along different dimensions")
            continue
        maps[i] = mapping
        name = i.opcode.name
        if i in context.arrays:
            shape = context.arrays[i].shape
            if not shape.layout.is_default and shape.rank > 1:
                opaque.add(i)
        elif name == "reduce":
            if mapping != kept:
                return refuse("reduction-read-transposed", f"%{i.name} is read in another order than it is computed in")
            count = len(i.operands) // 2
            stack += [(o, whole) for o in i.operands[:count]] + [(o, ()) for o in i.operands[count:]]
        elif (operands := operands_along(i, mapping)) is not None:
            stack += operands
        elif i in depending:
            return refuse("moves-a-result", f"%{i.name} ({name}) moves values that depend on a reduction")
        elif name in elemental_opcodes():
            opaque.add(i)
        else:
            return refuse("opcode-not-emitted", f"%{i.name}: {name} has no elemental emitter")
    return maps, opaque
