"""Dataflow of arrays through tuples, bitcasts and control flow, on one time line.

The program is walked once in execution order, nested computations in place of their callers. Every
instruction gets a position, every newly defined array a `Value`, and every (instruction, tuple
index) its value. while and conditional give phis: values that must share one buffer. The call graph
must be flat (each sequential computation has one caller). Source:
xla/hlo/analysis/hlo_dataflow_analysis.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from xla_explorer.hlo.analysis.in_place import repacks
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

Index = tuple[int, ...]
Leaves = dict[Index, "Value"]

STEP = 8  # distance between positions, so that events between two instructions have positions
_FORWARDS = frozenset({"bitcast", "opt-barrier", "add-dependency", "domain", "reshape"})


class Value:
    """One array, defined once.

    instruction and index: its definition. start: the defining position. uses: (position, user,
    operand number) of its readers. read_only: an entry parameter or a constant. phi: the phi of a
    loop-carried value.
    """

    __slots__ = (
        "forwarded_to",
        "id",
        "index",
        "instruction",
        "phi",
        "read_only",
        "shape",
        "start",
        "uses",
    )

    def __init__(
        self, number: int, instruction: HloInstruction, index: Index, shape: Shape, start: int
    ) -> None:
        self.id = number
        self.instruction = instruction
        self.index = index
        self.shape = shape
        self.start = start
        self.uses: list[tuple[int, HloInstruction, int]] = []
        self.read_only = False
        self.phi: LoopPhi | None = None
        self.forwarded_to: Value | None = None

    @property
    def end(self) -> int:
        """Position of the last use; the start if there is none."""
        return max([position for position, _, _ in self.uses], default=self.start)

    @property
    def name(self) -> str:
        """Name as in `exp.4` or `while.2{1}`."""
        return self.instruction.name + (
            "{" + ",".join(map(str, self.index)) + "}" if self.index else ""
        )

    def __repr__(self) -> str:
        return f"<Value {self.id} %{self.name} {self.start}..{self.end}>"


@dataclass(slots=True, eq=False)
class LoopPhi:
    """The phi of a while for one leaf of its state.

    initial: the value before the loop. state: the value that condition and body read. next: the
    value that the body defines. result: the value after the loop. The rest are positions of the
    loop.
    """

    loop: HloInstruction
    index: Index
    initial: Value
    state: Value
    next: Value
    result: Value
    begin: int
    body_end: int
    finish: int


class BranchPhi:
    """The phi of a conditional for one leaf: the result, and the root's value in each branch."""

    __slots__ = ("begin", "branch_ends", "branches", "conditional", "index", "result")

    def __init__(
        self,
        conditional: HloInstruction,
        index: Index,
        result: Value,
        branches: list[Value],
        begin: int,
        branch_ends: list[int],
    ) -> None:
        self.conditional, self.index, self.result, self.branches = (
            conditional,
            index,
            result,
            branches,
        )
        self.begin, self.branch_ends = begin, branch_ends


