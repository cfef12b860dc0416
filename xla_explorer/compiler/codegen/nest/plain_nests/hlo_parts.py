"""Facts of HLO instructions that plain nests need: names, scalars, runtime values, types."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.nest.ir import Compute, Origin, Statement
from xla_explorer.hlo.analysis.indexing import (
    Guard,
    IndexExpression,
    Place,
    Read,
    RuntimeValue,
    Substitution,
    index,
)
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.identity_element import simple_combiner
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.primitive_type import F32, PrimitiveType
from xla_explorer.hlo.shape import array_shape

_ASSOCIATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})


class OpenScope:
    """The statements of a body that is being built.

    barrier: guards keep loads of this scope inside their arrays, so they must not move out.
    """

    def __init__(self, barrier: bool = False) -> None:
        self.body: list[Statement] = []
        self.known: dict[tuple[HloInstruction, int], tuple[int, ...]] = {}
        self.barrier = barrier


def addressed(read: Read, numbers: dict[tuple[HloInstruction, Place], int]) -> Read:
    """Return a read with its runtime values named by their numbers in the nest."""
    atoms = [
        atom
        for x in (*read.place, *[g.expression for g in read.guards])
        for atom in x.atoms()
        if isinstance(atom, RuntimeValue)
    ]

    def named(atom: RuntimeValue) -> IndexExpression:
        if atom.low == atom.high:
            return index(atom.low)
        return index(
            RuntimeValue(f"%{numbers[atom.source, atom.place]}", atom.place, atom.low, atom.high)
        )

    values: Substitution = {atom: named(atom) for atom in atoms if not isinstance(atom.source, str)}
    guards = tuple([Guard(g.expression.substitute(values), g.bound) for g in read.guards])
    return read._replace(place=tuple([x.substitute(values) for x in read.place]), guards=guards)


def scalar(literal: Literal) -> Literal:
    """Return the only value of a literal as a scalar literal."""
    if literal.shape.is_scalar:
        return literal
    return literal_from_array(
        literal.array.reshape(-1)[0], array_shape(literal.shape.element_type, ())
    )


def own_attributes(i: HloInstruction) -> Attributes:
    """Return the attributes of the opcode, without layouts, devices and backend settings."""
    own = {name: i.attributes[name] for name in i.opcode.attributes if name in i.attributes}
    return i.attributes if len(own) == len(i.attributes) else attributes_of(own)


def compute_of(number: int, i: HloInstruction, values: Sequence[int], origin: Origin) -> Compute:
    """Return the statement of an elementwise instruction.

    values: the numbers of its operands.
    """
    return Compute(number, i.shape.element_type, i.opcode, tuple(values), own_attributes(i), origin)


def has_interior_padding(root: HloInstruction) -> bool:
    """Return True if a pad leaves gaps between the elements of its operand."""
    if root.opcode.name != "pad":
        return False
    rules = root.attribute("padding")
    gaps = any(
        rule.interior and n > 1
        for rule, n in zip(rules, root.operands[0].shape.dimensions, strict=True)
    )
    return gaps and all(rule.low >= 0 and rule.high >= 0 for rule in rules)


def array_names(operands: list[HloInstruction]) -> list[str]:
    """Return distinct names of arrays, from those of the instructions."""
    taken: dict[str, int] = {}
    names = []
    for o in operands:
        name = identifier(o.name)
        taken[name] = taken.get(name, 0) + 1
        names.append(name if taken[name] == 1 else f"{name}.{taken[name]}x")
    return names


def identifier(name: str) -> str:
    """Return a name with only the characters that the text of a nest allows."""
    if name.replace("_", "").replace(".", "").replace("-", "").isalnum():
        return name
    return "".join([c if c.isalnum() or c in "_.-" else "_" for c in name])


def combines_in_any_order(i: HloInstruction) -> bool:
    """Return True if the reducer of an instruction is one associative operation.

    Windows of small floats round each step in the order of their points, as in XLA, so they are
    excluded.
    """
    root = i.to_apply.root
    one = root.opcode.name in _ASSOCIATIVE and set(root.operands) == set(i.to_apply.parameters())
    return one and not (
        i.opcode.name == "reduce-window"
        and _is_small(i)
        and root.opcode.name not in ("maximum", "minimum")
    )


def accumulator_type(i: HloInstruction, runs: bool = False) -> PrimitiveType | None:
    """Return f32 for floats below 32 bits that one operation combines, else None.

    None means the accumulator has the type of the operand. runs: windows are running values, and
    only stored values are rounded.
    """
    small = len(i.operands) == 2 and i.shape.is_array and _is_small(i)
    one = combines_in_any_order(i) or (runs and simple_combiner(i.to_apply) is not None)
    return (
        F32
        if small and one and i.to_apply.root.shape.element_type is i.shape.element_type
        else None
    )


def _is_small(i: HloInstruction) -> bool:
    element = i.operands[0].shape.element_type
    return element.is_float and element.bits < 32
