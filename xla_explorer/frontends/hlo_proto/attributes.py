"""Attributes of an instruction in a proto as HLO text, one function per attribute.

None means that the attribute is absent. Defaults are written too, and the parser drops them. The
opcode's row in `hlo/opcodes` lists its attributes. Source: hlo_instruction.cc CreateFromProto,
PrintExtraAttributes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.field_text import (
    WORD,
    AttributeText,
    count_field,
    enum_field,
    enum_word,
    flag_field,
    in_message,
    number_field,
    numbers_field,
    string_field,
    word_field,
)
from xla_explorer.frontends.hlo_proto.original_values import original_value
from xla_explorer.frontends.hlo_proto.shapes import joined, shape_text
from xla_explorer.frontends.hlo_proto.shardings import device_groups_text, sharding_text
from xla_explorer.frontends.protobuf import Message, ProtoError
from xla_explorer.hlo.opcodes.shape_rules.elementwise import comparison_types
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.text.strings import quoted_string


def _dimension(i: Message) -> str | None:
    dimensions = i.numbers("dimensions")
    return str(dimensions[0]) if dimensions else None


def _dot(field: str) -> AttributeText:
    read = numbers_field(field)
    plain = in_message("dot_dimension_numbers", schema.DOT_DIMENSIONS, read)
    ragged = in_message("ragged_dot_dimension_numbers", schema.RAGGED_DOT_DIMENSIONS, plain)
    return lambda i: ragged(i) if i.has("ragged_dot_dimension_numbers") else plain(i)


def _ragged(field: str) -> AttributeText:
    return in_message(
        "ragged_dot_dimension_numbers", schema.RAGGED_DOT_DIMENSIONS, numbers_field(field)
    )


def _gather(field: str, read: Callable[[str], AttributeText] = numbers_field) -> AttributeText:
    return in_message("gather_dimension_numbers", schema.GATHER_DIMENSIONS, read(field))


def _scatter(field: str) -> AttributeText:
    return in_message("scatter_dimension_numbers", schema.SCATTER_DIMENSIONS, numbers_field(field))


def _index_vector_dim(i: Message) -> str | None:
    scatter = in_message(
        "scatter_dimension_numbers", schema.SCATTER_DIMENSIONS, number_field("index_vector_dim")
    )
    return _gather("index_vector_dim", number_field)(i) or scatter(i)


def _slices(i: Message) -> str:
    found = []
    for one in i.messages("slice_dimensions", schema.SLICE_DIMENSION):
        stride = one.number("stride")
        found.append(
            f"[{one.number('start')}:{one.number('limit')}"
            + (f":{stride}]" if stride != 1 else "]")
        )
    return "{" + ", ".join(found) + "}"


def _padding(config: Message) -> str:
    parts = [
        "_".join(
            [
                str(one.number(name))
                for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
            ]
        )
        for one in config.messages("dimensions", schema.PADDING_DIMENSION)
    ]
    return "x".join(parts)


def _window(window: Message) -> str | None:
    dimensions = list(window.messages("dimensions", schema.WINDOW_DIMENSION))
    if not dimensions:
        return None
    rows = [
        ("size", [str(d.number("size")) for d in dimensions]),
        ("stride", [str(d.number("stride")) for d in dimensions]),
        ("pad", [f"{d.number('padding_low')}_{d.number('padding_high')}" for d in dimensions]),
        ("lhs_dilate", [str(max(d.number("base_dilation"), 1)) for d in dimensions]),
        ("rhs_dilate", [str(max(d.number("window_dilation"), 1)) for d in dimensions]),
        ("rhs_reversal", [str(d.number("window_reversal")) for d in dimensions]),
    ]
    return "{" + " ".join([f"{name}={'x'.join(values)}" for name, values in rows]) + "}"


def _dim_labels(numbers: Message) -> str:
    def labels(spatial: str, first: str, first_letter: str, second: str, second_letter: str) -> str:
        places = {numbers.number(first): first_letter, numbers.number(second): second_letter}
        places.update({place: str(number) for number, place in enumerate(numbers.numbers(spatial))})
        last = max(places)
        if not 0 <= min(places) <= last < 64:
            raise ProtoError(
                f"ConvolutionDimensionNumbers has the dimension {last}",
                "check that the file is complete",
            )
        return "".join([places.get(place, "?") for place in range(last + 1)])

    given = labels(
        "input_spatial_dimensions", "input_batch_dimension", "b", "input_feature_dimension", "f"
    )
    kernel = labels(
        "kernel_spatial_dimensions",
        "kernel_input_feature_dimension",
        "i",
        "kernel_output_feature_dimension",
        "o",
    )
    output = labels(
        "output_spatial_dimensions", "output_batch_dimension", "b", "output_feature_dimension", "f"
    )
    return f"{given}_{kernel}->{output}"


def _is_stable(i: Message) -> str | None:
    """Return the flag of a sort; a top-k is stable, whatever its proto states."""
    return None if i.text("opcode") == "topk" else flag_field("is_stable")(i)


def _precisions(config: Message) -> str | None:
    words = [
        enum_word("Precision", one, *PRECISIONS) for one in config.numbers("operand_precision")
    ]
    return "{" + ",".join(words) + "}" if words else None


# Words of enumerations, in the order of their numbers. Source: xla_data.proto, hlo.proto.
PRECISIONS: Final = ("default", "high", "highest", "packed_nibble")
ACCURACY_MODES: Final = ("default", "highest")
CONVOLUTION_KINDS: Final = ("unset", "fprop", "dgrad", "wgrad")
FFT_TYPES: Final = ("FFT", "IFFT", "RFFT", "IRFFT")
DISTRIBUTIONS: Final = ("rng_invalid", "rng_uniform", "rng_normal")
SCHEDULES: Final = ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
PADDING_TYPES: Final = ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
RANDOM_ALGORITHMS: Final = ("rng_default", "rng_three_fry", "rng_philox")
TRANSPOSES: Final = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
API_VERSIONS: Final = (
    "UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED", "TYPED_FFI",
)  # fmt: skip
DOT_ALGORITHMS: Final = (
    "unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32",
    "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9",
)  # fmt: skip


def _algorithm(i: Message) -> str | None:
    if i.text("opcode") == "rng-bit-generator":
        return enum_word("RandomAlgorithm", i.number("rng_algorithm"), *RANDOM_ALGORITHMS)
    config = i.message("precision_config", schema.PRECISION_CONFIG)
    number = config.number("algorithm") if config is not None else 0
    return enum_word("PrecisionConfig.Algorithm", number, *DOT_ALGORITHMS) if number else None


def _sparsity(config: Message) -> str | None:
    parts = []
    for side in ("lhs", "rhs"):
        if (one := config.message(side, schema.TENSOR_SPARSITY)) is not None:
            ratio = f"{one.number('num_non_zero')}x{one.number('block_size')}"
            parts.append(
                f"{side}={{sparsity={ratio} dimension={one.number('dimension')} "
                f"stride={one.number('stride')}}}"
            )
    return "{" + " ".join(parts) + "}" if parts else None


def comparison_type(i: Message, operand_type: str) -> str | None:
    """Return the type of a comparison; None if the operands' element type implies it."""
    kind = PRIMITIVE_TYPES.get(operand_type)
    implied = comparison_types(kind)[0] if kind is not None else "FLOAT"
    given = word_field("comparison_type")(i)
    if (order := word_field("comparison_order")(i)) is not None:  # which newer XLA writes instead
        given = "TOTALORDER" if order == "TOTAL" and implied == "FLOAT" else implied
    return None if given == implied else given


