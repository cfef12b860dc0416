"""The messages of XLA's HLO protos: names and numbers of the fields that have a meaning in HLO.

Source: xla/service/hlo.proto, xla/xla_data.proto (the schema that jaxlib 0.10.2 carries; fields of
older versions are there too).
"""

from __future__ import annotations

from xla_explorer.frontends.protobuf import MessageType

LAYOUT = MessageType(
    "LayoutProto", minor_to_major=1, dim_level_types=9, tiles=6, tail_padding_alignment_in_elements=16, element_size_in_bits=7,
    memory_space=8, index_primitive_type=11, pointer_primitive_type=12, dynamic_shape_metadata_prefix_bytes=15, split_configs=17,
)  # fmt: skip
TILE = MessageType("TileProto", dimensions=1)
SPLIT_CONFIG = MessageType("SplitConfigProto", dimension=1, split_indices=2)
SHAPE = MessageType(
    "ShapeProto", element_type=2, dimensions=3, is_dynamic_dimension=6, tuple_shapes=4, layout=5
)
PROGRAM_SHAPE = MessageType("ProgramShapeProto", parameters=1, result=2, parameter_names=3)
LITERAL = MessageType(
    "LiteralProto", shape=1, tuple_literals=10, preds=2, s1s=30, s2s=26, s4s=21, s8s=15, s16s=17, s32s=4, s64s=5, u1s=31, u2s=27, u4s=22,
    u8s=3, u16s=16, u32s=6, u64s=7, f16s=11, bf16s=13, f32s=8, f64s=9, c64s=12, c128s=18, f4e2m1fns=32, f8e3m4s=29, f8e4m3b11fnuzs=23,
    f8e4m3fns=20, f8e4m3fnuzs=25, f8e4m3s=28, f8e5m2fnuzs=24, f8e5m2s=19, f8e8m0fnus=33, f6e3m2fns=35, f6e2m3fns=36,
)  # fmt: skip

METADATA = MessageType(
    "OpMetadata", op_type=1, op_name=2, source_file=3, source_line=4, source_end_line=17, source_column=18, source_end_column=19,
    profile_type=5, size_of_generated_code_in_bytes=8, size_of_memory_working_set_in_bytes=9, deduplicated_name=12, stack_frame_id=15,
    scheduling_name=16, metadata_payload=20,
)  # fmt: skip
WINDOW = MessageType("Window", dimensions=1)
WINDOW_DIMENSION = MessageType(
    "WindowDimension",
    size=1,
    stride=2,
    padding_low=3,
    padding_high=4,
    window_dilation=5,
    base_dilation=6,
    window_reversal=7,
)
CONVOLUTION_DIMENSIONS = MessageType(
    "ConvolutionDimensionNumbers", input_batch_dimension=7, input_feature_dimension=8, input_spatial_dimensions=11,
    kernel_input_feature_dimension=3, kernel_output_feature_dimension=4, kernel_spatial_dimensions=6, output_batch_dimension=9,
    output_feature_dimension=10, output_spatial_dimensions=12,
)  # fmt: skip
DOT_DIMENSIONS = MessageType(
    "DotDimensionNumbers",
    lhs_contracting_dimensions=1,
    rhs_contracting_dimensions=2,
    lhs_batch_dimensions=3,
    rhs_batch_dimensions=4,
)
RAGGED_DOT_DIMENSIONS = MessageType(
    "RaggedDotDimensionNumbers",
    dot_dimension_numbers=1,
    lhs_ragged_dimensions=2,
    rhs_group_dimensions=3,
)
GATHER_DIMENSIONS = MessageType(
    "GatherDimensionNumbers", offset_dims=1, collapsed_slice_dims=2, start_index_map=3, index_vector_dim=4, operand_batching_dims=5,
    start_indices_batching_dims=6,
)  # fmt: skip
SCATTER_DIMENSIONS = MessageType(
    "ScatterDimensionNumbers", update_window_dims=1, inserted_window_dims=2, scatter_dims_to_operand_dims=3, index_vector_dim=4,
    input_batching_dims=5, scatter_indices_batching_dims=6,
)  # fmt: skip
SLICE_DIMENSION = MessageType("SliceDimensions", start=1, limit=2, stride=3)
PADDING_CONFIG = MessageType("PaddingConfig", dimensions=1)
PADDING_DIMENSION = MessageType(
    "PaddingConfigDimension", edge_padding_low=1, edge_padding_high=2, interior_padding=3
)
PRECISION_CONFIG = MessageType("PrecisionConfig", operand_precision=1, algorithm=2)
TRIANGULAR_SOLVE = MessageType(
    "TriangularSolveOptions", left_side=1, lower=2, unit_diagonal=3, transpose_a=4
)
CHOLESKY = MessageType("CholeskyOptions", lower=1)
RESULT_ACCURACY = MessageType("ResultAccuracy", mode=1, tolerance=2)
TOLERANCE = MessageType("ResultAccuracy.Tolerance", atol=1, rtol=2, ulps=3)
ALIASING = MessageType(
    "OutputOperandAliasing", output_shape_index=1, operand_index=2, operand_shape_index=3
)
REPLICATION = MessageType("ParameterReplication", replicated_at_leaf_buffers=1)
FRONTEND_ATTRIBUTES = MessageType("FrontendAttributes", map=1)
MAP_ENTRY = MessageType("MapEntry", key=1, value=2)
STATISTICS = MessageType("StatisticsViz", stat_index_to_visualize=1, statistics=2)
STATISTIC = MessageType("Statistic", stat_name=1, stat_val=2)
SPARSITY = MessageType("SparsityConfig", lhs=1, rhs=2)
TENSOR_SPARSITY = MessageType(
    "TensorSparsityConfig", num_non_zero=1, block_size=2, dimension=3, stride=4
)
ORIGINAL_VALUE = MessageType("OriginalValueProto", elements=1, is_synthetic_call=2)
ORIGINAL_ELEMENT = MessageType("OriginalValueElementProto", shape_index=1, original_array=2)
ORIGINAL_ARRAY = MessageType("OriginalArrayProto", instruction_name=1, shape_index=2)

