"""Uniformity of values: the devices on which a value is surely the same.

A value has a class for each device; devices of one class have equal values. Small values that
follow from constants and device numbers are computed, one for each device. Sources are the
instructions that make devices differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from xla_explorer.hlo.evaluator.devices.world import Device
from xla_explorer.hlo.evaluator.evaluator import Evaluator
from xla_explorer.hlo.evaluator.registry import EvaluationError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
# Elements of a value that is computed, and of its operands.
_MOST_ELEMENTS: Final = 1024
_NUMBERS: Final = ("partition-id", "replica-id")
_SHARING: Final = ("all-reduce", "all-gather", "collective-broadcast")


@dataclass(frozen=True)
class Uniformity:
    """The knowledge about one array on all devices.

    classes: a number for each device. values: the array of each device, if it is known. sources:
    names of the instructions that make devices differ.
    """

    classes: tuple[int, ...]
    values: tuple[Array, ...] | None = None
    sources: frozenset[str] = frozenset()

    @property
    def is_uniform(self) -> bool:
        """True if all devices have the same value."""
        return len(set(self.classes)) == 1

    def without_values(self) -> Uniformity:
        """Return the same classes; the values are forgotten."""
        return Uniformity(self.classes, None, self.sources)


# Of an array, or of each element of a tuple.
Tree: TypeAlias = "Uniformity | tuple[Tree, ...]"


def leaves_of(tree: Tree) -> list[Uniformity]:
    """Return what is known of each array, depth first."""
    if isinstance(tree, Uniformity):
        return [tree]
    return [leaf for part in tree for leaf in leaves_of(part)]


def tree_like(shape: Shape, leaf: Uniformity) -> Tree:
    """Return the same knowledge of every array of a shape."""
    if shape.is_tuple:
        return tuple([tree_like(part, leaf) for part in shape.tuple_shapes])
    return leaf


def refined(parts: Iterable[Uniformity], count: int) -> Uniformity:
    """Return what is known of a value that is computed from these on each device."""
    given = list(parts)
    keys = [tuple([p.classes[d] for p in given]) for d in range(count)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    sources = frozenset().union(*[p.sources for p in given])
    return Uniformity(tuple([numbers[key] for key in keys]), None, sources)


def joined(a: Tree, b: Tree, count: int) -> Tree:
    """Return what holds of a value that is either of two."""
    if isinstance(a, Uniformity) and isinstance(b, Uniformity):
        return a if a.values is not None and _equal(a.values, b.values) else refined([a, b], count)
    assert isinstance(a, tuple) and isinstance(b, tuple)
    return tuple([joined(x, y, count) for x, y in zip(a, b, strict=True)])


def _equal(a: Sequence[Array], b: Sequence[Array] | None) -> bool:
    return b is not None and all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def of_values(values: Sequence[Array], sources: frozenset[str]) -> Uniformity:
    """Return the knowledge of known values."""
    keys = [value.tobytes() for value in values]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    classes = tuple([numbers[key] for key in keys])
    return Uniformity(classes, tuple(values), sources if len(numbers) > 1 else frozenset())


def of_literal(literal: Literal, count: int) -> Uniformity:
    """Return the knowledge of a constant."""
    known = (literal.array,) * count if literal.array.size <= _MOST_ELEMENTS else None
    return Uniformity((0,) * count, known)


def of_instruction(
    i: HloInstruction,
    operands: Sequence[Tree],
    devices: Sequence[Device],
    group_of: Callable[[HloInstruction, Device], Sequence[int]],
) -> Tree:
    """Return what is known of an instruction without called computations that matter."""
    count, name = len(devices), i.opcode.name
    own = frozenset([i.name])
    if name == "constant" and i.shape.is_array:
        return of_literal(i.literal, count)
    if name in _NUMBERS:
        values = [d.partition if name == "partition-id" else d.replica for d in devices]
        return of_values([np.asarray(v, np.uint32) for v in values], own)
    if name == "tuple":
        return tuple(operands)
    if name == "get-tuple-element" and isinstance(operands[0], tuple):
        return operands[0][int(i.attributes["index"])]
    leaves = [leaf for operand in operands for leaf in leaves_of(operand)]
    if "replica_groups" in i.opcode.attributes or "source_target_pairs" in i.opcode.attributes:
        return tree_like(i.shape, _exchanged(i, leaves, devices, group_of))
    if name in ("rng", "rng-get-and-update-state", "infeed", "recv", "recv-done"):
        return tree_like(i.shape, Uniformity(tuple(range(count)), None, own))
    computed = _computed(i, leaves, operands)
    return tree_like(i.shape, refined(leaves, count)) if computed is None else computed


def _exchanged(
    i: HloInstruction,
    leaves: Sequence[Uniformity],
    devices: Sequence[Device],
    group_of: Callable[[HloInstruction, Device], Sequence[int]],
) -> Uniformity:
    """Return what is known of a collective's results."""
    count = len(devices)
    if i.opcode.name.removesuffix("-start") not in _SHARING:
        sources = frozenset([i.name]).union(*[leaf.sources for leaf in leaves])
        return Uniformity(tuple(range(count)), None, sources)
    groups = [tuple(group_of(i, device)) for device in devices]
    if all(leaf.is_uniform for leaf in leaves) and len({len(g) for g in groups}) == 1:
        return Uniformity((0,) * count)
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    classes = tuple([numbers[group] for group in groups])
    sources = frozenset().union(*[leaf.sources for leaf in leaves])
    return Uniformity(classes, None, sources if len(numbers) > 1 else frozenset())


def _computed(
    i: HloInstruction, leaves: Sequence[Uniformity], operands: Sequence[Tree]
) -> Uniformity | None:
    """Return the values of a small instruction whose operands are known on every device."""
    small = i.shape.is_array and i.shape.element_count <= _MOST_ELEMENTS
    if not small or not operands or not all(isinstance(o, Uniformity) for o in operands):
        return None
    columns = [leaf.values for leaf in leaves]
    if any(values is None for values in columns) or i.opcode.side_effect:
        return None
    evaluator, made = Evaluator(), {}
    results = []
    for row in zip(*[values for values in columns if values is not None], strict=True):
        key = tuple([value.tobytes() for value in row])
        if key not in made:
            try:
                made[key] = np.asarray(evaluator.evaluate_instruction(i, row))
            except EvaluationError:
                return None
        results.append(made[key])
    return of_values(results, frozenset().union(*[leaf.sources for leaf in leaves]))
