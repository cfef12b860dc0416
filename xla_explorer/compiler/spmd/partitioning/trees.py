"""Values of tuple shapes: their local shapes, their parts, and one instruction with all of them."""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.shardings import TilingTree
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape


def tree_map(function: Callable[[Shape, Tiling], Shape], shape: Shape, tree: TilingTree) -> Shape:
    """Return a shape with a function applied to each array and its tiling."""
    if isinstance(tree, Tiling):
        return function(shape, tree)
    return tuple_shape(
        [tree_map(function, s, t) for s, t in zip(shape.tuple_shapes, tree, strict=True)]
    )


def local_tree(p: Partitioner, shape: Shape, tree: TilingTree) -> Shape:
    """Return the shape of one device's part of a value of any shape."""
    return tree_map(
        lambda s, t: (
            array_shape(s.element_type, p.axes.local(s.dimensions, t), s.layout)
            if s.is_array
            else s
        ),
        shape,
        tree,
    )


def _one_tuple(value: list[Value], tree: list[TilingTree]) -> HloInstruction | None:
    """Return the instruction whose elements, in order, are the parts in these tilings, or None."""
    found = None
    for k, (part, tiling) in enumerate(zip(value, tree, strict=True)):
        if not isinstance(part, ShardedValue) or part.tiling != tiling:
            return None
        local = part.local
        if local.opcode is not GET_TUPLE_ELEMENT or local.attributes["index"] != k:
            return None
        if found not in (None, local.operands[0]):
            return None
        found = local.operands[0]
    fits = found is not None and len(found.shape.tuple_shapes) == len(value)
    return found if fits else None


def parts_of(p: Partitioner, local: HloInstruction, shape: Shape, tree: TilingTree) -> Value:
    """Return the arrays of a partitioned value of any shape."""
    if isinstance(tree, Tiling):
        return ShardedValue(local, shape, tree)
    return [
        parts_of(p, p.w.element(local, k), part, inner)
        for k, (part, inner) in enumerate(zip(shape.tuple_shapes, tree, strict=True))
    ]


def packed(p: Partitioner, value: Value, tree: TilingTree) -> HloInstruction:
    """Return one instruction with all parts of a value, resharded to the given tilings."""
    if isinstance(value, ShardedValue):
        assert isinstance(tree, Tiling)
        return p.to(value, tree).local if value.shape.is_array else value.local
    assert isinstance(tree, list)
    whole = _one_tuple(value, tree)
    if whole is not None:
        return whole
    parts = [packed(p, part, inner) for part, inner in zip(value, tree, strict=True)]
    return p.w.add("tuple", parts, tuple_shape([part.shape for part in parts]))
