"""Equality of modules by their value graphs: the same operations of the same values.

Seen as equal: a fusion or call and its body; a value, its copy and its reshapes; transposes one
after another and the one that they make; a bitcast and the elements that its layouts order; equal
instructions and one of them; a tuple and the values in it; operations of small constants and their
result; a dot of a transpose and the dot that reads the dimensions in that order; instructions
without users, and their absence; layouts, names, shardings, schedules. Two modules with one value
graph compute the same results for all arguments, bit by bit. Modules that compute the same in
another way have other graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.effects import has_own_effects
from xla_explorer.hlo.analysis.structural_keys import order_from_root, without_sharding
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.evaluator import Evaluator
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

ValueNumber: TypeAlias = int | tuple["ValueNumber", ...]
"""A number for the elements of an array in row-major order; a tuple has the values in it."""

Sizes: TypeAlias = tuple[int, ...]
Order: TypeAlias = tuple[int, ...]

_SAME_VALUE = frozenset(("copy", "opt-barrier"))
_INLINED = frozenset(("call", "fusion"))
_NOT_FOLDED = frozenset(("custom-call", "while", "partition-id", "replica-id"))
"""Opcodes whose value depends on the device, or whose evaluation may take forever."""
_PHYSICAL = frozenset(("bitcast", "custom-call"))
"""Opcodes that read the bytes of an operand, so that its layout affects the value."""
_DEVICE_COUNTS = ("replica_count", "num_partitions")
_MOST_FOLDED = 65_536
"""Elements of a constant that is computed to compare it."""
_DOT_DIMENSIONS = (
    ("lhs_batch_dims", "lhs_contracting_dims"),
    ("rhs_batch_dims", "rhs_contracting_dims"),
)


class NoValueGraphError(Exception):
    """A module with effects besides its result; the argument is a sentence for people."""


class ValueNumbers:
    """Numbers of values, equal for equal values in all modules that were given.

    A number stands for elements in row-major order, whatever the dimensions: a reshape keeps it,
    and an operation that reads dimensions has them in its key.
    """

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._results: dict[tuple[HloComputation, ValueNumber], ValueNumber] = {}
        self._constants: dict[ValueNumber, np.ndarray[Any, Any]] = {}
        self._transposes: dict[ValueNumber, tuple[ValueNumber, Sizes, Order]] = {}
        self._evaluator = Evaluator()

    def graph(self, module: HloModule) -> tuple[object, ...]:
        """Return the shapes, the devices and the value of the result, equal for one value graph.

        NoValueGraphError if the module has other effects.
        """
        return (*_signature(module), self._of_parameters(module.entry))

    def _of_parameters(self, computation: HloComputation) -> ValueNumber:
        """Return a computation's result for unknown arguments."""
        arguments = [
            self._unknown(("parameter", i.payload, i.shape.base), i.shape)
            for i in computation.parameters()
        ]
        return self._called(computation, tuple(arguments))

    def _unknown(self, key: object, shape: Shape) -> ValueNumber:
        """Return a value known only by its key, as the values in it if it is a tuple."""
        if not shape.is_tuple:
            return self._numbers.setdefault(key, len(self._numbers))
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
        if _is_empty(i):
            return self._unknown(("empty", i.shape.element_type), i.shape)
        if name == "parameter":
            assert isinstance(arguments, tuple)
            return arguments[i.parameter_number]
        if name == "constant":
            return self._literal(i)
        if _keeps_the_elements(i):
            return operands[0]
        if name in ("transpose", "bitcast") and _only_moves_elements(i):
            return self._moved(i, operands[0])
        if name == "tuple":
            return tuple(operands)
        if name == "get-tuple-element" and isinstance(operands[0], tuple):
            index: int = i.attributes["index"]
            return operands[0][index]
        if name in _INLINED:
            return self._called(i.called[0], tuple(operands))
        _require_no_effects(i)
        key = self._key(i, operands)
        if key in self._numbers:
            return self._numbers[key]
        folded = self._folded(i, operands)
        if folded is not None:
            return self._numbers.setdefault(key, self._constant(folded))
        return self._unknown(key, i.shape)

    def _moved(self, i: HloInstruction, value: ValueNumber) -> ValueNumber:
        """Return the elements of operand 0 as a transpose, or a bitcast's layouts, order them."""
        before = i.operands[0].shape
        if i.opcode.name == "transpose":
            # A scalar's transpose may lack the attribute.
            order = i.attributes.get("dimensions", ())
            return self._transposed(value, before.dimensions, order)
        # Memory holds the dimensions from major to minor, the reverse of a layout.
        major = tuple(reversed(before.layout.minor_to_major))
        in_memory = self._transposed(value, before.dimensions, major)
        after = tuple(reversed(i.shape.layout.minor_to_major))
        sizes = tuple([i.shape.dimensions[d] for d in after])
        back = sorted(range(len(after)), key=lambda position: after[position])
        return self._transposed(in_memory, sizes, tuple(back))

    def _transposed(self, value: ValueNumber, sizes: Sizes, order: Order) -> ValueNumber:
        """Return an array of these sizes with its dimensions in another order."""
        known = self._transposes.get(value)
        if known is not None and tuple([known[1][d] for d in known[2]]) == sizes:
            value, sizes, order = known[0], known[1], tuple([known[2][d] for d in order])
        moved = [d for d in order if sizes[d] != 1]
        if moved == sorted(moved):
            return value
        if value in self._constants:
            return self._constant(self._constants[value].reshape(sizes).transpose(order))
        kept = sorted(moved)
        key = (
            "transpose",
            value,
            tuple([sizes[d] for d in kept]),
            tuple([kept.index(d) for d in moved]),
        )
        found = self._numbers.setdefault(key, len(self._numbers))
        self._transposes.setdefault(found, (value, sizes, order))
        return found

    def _key(self, i: HloInstruction, operands: list[ValueNumber]) -> tuple[object, ...]:
        """Return the operation with its operands, and dimensions unless it is elementwise."""
        name, shape = i.opcode.name, i.shape
        if i.opcode.commutative and len(operands) == 2:
            operands = sorted(operands, key=str)
        if name == "broadcast" and i.operands[0].shape.element_count == 1 and _is_static(i):
            return _splat_key(operands[0], shape.element_count)
        if name == "dot" and _is_static(i):
            return self._dot_key(i, operands)
        called = tuple([self._of_parameters(c) for c in i.called])
        # The sharding of a custom call is an argument: SPMDFullToShardShape takes a part by it.
        attributes = i.attributes
        if name != "custom-call":
            attributes = without_sharding(attributes).with_values(backend_config=None)
        about = (name, attributes, called, tuple(operands))
        if name in _PHYSICAL:
            return (*about, i.shape, tuple([o.shape for o in i.operands]))
        if (
            i.opcode.elementwise
            and _is_static(i)
            and len({o.shape.dimensions for o in i.operands}) == 1
        ):
            return (*about, shape.element_type, shape.element_count)
        return (*about, shape.base, tuple([o.shape.base for o in i.operands]))

    def _dot_key(self, i: HloInstruction, operands: list[ValueNumber]) -> tuple[object, ...]:
        """Return a dot with the dimensions of each operand as they were before transposes.

        The result has the batch dimensions, then the free ones of both operands, in this order.
        """
        sides = []
        for operand, value, names in zip(i.operands, operands, _DOT_DIMENSIONS, strict=True):
            batch, contracting = (tuple(i.attributes.get(name, ())) for name in names)
            free = [d for d in range(operand.shape.rank) if d not in batch and d not in contracting]
            roles, sizes = [batch, contracting, free], operand.shape.dimensions
            known = self._transposes.get(value)
            if known is not None and tuple([known[1][d] for d in known[2]]) == sizes:
                value, sizes, order = known
                roles = [[order[d] for d in role] for role in roles]
            sides.append((value, sizes, *map(tuple, roles)))
        rest = without_sharding(i.attributes).with_values(
            **dict.fromkeys([name for names in _DOT_DIMENSIONS for name in names])
        )
        return ("dot", rest, i.shape.element_type, *sides)

    def _literal(self, i: HloInstruction) -> ValueNumber:
        """Return the number of a constant: by its elements if they are few or all the same."""
        literal, shape = i.literal, i.shape
        if shape.is_tuple or literal.has_elided_values or not shape.is_array:
            return self._unknown(("constant", literal.key), shape)
        if shape.element_count <= _MOST_FOLDED or literal.splat is not None:
            return self._constant(literal.array)
        return self._unknown(("constant", shape.element_type, literal.key[1]), shape)

    def _constant(self, array: np.ndarray[Any, Any]) -> int:
        flat = np.asarray(array).reshape(-1)
        first = flat[:1].tobytes()
        if flat.size > 1 and flat.tobytes() == first * flat.size:
            key = _splat_key(self._constant(flat[:1]), flat.size)
        else:
            key = ("constant", flat.dtype, flat.tobytes())
        found = self._numbers.setdefault(key, len(self._numbers))
        if flat.size <= _MOST_FOLDED:
            self._constants[found] = flat
        return found

    def _folded(
        self, i: HloInstruction, operands: Sequence[ValueNumber]
    ) -> np.ndarray[Any, Any] | None:
        """Return the value of an operation of small constants, else None."""
        if not i.shape.is_array or i.shape.element_count > _MOST_FOLDED or not _is_static(i):
            return None
        if not all(operand in self._constants for operand in operands) or not _may_be_folded(i):
            return None
        given = [
            self._constants[value].reshape(operand.shape.dimensions)
            for value, operand in zip(operands, i.operands, strict=True)
        ]
        try:
            return np.asarray(self._evaluator.evaluate_instruction(i, given))
        except XlaExplorerError:
            return None