SHARDING = MessageType(
    "OpSharding", type=1, tile_assignment_dimensions=3, tile_assignment_devices=4, tuple_shardings=5, replicate_on_last_tile_dim=6,
    metadata=7, last_tile_dims=8, iota_reshape_dims=9, iota_transpose_perm=10, is_shard_group=11, shard_group_id=12, shard_group_type=13,
    named_sharding=14,
)  # fmt: skip
MESH = MessageType("MeshProto", axes=1, device_ids=2, iota_transform=3)
MESH_AXIS = MessageType("MeshAxis", name=1, size=2)
IOTA_TRANSFORM = MessageType("IotaTransform", reshape_dims=1, transpose_perm=2)
AXIS_REFERENCE = MessageType("AxisRefProto", mesh_axis_index=1, sub_axis_info=2)
SUB_AXIS = MessageType("SubAxis", pre_size=1, size=2)
NAMED_SHARDING = MessageType(
    "NamedShardingProto",
    mesh=2,
    dim_shardings=3,
    replicated_axes=4,
    unreduced_axes=5,
    manual_axes=7,
    metadata=6,
)
DIMENSION_SHARDING = MessageType("DimensionSharding", axes=1, is_closed=2)
REPLICA_GROUP = MessageType("ReplicaGroup", replica_ids=1)
DEVICE_LIST = MessageType("CollectiveDeviceListProto", replica_groups=1, iota_replica_group_list=2)
IOTA_GROUPS = MessageType(
    "IotaReplicaGroupListProto",
    num_replica_groups=1,
    num_devices_per_group=2,
    iota_reshape_dims=3,
    iota_transpose_perm=4,
)
MESH_GROUPS = MessageType("MeshAxesReplicaGroupListProto", mesh=1, axes=2)
SOURCE_TARGET = MessageType("SourceTarget", source=1, target=2)
PAYLOAD = MessageType("Payload", value=1, id=2)

