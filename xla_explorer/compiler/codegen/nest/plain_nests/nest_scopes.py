"""The scopes of a plain nest that is being built: statements, their depth, known values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import (
    Compute,
    Constant,
    Definition,
    NestArray,
    Origin,
    ids_of,
)
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import (
    OpenScope,
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
    """An instruction without a loop nest.

    reason: of the refusal.
    """

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class NestScopes:
    """The open scopes, from outermost to innermost, and what they define.

    Attributes
    ----------
    arrays : dict
        The array of each operand.
    forwarded : dict
        The operand of each parameter of a fusion.
    depth : dict
        For a value or an axis, the number of its scope.
    places : dict
        Equal places as one object, so that known values are found by identity.
    names : dict
        Names of HLO instructions by id.
    """

    def __init__(
        self,
        operands: list[HloInstruction],
        fused: HloComputation | None,
        arguments: Sequence[HloInstruction],
    ) -> None:
        names = array_names(operands)
        self.arrays = {o: NestArray(name, o.shape) for o, name in zip(operands, names, strict=True)}
        self.forwarded = (
            dict(zip(fused.parameters(), arguments, strict=True)) if fused is not None else {}
        )
        self.scopes = [OpenScope()]
        self.depth: dict[int | Axis, int] = {}
        self.numbers = itertools.count(1)
        self.places: dict[Place, Place] = {}
        self.letters = itertools.chain(
            _LETTERS, (f"{x}{n}" for n in itertools.count(1) for x in _LETTERS)
        )
        self.names: dict[int, str] = {}
        self.statements = 0

    # -- scopes ------------------------------------------------------------------------------------
    @contextmanager
    def scope(
        self, depth: int, axes: Sequence[Axis] = (), barrier: bool = False
    ) -> Iterator[OpenScope]:
        """Open a scope inside the one at a depth; statements go there until it is closed."""
        before, inner = self.scopes, OpenScope(barrier)
        self.scopes = [*before[: depth + 1], inner]
        self.depth.update(dict.fromkeys(axes, depth + 1))
        yield inner
        self.scopes = before

    def barrier(self) -> int:
        """Return the depth of the innermost scope with guards."""
        return max([d for d, s in enumerate(self.scopes) if s.barrier], default=0)

    def depth_of(self, *indices: IndexExpression) -> int:
        """Return the least depth of a statement with these indices."""
        return max([d for _, d in self.leaves(indices)], default=0)

    def leaves(self, indices: Sequence[IndexExpression]) -> list[tuple[Axis | RuntimeValue, int]]:
        """Return the axes and runtime values in indices, each with its depth."""
        atoms = [
            atom for x in indices for atom in x.atoms() if isinstance(atom, (Axis, RuntimeValue))
        ]
        return [
            (atom, self.depth[atom if isinstance(atom, Axis) else int(atom.source[1:])])
            for atom in atoms
        ]

    def put(self, s: Definition, depth: int) -> tuple[int, ...]:
        """Write a statement into the scope of a depth, and return its values.

        In its origin, inner axes become 0, since its value does not depend on them.
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
        ):  # n instructions that read their operand twice compute 2^n elements
            raise NoNestError(
                refuse(
                    "nest-too-large",
                    f"the nest has more than {MOST_STATEMENTS} statements",
                    limit=MOST_STATEMENTS,
                )
            )
        return numbers

    def known(self, i: HloInstruction, at: Place) -> tuple[int, ...] | None:
        """Return the values of an element if an open scope has them."""
        key = (i, id(at))
        for scope in reversed(self.scopes):
            if key in scope.known:
                return scope.known[key]
        return None

    def place(self, at: Place) -> Place:
        """Return the one object for equal places."""
        return self.places.setdefault(at, at)

    def origin(self, i: HloInstruction, at: Place) -> Origin:
        """Return the origin of an element, and record the name of its instruction."""
        if i.id not in self.names:
            self.names[i.id] = identifier(i.name)
        return Origin(i.id, at)

    def constant(self, value: object, element: PrimitiveType) -> int:
        """Write a scalar constant."""
        return self.put(
            Constant(next(self.numbers), literal_from_array(value, array_shape(element, ()))), 0
        )[0]

    def through(self, value: int, kinds: Sequence[PrimitiveType], origin: Origin | None) -> int:
        """Convert a value through a sequence of types that begins with its own type."""
        for source, target in itertools.pairwise(kinds):
            if source is not target:
                value = self.put(
                    Compute(next(self.numbers), target, _CONVERT, (value,), NO_ATTRIBUTES, origin),
                    self.depth[value],
                )[0]
        return value

    def product(self, values: list[int], element: PrimitiveType) -> int:
        """Write the product of two values."""
        made = Compute(next(self.numbers), element, _MULTIPLY, tuple(values), NO_ATTRIBUTES)
        return self.put(made, max([self.depth[v] for v in values]))[0]
