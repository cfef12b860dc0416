"""Rows of the reduction family: reductions, sorts and scans.

Source: StableHLO sections of the same names; xla/service/shape_inference.cc; hlo_parser.cc
attribute tables.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.constraints import signatures
from xla_explorer.hlo.opcodes.shape_rules import reduction as rules
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, Trait

_F = Family.REDUCTION
_EXPENSIVE = frozenset({Trait.EXPENSIVE})
_VARIADIC = frozenset({Trait.EXPENSIVE, Trait.VARIADIC_RESULT})
_BATCH_NORM = ("epsilon", "feature_index")

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec(
        "reduce",
        family=_F,
        arity=None,
        attributes=("dimensions",),
        required=("dimensions",),
        called=("to_apply",),
        summary="Combines all elements along the listed dimensions; operands are inputs, then their "
        "initial values.",
        source="StableHLO reduce; shape_inference.cc InferReduceShape",
        shape_rule=rules.reduce,
        traits=_VARIADIC,
        constraints=(signatures.reducer,),
    ),
    OpcodeSpec(
        "reduce-window",
        family=_F,
        arity=None,
        attributes=("window",),
        called=("to_apply",),
        summary="Combines the elements of every window.",
        source="StableHLO reduce_window",
        shape_rule=rules.reduce_window,
        traits=_VARIADIC,
        constraints=(signatures.reducer,),
    ),
    OpcodeSpec(
        "select-and-scatter",
        family=_F,
        arity=3,
        attributes=("window",),
        called=("select", "scatter"),
        summary="Adds each source element where its window's selected element was.",
        source="StableHLO select_and_scatter",
        shape_rule=rules.select_and_scatter,
        traits=_EXPENSIVE,
        constraints=(signatures.selector_and_scatterer,),
    ),
    OpcodeSpec(
        "map",
        family=_F,
        arity=None,
        attributes=("dimensions",),
        called=("to_apply",),
        summary="Applies a scalar computation to corresponding elements.",
        source="StableHLO map",
        shape_rule=rules.map_,
        traits=frozenset({Trait.ELEMENTWISE, Trait.EXPENSIVE}),
        constraints=(signatures.mapped,),
    ),
    OpcodeSpec(
        "scan",
        family=_F,
        arity=None,
        attributes=("dimensions", "num_carries", "is_reverse", "is_associative"),
        required=("dimensions", "num_carries"),
        called=("to_apply",),
        summary="Runs a computation along one dimension, carrying values from step to step.",
        source="hlo_opcode.h kScan; shape_inference.cc InferScanShape",
        shape_rule=rules.scan,
        infers_in_text=False,
        traits=_VARIADIC,
        constraints=(signatures.step,),
    ),
    OpcodeSpec(
        "sort",
        family=_F,
        arity=None,
        attributes=("dimensions", "is_stable"),
        required=("dimensions",),
        called=("to_apply",),
        summary="Sorts along one dimension by a comparator; all operands move together.",
        source="StableHLO sort",
        shape_rule=rules.sort,
        traits=_VARIADIC,
        constraints=(signatures.comparator,),
    ),
    OpcodeSpec(
        "topk",
        family=_F,
        arity=1,
        attributes=("k", "largest", "is_stable"),
        required=("k",),
        summary="The k largest (or smallest) elements of the last dimension, and their indices.",
        source="CHLO top_k; shape_inference.cc InferTopKShape",
        shape_rule=rules.topk,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "batch-norm-training",
        family=_F,
        arity=3,
        attributes=_BATCH_NORM,
        required=_BATCH_NORM,
        summary="Normalises over all but the feature dimension; gives (output, mean, variance).",
        source="StableHLO batch_norm_training",
        shape_rule=rules.batch_norm_training,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "batch-norm-inference",
        family=_F,
        arity=5,
        attributes=_BATCH_NORM,
        required=_BATCH_NORM,
        summary="Normalises with given mean and variance.",
        source="StableHLO batch_norm_inference",
        shape_rule=rules.batch_norm_inference,
        traits=_EXPENSIVE,
    ),
    OpcodeSpec(
        "batch-norm-grad",
        family=_F,
        arity=5,
        attributes=_BATCH_NORM,
        required=_BATCH_NORM,
        summary="Gradients of batch-norm-training for operand, scale and offset.",
        source="StableHLO batch_norm_grad",
        shape_rule=rules.batch_norm_grad,
        traits=_EXPENSIVE,
    ),
)
