"""A device without LLVM: a stack machine on vectors, with memory of its own.

Notebook 13 writes a back end for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError

Array = np.ndarray[Any, Any]
STACK_LIMIT = 8
_NUMBERS = {("push",): 1, ("store",): 1, ("constant",): 2}  # the operands after the name
OPERATIONS = {
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "divide": 2,
    "maximum": 2,
    "minimum": 2,
    "negate": 1,
    "abs": 1,
    "exponential": 1,
    "tanh": 1,
}


class StackMachineError(XlaExplorerError, RuntimeError):
    """The machine stopped: the message names the instruction."""


class StackMachine:
    """Slots of memory by number, a stack of at most eight vectors, and counters.

    Instructions are ("push", slot), ("store", slot), which pops, and ("constant", number, length).
    The names in OPERATIONS, as ("add",), pop their operands and push the result; the last operand
    is on top. copies_in, copies_out: transfers from and to the host. executed: instructions by
    name.
    """

    def __init__(self) -> None:
        self.memory: dict[int, Array | None] = {}
        self.copies_in = self.copies_out = 0
        self.executed: dict[str, int] = {}
        self._next = 0

    def allocate(self) -> int:
        """Return a new, empty slot."""
        slot = self._next
        self._next += 1
        self.memory[slot] = None
        return slot

    def deallocate(self, slot: int) -> None:
        """Give a slot back."""
        if slot not in self.memory:
            raise StackMachineError(f"slot {slot} is not allocated")
        del self.memory[slot]

    def copy_in(self, slot: int, value: Any) -> None:
        """Copy from the host to a slot."""
        if slot not in self.memory:
            raise StackMachineError(
                f"slot {slot} is not allocated", "machine.allocate() returns one"
            )
        self.memory[slot] = np.array(value, np.float32)
        self.copies_in += 1

    def copy_out(self, slot: int) -> Array:
        """Copy from a slot to the host."""
        value = self._read(slot, "copy_out")
        self.copies_out += 1
        return value.copy()

    def _read(self, slot: int, who: str) -> Array:
        value = self.memory.get(slot)
        if value is None:
            raise StackMachineError(
                f"{who}: slot {slot} "
                f"{'was never written' if slot in self.memory else 'is not allocated'}"
            )
        return value

    def run(self, program: Sequence[tuple[Any, ...]]) -> None:
        """Execute a program; the stack is empty before and must be empty after."""
        stack: list[Array] = []
        for number, instruction in enumerate(program):
            where = f"instruction {number} {instruction}"
            if not isinstance(instruction, tuple) or len(instruction) != 1 + _NUMBERS.get(
                instruction[:1], 0
            ):
                raise StackMachineError(
                    f"{where}: cannot read it",
                    'write ("push", slot), ("store", slot), ("constant", number, length), or an '
                    'operation as ("add",)',
                )
            self.executed[instruction[0]] = self.executed.get(instruction[0], 0) + 1
            self._step(instruction, stack, where)
            if len(stack) > STACK_LIMIT:
                raise StackMachineError(
                    f"{where}: the stack has {STACK_LIMIT} places",
                    "store intermediate results in slots",
                )
        if stack:
            raise StackMachineError(
                f"{len(stack)} values are left on the stack", "store the result"
            )

    def _step(self, instruction: tuple[Any, ...], stack: list[Array], where: str) -> None:
        name = instruction[0]
        if name == "push":
            stack.append(self._read(instruction[1], where))
        elif name == "constant":
            stack.append(np.full(instruction[2], instruction[1], np.float32))
        elif name == "store":
            if not stack:
                raise StackMachineError(f"{where}: the stack is empty")
            if instruction[1] not in self.memory:
                raise StackMachineError(f"{where}: slot {instruction[1]} is not allocated")
            self.memory[instruction[1]] = stack.pop()
        elif name in OPERATIONS:
            stack.append(_FUNCTIONS[name](*_popped(stack, OPERATIONS[name], where)))
        else:
            raise StackMachineError(
                f"{where}: not an instruction",
                f"choose from push, store, constant, {', '.join(OPERATIONS)}",
            )


def _popped(stack: list[Array], count: int, where: str) -> list[Array]:
    """Pop the operands of an operation; their lengths must agree."""
    if len(stack) < count:
        raise StackMachineError(f"{where}: takes {count} operands, the stack has {len(stack)}")
    operands = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    if len({len(o) for o in operands}) > 1:
        lengths = " and ".join([str(len(o)) for o in operands])
        raise StackMachineError(f"{where}: the operands have {lengths} elements")
    return operands


_FUNCTIONS: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "negate": np.negative,
    "abs": np.abs,
    "exponential": np.exp,
    "tanh": np.tanh,
}
