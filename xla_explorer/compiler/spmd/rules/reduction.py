"""Sharding rules of reductions, windows, sorting and normalisation.

Source: Shardy's sdy/transforms/propagation/op_sharding_rule_registry.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.spmd.rules.factor_rule import (
    NEED_REPLICATION,
    PASS_THROUGH,
    PERMUTATION,
    REDUCTION,
    FactorRule,
)
from xla_explorer.compiler.spmd.rules.registry import at, builder_of, sharding_rule, sizes_of
from xla_explorer.hlo.instruction import HloInstruction


@sharding_rule("reduce")
def reduce(i: HloInstruction) -> FactorRule:
    """Return the rule: kept dimensions pass through; reduced dimensions are reductions."""
    builder, count, kept = builder_of(i), len(i.operands) // 2, 0
    results = range(len(i.operands), len(i.operands) + count)
    for k, size in enumerate(i.operands[0].shape.dimensions):
        places = dict.fromkeys(range(count), k)
        if k in i.attribute("dimensions"):
            builder.add(at(i, places), size, REDUCTION)
        else:
            builder.add(at(i, places | dict.fromkeys(results, kept)), size)
            kept += 1
    return builder.build()


def _passes_through(i: HloInstruction, dimension: int) -> bool:
    """Return True if the window of a dimension is one element that moves by one, unpadded."""
    one = i.attribute("window").dimensions[dimension]
    return bool(one.size == one.stride == 1 and one.padding_low == one.padding_high == 0)


@sharding_rule("reduce-window")
def reduce_window(i: HloInstruction) -> FactorRule:
    """Return the rule: dimensions with a window shift elements between shards."""
    return (
        builder_of(i)
        .add_pointwise(
            sizes_of(i), lambda k: PASS_THROUGH if _passes_through(i, k) else PERMUTATION
        )
        .build()
    )


@sharding_rule("select-and-scatter")
def select_and_scatter(i: HloInstruction) -> FactorRule:
    """Return the rule: dimensions with a window shift the operand; the source needs replication."""
    builder = builder_of(i)
    for k, size in enumerate(sizes_of(i)):
        if _passes_through(i, k):
            builder.add_everywhere(k, size)
            continue
        builder.add(at(i, {1: k}), i.operands[1].shape.dimensions[k], NEED_REPLICATION)
        builder.add(at(i, {0: k, 3: k}), size, PERMUTATION)
    return builder.build()


@sharding_rule("sort")
def sort(i: HloInstruction) -> FactorRule:
    """Return the rule: the sorted dimension needs replication; alone it passes no sharding on."""
    sizes = sizes_of(i)
    (dimension,) = i.attribute("dimensions")
    alone = all(k == dimension or size == 1 for k, size in enumerate(sizes))
    builder = builder_of(i)
    for k, size in enumerate(sizes):
        if k == dimension:
            builder.add_everywhere(k, size, NEED_REPLICATION, blocked=alone)
        else:
            builder.add_everywhere(k, size)
    return builder.build()


@sharding_rule("topk")
def topk(i: HloInstruction) -> FactorRule:
    """Return the rule: the searched dimension needs replication and is blocked."""
    source = i.operands[0].shape.dimensions
    return (
        builder_of(i).add_where_equal(source, sizes_of(i), NEED_REPLICATION, blocked=True).build()
    )


@sharding_rule("batch-norm-inference")
def batch_norm_inference(i: HloInstruction) -> FactorRule:
    """Return the rule: the feature dimension is that of scale, offset, mean and variance."""
    builder, feature = builder_of(i), i.attribute("feature_index")
    for k, size in enumerate(sizes_of(i)):
        places = {0: k, len(i.operands): k}
        if k == feature:
            places |= dict.fromkeys(range(1, len(i.operands)), 0)
        builder.add(at(i, places), size)
    return builder.build()


@sharding_rule("rng-bit-generator")
def rng_bit_generator(i: HloInstruction) -> FactorRule:
    """Return the rule: the state needs replication and passes no sharding on; the bits are free."""
    builder, shapes = builder_of(i), [leaf for _, leaf in i.shape.leaves()]
    has_state, bits = len(shapes) > 1, len(shapes)
    for k, size in enumerate(i.operands[0].shape.dimensions):
        places = {0: k, 1: k} if has_state else {0: k}
        builder.add(at(i, places), size, NEED_REPLICATION, blocked=True)
    for k, size in enumerate(shapes[-1].dimensions):
        builder.add(at(i, {bits: k}), size)
    return builder.build()
