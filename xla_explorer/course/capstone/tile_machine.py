"""An emulated accelerator: scratchpad of square tiles, matrix unit, vector unit, DMA engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError

Array = np.ndarray[Any, Any]
Block = tuple[Any, ...]
SIDE = 8
"""Rows and columns of a tile."""
TILES = 16
"""How many tiles the scratchpad has."""
_LOAD, _MULTIPLY, _SIMPLE, _SLOW = 12, 8, 8, 16  # cycles

UNARY: dict[str, Any] = {
    "negate": np.negative,
    "abs": np.abs,
    "exponential": np.exp,
    "tanh": np.tanh,
}
BINARY: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
ROWS: dict[str, Any] = {"add-rows": np.add, "maximum-rows": np.maximum}
_SLOW_ONES = ("divide", "exponential", "tanh")
# name -> the number of its operands
_LENGTHS = (
    {"load": 4, "store": 4, "fill": 2, "dot": 3, "transpose": 2}
    | dict.fromkeys((*UNARY, *ROWS), 2)
    | dict.fromkeys(BINARY, 3)
)


class TileMachineError(XlaExplorerError, RuntimeError):
    """The machine stopped: the message names the instruction."""


class Step(NamedTuple):
    """One instruction as it ran: on which unit, from which cycle to which."""

    number: int
    instruction: tuple[Any, ...]
    unit: str
    start: int
    end: int


class TileMachine:
    """Main memory of numbered arrays, a scratchpad of tiles, and three units that run in parallel.

    The scratchpad has TILES tiles of SIDE x SIDE numbers of f32. A row and a column in `load` and
    `store` count tiles, not elements. The instructions:

    - ("load", tile, array, row, column) and ("store", array, row, column, tile): DMA engine, 12
    cycles. - ("dot", c, a, b): the matrix unit adds the product of the tiles a and b to the tile c,
    8 cycles. - ("fill", c, number), ("transpose", c, a), the names in UNARY as ("negate", c, a),
    those in BINARY
      as ("add", c, a, b): the vector unit, 8 cycles, or 16 for divide, exponential and tanh.
    - ("add-rows", c, a) and ("maximum-rows", c, a): the vector unit reduces each row of a, and
    writes
      the result to all columns of that row of c, 8 cycles.

    Each unit executes its instructions in program order. An instruction starts as soon as its unit
    is idle, and its tiles and its places in memory are ready. So the order of a program decides
    whether loads overlap with products.

    Attributes
    ----------
    cycles
        Cycles of all runs together.
    steps
        The last run, by instruction.
    copies_in, copies_out
        Transfers from and to the host.
    """

    def __init__(self) -> None:
        self.memory: dict[int, Array] = {}
        self.cycles = self.copies_in = self.copies_out = 0
        self.steps: list[Step] = []
        self._next = 0

    def allocate(self, rows: int, columns: int) -> int:
        """Return the number of a new array of zeros; both sizes must be multiples of SIDE."""
        if rows % SIDE or columns % SIDE or rows <= 0 or columns <= 0:
            raise TileMachineError(
                f"an array of {rows} x {columns}: both must be multiples of {SIDE}"
            )
        number, self._next = self._next, self._next + 1
        self.memory[number] = np.zeros((rows, columns), np.float32)
        return number

    def deallocate(self, array: int) -> None:
        """Give an array back."""
        self._array(array, "deallocate")
        del self.memory[array]

    def copy_in(self, array: int, value: Any) -> None:
        """Copy from the host to an array."""
        there, given = self._array(array, "copy_in"), np.asarray(value, np.float32)
        if there.shape != given.shape:
            raise TileMachineError(
                f"copy_in: array {array} has {list(there.shape)}, the value {list(given.shape)}"
            )
        self.memory[array] = given.copy()
        self.copies_in += 1

    def copy_out(self, array: int) -> Array:
        """Copy from an array to the host."""
        value = self._array(array, "copy_out").copy()
        self.copies_out += 1
        return value

    def run(self, program: Sequence[tuple[Any, ...]]) -> int:
        """Execute a program from an empty scratchpad, and return its number of cycles.

        Raises
        ------
        TileMachineError
            An instruction is invalid, a tile or an array does not exist, or a tile is read before
            it is written.
        """
        tiles: list[Array | None] = [None] * TILES
        idle: dict[str, int] = {}
        written: dict[Block, int] = {}
        read: dict[Block, int] = {}
        self.steps = []
        with np.errstate(all="ignore"):
            for number, instruction in enumerate(program):
                where = f"instruction {number} {instruction}"
                reads, writes = self._effect(instruction, tiles, where)
                unit, cycles = _unit(instruction[0])
                ready = [written.get(block, 0) for block in (*reads, *writes)] + [
                    read.get(block, 0) for block in writes
                ]
                start = max(idle.get(unit, 0), *ready)
                end = idle[unit] = start + cycles
                written |= dict.fromkeys(writes, end)
                read |= {block: max(read.get(block, 0), end) for block in reads}
                self.steps.append(Step(number, instruction, unit, start, end))
        took = max([step.end for step in self.steps], default=0)
        self.cycles += took
        return took

    def busy(self) -> dict[str, float]:
        """Return, for each unit, the share of the last run in which it was busy."""
        total = max([step.end for step in self.steps], default=0)
        return {
            unit: sum([s.end - s.start for s in self.steps if s.unit == unit]) / max(total, 1)
            for unit in ("dma", "matrix", "vector")
        }

    def _effect(
        self, instruction: Any, tiles: list[Array | None], where: str
    ) -> tuple[list[Block], list[Block]]:
        """Execute an instruction; return the blocks that it read and those that it wrote."""
        if (
            not isinstance(instruction, tuple)
            or not instruction
            or len(instruction) - 1 != _LENGTHS.get(instruction[0])
        ):
            raise TileMachineError(
                f"{where}: cannot be read",
                "the instructions and their operands: help(TileMachine)",
            )
        name, *numbers = instruction
        if name == "load":
            tile, *place = numbers
            tiles[_tile(tile, where)] = self._block(place, where).copy()
            return [tuple(place)], [(tile,)]
        if name == "store":
            *place, tile = numbers
            self._block(place, where)[:] = _held(tiles, tile, where)
            return [(tile,)], [tuple(place)]
        result, *operands = numbers
        _tile(result, where)
        if name == "fill":
            tiles[result] = np.full((SIDE, SIDE), operands[0], np.float32)
            return [], [(result,)]
        values = [_held(tiles, o, where) for o in operands]
        if name == "dot":
            tiles[result] = _held(tiles, result, where) + values[0] @ values[1]
            return [(o,) for o in (result, *operands)], [(result,)]
        if name == "transpose":
            tiles[result] = values[0].T.copy()
        elif name in ROWS:
            tiles[result] = np.repeat(
                ROWS[name].reduce(values[0], axis=1, keepdims=True), SIDE, axis=1
            )
        else:
            tiles[result] = (UNARY | BINARY)[name](*values)
        return [(o,) for o in operands], [(result,)]

    def _array(self, number: Any, where: str) -> Array:
        found = self.memory.get(number) if isinstance(number, int) else None
        if found is None:
            raise TileMachineError(
                f"{where}: array {number} is not allocated",
                "machine.allocate(rows, columns) returns one",
            )
        return found

    def _block(self, place: Sequence[Any], where: str) -> Array:
        number, row, column = place
        array = self._array(number, where)
        rows, columns = array.shape[0] // SIDE, array.shape[1] // SIDE
        if not (
            isinstance(row, int)
            and isinstance(column, int)
            and 0 <= row < rows
            and 0 <= column < columns
        ):
            raise TileMachineError(
                f"{where}: array {number} has {rows} x {columns} tiles",
                "rows and columns count tiles, not elements",
            )
        return array[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]


def _unit(name: str) -> tuple[str, int]:
    if name in ("load", "store"):
        return "dma", _LOAD
    return (
        ("matrix", _MULTIPLY)
        if name == "dot"
        else ("vector", _SLOW if name in _SLOW_ONES else _SIMPLE)
    )


def _tile(number: Any, where: str) -> int:
    if not (isinstance(number, int) and 0 <= number < TILES):
        raise TileMachineError(
            f"{where}: tile {number} does not exist",
            f"the scratchpad has the tiles 0 to {TILES - 1}",
        )
    return number


def _held(tiles: list[Array | None], number: Any, where: str) -> Array:
    value = tiles[_tile(number, where)]
    if value is None:
        raise TileMachineError(
            f"{where}: nothing was put into tile {number}",
            'load it, or begin a sum with ("fill", tile, 0.0)',
        )
    return value