def _accuracy(accuracy: Message) -> str | None:
    tolerance = accuracy.message("tolerance", schema.TOLERANCE)
    if tolerance is not None:
        atol, rtol = (f"{tolerance.real(name):g}" for name in ("atol", "rtol"))
        return f"{{tolerance={{atol={atol},rtol={rtol},ulps={tolerance.number('ulps')}}}}}"
    return f"{{mode={enum_word('ResultAccuracy.Mode', accuracy.number('mode'), *ACCURACY_MODES)}}}"


def _lower(i: Message) -> str | None:
    read = flag_field("lower")
    return in_message("triangular_solve_options", schema.TRIANGULAR_SOLVE, read)(i) or in_message(
        "cholesky_options", schema.CHOLESKY, read
    )(i)


def _triangular(field: str) -> AttributeText:
    return in_message("triangular_solve_options", schema.TRIANGULAR_SOLVE, flag_field(field))


def _transpose_a(options: Message) -> str:
    return enum_word("TriangularSolveOptions.Transpose", options.number("transpose_a"), *TRANSPOSES)


def _api_version(i: Message) -> str | None:
    """Return the version of a custom call; None for the original one."""
    number = i.number("custom_call_api_version")
    word = enum_word("CustomCallApiVersion", number, *API_VERSIONS)
    return f"API_VERSION_{word}" if number > 1 else None


