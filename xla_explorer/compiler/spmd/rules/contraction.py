"""Sharding rules of products, convolutions and linear algebra.

Source: Shardy's sdy/transforms/propagation/op_sharding_rule_registry.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.spmd.rules.factor_rule import (
    NEED_REPLICATION,
    PASS_THROUGH,
    PERMUTATION,
    REDUCTION,
    FactorRule,
    RuleBuilder,
)
from xla_explorer.compiler.spmd.rules.registry import builder_of, sharding_rule, sizes_of
from xla_explorer.hlo.instruction import HloInstruction


@sharding_rule("dot")
def dot(i: HloInstruction) -> FactorRule:
    """Return the rule: batch and free dimensions pass; contracted ones are reductions."""
    builder, output = builder_of(i), 0
    lhs, rhs = [operand.shape.dimensions for operand in i.operands[:2]]
    batch = list(zip(i.attribute("lhs_batch_dims"), i.attribute("rhs_batch_dims"), strict=True))
    contracted = list(
        zip(i.attribute("lhs_contracting_dims"), i.attribute("rhs_contracting_dims"), strict=True)
    )
    for left, right in batch:
        builder.add((left, right, output), lhs[left])
        output += 1
    for k, size in enumerate(lhs):
        if k not in [left for left, _ in batch + contracted]:
            builder.add((k, None, output), size)
            output += 1
    for k, size in enumerate(rhs):
        if k not in [right for _, right in batch + contracted]:
            builder.add((None, k, output), size)
            output += 1
    for left, right in contracted:
        builder.add((left, right, None), lhs[left], REDUCTION)
    return builder.build()


@sharding_rule("convolution")
def convolution(i: HloInstruction) -> FactorRule:
    """Return the rule: batch and output features pass, input features are reductions."""
    builder, numbers = builder_of(i), i.attribute("dim_labels")
    kernel, output = i.operands[1].shape.dimensions, sizes_of(i)
    batch_groups, feature_groups = (
        i.attribute("batch_group_count"),
        i.attribute("feature_group_count"),
    )
    if batch_groups > 1:
        builder.add(
            (numbers.input_batch, numbers.kernel_output_feature, numbers.output_feature),
            batch_groups,
        )
    builder.add((numbers.input_batch, None, numbers.output_batch), output[numbers.output_batch])
    _spatial_factors(i, builder)
    if feature_groups > 1:
        builder.add(
            (numbers.input_feature, numbers.kernel_output_feature, numbers.output_feature),
            feature_groups,
        )
    builder.add(
        (numbers.input_feature, numbers.kernel_input_feature, None),
        kernel[numbers.kernel_input_feature],
        REDUCTION,
    )
    features = output[numbers.output_feature] // (batch_groups * feature_groups)
    if features > 1:
        builder.add((None, numbers.kernel_output_feature, numbers.output_feature), features)
    return builder.build()


def _spatial_factors(i: HloInstruction, builder: RuleBuilder) -> None:
    """Add a factor for the number of windows and for the size of the window, the larger first."""
    numbers = i.attribute("dim_labels")
    source, kernel = [operand.shape.dimensions for operand in i.operands[:2]]
    for left, right, result in zip(
        numbers.input_spatial, numbers.kernel_spatial, numbers.output_spatial, strict=True
    ):
        rest = source[left]
        windows = (sizes_of(i)[result], (left, None, result), PERMUTATION)
        window = (kernel[right], (left, right, None), REDUCTION)
        pair = (windows, window) if windows[0] >= window[0] else (window, windows)
        for wanted, places, kind in pair:
            size = min(rest, wanted)
            if size > 1:
                builder.add(places, size, kind)
                rest //= size


@sharding_rule("cholesky")
def cholesky(i: HloInstruction) -> FactorRule:
    """Return the rule: batch dimensions pass through; the matrix needs replication."""
    sizes = sizes_of(i)
    return (
        builder_of(i)
        .add_pointwise(sizes, lambda k: PASS_THROUGH if k < len(sizes) - 2 else NEED_REPLICATION)
        .build()
    )


@sharding_rule("triangular-solve")
def triangular_solve(i: HloInstruction) -> FactorRule:
    """Return the rule: batch dimensions pass through; rows and columns need replication."""
    a, b = [operand.shape.dimensions for operand in i.operands]
    builder = builder_of(i).add_pointwise(a[:-2])
    row, column = len(a) - 2, len(a) - 1
    transposed = str(i.attribute("transpose_a")).strip('"').upper() in ("TRANSPOSE", "ADJOINT")
    left = bool(i.attribute("left_side"))
    free, contracted = (row, column) if left != transposed else (column, row)
    same, other = (row, column) if left else (column, row)
    if not left:
        builder.add((None, other, other), b[other], NEED_REPLICATION)
    builder.add((free, same, None), a[free], NEED_REPLICATION)
    if left:
        builder.add((None, other, other), b[other], NEED_REPLICATION)
    builder.add((contracted, None, same), a[contracted], NEED_REPLICATION)
    return builder.build()


@sharding_rule("fft")
def fft(i: HloInstruction) -> FactorRule:
    """Return the rule: batch dimensions pass through; transformed dimensions need replication."""
    source, result = i.operands[0].shape.dimensions, sizes_of(i)
    builder, batch = builder_of(i), len(source) - len(i.attribute("fft_length"))
    for k, size in enumerate(source):
        if k < batch:
            builder.add_everywhere(k, size)
        else:
            truncated = k == len(source) - 1 and source[-1] != result[-1]
            builder.add_everywhere(k, size, NEED_REPLICATION, blocked=truncated)
    return builder.build()