INSTRUCTION = MessageType(
    "HloInstructionProto", name=1, opcode=2, shape=3, metadata=7, literal=8, parameter_number=9, fusion_kind=11, tuple_index=13,
    dimensions=14, window=15, convolution_dimension_numbers=16, slice_dimensions=17, exponent_bits=18, mantissa_bits=19,
    dynamic_slice_sizes=20, padding_config=21, outfeed_config=22, distribution=23, epsilon=24, feature_index=25, channel_id=26,
    infeed_config=27, custom_call_target=28, outfeed_shape=29, dot_dimension_numbers=30, fft_type=31, fft_length=32,
    gather_dimension_numbers=33, gather_slice_sizes=34, id=35, operand_ids=36, control_predecessor_ids=37, called_computation_ids=38,
    sharding=40, backend_config=43, all_reduce_id=45, is_host_transfer=47, scatter_dimension_numbers=48, replica_groups=49,
    feature_group_count=50, precision_config=51, source_target_pairs=52, domain_entry_sharding=54, domain_exit_sharding=55,
    constrain_layout=56, operand_shapes_with_layout=57, batch_group_count=58, triangular_solve_options=59, is_stable=60,
    parameter_replication=61, cholesky_options=62, comparison_direction=63, custom_call_has_side_effect=65, delta=66,
    indices_are_sorted=67, frontend_attributes=68, unique_indices=69, rng_algorithm=70, use_global_device_ids=71, comparison_type=72,
    output_operand_aliasing=74, padding_type=75, custom_call_schedule=76, custom_call_api_version=77, async_execution_thread=79,
    cross_program_prefetch_index=80, k=81, statistics_viz=82, largest=85, collective_device_list=87, original_value=88, is_composite=89,
    ragged_dot_dimension_numbers=90, result_accuracy=91, iota_collective_device_list=92, mesh_axes_replica_group_list=93, is_reverse=94,
    num_carries=95, is_associative=96, conv_kind=97, sparsity_config=98, backend_config_payload=99, comparison_order=102,
)  # fmt: skip
COMPUTATION = MessageType(
    "HloComputationProto",
    name=1,
    instructions=2,
    program_shape=4,
    id=5,
    root_id=6,
    is_fusion_computation=7,
    execution_thread=8,
)
SCHEDULE = MessageType("HloScheduleProto", sequences=1)
SEQUENCE_ENTRY = MessageType("HloScheduleProto.SequencesEntry", key=1, value=2)
SEQUENCE = MessageType("HloScheduleProto.InstructionSequence", instruction_ids=1)
ALIASES = MessageType("HloInputOutputAliasProto", entries=1)
ALIAS = MessageType(
    "AliasEntryProto", output_shape_index=1, parameter_number=2, parameter_shape_index=3, kind=4
)
DONORS = MessageType("HloBufferDonorProto", entries=1)
DONOR = MessageType("BufferDonorEntryProto", parameter_number=1, parameter_shape_index=2)
FRAME_INDEX = MessageType(
    "StackFrameIndexProto", file_names=1, function_names=2, file_locations=3, stack_frames=4
)
FILE_LOCATION = MessageType(
    "FileLocation", file_name_id=1, function_name_id=2, line=3, end_line=5, column=4, end_column=6
)
STACK_FRAME = MessageType("StackFrame", file_location_id=1, parent_frame_id=2)
RECOVERY_TABLE = MessageType("OriginalValueRecoveryTableProto", entries=1)
RECOVERY_ENTRY = MessageType(
    "OriginalValueRecoveryTableProto.Entry",
    old_original_array=1,
    new_original_array=2,
    recovery_module=3,
)
MODULE = MessageType(
    "HloModuleProto", name=1, entry_computation_name=2, computations=3, host_program_shape=4, id=5, entry_computation_id=6, schedule=7,
    input_output_alias=8, stack_frame_index=17, buffer_donor=18, frontend_attributes=19, original_value_recovery_table=20, payloads=22,
)  # fmt: skip
HLO = MessageType("HloProto", hlo_module=1, buffer_assignment=3)
SNAPSHOT = MessageType("HloSnapshot", hlo=1, arguments=2, result=3, execution_platform=4)
UNOPTIMIZED_SNAPSHOT = MessageType("HloUnoptimizedSnapshot", hlo_module=1, partitions=2, version=3)
INPUTS = MessageType("HloInputs", arguments=1)
