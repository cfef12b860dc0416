"""Patterns as data: conditions on an instruction and its operands.

Leaves: `any_("x")`, `scalar(0)` (a constant whose elements all equal 0, looking through a
broadcast), `splat("c")` (a constant with one value for all elements), `constant("c")`. Inner nodes:
operator constructors, one for each opcode row (`rewriting/operators.py`). A name captures; a name
used twice demands the same instruction twice. Operands of commutative opcodes match in either
order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import CONSTANT, OpcodeSpec, opcode

BROADCAST = opcode("broadcast")


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A node of a pattern.

    opcodes: the matching rows, () for any. operands: None for any. name: the name of the capture.

    value: the scalar that every element must equal. uniform: any one value for all elements.
    attributes: (name, value) pairs that must hold (defaults count). single_use: exactly one
    instruction reads it. predicate: a further pure test, for conditions that operands cannot
    express (an operand list of any length, an identity permutation).
    """

    opcodes: tuple[OpcodeSpec, ...] = ()
    operands: tuple[Pattern, ...] | None = None
    name: str | None = None
    value: float | complex | None = None
    uniform: bool = False
    attributes: tuple[tuple[str, Any], ...] = ()
    single_use: bool = False
    predicate: Callable[[HloInstruction], bool] | None = None

    def that(self, predicate: Callable[[HloInstruction], bool]) -> Pattern:
        """Return the same pattern with a pure test, which runs last."""
        return dataclasses.replace(self, predicate=predicate)

    def one_use(self) -> Pattern:
        """Return the same pattern, for an instruction that exactly one instruction reads."""
        return dataclasses.replace(self, single_use=True)

    def named(self, name: str) -> Pattern:
        """Return the same pattern, captured under a name."""
        return dataclasses.replace(self, name=name)

    def where(self, **attributes: Any) -> Pattern:
        """Return the same pattern with required attribute values; write `_` for `-` in names."""
        return dataclasses.replace(self, attributes=self.attributes + tuple(attributes.items()))

    @property
    def commutes(self) -> bool:
        """True if the two operand patterns may match in either order."""
        return (
            self.operands is not None
            and len(self.operands) == 2
            and bool(self.opcodes)
            and all(row.commutative for row in self.opcodes)
        )

    @property
    def captures(self) -> tuple[str, ...]:
        """The names captured, in the order of their first occurrence."""
        names = [self.name] if self.name else []
        for operand in self.operands or ():
            names.extend(operand.captures)
        return tuple(dict.fromkeys(names))

    def __str__(self) -> str:
        if self.value is not None:
            text = f"{self.value:g}" if not isinstance(self.value, complex) else str(self.value)
        elif self.uniform:
            text = "uniform constant"
        elif not self.opcodes:
            text = "any"
        else:
            text = "|".join([row.name for row in self.opcodes])
            if self.operands is not None:
                text += f"({', '.join(map(str, self.operands))})"
        text += "".join([f" {name}={value}" for name, value in self.attributes]) + (
            " (one use)" if self.single_use else ""
        )
        if self.predicate is not None:
            text += f" that {self.predicate.__name__.replace('_', ' ')}"
        if self.name is None:
            return text
        return self.name if text == "any" else f"{self.name}: {text}"


def any_(name: str | None = None) -> Pattern:
    """Match any instruction."""
    return Pattern(name=name)


def scalar(value: float | complex, name: str | None = None) -> Pattern:
    """Match a constant whose elements all equal `value`, or a broadcast of such a constant.

    0 matches -0.0 as well.
    """
    return Pattern(value=value, name=name)


def splat(name: str | None = None) -> Pattern:
    """Match a constant with one value for all elements, or a broadcast of one.

    `uniform_value` reads the value.
    """
    return Pattern(uniform=True, name=name)


def is_varying(i: HloInstruction) -> bool:
    """Return True for neither a constant nor a broadcast of one."""
    row = i.opcode
    return not (row is CONSTANT or (row is BROADCAST and i.operands[0].opcode is CONSTANT))


def varying(name: str | None = None) -> Pattern:
    """Match any instruction that is neither a constant nor a broadcast of one."""
    return Pattern(name=name, predicate=is_varying)


