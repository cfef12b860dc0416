"""The places of a module's instructions in a later module, after passes that fuse or insert some.

XLA renames its clones, so both modules are walked from their results on, operand by operand. Only
instructions without users are found by name. Parameters of fusions stand for their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CALLERS = frozenset({"while", "conditional", "call", "async-start"})


class InstructionPath(NamedTuple):
    """An instruction of the later module. inside: the fusions around it, the outermost first."""

    instruction: HloInstruction
    inside: tuple[HloInstruction, ...] = ()

    @property
    def kernel(self) -> HloInstruction:
        """The kernel that computes it: the outermost fusion around it, or itself."""
        return self.inside[0] if self.inside else self.instruction


class Edge(NamedTuple):
    """An operand of an instruction of the earlier module, and a place of both in the later module.

    Attributes
    ----------
    producer, consumer : HloInstruction
        Of the earlier module; `number` is that of the operand.
    source, reader : InstructionPath
        Their places in the later module.
    between : tuple of HloInstruction
        Instructions that the later module has inserted between the two, nearest to the reader
        first.
    """

    producer: HloInstruction
    consumer: HloInstruction
    number: int
    source: InstructionPath
    reader: InstructionPath
    between: tuple[HloInstruction, ...]

    @property
    def fused(self) -> bool:
        """True if one kernel computes both."""
        return bool(self.reader.inside) and self.source.kernel is self.reader.kernel


class Correspondence:
    """The places of each instruction of `before` in `after`.

    Attributes
    ----------
    places : dict
        Instruction of `before` -> where it is computed in `after`; several places if it was
        duplicated.
    edges : list of Edge
        Each operand of each place.
    unknown : int
        Pairs that do not correspond: the pass did more than fuse, remove or insert.
    """

    def __init__(
        self,
        before: HloModule,
        after: HloModule,
        inserted: Callable[[HloInstruction, HloInstruction], bool] | None = None,
    ) -> None:
        """Walk both modules.

        inserted(early, late): True if the pass inserted `late` at the place of `early`; the walk
        then goes on to its operand.
        """
        self.places: dict[HloInstruction, list[InstructionPath]] = {}
        self.edges: list[Edge] = []
        self.unknown = 0
        self._inserted = inserted
        self._seen: set[InstructionPath] = set()
        self._computations: set[HloComputation] = set()
        self._walk_computation(before.entry, after.entry)

    def _walk_computation(self, early: HloComputation, late: HloComputation) -> None:
        if early in self._computations:
            return
        self._computations.add(early)
        work: list[tuple[HloInstruction, InstructionPath]] = []
        self._meet(early.root, self._resolved(early.root, InstructionPath(late.root))[0], work)
        # Instructions without users: side effects, by name.
        named = {i.name: i for i in late.instructions.values()}
        for i in early.instructions.values():
            if not i.users and i is not early.root and i.name in named:
                self._meet(i, InstructionPath(named[i.name]), work)
        while work:
            i, place = work.pop()
            for number, operand in enumerate(i.operands):
                source, between = self._resolved(
                    operand, InstructionPath(place.instruction.operands[number], place.inside)
                )
                self.edges.append(Edge(operand, i, number, source, place, between))
                self._meet(operand, source, work)

    def _meet(
        self,
        i: HloInstruction,
        place: InstructionPath,
        work: list[tuple[HloInstruction, InstructionPath]],
    ) -> None:
        if place in self._seen:
            return
        self._seen.add(place)
        late = place.instruction
        if i.opcode is not late.opcode or len(i.operands) != len(late.operands):
            self.unknown += 1
            return
        self.places.setdefault(i, []).append(place)
        work.append((i, place))
        if i.opcode.name in _CALLERS:
            for early, called in zip(i.called, late.called, strict=True):
                self._walk_computation(early, called)

    def _resolved(
        self, i: HloInstruction, place: InstructionPath
    ) -> tuple[InstructionPath, tuple[HloInstruction, ...]]:
        """Return the place in the later module that computes `i`, and the instructions between."""
        between: list[HloInstruction] = []
        while (moved := self._step(i, place)) is not None:
            if (
                moved.inside == place.inside
                and place.instruction.opcode.name != "get-tuple-element"
            ):
                between.append(place.instruction)
            place = moved
        return place, tuple(between)

    def _step(self, i: HloInstruction, place: InstructionPath) -> InstructionPath | None:
        late, inside = place
        name = late.opcode.name
        if name == "parameter" and inside:
            return InstructionPath(inside[-1].operands[late.parameter_number], inside[:-1])
        if name == "fusion" and i.opcode.name != "fusion":
            return InstructionPath(late.called[0].root, (*inside, late))
        if (
            name == "get-tuple-element"
            and i.opcode.name != name
            and late.operands[0].opcode.name == "fusion"
        ):
            fusion = late.operands[0]
            return InstructionPath(
                fusion.called[0].root.operands[late.attribute("index")], (*inside, fusion)
            )
        if (
            name == "get-tuple-element"
            and i.opcode.name != name
            and late.operands[0].opcode.name == "tuple"
        ):
            return InstructionPath(
                late.operands[0].operands[late.attribute("index")], inside
            )  # results that were given other layouts
        if self._inserted is not None and i.opcode is not late.opcode and self._inserted(i, late):
            return InstructionPath(late.operands[0], inside)
        return None


def fused_edges(found: Correspondence) -> Iterator[tuple[HloInstruction, HloInstruction, bool]]:
    """Yield (producer, consumer, whether all copies of the consumer fuse the producer)."""
    known: dict[tuple[HloInstruction, HloInstruction], bool] = {}
    for edge in found.edges:
        pair = edge.producer, edge.consumer
        known[pair] = known.get(pair, True) and edge.fused
    for (producer, consumer), fused in known.items():
        yield producer, consumer, fused
