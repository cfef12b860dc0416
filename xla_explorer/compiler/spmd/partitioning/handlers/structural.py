"""Parameters, constants, tuples and other instructions without arithmetic."""

from __future__ import annotations

import math

import numpy as np

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.resharding import matched_pairs, tiles_of
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.trees import local_tree, packed, parts_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import CONSTANT
from xla_explorer.hlo.shape import array_shape


@handles("parameter")
def parameter(p: Partitioner, i: HloInstruction) -> Value:
    """Return the parameter, whose caller passes one device's part."""
    tree = p.wanted_tree(i)
    local = p.target.add_parameter(i.parameter_number, local_tree(p, i.shape, tree), i.name)
    local.metadata = i.metadata
    if p.run.annotations.has(i) and "sharding" in i.attributes:
        p.target.set_attributes(
            local, local.attributes.with_values(sharding=i.attributes["sharding"])
        )
    exact = iter(p.run.annotations.exact(i))

    def arranged(value: Value) -> Value:
        if isinstance(value, list):
            return [arranged(part) for part in value]
        own = next(exact)
        if own is None:
            return value
        terms = p.axes.subgroup(own, "unreduced")
        if own.kind == "maximal" or terms:
            return _summed(p, value, own.devices[0] if own.kind == "maximal" else None, terms)
        held = [(*own.place(device), 0) for device in range(p.axes.count)]
        pairs = matched_pairs(held, tiles_of(p.axes, value.tiling))
        return p.made(p.w.permute(value.local, pairs), value.shape, value.tiling)

    return arranged(parts_of(p, local, i.shape, tree))


def _summed(p: Partitioner, value: ShardedValue, device: int | None, terms: Axes) -> ShardedValue:
    """Return the whole of a value that one device has, or that is a sum of terms."""
    x, kind = value.local, value.shape.element_type
    if device is not None:
        x = p.w.select(p.w.on_device(device), x, p.w.zero(x))
        terms = tuple(range(len(p.axes.sizes)))
    combiner = p.run.state.combiner("or" if kind.is_pred else "add", kind)
    return p.made(p.w.all_reduce(x, terms, combiner), value.shape, value.tiling)


@handles("constant")
def constant(p: Partitioner, i: HloInstruction) -> Value:
    """Return the whole constant, or the part of one whose elements are equal."""
    if not i.shape.is_array:
        return plain(p, i)
    tiling = p.wanted(i)
    array = i.literal.array
    first = array.flat[:1]
    sizes = p.axes.local(i.shape.dimensions, tiling)
    even = math.prod(sizes) * p.axes.tiles([k for d in tiling.dims for k in d]) == array.size
    splits = (p.cheapest or even) and array.size and not tiling.is_replicated
    if splits and array.tobytes() == first.tobytes() * array.size:
        part = np.broadcast_to(first.reshape(()), sizes).copy()
        literal = literal_from_array(part, array_shape(i.shape.element_type, sizes))
        return p.made(p.target.add(CONSTANT, literal.shape, payload=literal), i.shape, tiling)
    whole = p.w.copied(i, [], i.shape)
    value = p.made(whole, i.shape, p.axes.unsplit(i.shape.rank, tiling.manual))
    return p.to(value, tiling) if p.cheapest else p.alone(p.to(value, tiling))


@handles("tuple")
def make_tuple(p: Partitioner, i: HloInstruction) -> Value:
    """Return the list of the elements."""
    found: list[Value] = []
    tree = p.wanted_tree(i) if p.run.annotations.has(i) and not p.cheapest else None
    for k, operand in enumerate(i.operands):
        value = p.values[operand]
        if isinstance(value, ShardedValue) and isinstance(tree, list) and value.shape.is_array:
            want = tree[k]
            assert isinstance(want, Tiling)
            value = p.to(value, want)
        found.append(value)
    return found


@handles("get-tuple-element")
def element(p: Partitioner, i: HloInstruction) -> Value:
    """Return an element of a tuple."""
    found = p.values[i.operands[0]]
    assert isinstance(found, list)
    return found[int(i.attributes["index"])]


@handles("opt-barrier")
def barrier(p: Partitioner, i: HloInstruction) -> Value:
    """Return the values behind a barrier."""
    tree = p.wanted_tree(i)
    local = packed(p, p.values[i.operands[0]], tree)
    made = p.w.copied(i, [local], local.shape)
    return parts_of(p, made, i.shape, tree)


@handles("after-all", "add-dependency", "partition-id", "replica-id", "get-dimension-size")
def plain(p: Partitioner, i: HloInstruction) -> Value:
    """Return the same instruction: its value does not depend on shardings."""
    operands = []
    for o in i.operands:
        value = p.value(o)
        whole = p.axes.unsplit(value.shape.rank, value.tiling.manual)
        operands.append(p.to(value, whole).local if value.shape.is_array else value.local)
    local = p.w.copied(i, operands, i.shape)
    manual = p.wanted(i).manual if i.shape.is_array else frozenset[int]()
    return ShardedValue(local, i.shape, p.axes.unsplit(i.shape.rank, manual))
