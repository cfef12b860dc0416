"""Evaluates a module to terms: a value is a numpy array of terms, one for each element.

Opcodes that only move elements run by the evaluator's own functions, on arrays of terms. Indices
that are terms are decided by cases: each index has few places in a small array. A new opcode is one
function in `meanings`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from xla_explorer.compiler.rewriting.proofs.meanings import MEANINGS, Terms
from xla_explorer.compiler.rewriting.proofs.scalars import Scalars, Term, UnsupportedProofError
from xla_explorer.compiler.rewriting.proofs.solver import z3
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.evaluator import Evaluator
from xla_explorer.hlo.evaluator.plan import literal_value
from xla_explorer.hlo.evaluator.registry import EVALUATION_FUNCTIONS
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

MOST_ELEMENTS = 4096
"""Largest number of elements of a value."""
_MOST_CASES = 150
"""Largest number of combinations of indices."""

_MOVING: Final = frozenset(
    (
        "broadcast", "reshape", "transpose", "reverse", "slice", "concatenate", "pad", "bitcast",
        "copy", "tuple", "get-tuple-element", "opt-barrier",
    )
)  # fmt: skip
_INDEXED: Final = {"dynamic-slice": 1, "dynamic-update-slice": 2, "gather": 1}
"""Opcodes with clamped indices: the number of the first index operand."""


class SymbolicEvaluator:
    """Evaluates computations to terms of a theory."""

    def __init__(self, scalars: Scalars) -> None:
        self.scalars = scalars
        self.evaluator = Evaluator()

    def parameters(self, shapes: Sequence[Shape]) -> tuple[list[Any], dict[str, Term]]:
        """Return arguments of the given shapes, whose elements are symbols, and the symbols."""
        symbols: dict[str, Term] = {}
        return [self._symbols(shape, f"p{k}", symbols) for k, shape in enumerate(shapes)], symbols

    def _symbols(self, shape: Shape, name: str, symbols: dict[str, Term]) -> Any:
        if shape.is_tuple:
            return tuple(
                [
                    self._symbols(part, f"{name}.{k}", symbols)
                    for k, part in enumerate(shape.tuple_shapes)
                ]
            )
        _check(shape)
        made = np.empty(shape.dimensions, object)
        for place in np.ndindex(*shape.dimensions):
            key = f"{name}{list(place)}"
            symbols[key] = made[place] = self.scalars.symbol(shape.element_type, key)
        return made

    def run(self, computation: HloComputation, arguments: Sequence[Any]) -> Any:
        """Return the root's terms."""
        values: dict[HloInstruction, Any] = {}
        for i in computation.post_order():
            if i.opcode.name == "parameter":
                values[i] = arguments[int(i.payload)]
            else:
                values[i] = self.instruction(i, [values[o] for o in i.operands])
        return values[computation.root]

    def instruction(self, i: HloInstruction, operands: list[Any]) -> Any:
        """Return the terms of one instruction. UnsupportedProofError if it has none."""
        name = i.opcode.name
        for _, leaf in i.shape.leaves():
            _check(leaf)
        if name in ("constant", "iota"):
            value = literal_value(i.literal) if name == "constant" else self._moved(i, [])
            return self._literals(i.shape, value)
        if name in _MOVING:
            _check_widths(i)
            return self._moved(i, operands)
        if name in _INDEXED:
            return self._by_cases(i, operands, _INDEXED[name])
        meaning = MEANINGS.get(name)
        if meaning is not None:
            return meaning(self, i, operands)
        if i.opcode.elementwise:
            return self._elementwise(i, operands)
        raise UnsupportedProofError(f"{name} has no terms")

    def _moved(self, i: HloInstruction, operands: list[Any]) -> Any:
        return EVALUATION_FUNCTIONS[i.opcode.name](i, operands, self.evaluator)

    def _literals(self, shape: Shape, value: Any) -> Any:
        if shape.is_tuple:
            parts = zip(shape.tuple_shapes, value, strict=True)
            return tuple([self._literals(part, one) for part, one in parts])
        kind = shape.element_type
        made = np.empty(shape.dimensions, object)
        for place in np.ndindex(*shape.dimensions):
            made[place] = self.scalars.literal(kind, np.asarray(value)[place])
        return made

    def _elementwise(self, i: HloInstruction, operands: list[Any]) -> Terms:
        made = np.empty(i.shape.dimensions, object)
        for place in np.ndindex(*i.shape.dimensions):
            made[place] = self.scalars.apply(
                i, tuple([one[place] if one.ndim else one[()] for one in operands])
            )
        return made

    def _by_cases(self, i: HloInstruction, operands: list[Any], first: int) -> Terms:
        """Return the choice among the results for every place of the clamped indices."""
        most = max(i.operands[0].shape.dimensions, default=0)
        indices = [
            (operand.shape.element_type, term)
            for operand, array in zip(i.operands[first:], operands[first:], strict=True)
            for term in array.flat
        ]
        places = [_places(kind, term, most) for kind, term in indices]
        if math.prod([len(one) for one in places]) > _MOST_CASES:
            raise UnsupportedProofError(f"the indices of {i.opcode.name} have too many places")
        result: Any = None
        for chosen in itertools.product(*places):
            concrete = iter([place for place, _ in chosen])
            starts = [
                np.array([next(concrete) for _ in range(array.size)], np.int64).reshape(array.shape)
                for array in operands[first:]
            ]
            found = np.asarray(self._moved(i, [*operands[:first], *starts]))
            conditions = [condition for _, condition in chosen if condition is not None]
            result = found if result is None else _chosen(z3().And(*conditions), found, result)
        return np.asarray(result)

    def combine(self, reducer: HloComputation, values: Sequence[Term]) -> list[Term]:
        """Return the results of a reducer of scalars."""
        arrays = []
        for value in values:
            array = np.empty((), object)
            array[()] = value
            arrays.append(array)
        found = self.run(reducer, arrays)
        return [one[()] for one in (found if isinstance(found, tuple) else (found,))]