def _layout_constraints(i: Message) -> str | None:
    if not i.flag("constrain_layout"):
        return None
    return (
        "{"
        + ", ".join(
            [shape_text(one) for one in i.messages("operand_shapes_with_layout", schema.SHAPE)]
        )
        + "}"
    )


def _aliasing(i: Message) -> str | None:
    entries = []
    for one in i.messages("output_operand_aliasing", schema.ALIASING):
        output, inside = (
            joined(one.numbers("output_shape_index")),
            joined(one.numbers("operand_shape_index")),
        )
        entries.append(f"{{{output}}}: ({one.number('operand_index')}, {{{inside}}})")
    return "{" + ", ".join(entries) + "}" if entries else None


def _channel(i: Message) -> str | None:
    number = i.number("channel_id") or i.number("all_reduce_id")
    return str(number) if number > 0 else None


def _pairs(i: Message) -> str:
    pairs = [
        f"{{{one.number('source')},{one.number('target')}}}"
        for one in i.messages("source_target_pairs", schema.SOURCE_TARGET)
    ]
    return "{" + ",".join(pairs) + "}"


def _slice_sizes(i: Message) -> str | None:
    if i.text("opcode") == "gather":
        return numbers_field("gather_slice_sizes")(i)
    # Of a collective-permute: the slices follow each other, each with as many sizes as its array
    # has dimensions.
    sizes, shape = i.numbers("dynamic_slice_sizes"), i.message("shape", schema.SHAPE)
    while shape is not None and shape.has("tuple_shapes"):
        shape = next(shape.messages("tuple_shapes", schema.SHAPE))
    rank = len(shape.numbers("dimensions")) if shape is not None else 0
    rows = [sizes[start : start + rank] for start in range(0, len(sizes), rank)] if rank else []
    return "{" + ",".join([f"{{{joined(row)}}}" for row in rows]) + "}" if rows else None


def _prefetch_index(i: Message) -> str | None:
    return (
        str(i.number("cross_program_prefetch_index"))
        if i.has("cross_program_prefetch_index")
        else None
    )


def _domain(i: Message) -> str | None:
    # The exit of the proto is the operand's side, which the text calls the entry.
    sides = [
        i.message(name, schema.SHARDING)
        for name in ("domain_exit_sharding", "domain_entry_sharding")
    ]
    entry, leaving = [sharding_text(side) if side is not None else "{}" for side in sides]
    return f'{{kind="sharding", entry={entry}, exit={leaving}}}'


def _replication(replication: Message) -> str | None:
    leaves = replication.numbers("replicated_at_leaf_buffers")
    return (
        "{" + ",".join(["true" if leaf else "false" for leaf in leaves]) + "}" if leaves else None
    )


def frontend_attributes(attributes: Message) -> str | None:
    """Return `{a="x"}`; None if there are no attributes."""
    entries = {
        entry.text("key"): entry.text("value")
        for entry in attributes.messages("map", schema.MAP_ENTRY)
    }
    for name in entries:
        if WORD.fullmatch(name) is None:
            raise ProtoError(
                f"FrontendAttributes: the name {name[:40]!r} must be a word",
                "check that the file holds an HLO module",
            )
    return (
        "{" + ",".join([f"{name}={quoted_string(entries[name])}" for name in sorted(entries)]) + "}"
        if entries
        else None
    )


def _statistics(visible: Message) -> str | None:
    found = [
        (one.text("stat_name"), one.real("stat_val"))
        for one in visible.messages("statistics", schema.STATISTIC)
    ]
    if not found:
        return None
    index = f"visualizing_index={visible.number('stat_index_to_visualize')}"
    return (
        "{"
        + ",".join([index, *[f"{name}={value:g}" for name, value in found if WORD.fullmatch(name)]])
        + "}"
    )


_DOT_DIMENSIONS: Final = (
    "lhs_batch_dims",
    "lhs_contracting_dims",
    "rhs_batch_dims",
    "rhs_contracting_dims",
)

