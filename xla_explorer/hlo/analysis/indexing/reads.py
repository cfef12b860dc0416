"""Which operand elements an instruction reads for an element of its result: one function per opcode, registered by `@reads_by`.

    reads_of(transpose, place) -> [Read(0, place of the operand)]

Composition is asking again, for the operand, at the place that was read.
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
        """Whether the ranges of the axes alone prove it."""
        low, high = self.expression.bounds
        return low >= 0 and high < self.bound

    def __str__(self) -> str:
        low = "" if self.expression.bounds[0] >= 0 else "0 <= "
        return f"{low}{self.expression} < {self.bound}"


class Read(NamedTuple):
    """An element of an operand. guards: it is read where all hold. over: axes of its own, which the opcode combines its elements over.
    addressing: it is read to know where others are, and is no part of the value."""

    operand: int
    place: Place
    guards: tuple[Guard, ...] = ()
    over: tuple[Axis, ...] = ()
    addressing: bool = False


Reads: TypeAlias = "list[Read] | Reason"
ReadFunction: TypeAlias = Callable[[HloInstruction, Place], Reads]

READ_FUNCTIONS: dict[str, ReadFunction] = {}
MOVEMENT: set[str] = set()
"""Opcodes that move elements: the value is that of the first read (`addressing` ones apart) whose guards hold, 0 if a gather has none."""


def reads_by(*opcodes: str, moves: bool = False) -> Callable[[ReadFunction], ReadFunction]:
    """Register the decorated function for opcodes. moves: they are of MOVEMENT. Registering one twice is an error."""

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
    """The operand elements that the element at `place` of an instruction's result is made of, or a Reason where no map says.

    place: of the result; for several results of one shape, of each. Axes named s0, s1 ... are those that a map brings (`Read.over`);
    whoever composes maps renames them.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.hlo.analysis.indexing import Axis, index, reads_of
    >>> module = xe.parse_hlo('HloModule m\\nENTRY e {\\n p = f32[4,6] parameter(0)\\n ROOT r = f32[3,8] reshape(p)\\n}')
    >>> (read,) = reads_of(module.entry.root, (index(Axis("i", 3)), index(Axis("j", 8))))
    >>> [str(x) for x in read.place]
    ['(8*i + j) // 6', '(8*i + j) % 6']
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
    """The same place of each operand; scalars have but one."""
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
    """Every opcode that has an index map."""
    return frozenset(READ_FUNCTIONS) | frozenset(
        [name for name, row in OPCODES.items() if row.elementwise]
    )


def guards_where_needed(*guards: Guard) -> tuple[Guard, ...]:
    """The guards that the ranges of the axes do not prove."""
    return tuple([guard for guard in guards if not guard.always_holds])


def ranges(extents: tuple[int, ...]) -> tuple[tuple[Axis, ...], Place]:
    """Axes of a map's own for the given extents, and the place that they make."""
    axes = tuple([Axis(f"s{k}", extent) for k, extent in enumerate(extents)])
    return axes, tuple([index(a) for a in axes])
