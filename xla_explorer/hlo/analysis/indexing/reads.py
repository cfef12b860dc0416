"""Index maps: operand elements that a result element reads, one function per opcode (`@reads_by`).

`reads_of(transpose, place) -> [Read(0, place of the operand)]`. Maps compose by `reads_of` of the
operand at the place that was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing.expression import Axis, IndexExpression, Place, index
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OPCODES


class Guard(NamedTuple):
    """The condition 0 <= expression < bound."""

    expression: IndexExpression
    bound: int

    @property
    def always_holds(self) -> bool:
        """Return True if the ranges of the axes alone prove the condition."""
        low, high = self.expression.bounds
        return low >= 0 and high < self.bound

    def __str__(self) -> str:
        low = "" if self.expression.bounds[0] >= 0 else "0 <= "
        return f"{low}{self.expression} < {self.bound}"


class Read(NamedTuple):
    """An element of an operand that is read.

    guards: conditions of the read. over: axes of the read itself, over which the opcode combines
    elements. addressing: the element only determines the place of other elements and is not part of
    the value.
    """

    operand: int
    place: Place
    guards: tuple[Guard, ...] = ()
    over: tuple[Axis, ...] = ()
    addressing: bool = False


Reads: TypeAlias = "list[Read] | Reason"
ReadFunction: TypeAlias = Callable[[HloInstruction, Place], Reads]

READ_FUNCTIONS: dict[str, ReadFunction] = {}
MOVEMENT: set[str] = set()
"""Opcodes that move elements: the value is the first read whose guards hold, else 0."""


def reads_by(*opcodes: str, moves: bool = False) -> Callable[[ReadFunction], ReadFunction]:
    """Register the decorated function for opcodes; a second registration is an error.

    moves: add the opcodes to MOVEMENT.
    """

    def register(function: ReadFunction) -> ReadFunction:
        for name in opcodes:
            if name in READ_FUNCTIONS:
                raise ValueError(f"opcode {name!r} has two index maps")
            READ_FUNCTIONS[name] = function
        if moves:
            MOVEMENT.update(opcodes)
        return function

    return register


def reads_of(i: HloInstruction, place: Place) -> Reads:
    """Return the operand elements read for the result element at `place`, or a Reason.

    place: of the result; for several results of one shape, of each. A map's own axes are named s0,
    s1 ... (`Read.over`); composed maps must rename them.
    """
    found = READ_FUNCTIONS.get(i.opcode.name)
    if found is not None:
        return found(i, place)
    if i.opcode.elementwise:
        return elementwise(i, place)
    return refuse(
        "no-index-map", f"%{i.name}: {i.opcode.name} has no index map", opcode=i.opcode.name
    )


def elementwise(i: HloInstruction, place: Place) -> Reads:
    """Map to the same place of each operand; scalars have only one place."""
    found = []
    for number, operand in enumerate(i.operands):
        if operand.shape.is_array and operand.shape.dimensions == i.shape.dimensions:
            found.append(Read(number, place))
        elif operand.shape.is_array and not operand.shape.dimensions:
            found.append(Read(number, ()))
        else:
            return refuse(
                "operand-of-another-shape",
                f"%{i.name}: operand {number} has the shape {operand.shape}",
                operand=number,
            )
    return found


def mapped_opcodes() -> frozenset[str]:
    """Return every opcode that has an index map."""
    return frozenset(READ_FUNCTIONS) | frozenset(
        [name for name, row in OPCODES.items() if row.elementwise]
    )


def guards_where_needed(*guards: Guard) -> tuple[Guard, ...]:
    """Return the guards that the ranges of the axes do not prove."""
    return tuple([guard for guard in guards if not guard.always_holds])


def ranges(extents: tuple[int, ...]) -> tuple[tuple[Axis, ...], Place]:
    """Return a map's own axes for the given extents, and the place of these axes."""
    axes = tuple([Axis(f"s{k}", extent) for k, extent in enumerate(extents)])
    return axes, tuple([index(a) for a in axes])