# By name of the attribute; differences between opcodes are handled inside.
READERS: Final[dict[str, AttributeText]] = {
    "dimensions": numbers_field("dimensions"),
    "slice": _slices,
    "dynamic_slice_sizes": numbers_field("dynamic_slice_sizes"),
    "padding": in_message("padding_config", schema.PADDING_CONFIG, _padding),
    "index": number_field("tuple_index"),
    "iota_dimension": _dimension,
    "inferred_dimension": _dimension,
    "window": in_message("window", schema.WINDOW, _window),
    "dim_labels": in_message("convolution_dimension_numbers", schema.CONVOLUTION_DIMENSIONS, _dim_labels),
    "feature_group_count": count_field("feature_group_count"),
    "batch_group_count": count_field("batch_group_count"),
    "convolution_kind": enum_field("conv_kind", *CONVOLUTION_KINDS),
    **{name: _dot(name.replace("dims", "dimensions")) for name in _DOT_DIMENSIONS},
    "lhs_ragged_dims": _ragged("lhs_ragged_dimensions"),
    "rhs_group_dims": _ragged("rhs_group_dimensions"),
    "operand_precision": in_message("precision_config", schema.PRECISION_CONFIG, _precisions),
    "algorithm": _algorithm,
    "sparsity_config": in_message("sparsity_config", schema.SPARSITY, _sparsity),
    **{name: _gather(name) for name in schema.GATHER_DIMENSIONS.numbers if name != "index_vector_dim"},
    **{name: _scatter(name) for name in schema.SCATTER_DIMENSIONS.numbers if name != "index_vector_dim"},
    "index_vector_dim": _index_vector_dim,
    "slice_sizes": _slice_sizes,
    "indices_are_sorted": flag_field("indices_are_sorted"),
    "unique_indices": flag_field("unique_indices"),
    "is_stable": _is_stable,
    "k": number_field("k"),
    "largest": flag_field("largest"),
    "direction": word_field("comparison_direction"),
    "exponent_bits": number_field("exponent_bits"),
    "mantissa_bits": number_field("mantissa_bits"),
    "result_accuracy": in_message("result_accuracy", schema.RESULT_ACCURACY, _accuracy),
    "fft_type": enum_field("fft_type", *FFT_TYPES),
    "fft_length": numbers_field("fft_length"),
    "lower": _lower,
    "left_side": _triangular("left_side"),
    "unit_diagonal": _triangular("unit_diagonal"),
    "transpose_a": in_message("triangular_solve_options", schema.TRIANGULAR_SOLVE, _transpose_a),
    "epsilon": lambda i: str(np.float32(i.real("epsilon"))),
    "feature_index": number_field("feature_index"),
    "distribution": enum_field("distribution", *DISTRIBUTIONS),
    "delta": number_field("delta"),
    "num_carries": number_field("num_carries"),
    "is_reverse": flag_field("is_reverse"),
    "is_associative": lambda i: "true" if i.number("is_associative") == 1 else "false",
    "kind": word_field("fusion_kind"),
    "custom_call_target": lambda i: quoted_string(i.text("custom_call_target")),  # which may be empty
    "operand_layout_constraints": _layout_constraints,
    "custom_call_has_side_effect": flag_field("custom_call_has_side_effect"),
    "output_to_operand_aliasing": _aliasing,
    "schedule": enum_field("custom_call_schedule", *SCHEDULES, from_one=True),
    "api_version": _api_version,
    "padding_type": enum_field("padding_type", *PADDING_TYPES, from_one=True),
    "is_composite": flag_field("is_composite"),
    "channel_id": _channel,
    "replica_groups": device_groups_text,
    "source_target_pairs": _pairs,
    "constrain_layout": flag_field("constrain_layout"),
    "use_global_device_ids": flag_field("use_global_device_ids"),
    "is_host_transfer": flag_field("is_host_transfer"),
    "infeed_config": string_field("infeed_config"),
    "outfeed_shape": in_message("outfeed_shape", schema.SHAPE, shape_text),
    "outfeed_config": string_field("outfeed_config"),
    "cross_program_prefetch_index": _prefetch_index,
    "domain": _domain,
    "async_execution_thread": string_field("async_execution_thread"),
    "parameter_replication": in_message("parameter_replication", schema.REPLICATION, _replication),
    "sharding": in_message("sharding", schema.SHARDING, sharding_text),
    "frontend_attributes": in_message("frontend_attributes", schema.FRONTEND_ATTRIBUTES, frontend_attributes),
    "statistics": in_message("statistics_viz", schema.STATISTICS, _statistics),
    "origin": in_message("original_value", schema.ORIGINAL_VALUE, original_value),
    "backend_config": string_field("backend_config"),
}  # fmt: skip
# Any instruction may have these.
COMMON: Final = ("parameter_replication", "sharding", "frontend_attributes", "statistics", "origin")
