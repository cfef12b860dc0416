"""Sharding rules of element-wise operations, and of collectives that keep the shape.

Source: Shardy's sdy/transforms/propagation/op_sharding_rule_registry.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.spmd.rules.factor_rule import NEED_REPLICATION, FactorRule
from xla_explorer.compiler.spmd.rules.registry import builder_of, sharding_rule, sizes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OPCODES

ELEMENTWISE = tuple(
    [name for name, row in OPCODES.items() if row.elementwise and name not in ("map", "rng")]
)


@sharding_rule(*ELEMENTWISE)
def elementwise(i: HloInstruction) -> FactorRule:
    """Return the rule: each dimension passes; scalars of select and clamp have no factors."""
    return pointwise(i)


@sharding_rule("all-reduce", "collective-permute", "collective-broadcast", "domain")
def same_shape(i: HloInstruction) -> FactorRule:
    """Return the rule: every dimension passes through."""
    return pointwise(i)


def pointwise(i: HloInstruction) -> FactorRule:
    """Return the rule by which each dimension of every operand and result is one factor."""
    return builder_of(i).add_pointwise(sizes_of(i)).build()


@sharding_rule("all-gather", "reduce-scatter")
def changes_one_dimension(i: HloInstruction) -> FactorRule:
    """Return the rule: the gathered or scattered dimension needs replication on both sides."""
    (dimension,) = i.attribute("dimensions")
    operand = i.operands[0].shape.dimensions
    builder = builder_of(i).add_pointwise(operand, skip=(dimension,))
    builder.add_to_operands(dimension, operand[dimension], NEED_REPLICATION)
    builder.add_to_results(dimension, sizes_of(i)[dimension], NEED_REPLICATION)
    return builder.build()


@sharding_rule("all-to-all")
def all_to_all(i: HloInstruction) -> FactorRule | None:
    """Return the rule: the dimension that is split and joined needs replication."""
    dimensions = i.attributes.get("dimensions")
    if not dimensions or len(i.operands) != 1:
        return None
    (dimension,) = dimensions
    sizes = i.operands[0].shape.dimensions
    builder = builder_of(i).add_pointwise(sizes, skip=(dimension,))
    builder.add_to_operands(dimension, sizes[dimension], NEED_REPLICATION)
    builder.add_to_results(dimension, sizes_of(i)[dimension], NEED_REPLICATION)
    return builder.build()


@sharding_rule("bitcast-convert")
def bitcast_convert(i: HloInstruction) -> FactorRule:
    """Return the rule: the innermost dimension that only one side has needs replication."""
    source, result = i.operands[0].shape.dimensions, sizes_of(i)
    builder = builder_of(i).add_pointwise(min(source, result, key=len))
    if len(source) < len(result):
        builder.add_to_results(len(source), result[-1], NEED_REPLICATION)
    elif len(source) > len(result):
        builder.add_to_operands(len(result), source[-1], NEED_REPLICATION)
    return builder.build()
