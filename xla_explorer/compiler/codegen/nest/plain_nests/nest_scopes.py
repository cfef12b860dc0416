"""Scopes of a plain nest that is being built: statements, their depth, known values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import (
    Array,
    Compute,
    Constant,
    Definition,
    Origin,
    ids_of,
)
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import (
    Scope,
    array_names,
    identifier,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    ZERO,
    Axis,
    IndexExpression,
    Place,
    RuntimeValue,
    Substitution,
)
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

_LETTERS = "ijklmnpqrstuvwxyzabcdefgh"


_MULTIPLY, _CONVERT = map(opcode, ("multiply", "convert"))
MOST_STATEMENTS = 10_000


class NoNestError(Exception):
    """There is no nest, for a reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class NestScopes:
    """The scopes of a nest."""

    def __init__(
        self,
        operands: list[HloInstruction],
        fused: HloComputation | None,
        arguments: Sequence[HloInstruction],
    ) -> None:
        names = array_names(operands)
        self.arrays = {o: Array(name, o.shape) for o, name in zip(operands, names, strict=True)}
        self.forwarded = (
            dict(zip(fused.parameters(), arguments, strict=True)) if fused is not None else {}
        )
        self.scopes = [Scope()]
        self.depth: dict[int | Axis, int] = {}
        self.numbers = itertools.count(1)
        self.places: dict[
            Place, Place
        ] = {}  # equal places are one object, so that what is known is found by identity
        self.letters = itertools.chain(
            _LETTERS, (f"{x}{n}" for n in itertools.count(1) for x in _LETTERS)
        )
        self.names: dict[int, str] = {}
        self.statements = 0

    # -- scopes ------------------------------------------------------------------------------------
    @contextmanager
    def scope(
        self, depth: int, axes: Sequence[Axis] = (), barrier: bool = False
    ) -> Iterator[Scope]:
        """Write into a new scope inside the one at a depth."""
        before, inner = self.scopes, Scope(barrier)
        self.scopes = [*before[: depth + 1], inner]
        self.depth.update(dict.fromkeys(axes, depth + 1))
        yield inner
        self.scopes = before

    def barrier(self) -> int:
        """The depth of the innermost scope with guards."""
        return max([d for d, s in enumerate(self.scopes) if s.barrier], default=0)

    def depth_of(self, *indices: IndexExpression) -> int:
        """The depth that a statement with these indices needs."""
        return max([d for _, d in self.leaves(indices)], default=0)

    def leaves(self, indices: Sequence[IndexExpression]) -> list[tuple[Axis | RuntimeValue, int]]:
        """The axes and values of run time in indices, each with its depth."""
        atoms = [
            atom for x in indices for atom in x.atoms() if isinstance(atom, (Axis, RuntimeValue))
        ]
        return [
            (atom, self.depth[atom if isinstance(atom, Axis) else int(atom.source[1:])])
            for atom in atoms
        ]

    def put(self, s: Definition, depth: int) -> tuple[int, ...]:
        """Write a statement into the scope of a depth.

        Axes inside, on which its value does not depend, are 0 in its origin.
        """
        place = s.origin.place if s.origin is not None and depth < len(self.scopes) - 1 else ()
        inside: Substitution = (
            {atom: ZERO for atom, d in self.leaves(place) if d > depth} if place else {}
        )
        if s.origin is not None and inside:
            s = replace(
                s,
                origin=Origin(
                    s.origin.instruction, self.place(tuple([x.substitute(inside) for x in place]))
                ),
            )
        self.scopes[depth].body.append(s)
        numbers = ids_of(s)
        for number in numbers:
            self.depth[number] = depth
        self.statements += 1
        if (
            self.statements > MOST_STATEMENTS
        ):  # an element that is read at two places in each of many steps is computed 2^steps times
            raise NoNestError(
                refuse(
                    "nest-too-large",
                    f"the nest has more than {MOST_STATEMENTS} statements",
                    limit=MOST_STATEMENTS,
                )
            )
        return numbers

    def known(self, i: HloInstruction, at: Place) -> tuple[int, ...] | None:
        key = (i, id(at))
        for scope in reversed(self.scopes):
            if key in scope.known:
                return scope.known[key]
        return None

    def place(self, at: Place) -> Place:
        return self.places.setdefault(at, at)

    def origin(self, i: HloInstruction, at: Place) -> Origin:
        if i.id not in self.names:
            self.names[i.id] = identifier(i.name)
        return Origin(i.id, at)

    def constant(self, value: object, element: PrimitiveType) -> int:
        return self.put(
            Constant(next(self.numbers), literal_from_array(value, array_shape(element, ()))), 0
        )[0]

    def through(self, value: int, kinds: Sequence[PrimitiveType], origin: Origin | None) -> int:
        """A value of the first of some types, converted to each of the others in turn."""
        for source, target in itertools.pairwise(kinds):
            if source is not target:
                value = self.put(
                    Compute(next(self.numbers), target, _CONVERT, (value,), NO_ATTRIBUTES, origin),
                    self.depth[value],
                )[0]
        return value

    def product(self, values: list[int], element: PrimitiveType) -> int:
        made = Compute(next(self.numbers), element, _MULTIPLY, tuple(values), NO_ATTRIBUTES)
        return self.put(made, max([self.depth[v] for v in values]))[0]