class Dataflow:
    """Dataflow of a module.

    positions: instruction -> position. spans: computation -> (first, last position). values: in
    order of creation. loops, branches: the phis, innermost first. end: position after the last
    instruction.
    """

    def __init__(
        self,
        module: HloModule,
        sequence: Callable[[HloComputation], Iterable[HloInstruction]] = HloComputation.sequence,
    ) -> None:
        self.module = module
        self.positions: dict[HloInstruction, int] = {}
        self.spans: dict[HloComputation, tuple[int, int]] = {}
        self.values: list[Value] = []
        self.loops: list[LoopPhi] = []
        self.branches: list[BranchPhi] = []
        self._leaves: dict[HloInstruction, Leaves] = {}
        self._sequence = sequence
        self._clock = 0
        entry = module.entry
        self._walk(entry, None)
        self.end = self._clock + STEP
        for number, value in enumerate(self._leaves[entry.root].values()):
            self.resolve(value).uses.append((self.end, entry.root, number))

    def resolve(self, value: Value) -> Value:
        """Return the value that holds the data.

        For a loop-invariant element, the loop's initial value.
        """
        while value.forwarded_to is not None:
            value = value.forwarded_to
        return value

    def value_of(self, instruction: HloInstruction, index: Index = ()) -> Value:
        """Return the value at a leaf of an instruction's result.

        KeyError if the leaf is not an array, or the instruction is not on the time line.
        """
        return self.resolve(self._leaves[instruction][index])

    def leaves(self, instruction: HloInstruction) -> Iterator[tuple[Index, Value]]:
        """Yield (index, value) of each array leaf of the result."""
        for index, value in self._leaves[instruction].items():
            yield index, self.resolve(value)

    def instructions(self) -> Iterator[HloInstruction]:
        """Yield the instructions on the time line, in order."""
        yield from self.positions

    def _new(self, instruction: HloInstruction, index: Index, shape: Shape, start: int) -> Value:
        value = Value(len(self.values), instruction, index, shape, start)
        self.values.append(value)
        return value

    def _tick(self) -> int:
        self._clock += STEP
        return self._clock

    def _walk(self, computation: HloComputation, arguments: list[Leaves] | None) -> None:
        begin = self._clock
        if computation in self.spans:
            raise ValueError(
                f"computation %{computation.name} has several callers: run flatten-call-graph first"
            )
        self.spans[computation] = (begin, begin)
        for i in self._sequence(computation):
            position = self.positions[i] = self._tick()
            if i.opcode.name == "parameter" and arguments is not None:
                self._leaves[i] = arguments[int(i.payload)]
            else:
                self._leaves[i] = self._leaves_of(i, position)
        self.spans[computation] = (begin, self._tick())

    def _leaves_of(self, i: HloInstruction, position: int) -> Leaves:
        """Return the values of an instruction's leaves, and record its uses."""
        name = i.opcode.name
        if name == "tuple":
            return {
                (k, *index): value
                for k, o in enumerate(i.operands)
                for index, value in self._leaves[o].items()
            }
        if name == "get-tuple-element":
            wanted = int(i.attribute("index"))
            leaves = self._leaves[i.operands[0]]
            return {index[1:]: value for index, value in leaves.items() if index[0] == wanted}
        if name in _FORWARDS and not repacks(i):
            return self._leaves[i.operands[0]]
        if name == "call":
            self._walk(i.called[0], [self._leaves[o] for o in i.operands])
            return self._leaves[i.called[0].root]
        if name == "while":
            return self._while(i, position)
        if name == "conditional":
            return self._conditional(i, position)
        return self._computed(i, position)

    def _computed(self, i: HloInstruction, position: int) -> Leaves:
        for number, o in enumerate(i.operands):
            for value in self._leaves[o].values():
                self.resolve(value).uses.append((position, i, number))
        is_input = i.opcode.name in ("parameter", "constant")
        made = self._define(i, 0 if is_input else position)
        for value in made.values():
            value.read_only = is_input
        return made

    def _define(self, i: HloInstruction, position: int) -> Leaves:
        if i.shape.is_array:
            return {(): self._new(i, (), i.shape, position)}
        return {
            index: self._new(i, index, shape, position)
            for index, shape in i.shape.leaves()
            if shape.is_array
        }

    def _while(self, i: HloInstruction, begin: int) -> Leaves:
        condition, body = i.called
        initial = self._leaves[i.operands[0]]
        state = {
            index: self._new(i, index, value.shape, begin + 1) for index, value in initial.items()
        }
        self._walk(condition, [state])
        for value in self._leaves[condition.root].values():
            self.resolve(value).uses.append((self._clock, i, 0))
        self._walk(body, [state])
        body_end = self._clock
        following = self._leaves[body.root]
        finish = self._tick()
        result: Leaves = {}
        for index, carried in state.items():
            ahead = self.resolve(following[index])
            before = self.resolve(initial[index])
            if ahead is carried:  # loop-invariant: the body returns it unchanged
                carried.forwarded_to = before
                before.uses.extend(carried.uses)
                before.uses.append((finish, i, 0))
                result[index] = before
                continue
            before.uses.append((begin, i, 0))
            ahead.uses.append((body_end, i, 0))
            after = result[index] = self._new(i, index, carried.shape, finish + 1)
            phi = LoopPhi(i, index, before, carried, ahead, after, begin, body_end, finish)
            carried.phi = after.phi = phi
            self.loops.append(phi)
        return result

    def _conditional(self, i: HloInstruction, begin: int) -> Leaves:
        ends = []
        for value in self._leaves[i.operands[0]].values():
            self.resolve(value).uses.append((begin, i, 0))
        for number, branch in enumerate(i.called):
            self._walk(branch, [self._leaves[i.operands[number + 1]]])
            ends.append(self._clock)
        finish = self._tick()
        result: Leaves = {}
        for index, shape in i.shape.leaves():
            if not shape.is_array:
                continue
            made = result[index] = self._new(i, index, shape, finish)
            values = [self.resolve(self._leaves[branch.root][index]) for branch in i.called]
            for value, end in zip(values, ends, strict=True):
                value.uses.append((end, i, 0))
            self.branches.append(BranchPhi(i, index, made, values, begin, ends))
        return result
