"""The names of built-in passes and the modules that declare them, loaded at first use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ROOM: Final = "xla_explorer.compiler"
# The names that each module declares, by its place under `compiler`.
_DECLARED: Final = {
    "spmd.partitioning.spmd_partitioning": ("spmd-partitioning",),
    "transforms.collectives.all_gather_cse": ("all-gather-cse",),
    "transforms.collectives.all_gather_optimizer": ("all-gather-optimizer",),
    "transforms.collectives.all_gather_remove_degenerate_dims": (
        "all-gather-remove-degenerate-dims",
    ),
    "transforms.collectives.canon_all_gather_for_cse": ("canon-all-gather-for-cse",),
    "transforms.collectives.collective_permute_cse": ("collective-permute-cse",),
    "transforms.collectives.all_gather_dynamic_slice_simplifier": (
        "all-gather-dynamic-slice-simplifier",
    ),
    "transforms.collectives.all_gather_permuted_slice_simplifier": (
        "all-gather-to-collective-permute-simplifier",
    ),
    "transforms.collectives.all_reduce_folder": ("all-reduce-folder",),
    "transforms.collectives.all_reduce_simplifier": ("all-reduce-simplifier",),
    "transforms.collectives.async_collective_creator": ("async-collective-creator",),
    "transforms.collectives.collective_combiner": (
        "all-gather-combiner",
        "all-reduce-combiner",
        "collective-permute-combiner",
        "cpu-all-reduce-combiner",
        "reduce-scatter-combiner",
    ),
    "transforms.collectives.convert_async_collectives_to_sync": (
        "convert-async-collectives-to-sync",
    ),
    "transforms.collectives.reassociation": (
        "all-reduce-reassociate",
        "reduce-scatter-reassociate",
    ),
    "transforms.collectives.reduce_scatter_creator": ("reduce-scatter-creator",),
    "transforms.collectives.reorder_convert_reduce_add": ("reorder-convert-reduce-add",),
    "transforms.collectives.schedule_aware_collective_cse": ("schedule-aware-collective-cse",),
    "transforms.collectives.while_loop_all_reduce_code_motion": (
        "while-loop-all-reduce-code-motion",
    ),
    "transforms.contractions.batch_dot_simplification": ("batch-dot-simplification",),
    "transforms.contractions.convert_operand_folding": ("convert_operand_folding",),
    "transforms.contractions.convolution_4d_expander": ("convolution_4d_expander",),
    "transforms.contractions.convolution_canonicalization": ("convolution-canonicalization",),
    "transforms.contractions.convolution_group_converter": ("convolution-group-converter",),
    "transforms.contractions.convolution_pred_expander": ("convolution-pred-expander",),
    "transforms.contractions.dot_decomposer": (
        "dot-decomposer",
        "dot_decomposer",
    ),
    "transforms.contractions.dot_dimension_merger": ("dot_dimension_merger",),
    "transforms.contractions.dot_dimension_sorter": ("dot_dimension_sorter",),
    "transforms.contractions.dot_merger": ("dot-merger",),
    "transforms.contractions.dot_operand_transposer": ("dot-operand-transposer",),
    "transforms.contractions.dot_product_instructions": ("dot-product-instructions",),
    "transforms.contractions.dot_strength_reduction": ("dot-strength-reduction",),
    "transforms.contractions.gemv_rewriter": ("gemv-rewriter",),
    "transforms.contractions.integer_products_in_floats": ("integer-products-in-floats",),
    "transforms.contractions.operand_upcaster": ("operand_upcaster",),
    "transforms.contractions.result_caster": ("result_caster",),
    "transforms.copies.copy_insertion": ("copy-insertion",),
    "transforms.copies.flatten_call_graph": ("flatten-call-graph",),
    "transforms.copies.loop_double_buffer": (
        "double-buffer-loop-unrolling",
        "loop-double-buffer-transformer",
    ),
    "transforms.expanders.batchnorm_expander": ("batchnorm_expander",),
    "transforms.expanders.bitcast_dtypes_expander": ("bitcast_dtypes_expander",),
    "transforms.expanders.change_op_data_type": ("change-op-data-type",),
    "transforms.expanders.cholesky_expander": (
        "cholesky-expander",
        "cholesky_expander",
    ),
    "transforms.expanders.comparison_expander": ("comparison-expander",),
    "transforms.expanders.custom_call_expander": ("custom-call-expander",),
    "transforms.expanders.dynamic_index_splitter": ("dynamic-index-splitter",),
    "transforms.expanders.dynamic_padder": (
        "dynamic-padder",
        "dynamic_padder",
    ),
    "transforms.expanders.element_type_converter": (
        "element_type_converter",
        "hlo-element-type-converter",
    ),
    "transforms.expanders.excess_precision": ("excess-precision",),
    "transforms.expanders.float_normalization": (
        "float-normalization-bf16",
        "float-normalization-f4e2m1fn",
        "float-normalization-f8e3m4",
        "float-normalization-f8e4m3",
        "float-normalization-f8e4m3b11fnuz",
        "float-normalization-f8e4m3fn",
        "float-normalization-f8e4m3fnuz",
        "float-normalization-f8e5m2",
        "float-normalization-f8e5m2fnuz",
        "float-normalization-f8e8m0fnu",
        "float-normalization-s4",
        "float-normalization-u4",
    ),
    "transforms.expanders.lapack_call_expander": ("lapack-call-expander",),
    "transforms.expanders.logistic_expander": ("logistic-expander",),
    "transforms.expanders.optimization_barrier_expander": (
        "cse_barrier_expander",
        "optimization-barrier-expander",
    ),
    "transforms.expanders.ragged_dot_rewriter": ("ragged-dot-rewriter",),
    "transforms.expanders.reduce_window_rewriter": ("reduce-window-rewriter",),
    "transforms.expanders.rng_bit_generator_expander": ("rng-bit-generator-expander",),
    "transforms.expanders.rng_expander": ("rng-expander",),
    "transforms.expanders.scan_expander": (
        "scan-expander",
        "scan_expander",
    ),
    "transforms.expanders.stable_sort_expander": ("stable-sort-expander",),
    "transforms.expanders.stochastic_convert_decomposer": ("stochastic_convert_decomposer",),
    "transforms.expanders.sub_byte_size_setter": (
        "sub-byte-normalization",
        "sub-byte-size-setter",
    ),
    "transforms.expanders.topk_decomposer": ("topk-decomposer",),
    "transforms.expanders.triangular_solve_expander": (
        "triangular-solve-expander",
        "triangular_solve_expander",
    ),
    "transforms.fusion.dot_epilogue_fusion": ("dot-epilogue-fusion",),
    "transforms.fusion.fusion_wrapper": ("fusion-wrapper",),
    "transforms.fusion.horizontal_fusion": (
        "gpu_horizontal_input_fusion",
        "gpu_horizontal_loop_fusion",
        "horizontal-input-fusion",
        "horizontal-loop-fusion",
    ),
    "transforms.fusion.instruction_fusion": (
        "cpu-instruction-fusion",
        "fusion",
    ),
    "transforms.fusion.multi_output_fusion": ("multi-output-fusion",),
    "transforms.fusion.normalization_fusion": ("normalization-fusion",),
    "transforms.fusion.priority_fusion": ("priority-fusion",),
    "transforms.gather_scatter.batched_gather_scatter_normalizer": (
        "batched_gather_scatter_normalizer",
    ),
    "transforms.gather_scatter.gather_expander": (
        "gather-expander",
        "gather_expander",
    ),
    "transforms.gather_scatter.gather_simplifier": ("gather_simplifier",),
    "transforms.gather_scatter.scatter_determinism_expander": ("scatter_determinism_expander",),
    "transforms.gather_scatter.scatter_expander": (
        "scatter-expander",
        "scatter_expander",
    ),
    "transforms.gather_scatter.scatter_simplifier": ("scatter_simplifier",),
    "transforms.gather_scatter.select_and_scatter_expander": ("select_and_scatter_expander",),
    "transforms.inlining.async_inliner": ("async-inliner",),
    "transforms.inlining.call_inliner": ("call-inliner",),
    "transforms.inlining.defuser": ("defuser",),
    "transforms.inlining.map_inliner": ("map-inline",),
    "transforms.inlining.propagate_call_metadata": ("propagate-call-metadata",),
    "transforms.inlining.unflatten_call_graph": ("unflatten-call-graph",),
    "transforms.layout.layout_assignment": ("layout-assignment",),
    "transforms.layout.layout_normalization": ("layout_normalization",),
    "transforms.layout.move_copy_to_users": ("move_copy_to_users",),
    "transforms.layout.reshape_decomposer": ("reshape-decomposer",),
    "transforms.library_calls.library_rewriter": (
        "gemm-rewriter",
        "gpusolver-rewriter",
        "library-rewriter",
    ),
    "transforms.library_calls.product_epilogue_fusion": ("product-epilogue-fusion",),
    "transforms.loops.conditional_canonicalizer": ("conditional-canonicalizer",),
    "transforms.loops.conditional_simplifier": (
        "conditional-simplifier",
        "simplify-conditional",
    ),
    "transforms.loops.conditional_to_select": ("conditional-to-select",),
    "transforms.loops.constant_sinking": ("while-loop-constant-sinking",),
    "transforms.loops.expensive_invariant_code_motion": (
        "while-loop-expensive-invariant-code-motion",
    ),
    "transforms.loops.invariant_code_motion": ("while-loop-invariant-code-motion",),
    "transforms.loops.module_dead_code": ("hlo-module-dce",),
    "transforms.loops.small_while_loop_hoisting": ("small-while-loop-hoisting",),
    "transforms.loops.trip_count_annotator": ("while-loop-trip-count-annotator",),
    "transforms.loops.while_loop_simplifier": (
        "simplify-while-loops",
        "while-loop-simplifier",
    ),
    "transforms.loops.while_loop_unroller": (
        "while-loop-unroller",
        "while_loop_unroller",
    ),
    "transforms.scheduling.latency_hiding_scheduler": ("latency-hiding-scheduler",),
    "transforms.scheduling.memory_scheduler": (
        "hlo-memory-scheduler",
        "memory-scheduler",
    ),
    "transforms.scheduling.stream_assignment": (
        "stream-assignment",
        "stream-attribute-annotator",
    ),
    "transforms.simplifiers.algebraic.algsimp": (
        "algebraic-simplifier",
        "algsimp",
    ),
    "transforms.simplifiers.broadcast_canonicalizer": (
        "broadcast-canonicalizer",
        "broadcast_canonicalizer",
    ),
    "transforms.simplifiers.common_subexpressions": ("cse",),
    "transforms.simplifiers.computation_deduplicator": (
        "computation-deduplicator",
        "computation-deduplicator-pass",
    ),
    "transforms.simplifiers.constant_folding": (
        "constant-folding",
        "constant_folding",
    ),
    "transforms.simplifiers.convert_mover": ("convert-mover",),
    "transforms.simplifiers.dead_code": ("dce",),
    "transforms.simplifiers.dynamic_dimension_simplifier": ("dynamic-dimension-simplifier",),
    "transforms.simplifiers.literal_canonicalizer": ("literal-canonicalizer",),
    "transforms.simplifiers.reduction_degenerate_dim_remover": (
        "reduction-degenerate-dim-remover",
    ),
    "transforms.simplifiers.reduction_dimension_grouper": ("reduction-dimension-grouper",),
    "transforms.simplifiers.reduction_splitter": ("reduction-splitter",),
    "transforms.simplifiers.reshape_mover": ("reshape-mover",),
    "transforms.simplifiers.sharding_remover": ("sharding-remover",),
    "transforms.simplifiers.simplify_fp_conversions": ("simplify-fp-conversions",),
    "transforms.simplifiers.slice_hoister": ("slice-hoister",),
    "transforms.simplifiers.slice_sinker": ("slice-sinker",),
    "transforms.simplifiers.sort_simplifier": (
        "simplify-sorts",
        "sort-simplifier",
    ),
    "transforms.simplifiers.transpose_folding": ("transpose-folding",),
    "transforms.simplifiers.tree_reduction_rewriter": (
        "tree-reduction-rewriter",
        "tree_reduction_rewriter",
    ),
    "transforms.simplifiers.tuple_constants": ("tuple-constants",),
    "transforms.simplifiers.tuple_simplifier": ("tuple-simplifier",),
    "transforms.simplifiers.zero_sized": (
        "zero-sized-hlo-elimination",
        "zero_sized_hlo_elimination",
    ),
    "transforms.spmd.device_joining": ("device-joining",),
    "transforms.spmd.sharding_propagation": ("sharding-propagation",),
    "transforms.spmd.shardy_xla": ("shardy-xla",),
}
BUILT_IN: Final[Mapping[str, str]] = MappingProxyType(
    {name: f"{_ROOM}.{module}" for module, names in _DECLARED.items() for name in names}
)
"""The module that declares each built-in pass, by the names of the pass."""
