"""Rows of the contraction family: sums of products, transforms, dense linear algebra.

Source: StableHLO sections of the same names; xla/service/shape_inference.cc; hlo_parser.cc
attribute tables.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.constraints import stated_shapes
from xla_explorer.hlo.opcodes.shape_rules import contraction as rules
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, Trait

_F = Family.CONTRACTION
_EXPENSIVE = frozenset({Trait.EXPENSIVE})
_DOT = ("lhs_batch_dims", "lhs_contracting_dims", "rhs_batch_dims", "rhs_contracting_dims")

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec(
        "dot",
        family=_F,
        arity=2,
        attributes=(*_DOT, "operand_precision", "algorithm"),
        summary="Sums products over the contracting dimensions, for each batch index and each pair "
        "of free indices.",
        source="StableHLO dot_general; shape_inference.cc InferDotOpShape",
        shape_rule=rules.dot,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "ragged-dot",
        family=_F,
        arity=3,
        attributes=(*_DOT, "lhs_ragged_dims", "rhs_group_dims", "operand_precision"),
        required=("lhs_ragged_dims",),
        summary="A dot whose groups along one dimension have sizes given as an operand.",
        source="shape_inference.cc InferRaggedDotOpShape",
        shape_rule=rules.ragged_dot,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "scaled-dot",
        family=_F,
        arity=4,
        attributes=(*_DOT, "operand_precision", "algorithm"),
        summary="A dot of block-scaled operands; scales are operands.",
        source="shape_inference.cc InferScaledDotOpShape",
        traits=_EXPENSIVE,
        constraints=(stated_shapes.result_is_array, stated_shapes.scales_divide),
    ),
    OpcodeSpec(
        "convolution",
        family=_F,
        arity=2,
        attributes=(
            "window",
            "dim_labels",
            "feature_group_count",
            "batch_group_count",
            "operand_precision",
            "convolution_kind",
            "conv_kind",
            "sparsity_config",
        ),
        required=("dim_labels",),
        summary="Sums products of a kernel and every window of the input (cross-correlation).",
        source="StableHLO convolution; shape_inference.cc InferConvolveShape",
        shape_rule=rules.convolution,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "fft",
        family=_F,
        arity=1,
        attributes=("fft_type", "fft_length"),
        required=("fft_type", "fft_length"),
        summary="Discrete Fourier transform over the last dimensions.",
        source="StableHLO fft",
        shape_rule=rules.fft,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "cholesky",
        family=_F,
        arity=1,
        attributes=("lower",),
        summary="Cholesky factor of each matrix of a batch.",
        source="StableHLO cholesky",
        shape_rule=rules.cholesky,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "triangular-solve",
        family=_F,
        arity=2,
        attributes=("left_side", "lower", "unit_diagonal", "transpose_a"),
        summary="Solves systems with triangular matrices.",
        source="StableHLO triangular_solve",
        shape_rule=rules.triangular_solve,
        traits=_EXPENSIVE,
    ),
)
