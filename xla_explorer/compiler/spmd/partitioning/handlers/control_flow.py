"""Loops, conditionals and calls: their computations are partitioned with the caller's shardings."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.computations import partitioned_computation
from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.shardings import TilingTree
from xla_explorer.compiler.spmd.partitioning.trees import local_tree, packed, parts_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


def tree_of_value(value: Value) -> TilingTree:
    """Return the tilings that a value has."""
    if isinstance(value, ShardedValue):
        return value.tiling
    return [tree_of_value(part) for part in value]


@handles("while")
def while_loop(p: Partitioner, i: HloInstruction) -> Value:
    """Partition condition and body; the state keeps the sharding of the loop."""
    annotations = p.run.annotations
    tree = p.wanted_tree(i)
    if not annotations.has(i):
        inner = [i.called[1].parameters()[0], i.called[1].root]
        known = next((x for x in inner if annotations.has(x)), None)
        tree = (
            annotations.of(known) if known is not None else tree_of_value(p.values[i.operands[0]])
        )
    state = packed(p, p.values[i.operands[0]], tree)
    condition, body = i.called
    scalar = p.axes.unsplit(0, _manual(tree))
    called = (
        partitioned_computation(p.run, condition, [tree], scalar),
        partitioned_computation(p.run, body, [tree], tree),
    )
    made = p.w.copied(i, [state], state.shape, called)
    return parts_of(p, made, i.shape, tree)


def _manual(tree: TilingTree) -> frozenset[int]:
    if isinstance(tree, Tiling):
        return tree.manual
    return next((found for part in tree if (found := _manual(part))), frozenset())


def _argument_trees(
    p: Partitioner, called: HloComputation, operands: Sequence[HloInstruction]
) -> list[TilingTree]:
    """Return the shardings of a computation's parameters: their own, or the arguments'.

    The policy `xla` always takes the arguments'; the computation reshards where it must.
    """
    found = []
    for parameter, operand in zip(called.parameters(), operands, strict=True):
        own = p.cheapest and p.run.annotations.has(parameter)
        value = p.values[operand]
        found.append(
            p.run.annotations.of(parameter)
            if own
            else p.wanted_tree(operand)
            if p.run.annotations.has(operand)
            else tree_of_value(value)
        )
    return found


@handles("call", "fusion")
def call(p: Partitioner, i: HloInstruction) -> Value:
    """Partition the callee for the shardings of the arguments."""
    called = i.called[0]
    trees = _argument_trees(p, called, i.operands)
    tree = p.wanted_tree(i)
    if not p.run.annotations.has(i) and p.run.annotations.has(called.root):
        tree = p.run.annotations.of(called.root)
    operands = [packed(p, p.values[o], t) for o, t in zip(i.operands, trees, strict=True)]
    made = p.w.copied(
        i,
        operands,
        local_tree(p, i.shape, tree),
        (partitioned_computation(p.run, called, trees, tree),),
    )
    return parts_of(p, made, i.shape, tree)


@handles("conditional")
def conditional(p: Partitioner, i: HloInstruction) -> Value:
    """Partition each branch; the predicate is the same on all devices."""
    tree = p.wanted_tree(i)
    selector = p.value(i.operands[0])
    first = p.to(selector, p.axes.unsplit(0, selector.tiling.manual)).local
    operands, called = [first], []
    for branch, operand in zip(i.called, i.operands[1:], strict=True):
        trees = _argument_trees(p, branch, [operand])
        operands.append(packed(p, p.values[operand], trees[0]))
        called.append(partitioned_computation(p.run, branch, trees, tree))
    made = p.w.copied(i, operands, local_tree(p, i.shape, tree), tuple(called))
    return parts_of(p, made, i.shape, tree)