def _check(shape: Shape) -> None:
    if not shape.is_array and not shape.is_tuple:
        raise UnsupportedProofError(f"a value of type {shape.element_type.name} has no terms")
    if shape.is_array and (any(shape.dynamic) or shape.element_count > MOST_ELEMENTS):
        raise UnsupportedProofError(f"{shape.text_without_layout} has no terms")


def _check_widths(i: HloInstruction) -> None:
    if i.opcode.name != "bitcast" or not i.shape.is_array:
        return
    if i.shape.element_type is not i.operands[0].shape.element_type:
        raise UnsupportedProofError("a bitcast to another element type has no terms")


def _places(kind: PrimitiveType, term: Term, most: int) -> list[tuple[int, Term | None]]:
    """Return the places 0 to `most` of a clamped index, each with its condition; one if known.

    The last place has no condition: it is what remains.
    """
    term = z3().simplify(term)
    if z3().is_bv_value(term):
        number = term.as_signed_long() if kind.is_signed else term.as_long()
        return [(max(0, min(number, most)), None)]
    most = min(most, (1 << (kind.bits - kind.is_signed)) - 1)
    conditions = [
        term <= 0 if kind.is_signed else term == 0,
        *[term == k for k in range(1, most)],
    ]
    found: list[tuple[int, Term | None]] = list(enumerate(conditions[:most]))
    # The last first: `_by_cases` starts from it and puts conditions around it.
    return [(most, None), *found]


def _chosen(condition: Term, found: Terms, other: Terms) -> Terms:
    made = np.empty(found.shape, object)
    for place in np.ndindex(*found.shape):
        one: Term = found[place]
        two: Term = other[place]
        made[place] = one if one.eq(two) else z3().If(condition, one, two)
    return made
