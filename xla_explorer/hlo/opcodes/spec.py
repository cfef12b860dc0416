"""`OpcodeSpec`.

An opcode as data, from which parser, printer, builder, verifier and docs derive.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.instruction import HloInstruction


class Family(enum.Enum):
    """The families, with one module each here, in the evaluator and in code generation."""

    ELEMENTWISE = "elementwise"
    DATA_MOVEMENT = "data movement"
    CONTRACTION = "contraction"
    REDUCTION = "reduction"
    CONTROL_FLOW = "control flow"
    COLLECTIVE = "collective"
    RANDOM = "random"
    CUSTOM = "custom"
    STRUCTURAL = "structural"


class Trait(enum.Enum):
    """Properties of opcodes for passes; the value is the sentence shown to users."""

    ELEMENTWISE = "element i of the result reads element i of the operands"
    COMMUTATIVE = "operands 0 and 1 may be swapped"
    SIDE_EFFECT = "must be neither removed, repeated nor merged"
    EXPENSIVE = "fusion must not compute it twice per element"
    NON_DETERMINISTIC = "two evaluations may differ"
    BITCASTABLE = "in a default layout it moves no data"
    IN_PLACE = "may write its result into the buffer of operand 0"
    VARIADIC_RESULT = "the result is a tuple when there are several operands"
    ASYNCHRONOUS = "start, update or done of an asynchronous operation"


# (operand shapes, attributes, called computations) -> result shape; a ShapeError names both sides.
ShapeRule = Callable[[tuple[Shape, ...], Attributes, "tuple[HloComputation, ...]"], Shape]
Constraint = Callable[["HloInstruction"], "Reason | None"]


@dataclass(slots=True, eq=False, repr=False)
class OpcodeSpec:
    """The row of an opcode.

    Instructions refer to the row, so testing a trait is one attribute load.

    name: text name. arity: number of operands, None if variadic. attributes: names of its own
    attributes in printing order (codecs in `hlo/attributes/codecs.py`). required: mandatory
    attributes. called: roles of the called computations (`to_apply`, or `condition`, `body` ...).
    shape_rule: infers the result shape; None if operands and attributes do not determine it.
    infers_in_text: HLO text may omit the result shape (XLA's parser infers fewer opcodes).
    constraints: its own checks, numbered from C7 on (C1 to C6 are in `hlo/verifier`). summary: one
    sentence. source: of the semantics.
    """

    name: str
    _: KW_ONLY
    family: Family
    arity: int | None
    summary: str
    source: str
    attributes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    shape_rule: ShapeRule | None = None
    constraints: tuple[Constraint, ...] = ()
    traits: frozenset[Trait] = frozenset()
    infers_in_text: bool = True
    number: int = field(default=-1, init=False)
    elementwise: bool = field(init=False)
    commutative: bool = field(init=False)
    side_effect: bool = field(init=False)
    expensive: bool = field(init=False)
    asynchronous: bool = field(init=False)

    def __post_init__(self) -> None:
        self.infers_in_text = self.infers_in_text and self.shape_rule is not None
        self.elementwise = Trait.ELEMENTWISE in self.traits
        self.commutative = Trait.COMMUTATIVE in self.traits
        self.side_effect = Trait.SIDE_EFFECT in self.traits
        self.expensive = Trait.EXPENSIVE in self.traits
        self.asynchronous = Trait.ASYNCHRONOUS in self.traits

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return row_of, (self.name,)


ROWS: dict[str, OpcodeSpec] = {}
"""All rows by name, filled by `table.py`."""


def row_of(name: str) -> OpcodeSpec:
    """Return the row of an opcode, for pickles and copies of rows; KeyError if there is none."""
    return ROWS[name]