def _splat_key(element: ValueNumber, count: int) -> tuple[object, ...]:
    return ("splat", element, count)


def _is_empty(i: HloInstruction) -> bool:
    """Return True if the result has no element, and nothing else can happen."""
    may_act = i.opcode.side_effect or i.called or i.opcode.name == "custom-call"
    return i.shape.is_array and i.shape.element_count == 0 and not may_act


def _may_be_folded(i: HloInstruction) -> bool:
    """Return True if the evaluator's value is that of every device, after a bounded time."""
    return i.opcode.name not in _NOT_FOLDED and all(
        _may_be_folded(inner) for c in i.called for inner in c.instructions.values()
    )


def _is_static(i: HloInstruction) -> bool:
    """Return True if result and operands are arrays without a dynamic dimension."""
    return all(s.is_array and not any(s.dynamic) for s in (i.shape, *[o.shape for o in i.operands]))


def _keeps_the_elements(i: HloInstruction) -> bool:
    """Return True if the elements of the result are those of operand 0 in row-major order."""
    name = i.opcode.name
    if name in _SAME_VALUE:
        return True
    return name == "reshape" and _is_static(i)


def _only_moves_elements(i: HloInstruction) -> bool:
    """Return True for a transpose, and for a bitcast that reads the same elements without tiles."""
    shapes = (i.shape, i.operands[0].shape)
    return (
        _is_static(i)
        and shapes[0].element_type is shapes[1].element_type
        and not any(shape.layout.properties for shape in shapes)
    )


def _require_no_effects(i: HloInstruction) -> None:
    if has_own_effects(i):
        raise NoValueGraphError(f"%{i.name} ({i.opcode.name}) has effects besides its result")


def same_value_graph(left: HloModule, right: HloModule) -> bool:
    """Return True if the modules compute the same results for all arguments, by their structure.

    Modules with other parameters, or for another number of devices, are different. Raises
    NoValueGraphError if a module has effects besides its result.
    """
    numbers = ValueNumbers()
    return numbers.graph(left) == numbers.graph(right)


def _signature(module: HloModule) -> tuple[object, ...]:
    """Return the shapes of result and parameters without layouts, and the numbers of devices."""
    shapes = (module.entry.root.shape, *module.parameter_shapes())
    devices = [str(module.attributes.get(name) or 1) for name in _DEVICE_COUNTS]
    return (*[shape.base for shape in shapes], *devices)
