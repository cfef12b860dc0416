"""Run a scheduled module on the actual bytes of a buffer assignment.

Every operand is read from its slice, every result written to its slice, in the order of the
schedule. Wrong sharing gives wrong numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.compiler.buffers import BufferAssignment, BufferSlice
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

_FORWARDS = {
    "tuple",
    "get-tuple-element",
    "bitcast",
    "reshape",
    "opt-barrier",
    "add-dependency",
    "domain",
    "parameter",
    "constant",
}


class Simulator:
    """Memory, allocation by allocation, filled with a pattern that no test computes."""

    def __init__(self, assignment: BufferAssignment) -> None:
        self.assignment = assignment
        self.memory = {
            a.id: np.full(max(a.size, 1), 0xA5, np.uint8) for a in assignment.allocations
        }
        self.evaluator = Evaluator()
        for allocation in assignment.allocations:
            if allocation.kind == "constant":
                literal = allocation.instruction.literal
                for k in allocation.index:
                    literal = literal.parts[k]
                self._write(BufferSlice(allocation, 0, allocation.size), literal.array)

    def _write(self, where: BufferSlice, array: Any, shape: Shape | None = None) -> None:
        if shape is not None:
            array = np.transpose(array, shape.layout.minor_to_major[::-1])
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self.memory[where.allocation.id][where.offset : where.offset + data.size] = data

    def _read(self, where: BufferSlice, shape: Shape) -> Any:
        data = self.memory[where.allocation.id][where.offset : where.offset + shape.byte_size]
        order = shape.layout.minor_to_major[
            ::-1
        ]  # major to minor: the order in which the bytes run
        stored = (
            data.copy().view(shape.element_type.dtype).reshape([shape.dimensions[d] for d in order])
        )
        return np.ascontiguousarray(stored.transpose(np.argsort(order).tolist())).reshape(
            shape.dimensions
        )

    def value(
        self, i: HloInstruction, shape: Shape | None = None, index: tuple[int, ...] = ()
    ) -> Any:
        """Return the value of an instruction, read from memory."""
        shape = shape or i.shape
        if shape.is_tuple:
            return tuple(
                self.value(i, part, (*index, k)) for k, part in enumerate(shape.tuple_shapes)
            )
        return self._read(self.assignment.slice_of(i, index), shape) if shape.is_array else None

    def store(self, i: HloInstruction, value: Any, index: tuple[int, ...] = ()) -> None:
        """Write a value to where the instruction's result lives."""
        if isinstance(value, tuple):
            for k, part in enumerate(value):
                self.store(i, part, (*index, k))
        else:
            self._write(
                self.assignment.slice_of(i, index), np.asarray(value), i.shape.sub_shape(index)
            )

    def run(self, *arguments: Any) -> list[Any]:
        """Return the leaves of the entry's result."""
        for allocation in self.assignment.allocations:
            if allocation.kind == "parameter":
                value = arguments[allocation.number]
                for k in allocation.index:
                    value = value[k]
                shape = self.assignment.module.entry.parameters()[
                    allocation.number
                ].shape.sub_shape(allocation.index)
                self._write(BufferSlice(allocation, 0, allocation.size), value, shape)
        given_away = {
            (alias.parameter, alias.leaf)
            for alias in self.assignment.aliases
            if alias.reason is None or alias.reason.code != "parameters-are-kept"
        }
        before = {
            a.id: self.memory[a.id].copy()
            for a in self.assignment.allocations
            if a.kind == "constant"
            or (a.kind == "parameter" and (a.number, a.index) not in given_away)
        }
        entry = self.assignment.module.entry
        self.computation(entry)
        for number, data in before.items():
            assert (self.memory[number] == data).all(), "a parameter or constant was overwritten"
        return [
            self._read(self.assignment.slice_of(entry.root, index), shape)
            for index, shape in entry.root.shape.leaves()
        ]

    def computation(self, computation: HloComputation) -> None:
        """Run the schedule."""
        assert computation.schedule is not None
        for i in computation.schedule:
            name = i.opcode.name
            if name in _FORWARDS:
                continue
            if name == "while":
                condition, body = i.called
                while True:
                    self.computation(condition)
                    if not self.value(condition.root):
                        break
                    self.computation(body)
                    for index, _ in i.shape.leaves():
                        assert self.assignment.slice_of(
                            body.root, index
                        ) == self.assignment.slice_of(i, index)
                        assert self.assignment.slice_of(
                            i.operands[0], index
                        ) == self.assignment.slice_of(i, index)
            elif name == "conditional":
                which = self.value(i.operands[0])
                number = (
                    (0 if which else 1)
                    if which.dtype == bool
                    else int(which if 0 <= which < len(i.called) else len(i.called) - 1)
                )
                self.computation(i.called[number])
                self.store(i, self.value(i.called[number].root))
            elif name == "call":
                self.computation(i.called[0])
            else:
                self.store(
                    i, self.evaluator.evaluate_instruction(i, [self.value(o) for o in i.operands])
                )
