"""Collectives of joined devices: each device's result, computed from the other devices' values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from xla_explorer.compiler.rewriting.op_expander_pass import builder_at
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.devices.groups import group_of, permutation_pairs
from xla_explorer.hlo.evaluator.devices.world import World
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import tuple_shape

Values = list[HloInstruction]  # one per device
Part = tuple[tuple[slice, ...], HloInstruction]


class NotJoinedError(Exception):
    """An instruction without a form on joined devices."""


def put_together(
    target: HloComputation, parts: Sequence[Part], dimension: int = 0
) -> HloInstruction:
    """Return an array assembled from its parts; of equal parts, the first."""
    if dimension == len(parts[0][0]):
        return parts[0][1]
    rows: dict[int, list[Part]] = {}
    for part in parts:
        rows.setdefault(part[0][dimension].start, []).append(part)
    return _concatenated(
        target,
        [put_together(target, rows[start], dimension + 1) for start in sorted(rows)],
        dimension,
    )


def _concatenated(target: HloComputation, values: Values, dimension: int) -> HloInstruction:
    if len(values) == 1:
        return values[0]
    return target.add("concatenate", None, values, attributes_of({"dimensions": (dimension,)}))


def combined(
    target: HloComputation, values: Sequence[HloInstruction], by: str | HloComputation
) -> HloInstruction:
    """Combine values in order, by an elementwise opcode or by a computation of two scalars."""
    result, *rest = values
    for value in rest:
        if isinstance(by, str):
            result = target.add(by, None, [result, value])
        else:
            order = attributes_of({"dimensions": tuple(range(value.shape.rank))})
            result = target.add("map", value.shape, [result, value], order, called=(by,))
    return result


def _block(
    target: HloComputation, value: HloInstruction, dimension: int, number: int, count: int
) -> HloInstruction:
    size = value.shape.dimensions[dimension] // count
    place = (slice(None),) * dimension + (slice(number * size, (number + 1) * size),)
    return HloValue(builder_at(target), value)[place].instruction


def zeros_like(target: HloComputation, value: HloInstruction) -> HloInstruction:
    """Return zeros of a value's shape."""
    b = builder_at(target)
    return b.broadcast_to(
        b.constant(0, value.shape.element_type), value.shape.dimensions
    ).instruction


class _Exchange:
    """One collective: its instruction, its target computation, and the values of each operand."""

    def __init__(
        self, i: HloInstruction, operands: list[Values], target: HloComputation, count: int
    ) -> None:
        self.i, self.operands, self.target = i, operands, target
        self.world = World(1, count)
        self.groups = (
            [group_of(i, device) for device in self.world.devices]
            if "replica_groups" in i.opcode.attributes
            else []
        )
        self._made: dict[object, HloInstruction] = {}

    def once(self, key: object, make: Callable[[], HloInstruction]) -> HloInstruction:
        """Write a value that devices of a group share once."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def brought(self, device: int, k: int) -> Values:
        """Return operand k of every member of a device's group, in rank order."""
        return [self.operands[k][member] for member in self.groups[device]]

    def reduced(self, device: int, k: int) -> HloInstruction:
        """Return operand k combined over the group."""
        return self.once(
            (self.groups[device], k),
            lambda: combined(self.target, self.brought(device, k), self.i.called[0]),
        )


def _all_reduce(e: _Exchange, device: int, k: int) -> HloInstruction:
    return e.reduced(device, k)


def _all_gather(e: _Exchange, device: int, k: int) -> HloInstruction:
    return e.once(
        (e.groups[device], k),
        lambda: _concatenated(e.target, e.brought(device, k), e.i.attributes["dimensions"][0]),
    )


def _reduce_scatter(e: _Exchange, device: int, k: int) -> HloInstruction:
    group = e.groups[device]
    return _block(
        e.target,
        e.reduced(device, k),
        e.i.attributes["dimensions"][0],
        group.index(device),
        len(group),
    )


def _all_to_all(e: _Exchange, device: int, k: int) -> HloInstruction:
    group = e.groups[device]
    if not e.i.attributes.get("dimensions"):  # result k is member k's contribution to this device
        return e.operands[group.index(device)][group[k]]
    along, rank = e.i.attributes["dimensions"][0], group.index(device)
    return _concatenated(
        e.target,
        [_block(e.target, value, along, rank, len(group)) for value in e.brought(device, k)],
        along,
    )


def _broadcast(e: _Exchange, device: int, k: int) -> HloInstruction:
    return e.operands[k][e.groups[device][0]]


def _permute(e: _Exchange, device: int, k: int) -> HloInstruction:
    sources = [
        source for source, into in permutation_pairs(e.i, e.world.devices[device]) if into == device
    ]
    if sources:
        return e.operands[k][sources[0]]
    return e.once(("nothing", k), lambda: zeros_like(e.target, e.operands[k][device]))


_RULES: Final[dict[str, Callable[[_Exchange, int, int], HloInstruction]]] = {
    "all-reduce": _all_reduce, "all-gather": _all_gather, "reduce-scatter": _reduce_scatter, "all-to-all": _all_to_all,
    "collective-broadcast": _broadcast, "collective-permute": _permute,
}  # fmt: skip
JOINED: Final = frozenset(_RULES)


def joined_collective(
    i: HloInstruction, operands: list[Values], target: HloComputation, count: int
) -> Values:
    """Return the result of each device.

    NotJoinedError for an exchange without a rule.
    """
    rule = _RULES.get(i.opcode.name)
    if rule is None or i.attributes.get("slice_sizes"):
        raise NotJoinedError(i)
    exchange = _Exchange(i, operands, target, count)
    found = []
    for device in range(count):
        parts = [rule(exchange, device, k) for k in range(len(operands))]
        found.append(
            target.add("tuple", tuple_shape([p.shape for p in parts]), parts)
            if i.shape.is_tuple
            else parts[0]
        )
    return found
