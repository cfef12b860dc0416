"""Dynamic-slice and dynamic-update-slice: dimensions that are not sliced stay split.

A sliced dimension is gathered, or each owner contributes its elements to an all-reduce.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.halo import masked
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT
from xla_explorer.hlo.primitive_type import PrimitiveType


def _starts(
    p: Partitioner, operands: Sequence[HloInstruction], manual: frozenset[int], cut: Sequence[int]
) -> list[HloInstruction]:
    """Return the start of each dimension; it is 0 where the slice is the whole dimension."""
    whole = p.axes.unsplit(0, manual)
    return [
        p.to(p.value(o), whole).local if d in cut else p.w.constant(0, o.shape.element_type)
        for d, o in enumerate(operands)
    ]


def joining(kind: PrimitiveType) -> str:
    """Return the operation that joins values of which all but one are zero."""
    return "or" if kind.is_pred else "add"


@handles("dynamic-slice")
def dynamic_slice(p: Partitioner, i: HloInstruction) -> Value:
    """Slice locally where the dimension is whole; else by the cheaper of two methods."""
    value, wanted = p.value(i.operands[0]), p.wanted(i)
    cut = [d for d, n in enumerate(value.dims) if i.shape.dimensions[d] != n]
    at = _starts(p, i.operands[1:], wanted.manual, cut)
    base = wanted.replicated(cut)
    ways: list[tuple[float, Tiling, Axes]] = [
        (p.cost(value, base) + p.path(i.shape, base, wanted).sent, base, ())
    ]
    for version in p.versions(value) if p.cheapest else ():
        for d in cut:
            over = version.tiling.dims[d]
            if over:
                source = Tiling(version.tiling.dims, wanted.manual)
                source = source.replicated([c for c in cut if c != d])
                result = source.replicated(cut)
                sent = p.cost(value, source) + p.reduction_cost(i.shape, result, over, wanted)
                ways.append((sent, source, over))
    ways.sort(key=lambda way: way[0])
    sent, source, over = ways[0]
    if sent:
        p.choose(
            "slice-method",
            "owner contributes" if over else "gather",
            [Alternative("owner contributes" if o else "gather", s) for s, _, o in ways],
        )
    given = p.to(value, source)
    result = source.replicated(cut)
    sizes = tuple(p.axes.local(i.shape.dimensions, result))
    x = given.local
    for d in cut:
        if source.dims[d]:
            x, at[d] = _shifted_operand(p, given, at[d], d, i.shape.dimensions[d])
    local = p.w.copied(i, [x, *at], p.local_shape(i.shape, result), dynamic_slice_sizes=sizes)
    made = p.made(local, i.shape, result)
    if not over:
        return made
    combiner = p.run.state.combiner(joining(i.shape.element_type), i.shape.element_type)
    return p.all_reduced(made, over, combiner, wanted)


def _shifted_operand(
    p: Partitioner, value: ShardedValue, start: HloInstruction, d: int, length: int
) -> tuple[HloInstruction, HloInstruction]:
    """Return the part with zeros around it, and the start of the slice in these elements."""
    x = masked(p.w, value, p.w.zero(value.local), [d])
    own = x.shape.dimensions[d]
    padded = p.w.pad(x, {d: (length, length)})
    return padded, local_start(p, value, start, d, length, own)


def local_start(
    p: Partitioner, value: ShardedValue, start: HloInstruction, d: int, length: int, own: int
) -> HloInstruction:
    """Return a start, clamped as the operation does, within the padded part of this device."""
    kind = start.shape.element_type
    low, high = p.w.constant(0, kind), p.w.constant(value.dims[d] - length, kind)
    clamped = p.w.add("clamp", [low, start, high])
    if kind.name not in ("s32", "s64"):
        clamped = p.w.add("convert", [clamped], p.w.constant(0, p.s32).shape)
        kind = p.s32
    offset = p.w.of_device([s - length for s in p.w.starts(value.dims, value.tiling, d)])
    if kind is not p.s32:
        offset = p.w.add("convert", [offset], p.w.constant(0, kind).shape)
    moved = p.w.add("subtract", [clamped, offset])
    return p.w.add("clamp", [p.w.constant(0, kind), moved, p.w.constant(own + length, kind)])


@handles("dynamic-update-slice")
def dynamic_update_slice(p: Partitioner, i: HloInstruction) -> Value:
    """Update each part: elements outside it fall into padding that is dropped."""
    value, update, wanted = p.value(i.operands[0]), p.value(i.operands[1]), p.wanted(i)
    cut = [d for d, n in enumerate(value.dims) if update.dims[d] != n]
    if not p.cheapest:
        return _updated_in_order(p, i, cut)
    given = p.to(value, wanted)
    patch = p.to(update, wanted.replicated(cut))
    at = _starts(p, i.operands[2:], wanted.manual, cut)
    x, kept = given.local, {}
    for d in cut:
        if wanted.dims[d]:
            length, own = update.dims[d], x.shape.dimensions[d]
            at[d] = local_start(p, given, at[d], d, length, own)
            x = p.w.pad(x, {d: (length, length)})
            kept[d] = (length, length + own)
    kinds = {a.shape for a in at}
    if len(kinds) > 1:
        at = [
            p.w.add("convert", [a], p.w.constant(0, p.s32).shape)
            if a.shape.element_type is not p.s32
            else a
            for a in at
        ]
    local = p.w.slice(p.w.copied(i, [x, patch.local, *at], x.shape), kept)
    return p.made(local, i.shape, wanted)


def _updated_in_order(p: Partitioner, i: HloInstruction, cut: Sequence[int]) -> Value:
    """Update in XLA's order: within one part if the update lies in one, else on whole dimensions.

    Source: spmd_partitioner.cc (HandleDynamicUpdateSlice).
    """
    value, update, wanted = p.value(i.operands[0]), p.value(i.operands[1]), p.wanted(i)
    at = _starts(p, i.operands[2:], wanted.manual, cut)
    split = [d for d in cut if wanted.dims[d]]
    own = p.axes.local(value.dims, wanted)
    if split and all(_in_one_part(i, d, own[d]) for d in split):
        return _updated_by_owner(p, i, split, (cut, at))
    held = Tiling(value.tiling.dims, wanted.manual)
    more = p.axes.tiles(held.used) > p.axes.tiles(wanted.used)
    base = (held if more else wanted).replicated(cut)
    x, patch = p.to(value, base).local, p.to(update, base).local
    return p.made(p.w.copied(i, [x, patch, *at], x.shape), i.shape, base)


def _in_one_part(i: HloInstruction, d: int, own: int) -> bool:
    """Return True if an update lies in one part of a dimension."""
    size, start = i.operands[1].shape.dimensions[d], i.operands[2 + d]
    if size == 1 or start.opcode is not CONSTANT:
        return size == 1
    first = min(max(int(start.literal.array), 0), i.shape.dimensions[d] - size)
    return first // own == (first + size - 1) // own


def _updated_by_owner(
    p: Partitioner,
    i: HloInstruction,
    split: Sequence[int],
    indices: tuple[Sequence[int], list[HloInstruction]],
) -> Value:
    """Update each part, and take the result where the update lies in the part."""
    cut, at = indices
    value, update, wanted = p.value(i.operands[0]), p.value(i.operands[1]), p.wanted(i)
    given = p.to(value, wanted)
    patch = p.to(update, wanted.replicated(cut)).local
    inside: HloInstruction | None = None
    for d in split:
        kind, own = at[d].shape.element_type, given.local.shape.dimensions[d]
        last = p.w.constant(value.dims[d] - update.dims[d], kind)
        start = p.w.add("clamp", [p.w.constant(0, kind), at[d], last])
        first = p.w.of_device(p.w.starts(value.dims, wanted, d))
        if kind is not p.s32:
            first = p.w.add("convert", [first], start.shape)
        moved = p.w.add("subtract", [start, first])
        low = p.w.add("compare", [start, first], direction="GE")
        high = p.w.add("compare", [moved, p.w.constant(own, kind)], direction="LT")
        mine = p.w.add("and", [low, high])
        at[d] = p.w.add("select", [mine, moved, p.w.constant(0, kind)])
        inside = mine if inside is None else p.w.add("and", [inside, mine])
    assert inside is not None
    x = p.w.copied(i, [given.local, patch, *at], given.local.shape)
    return p.made(p.w.select(inside, x, given.local), i.shape, wanted)
