"""The interface of a theory of scalars: how elements of HLO values become terms.

`machine_scalars` has bit-vectors and IEEE floats, `real_scalars` has real numbers for floats.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.proofs.solver import z3
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

Term = Any
"""A term of the solver."""


class UnsupportedProofError(Exception):
    """A module or an opcode that has no terms; the argument is a sentence for people."""


class Scalars(ABC):
    """A theory: sorts of element types, literals, and the meaning of elementwise opcodes.

    Attributes
    ----------
    laws : list[Term]
        Laws of the functions in the terms made so far: an exponential is positive.
    conditions : list[Term]
        Where the terms made so far are defined: a divisor is not zero.
    """

    def __init__(self) -> None:
        self.laws: list[Term] = []
        self.conditions: list[Term] = []

    @abstractmethod
    def sort(self, kind: PrimitiveType) -> Any:
        """Return the sort of an element type."""

    @abstractmethod
    def literal(self, kind: PrimitiveType, value: Any) -> Term:
        """Return the term of a numpy scalar."""

    @abstractmethod
    def known(self, i: HloInstruction, kind: PrimitiveType, terms: tuple[Term, ...]) -> Term | None:
        """Return the meaning of an elementwise opcode, or None if the theory has none.

        kind: the type of the first value operand.
        """

    @abstractmethod
    def binary(self, kind: PrimitiveType, name: str) -> Callable[[Term, Term], Term]:
        """Return `add` or `multiply` of an element type; an unknown function without a theory."""

    @abstractmethod
    def agree(self, kind: PrimitiveType, exactness: Exactness, a: Term, b: Term) -> Term:
        """Return the claim that `b` keeps a rule's exactness about `a`."""

    def symbol(self, kind: PrimitiveType, name: str) -> Term:
        """Return a constant of the type with any value."""
        return z3().Const(name, self.sort(kind))

    def apply(self, i: HloInstruction, terms: tuple[Term, ...]) -> Term:
        """Return the result element of an elementwise instruction for the elements of operands."""
        kinds = [operand.shape.element_type for operand in i.operands]
        kind = kinds[1] if i.opcode.name == "select" else kinds[0]
        found = self.known(i, kind, terms)
        return found if found is not None else self.uninterpreted(i, terms)

    def uninterpreted(self, i: HloInstruction, terms: tuple[Term, ...]) -> Term:
        """Return an unknown function of the operands, one for each opcode, attributes and types."""
        kinds = [operand.shape.element_type for operand in i.operands]
        name = "_".join(
            [
                i.opcode.name,
                *[f"{key}={value}" for key, value in sorted(i.attributes.items())],
                *[kind.name for kind in kinds],
                i.shape.element_type.name,
            ]
        )
        function = z3().Function(
            name, *[self.sort(kind) for kind in kinds], self.sort(i.shape.element_type)
        )
        return function(*terms)

    def opaque_sort(self, kind: PrimitiveType) -> Any:
        """Return a sort without operations."""
        return z3().DeclareSort(kind.name)

    def opaque_literal(self, kind: PrimitiveType, value: Any) -> Term:
        """Return a constant of a sort without operations, one for each bit pattern."""
        return z3().Const(f"{kind.name}:{value.tobytes().hex()}", self.opaque_sort(kind))
