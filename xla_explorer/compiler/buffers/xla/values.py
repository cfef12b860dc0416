"""The values of a scheduled module as XLA counts them, with their live ranges.

Tuples are values too, and each way into a loop has a phi. Source:
xla/hlo/analysis/hlo_dataflow_analysis.cc (SSA form), xla/hlo/utils/hlo_live_range.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xla_explorer.compiler.buffers.donation import wanted_aliases
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.dataflow import Index
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

POINTER_BYTES: Final = 8
_FORWARDS: Final = frozenset({"bitcast", "opt-barrier", "add-dependency", "domain"})
Position = tuple[HloInstruction, Index]


class NotFlatError(XlaExplorerError, ValueError):
    """A computation with several callers: XLA assigns buffers to flat call graphs only."""


class XlaValue:
    """The value of an instruction at one index of its result.

    start, end: its live range in moments of the schedule. positions: every (instruction, index)
    that holds it, its own first. uses: (user, operand number, index in the operand). end_position:
    the last of the positions, which a later value may overwrite. fixed: a parameter that stays
    unchanged.
    """

    __slots__ = (
        "end", "end_position", "fixed", "forwarded_to", "index", "instruction", "number", "phi", "positions", "shape", "start", "uses",
    )  # fmt: skip

    def __init__(
        self, number: int, instruction: HloInstruction, index: Index, shape: Shape, phi: bool
    ) -> None:
        self.number, self.instruction, self.index, self.shape, self.phi = (
            number,
            instruction,
            index,
            shape,
            phi,
        )
        self.positions: list[Position] = []
        self.uses: list[tuple[HloInstruction, int, Index]] = []
        self.start = self.end = 0
        self.end_position: Position = (instruction, index)
        self.forwarded_to: XlaValue | None = None
        self.fixed = False

    @property
    def size(self) -> int:
        """Bytes; of a tuple its pointers."""
        return (
            len(self.shape.tuple_shapes) * POINTER_BYTES
            if self.shape.is_tuple
            else self.shape.byte_size
        )

    @property
    def name(self) -> str:
        """The name as XLA writes it: `while.2{1}`; for an array the name of its instruction."""
        written = self.index or self.shape.is_tuple
        return self.instruction.name + (
            "{" + ",".join(map(str, self.index)) + "}" if written else ""
        )


def resolved(value: XlaValue) -> XlaValue:
    """Return the value itself, or the value that a loop passes through unchanged."""
    while value.forwarded_to is not None:
        value = value.forwarded_to
    return value


def indices(shape: Shape, index: Index = ()) -> Iterator[tuple[Index, Shape]]:
    """Yield every index of a shape, tuples before their parts."""
    yield index, shape
    if shape.is_tuple:
        for number, part in enumerate(shape.tuple_shapes):
            yield from indices(part, (*index, number))


class XlaValues:
    """The values that control flow reaches from the entry.

    Attributes
    ----------
    values : list of XlaValue
        In order of definition; a value that a loop passes through unchanged is not repeated.
    moments : dict
        Instruction -> its moment in the flattened schedule.
    loops : list of tuple
        (while, index, the values that are one: initial, in the condition, in the body, at the
        body's end, result).
    branches : list of tuple
        The same for conditionals: the results of the branches, and the conditional's result.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.moments: dict[HloInstruction, int] = {}
        self.spans: dict[HloComputation, tuple[int, int]] = {}
        self.loops: list[tuple[XlaValue, ...]] = []
        self.branches: list[tuple[XlaValue, ...]] = []
        self._all: list[XlaValue] = []
        self._of: dict[HloInstruction, dict[Index, XlaValue]] = {}
        self.aliases = wanted_aliases(module)
        self._walk(module.entry, None)
        self._pass_through()
        self.values = self._numbered()
        self._place()
        for value in self.values:
            self._live(value)

    def at(self, instruction: HloInstruction, index: Index = ()) -> XlaValue:
        """Return the value at an index of an instruction's result."""
        return resolved(self._of[instruction][index])

    def of(self, instruction: HloInstruction) -> dict[Index, XlaValue]:
        """Return the values of an instruction's result by index."""
        return {index: resolved(value) for index, value in self._of[instruction].items()}

    def _new(self, i: HloInstruction, index: Index, shape: Shape, phi: bool = False) -> XlaValue:
        value = XlaValue(len(self._all), i, index, shape, phi)
        self._all.append(value)
        return value

    def _walk(
        self, computation: HloComputation, arguments: list[dict[Index, XlaValue]] | None
    ) -> None:
        if computation in self.spans:
            raise NotFlatError(
                f"%{computation.name} has several callers",
                "look at the module after XLA's flatten-call-graph",
            )
        begin = len(self.moments)
        self.spans[computation] = (begin, begin)
        for i in computation.sequence():
            self._of[i] = self._defined(i, arguments)
            self.moments[i] = len(self.moments)
        self.spans[computation] = (begin, len(self.moments))

    def _defined(
        self, i: HloInstruction, arguments: list[dict[Index, XlaValue]] | None
    ) -> dict[Index, XlaValue]:
        name = i.opcode.name
        if name == "parameter" and arguments is not None:
            return arguments[i.parameter_number]
        if name == "tuple":
            parts = {
                (k, *index): value
                for k, o in enumerate(i.operands)
                for index, value in self._of[o].items()
            }
            return {(): self._new(i, (), i.shape), **parts}
        if name == "get-tuple-element":
            wanted = int(i.attribute("index"))
            return {
                index[1:]: value
                for index, value in self._of[i.operands[0]].items()
                if index and index[0] == wanted
            }
        if name in _FORWARDS:
            return self._of[i.operands[0]]
        if name == "copy" and i.shape.is_tuple:
            return {**self._of[i.operands[0]], (): self._new(i, (), i.shape)}
        if name == "call":
            self._walk(i.called[0], [self._of[o] for o in i.operands])
            return self._of[i.called[0].root]
        if name == "while":
            return self._loop(i)
        if name == "conditional":
            return self._conditional(i)
        return {index: self._new(i, index, shape) for index, shape in indices(i.shape)}

    def _loop(self, i: HloInstruction) -> dict[Index, XlaValue]:
        condition, body = i.called
        initial = self._of[i.operands[0]]
        states = []
        for computation in (condition, body):
            (parameter,) = computation.parameters()
            states.append(
                {
                    index: self._new(parameter, index, shape, True)
                    for index, shape in indices(parameter.shape)
                }
            )
            self._walk(computation, [states[-1]])
        tested, carried = states
        result: dict[Index, XlaValue] = {}
        for index, shape in indices(i.shape):
            before, following = resolved(initial[index]), resolved(self._of[body.root][index])
            if following in (carried[index], before):
                tested[index].forwarded_to = carried[index].forwarded_to = result[index] = before
                continue
            made = result[index] = self._new(i, index, shape, True)
            self.loops.append((before, tested[index], carried[index], following, made))
        return result

    def _conditional(self, i: HloInstruction) -> dict[Index, XlaValue]:
        for number, branch in enumerate(i.called):
            self._walk(branch, [self._of[i.operands[number + 1]]])
        result: dict[Index, XlaValue] = {}
        for index, shape in indices(i.shape):
            found = [resolved(self._of[branch.root][index]) for branch in i.called]
            if all(value is found[0] for value in found):
                result[index] = found[0]
                continue
            made = result[index] = self._new(i, index, shape, True)
            self.branches.append((*found, made))
        return result

    def _pass_through(self) -> None:
        """Remove phis with a single distinct input, until none is left."""
        before = -1
        while before != len(self.loops) + len(self.branches):
            before = len(self.loops) + len(self.branches)
            for group in list(self.loops):
                initial, tested, carried, following, made = group
                if resolved(following) in (carried, resolved(initial)):
                    self.loops.remove(group)
                    tested.forwarded_to = carried.forwarded_to = made.forwarded_to = resolved(
                        initial
                    )
            for group in list(self.branches):
                *found, made = map(resolved, group)
                if all(value is found[0] for value in found):
                    self.branches.remove(group)
                    made.forwarded_to = found[0]

    def _numbered(self) -> list[XlaValue]:
        """Return the values in the order of XLA's numbers, which break ties.

        The order is by computation and post-order, phis last.
        """
        place: dict[HloInstruction, int] = {}
        for computation in self.module.computations.values():
            for i in computation.post_order() if computation in self.spans else ():
                place[i] = len(place)
        found = [value for value in self._all if value.forwarded_to is None]
        found.sort(
            key=lambda value: (
                value.phi,
                value.number if value.phi else 0,
                place[value.instruction],
                value.index,
            )
        )
        for number, value in enumerate(found):
            value.number = number
        return found

    def _place(self) -> None:
        for i, found in self._of.items():
            for index, value in found.items():
                holder = resolved(value)
                if (i, index) != (holder.instruction, holder.index):
                    holder.positions.append((i, index))
                for user in dict.fromkeys(i.users):
                    if _reads(user, index):
                        holder.uses += [
                            (user, number, index)
                            for number, operand in enumerate(user.operands)
                            if operand is i
                        ]
        for value in self.values:
            value.positions.insert(0, (value.instruction, value.index))

    def _live(self, value: XlaValue) -> None:
        i = value.instruction
        computation = i.parent
        value.start = (
            self.spans[computation][0] if i.opcode.name == "parameter" else self.moments[i]
        )
        value.end, value.end_position = self._moment(i), value.positions[0]
        for position in value.positions[1:]:
            moment = self._moment(position[0])
            if moment > value.end:
                value.end, value.end_position = moment, position
        if i.opcode.name == "parameter" and computation is self.module.entry:
            value.fixed = not any(
                (one.parameter_number, one.parameter_index) == (i.parameter_number, value.index)
                for one in self.aliases
            )
        if value.fixed:
            value.end = len(self.moments)
        for user, _, _ in value.uses:
            if user.opcode.name == "call":
                continue  # the callee's uses extend the live range
            at = user.called[1].parameters()[0] if user.opcode.name == "while" else user
            value.end = max(value.end, self.moments.get(at, -1))

    def _moment(self, i: HloInstruction) -> int:
        return self.spans[i.parent][1] if i.is_root else self.moments[i]


def _reads(user: HloInstruction, index: Index) -> bool:
    name = user.opcode.name
    return not index if name in ("get-tuple-element", "copy") else name not in ("tuple", "domain")
