"""Rows of the data movement family: values are placed, never computed (scatter's combiner apart).

Source: StableHLO sections of the same names; xla/service/shape_inference.cc; hlo_parser.cc attribute tables.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.shape_rules import data_movement as rules
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, Trait

_F = Family.DATA_MOVEMENT
_BITCASTABLE = frozenset({Trait.BITCASTABLE})

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec("iota", family=_F, arity=0, attributes=("iota_dimension",), required=("iota_dimension",),
               summary="Counts from zero along one dimension.", source="StableHLO iota"),
    OpcodeSpec("broadcast", family=_F, arity=1, attributes=("dimensions",),
               summary="Repeats the operand; operand dimension i becomes result dimension dimensions[i].",
               source="StableHLO broadcast_in_dim; hlo_verifier.cc HandleBroadcast"),
    OpcodeSpec("reshape", family=_F, arity=1, attributes=("inferred_dimension",), summary="The same elements in the same order, other dimensions.",
               source="StableHLO reshape; hlo_verifier.cc HandleReshape", traits=_BITCASTABLE),
    OpcodeSpec("dynamic-reshape", family=_F, arity=None, summary="A reshape whose dimension sizes are operands.",
               source="StableHLO dynamic_reshape; shape_inference.cc InferDynamicReshapeShape"),
    OpcodeSpec("bitcast", family=_F, arity=1, summary="The operand's bytes under another shape and layout; no code.",
               source="hlo_verifier.cc HandleBitcast", traits=_BITCASTABLE),
    OpcodeSpec("bitcast-convert", family=_F, arity=1, summary="The operand's bits as another element type.",
               source="StableHLO bitcast_convert; shape_inference.cc InferBitcastConvertShape"),
    OpcodeSpec("copy", family=_F, arity=1, summary="The operand in a buffer of its own, perhaps in another layout.",
               source="hlo_opcode.h kCopy", shape_rule=rules.copy),
    OpcodeSpec("copy-start", family=_F, arity=1, attributes=("cross_program_prefetch_index",),
               summary="Begins an asynchronous copy; gives (destination, source, context).",
               source="shape_inference.cc; hlo_verifier.cc HandleCopyStart", shape_rule=rules.copy_start, infers_in_text=False,
               traits=frozenset({Trait.ASYNCHRONOUS})),
    OpcodeSpec("copy-done", family=_F, arity=1, summary="Waits for an asynchronous copy; gives the destination.",
               source="hlo_verifier.cc HandleCopyDone", shape_rule=rules.copy_done, infers_in_text=False,
               traits=frozenset({Trait.ASYNCHRONOUS})),
    OpcodeSpec("transpose", family=_F, arity=1, attributes=("dimensions",), required=("dimensions",),
               summary="Result dimension i is operand dimension dimensions[i].", source="StableHLO transpose",
               shape_rule=rules.transpose),
    OpcodeSpec("reverse", family=_F, arity=1, attributes=("dimensions",), required=("dimensions",),
               summary="Reverses the listed dimensions.", source="StableHLO reverse", shape_rule=rules.reverse),
    OpcodeSpec("slice", family=_F, arity=1, attributes=("slice",), required=("slice",),
               summary="A block with fixed start, limit and stride.", source="StableHLO slice", shape_rule=rules.slice_,
               infers_in_text=False),
    OpcodeSpec("dynamic-slice", family=_F, arity=None, attributes=("dynamic_slice_sizes",), required=("dynamic_slice_sizes",),
               summary="A block of fixed size at start indices given as operands, clamped into range.",
               source="StableHLO dynamic_slice", shape_rule=rules.dynamic_slice, infers_in_text=False),
    OpcodeSpec("dynamic-update-slice", family=_F, arity=None, summary="The operand with a block replaced at given start indices.",
               source="StableHLO dynamic_update_slice", shape_rule=rules.dynamic_update_slice, infers_in_text=False,
               traits=frozenset({Trait.IN_PLACE})),
    OpcodeSpec("concatenate", family=_F, arity=None, attributes=("dimensions",), required=("dimensions",),
               summary="The operands one after the other along one dimension.", source="StableHLO concatenate",
               shape_rule=rules.concatenate),
    OpcodeSpec("pad", family=_F, arity=2, attributes=("padding",), required=("padding",),
               summary="Adds copies of a scalar around and between elements; negative amounts crop.", source="StableHLO pad",
               shape_rule=rules.pad),
    OpcodeSpec("gather", family=_F, arity=2,
               attributes=("offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
                           "start_indices_batching_dims", "index_vector_dim", "slice_sizes", "indices_are_sorted"),
               required=("offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes"),
               summary="Slices of the operand at start indices taken from the second operand, clamped into range.",
               source="StableHLO gather", shape_rule=rules.gather, traits=frozenset({Trait.EXPENSIVE})),
    OpcodeSpec("scatter", family=_F, arity=None,
               attributes=("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "input_batching_dims",
                           "scatter_indices_batching_dims", "index_vector_dim", "indices_are_sorted", "unique_indices"),
               required=("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "index_vector_dim"),
               called=("to_apply",), summary="The operands with windows at given indices combined with updates; windows out of range are skipped.",
               source="StableHLO scatter", shape_rule=rules.scatter,
               traits=frozenset({Trait.EXPENSIVE, Trait.IN_PLACE, Trait.VARIADIC_RESULT})),
    OpcodeSpec("get-dimension-size", family=_F, arity=1, attributes=("dimensions",), required=("dimensions",),
               summary="The size of one dimension, as s32.", source="StableHLO get_dimension_size",
               shape_rule=rules.get_dimension_size, traits=frozenset({Trait.EXPENSIVE})),
    OpcodeSpec("set-dimension-size", family=_F, arity=2, attributes=("dimensions",), required=("dimensions",),
               summary="The operand with one dimension marked dynamic and given a size.",
               source="shape_inference.cc InferSetDimensionSizeShape", shape_rule=rules.set_dimension_size,
               traits=frozenset({Trait.EXPENSIVE})),
)