def constant(name: str | None = None) -> Pattern:
    """Match a constant instruction."""
    return Pattern((CONSTANT,), None, name)


def operator(*names: str) -> Callable[..., Pattern]:
    """Return the pattern constructor of one opcode, or of several.

    Example: `operator("add")(any_("x"), scalar(0), name="sum")`.
    """
    rows = tuple([opcode(name) for name in names])

    def construct(*operands: Pattern, name: str | None = None, **attributes: Any) -> Pattern:
        for row in rows:
            if operands and row.arity is not None and row.arity != len(operands):
                raise TypeError(
                    f"{row.name} takes {row.arity} operands, the pattern gives {len(operands)}"
                )
        return Pattern(rows, operands or None, name, attributes=tuple(attributes.items()))

    construct.__name__ = "_or_".join(names).replace("-", "_")
    return construct


one_of = operator


def uniform_value(i: HloInstruction) -> Any:
    """Return the value shared by all elements of a (broadcast) constant, as a scalar, or None."""
    if i.opcode is BROADCAST:
        i = i.operands[0]
    payload = i.payload
    if i.opcode is not CONSTANT or not isinstance(payload, Literal):
        return None
    shape = payload.shape
    if shape.is_scalar:
        return payload.scalar
    if not shape.is_array or shape.element_count == 0:
        return None
    array = payload.array
    ends = array[(0,) * shape.rank].tobytes(), array[(-1,) * shape.rank].tobytes()
    return payload.splat if ends[0] == ends[1] else None


def why_not_node(pattern: Pattern, i: HloInstruction) -> str:
    """Return the first mismatch of an instruction with a node, as a sentence.

    Operands and predicate are not tested.
    """
    if pattern.opcodes and i.opcode not in pattern.opcodes:
        return (
            f"%{i.name} is {i.opcode.name}, the pattern wants "
            f"{' or '.join([row.name for row in pattern.opcodes])}"
        )
    if pattern.single_use and len(i.users) != 1:
        return f"%{i.name} has {len(i.users)} readers, the pattern wants 1"
    if pattern.value is not None or pattern.uniform:
        value = uniform_value(i)
        if value is None:
            return f"%{i.name} is not known to have one value for all elements"
        if pattern.value is not None and value != pattern.value:
            return f"%{i.name} is {value}, the pattern wants {pattern.value}"
    for name, wanted in pattern.attributes:
        if (value := i.attributes.value(name)) != wanted:
            return f"{name} of %{i.name} is {value}, the pattern wants {wanted}"
    return ""


def matches(
    pattern: Pattern, i: HloInstruction, captures: dict[str, HloInstruction]
) -> Iterator[dict[str, HloInstruction]]:
    """Yield every match in order: the meaning of patterns, as a plain backtracking interpreter.

    `compile_pattern` generates a function that finds the first match; a property test compares the
    two.
    """
    if why_not_node(pattern, i):
        return
    if pattern.name is not None:
        if captures.get(pattern.name, i) is not i:
            return
        captures = {**captures, pattern.name: i}
    if pattern.operands is not None and len(pattern.operands) != len(i.operands):
        return
    for found in _operand_matches(pattern, i, captures):
        if pattern.predicate is None or pattern.predicate(i):
            yield found


def _operand_matches(
    pattern: Pattern, i: HloInstruction, captures: dict[str, HloInstruction]
) -> Iterator[dict[str, HloInstruction]]:
    if pattern.operands is None:
        yield captures
        return
    yield from _all(list(zip(pattern.operands, i.operands, strict=True)), captures)
    if pattern.commutes:
        yield from _all(list(zip(pattern.operands, reversed(i.operands), strict=True)), captures)


def _all(
    pairs: list[tuple[Pattern, HloInstruction]], captures: dict[str, HloInstruction]
) -> Iterator[dict[str, HloInstruction]]:
    if not pairs:
        yield captures
        return
    pattern, i = pairs[0]
    for found in matches(pattern, i, captures):
        yield from _all(pairs[1:], found)


def interpret(pattern: Pattern, i: HloInstruction) -> tuple[HloInstruction, ...] | None:
    """Return the captures of the first match, in the order of `pattern.captures`, or None."""
    for found in matches(pattern, i, {}):
        return tuple([found[name] for name in pattern.captures])
    return None
