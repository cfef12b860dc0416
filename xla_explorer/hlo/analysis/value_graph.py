"""Equality of modules by their value graphs: the same operations of the same values.

Seen as equal: a fusion or call and its body; a value and its copy; equal instructions and one of
them; a tuple and the values in it; instructions without users, and their absence; layouts, names,
shardings, schedules. Two modules with one value graph compute the same results for all arguments,
bit by bit. Modules that compute the same in another way have other graphs.
"""

from __future__ import annotations

from typing import TypeAlias

from xla_explorer.hlo.analysis.structural_keys import order_from_root, without_sharding
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

ValueNumber: TypeAlias = int | tuple["ValueNumber", ...]
"""A number for each array or token; a tuple has the values in it."""

_SAME_VALUE = frozenset(("copy", "opt-barrier", "optimization-barrier"))
_INLINED = frozenset(("call", "fusion"))
_NON_DETERMINISTIC = frozenset(("rng", "rng-get-and-update-state"))


class NoValueGraphError(Exception):
    """A module with effects besides its result; the argument is a sentence for people."""


class ValueNumbers:
    """Numbers of values, equal for equal values in all modules that were given."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._results: dict[tuple[HloComputation, ValueNumber], ValueNumber] = {}

    def result(self, module: HloModule) -> ValueNumber:
        """Return the value of the module's result; NoValueGraphError if it has other effects."""
        return self._of_parameters(module.entry)

    def _of_parameters(self, computation: HloComputation) -> ValueNumber:
        """Return a computation's result for unknown arguments."""
        return self._called(
            computation,
            tuple([
                self._unknown(("parameter", i.payload), i.shape) for i in computation.parameters()
            ]),
        )  # fmt: skip

    def _unknown(self, key: object, shape: Shape) -> ValueNumber:
        """Return a value known only by its key, as the values in it if it is a tuple."""
        if not shape.is_tuple:
            return self._numbers.setdefault((key, shape.base), len(self._numbers))
        return tuple([
            self._unknown((key, "element", k), element)
            for k, element in enumerate(shape.tuple_shapes)
        ])  # fmt: skip

    def _called(self, computation: HloComputation, arguments: ValueNumber) -> ValueNumber:
        found = self._results.get((computation, arguments))
        if found is not None:
            return found
        values: dict[HloInstruction, ValueNumber] = {}
        for i in order_from_root(computation):
            values[i] = self._instruction(i, arguments, [values[o] for o in i.operands])
        found = self._results[computation, arguments] = values[computation.root]
        return found

    def _instruction(
        self, i: HloInstruction, arguments: ValueNumber, operands: list[ValueNumber]
    ) -> ValueNumber:
        name = i.opcode.name
        if name == "parameter":
            assert isinstance(arguments, tuple)
            return arguments[i.parameter_number]
        if name in _SAME_VALUE or (name == "bitcast" and _only_renames(i)):
            return operands[0]
        if name == "tuple":
            return tuple(operands)
        if name == "get-tuple-element" and isinstance(operands[0], tuple):
            index: int = i.attributes["index"]
            return operands[0][index]
        if name in _INLINED:
            return self._called(i.called[0], tuple(operands))
        if name in _NON_DETERMINISTIC or (i.opcode.side_effect and not i.called):
            raise NoValueGraphError(f"%{i.name} ({name}) has effects besides its result")
        if name == "custom-call" and i.attributes.get("custom_call_has_side_effect", False):
            raise NoValueGraphError(f"%{i.name} (custom-call) has effects besides its result")
        if i.opcode.commutative and len(operands) == 2:
            operands = sorted(operands, key=str)
        payload = i.payload.key if isinstance(i.payload, Literal) else i.payload
        key = (
            name,
            without_sharding(i.attributes),
            payload,
            tuple([self._of_parameters(c) for c in i.called]),
            tuple(operands),
        )
        return self._unknown(key, i.shape)


def _only_renames(bitcast: HloInstruction) -> bool:
    """Return True if the elements stay at their indices: only the layout has another name."""
    return bitcast.shape.base is bitcast.operands[0].shape.base


def same_value_graph(left: HloModule, right: HloModule) -> bool:
    """Return True if the modules compute the same results for all arguments, by their structure.

    Raises NoValueGraphError if a module has effects besides its result.
    """
    numbers = ValueNumbers()
    return numbers.result(left) == numbers.result(right)
