"""XLA's rules on values that must share a buffer, and on values that may reuse one in turn.

Sources: xla/hlo/analysis/alias_info.cc, xla/hlo/analysis/hlo_alias_analysis.cc,
hlo_dataflow_analysis.cc (CanShareOperandBufferWithUser).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from xla_explorer.compiler.buffers.xla.values import XlaValue, XlaValues, resolved
from xla_explorer.hlo.analysis.dataflow import Index
from xla_explorer.hlo.instruction import HloInstruction

_ANY_RESULT: Final = frozenset({"while", "conditional"})
_FIRST_OPERAND: Final = frozenset({"dynamic-update-slice", "scatter", "set-dimension-size"})
_ELEMENTWISE_FUSIONS: Final = frozenset({"kLoop", "kInput"})


class XlaBuffer:
    """Values that share a buffer in any assignment."""

    __slots__ = ("lives_out", "values")

    def __init__(self, values: list[XlaValue]) -> None:
        self.values, self.lives_out = values, False

    @property
    def size(self) -> int:
        """The size of the largest value."""
        return max([value.size for value in self.values])


def buffers_of(found: XlaValues) -> dict[XlaValue, XlaBuffer]:
    """Return the buffer of each value.

    Values are joined for operations in place, around loops and branches, and by
    `input_output_alias`.
    """
    of = {value: XlaBuffer([value]) for value in found.values}

    def join(one: XlaValue, other: XlaValue) -> None:
        first, second = of[resolved(one)], of[resolved(other)]
        if first is not second:
            first.values += second.values
            of.update(dict.fromkeys(second.values, first))

    for group in (*found.loops, *found.branches):
        for value in group[1:]:
            join(group[0], value)
    for i in found.moments:
        for number, operand_index, index in in_place(i):
            join(found.at(i.operands[number], operand_index), found.at(i, index))
    entry = found.module.entry
    for alias in found.aliases:
        join(
            found.at(entry.parameters()[alias.parameter_number], alias.parameter_index),
            found.at(entry.root, alias.output_index),
        )
    for buffer in dict.fromkeys(of.values()):
        buffer.values.sort(key=lambda value: value.number)
        _normalize(buffer)
    for value in found.of(entry.root).values():
        of[value].lives_out = True
    return of


def _normalize(buffer: XlaBuffer) -> None:
    """Make the values of one buffer follow each other: each ends where the next begins."""
    if len(buffer.values) > 1:
        order = sorted(buffer.values, key=lambda value: (value.start, value.end, value.number))
        for one, following in pairwise(order):
            following.end = max(one.end, following.end)
            one.end = min(one.end, following.start)


def in_place(i: HloInstruction) -> Iterator[tuple[int, Index, Index]]:
    """Yield (operand number, operand index, result index) of each pair that shares a buffer."""
    name = i.opcode.name
    if name == "dynamic-update-slice":
        yield 0, (), ()
    elif name == "scatter":
        count = (len(i.operands) - 1) // 2
        yield from [(0, (), ())] if count == 1 else [(k, (), (k,)) for k in range(count)]
    elif name == "fusion":
        for index, _ in i.shape.leaves():
            source, at = _followed(i.called[0].root, index)
            for number, operand_index, result in in_place(source):
                if result == at:
                    target, place = _followed(source.operands[number], operand_index)
                    if target.opcode.name == "parameter":
                        yield target.parameter_number, place, index
    for alias in i.attributes.get("output_to_operand_aliasing", ()):
        yield alias.operand_number, alias.operand_index, alias.output_index


def _followed(i: HloInstruction, index: Index) -> tuple[HloInstruction, Index]:
    """Return the instruction that computes a value, through tuples, their elements and bitcasts."""
    while True:
        if i.opcode.name == "tuple" and index:
            i, index = i.operands[index[0]], index[1:]
        elif i.opcode.name == "get-tuple-element":
            i, index = i.operands[0], (int(i.attribute("index")), *index)
        elif i.opcode.name == "bitcast" and not index:
            i = i.operands[0]
        else:
            return i, index


def interfere(one: XlaValue, other: XlaValue) -> bool:
    """Return True if both are ever live at once, by the rules for single allocations."""
    if one.start > other.end or other.start > one.end:
        return False
    if one.end == other.start:
        return not _may_follow(one, other)
    if other.end == one.start:
        return not _may_follow(other, one)
    return True


def _may_follow(operand: XlaValue, user: XlaValue) -> bool:
    i, index = operand.end_position
    writer = user.instruction
    return (
        writer.opcode.name != "copy"
        and i in writer.operands
        and may_overwrite(i, index, writer, user.index)
    )


def may_overwrite(
    operand: HloInstruction, index: Index, user: HloInstruction, user_index: Index
) -> bool:
    """Return True if `user` may write its result over the operand, each at its tuple index."""
    if operand.opcode.name == "constant":
        return False
    name, numbers = (
        user.opcode.name,
        [number for number, o in enumerate(user.operands) if o is operand],
    )
    if operand.shape.sub_shape(index) is not user.shape.sub_shape(user_index):
        return False
    if any(
        number in numbers and at == index and result == user_index
        for number, at, result in in_place(user)
    ):
        return True
    if name == "fusion":
        parameter = user.called[0].parameters()[numbers[0]]
        return user.attributes.get("kind") in _ELEMENTWISE_FUSIONS and _elementwise_throughout(
            parameter
        )
    if name in _ANY_RESULT:
        return True
    if name in _FIRST_OPERAND or name == "triangular-solve":
        return numbers == [1 if name == "triangular-solve" else 0]
    if name == "sort":
        return len(operand.users) == 1 and (len(user.operands) == 1 or numbers == [user_index[0]])
    return _elementwise_on(user, numbers[0])


def _elementwise_throughout(parameter: HloInstruction) -> bool:
    """Return True if a fusion uses a parameter only elementwise."""
    work, seen = [parameter], {parameter}
    while work:
        for user in work.pop().users:
            if user.opcode.name != "tuple" and not all(
                _elementwise_on(user, k) for k, o in enumerate(user.operands) if o in seen
            ):
                return False
            if user not in seen:
                seen.add(user)
                work.append(user)
    return True


def _elementwise_on(i: HloInstruction, number: int) -> bool:
    if i.opcode.name == "dynamic-update-slice":
        return number == 0
    if i.opcode.name == "fusion":
        return i.attributes.get("kind") == "kLoop" and all(one.opcode.name == "parameter" or one.opcode.elementwise
                                                           for one in i.called[0].instructions.values())  # fmt: skip
    return i.opcode.elementwise
