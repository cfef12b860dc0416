"""Attributes of an instruction as fields of its proto: one row per attribute or message.

`hlo/opcodes` lists the attributes of each opcode. The rows are the inverse of those of
`hlo_proto/attributes.py`. Source: hlo_instruction.cc and hlo_instructions.cc, ToProto.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.attributes import (
    ACCURACY_MODES,
    API_VERSIONS,
    COMMON,
    CONVOLUTION_KINDS,
    DISTRIBUTIONS,
    DOT_ALGORITHMS,
    FFT_TYPES,
    PADDING_TYPES,
    PRECISIONS,
    RANDOM_ALGORITHMS,
    SCHEDULES,
    TRANSPOSES,
)
from xla_explorer.frontends.hlo_proto.writer.literals import literal_proto
from xla_explorer.frontends.hlo_proto.writer.metadata import (
    map_proto,
    original_value_proto,
    statistics_proto,
    unquoted,
)
from xla_explorer.frontends.hlo_proto.writer.shapes import shape_proto
from xla_explorer.frontends.hlo_proto.writer.shardings import device_groups_fields, sharding_proto
from xla_explorer.frontends.protobuf import MessageType
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.attributes import ConvolutionDimensionNumbers, ReplicaGroups, Window
from xla_explorer.hlo.attributes.dictionary_text import dictionary_end
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes.shape_rules.elementwise import comparison_types
from xla_explorer.hlo.shape import parse_shape
from xla_explorer.hlo.text.literal_text import read_literal
from xla_explorer.hlo.text.shape_text import read_shape

Fields = dict[str, Any]


def instruction_fields(i: HloInstruction) -> Fields:
    """Return the fields of all attributes of an instruction."""
    names = i.opcode.attributes
    fields: Fields = {}
    for name in (*names, *[one for one in COMMON if one not in names], "backend_config"):
        row = _ROWS.get(name)
        value = _value(i, name) if row is not None else None
        if row is not None and value is not None:
            fields |= row(value)
    for some, write in _MESSAGES:
        if not some.isdisjoint(names):
            fields |= write(i)
    return fields


def _value(i: HloInstruction, name: str) -> Any:
    """Return the value of an attribute, its default if it is absent, else None.

    A custom call has the attributes of several opcodes, none of them by default. Only the start of
    an asynchronous operation states its thread, in text.
    """
    while name == "async_execution_thread" and i.opcode.name in ("async-update", "async-done"):
        i = i.operands[0]
    if i.opcode.name == "custom-call":
        return i.attributes.get(name, "API_VERSION_ORIGINAL" if name == "api_version" else None)
    try:
        return i.attribute(name)
    except KeyError:
        return None


# -- rows: from the value of one attribute -----------------------------------------------------
def _field(field: str) -> Callable[[Any], Fields]:
    return lambda value: {field: list(value) if isinstance(value, tuple) else value}


def _one_dimension(value: int) -> Fields:
    return {"dimensions": [value]}


def _string(field: str) -> Callable[[str], Fields]:
    return lambda value: {field: unquoted(value)}


def _enumeration(field: str, words: tuple[str, ...]) -> Callable[[str], Fields]:
    return lambda value: {field: words.index(value)}


def _slices(value: Any) -> Fields:
    rows = [
        message(schema.SLICE_DIMENSION, start=one.start, limit=one.limit, stride=one.stride)
        for one in value
    ]
    return {"slice_dimensions": rows}


def _padding(value: Any) -> Fields:
    rows = [
        message(
            schema.PADDING_DIMENSION,
            edge_padding_low=one.low,
            edge_padding_high=one.high,
            interior_padding=one.interior,
        )
        for one in value
    ]
    return {"padding_config": message(schema.PADDING_CONFIG, dimensions=rows)}


def _window(value: Window) -> Fields:
    rows = [message(schema.WINDOW_DIMENSION, **one._asdict()) for one in value.dimensions]
    return {"window": message(schema.WINDOW, dimensions=rows)}


def _dim_labels(value: ConvolutionDimensionNumbers) -> Fields:
    numbers = message(
        schema.CONVOLUTION_DIMENSIONS,
        input_batch_dimension=value.input_batch,
        input_feature_dimension=value.input_feature,
        input_spatial_dimensions=list(value.input_spatial),
        kernel_input_feature_dimension=value.kernel_input_feature,
        kernel_output_feature_dimension=value.kernel_output_feature,
        kernel_spatial_dimensions=list(value.kernel_spatial),
        output_batch_dimension=value.output_batch,
        output_feature_dimension=value.output_feature,
        output_spatial_dimensions=list(value.output_spatial),
    )
    return {"convolution_dimension_numbers": numbers}


def _accuracy(value: str) -> Fields:
    if (mode := re.search(r"mode=(\w+)", value)) is not None:
        number = ACCURACY_MODES.index(mode[1])
        return {"result_accuracy": message(schema.RESULT_ACCURACY, mode=number)} if number else {}
    given = {name: float(number) for name, number in re.findall(r"(\w+)=([^,{}]+)", value)}
    tolerance = message(
        schema.TOLERANCE,
        atol=given.get("atol", 0.0),
        rtol=given.get("rtol", 0.0),
        ulps=int(given.get("ulps", 0)),
    )
    return {"result_accuracy": message(schema.RESULT_ACCURACY, tolerance=tolerance)}


def _sparsity(value: str) -> Fields:
    sides: Fields = {}
    for side, body in re.findall(r"(lhs|rhs)=\{([^{}]*)\}", value):
        given = dict(re.findall(r"(\w+)=(\w+)", body))
        nonzero, _, block = given.get("sparsity", "0x0").partition("x")
        sides[side] = message(
            schema.TENSOR_SPARSITY,
            num_non_zero=int(nonzero),
            block_size=int(block),
            dimension=int(given.get("dimension", 0)),
            stride=int(given.get("stride", 0)),
        )
    return {"sparsity_config": message(schema.SPARSITY, **sides)} if sides else {}


def _layout_constraints(value: str) -> Fields:
    shapes = parse_shape(f"({value[1:-1]})").tuple_shapes if value.strip("{} ") else ()
    return {
        "constrain_layout": True,
        "operand_shapes_with_layout": [shape_proto(one) for one in shapes],
    }


def _aliasing(value: Any) -> Fields:
    rows = [
        message(
            schema.ALIASING,
            output_shape_index=list(one.output_index),
            operand_index=one.operand_number,
            operand_shape_index=list(one.operand_index),
        )
        for one in value
    ]
    return {"output_operand_aliasing": rows}


def _api_version(value: str) -> Fields:
    return {"custom_call_api_version": API_VERSIONS.index(value.removeprefix("API_VERSION_"))}


def _literal(value: str) -> Fields:
    shape, end = read_shape(value, 0)
    return {"literal": literal_proto(read_literal(shape, value[end:].strip()))}


def _groups(value: ReplicaGroups) -> Fields:
    return device_groups_fields(value) if value.text != "{}" else {}


def _pairs(value: Any) -> Fields:
    rows = [message(schema.SOURCE_TARGET, source=source, target=target) for source, target in value]
    return {"source_target_pairs": rows}


def _domain(value: str) -> Fields:
    sides: Fields = {}
    # The proto calls the operand's side the exit; the text calls it the entry.
    for word, field in (("entry", "domain_exit_sharding"), ("exit", "domain_entry_sharding")):
        at = value.index(f"{word}={{") + len(word) + 1
        sides[field] = sharding_proto(value[at : dictionary_end(value, at)])
    return sides


def _replication(value: str) -> Fields:
    flags = [int(one == "true") for one in re.findall(r"true|false", value)]
    return {"parameter_replication": message(schema.REPLICATION, replicated_at_leaf_buffers=flags)}


def _config(value: str) -> Fields:
    text = unquoted(value)
    return {"backend_config": text} if text else {}


_ROWS: Final[dict[str, Callable[[Any], Fields]]] = {
    "dimensions": _field("dimensions"),
    "slice": _slices,
    "padding": _padding,
    "index": _field("tuple_index"),
    "iota_dimension": _one_dimension,
    "inferred_dimension": _one_dimension,
    "window": _window,
    "dim_labels": _dim_labels,
    "feature_group_count": _field("feature_group_count"),
    "batch_group_count": _field("batch_group_count"),
    "convolution_kind": _enumeration("conv_kind", CONVOLUTION_KINDS),
    "sparsity_config": _sparsity,
    "indices_are_sorted": _field("indices_are_sorted"),
    "unique_indices": _field("unique_indices"),
    "is_stable": _field("is_stable"),
    "k": _field("k"),
    "largest": _field("largest"),
    "direction": _field("comparison_direction"),
    "exponent_bits": _field("exponent_bits"),
    "mantissa_bits": _field("mantissa_bits"),
    "result_accuracy": _accuracy,
    "fft_type": _enumeration("fft_type", FFT_TYPES),
    "fft_length": _field("fft_length"),
    "epsilon": lambda value: {"epsilon": np.float32(value)},
    "feature_index": _field("feature_index"),
    "distribution": _enumeration("distribution", DISTRIBUTIONS),
    "delta": _field("delta"),
    "num_carries": _field("num_carries"),
    "is_reverse": _field("is_reverse"),
    "is_associative": lambda value: {"is_associative": 1 if value else 2},
    "kind": _field("fusion_kind"),
    "custom_call_target": _string("custom_call_target"),
    "operand_layout_constraints": _layout_constraints,
    "custom_call_has_side_effect": _field("custom_call_has_side_effect"),
    "output_to_operand_aliasing": _aliasing,
    "schedule": _enumeration("custom_call_schedule", SCHEDULES),
    "api_version": _api_version,
    "padding_type": _enumeration("padding_type", PADDING_TYPES),
    "literal": _literal,
    "is_composite": _field("is_composite"),
    "channel_id": _field("channel_id"),
    "replica_groups": _groups,
    "source_target_pairs": _pairs,
    "constrain_layout": _field("constrain_layout"),
    "use_global_device_ids": _field("use_global_device_ids"),
    "is_host_transfer": _field("is_host_transfer"),
    "infeed_config": _string("infeed_config"),
    "outfeed_shape": lambda value: {"outfeed_shape": shape_proto(parse_shape(value))},
    "outfeed_config": _string("outfeed_config"),
    "cross_program_prefetch_index": _field("cross_program_prefetch_index"),
    "domain": _domain,
    "async_execution_thread": _string("async_execution_thread"),
    "parameter_replication": _replication,
    "sharding": lambda value: {"sharding": sharding_proto(value)},
    "frontend_attributes": lambda value: (
        {"frontend_attributes": map_proto(value)} if value != "{}" else {}
    ),
    "statistics": lambda value: (
        {"statistics_viz": statistics_proto(value)} if value != "{}" else {}
    ),
    "origin": lambda value: {"original_value": original_value_proto(value)},
    "backend_config": _config,
}


# -- messages: from several attributes of an instruction ---------------------------------------
def _given(i: HloInstruction, kind: MessageType) -> dict[str, Any]:
    """Return the values of the attributes that are fields of a message under the same name."""
    found: dict[str, Any] = {}
    for name in kind.numbers:
        value = _value(i, name)
        if value is not None:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _dot(i: HloInstruction) -> Fields:
    dimensions = message(
        schema.DOT_DIMENSIONS,
        **{
            f"{side}_{what}_dimensions": list(i.attribute(f"{side}_{what}_dims"))
            for side in ("lhs", "rhs")
            for what in ("contracting", "batch")
        },
    )
    if i.opcode.name != "ragged-dot":
        return {"dot_dimension_numbers": dimensions}
    ragged = message(
        schema.RAGGED_DOT_DIMENSIONS,
        dot_dimension_numbers=dimensions,
        lhs_ragged_dimensions=list(i.attribute("lhs_ragged_dims")),
        rhs_group_dimensions=list(i.attribute("rhs_group_dims")),
    )
    return {"ragged_dot_dimension_numbers": ragged}


def _precision(i: HloInstruction) -> Fields:
    if i.opcode.name == "rng-bit-generator":
        word = _value(i, "algorithm")
        return {"rng_algorithm": RANDOM_ALGORITHMS.index(word) if word else 0}
    words, algorithm = _value(i, "operand_precision"), _value(i, "algorithm")
    if i.opcode.name == "custom-call" and not words:
        return {}
    words = words or ("default",) * len(i.operands)
    config = message(
        schema.PRECISION_CONFIG,
        operand_precision=[PRECISIONS.index(one) for one in words],
        algorithm=DOT_ALGORITHMS.index(algorithm) if algorithm else None,
    )
    return {"precision_config": config}


def _gather(i: HloInstruction) -> Fields:
    numbers = message(schema.GATHER_DIMENSIONS, **_given(i, schema.GATHER_DIMENSIONS))
    return {"gather_dimension_numbers": numbers}


def _scatter(i: HloInstruction) -> Fields:
    numbers = message(schema.SCATTER_DIMENSIONS, **_given(i, schema.SCATTER_DIMENSIONS))
    return {"scatter_dimension_numbers": numbers}


def _sizes(i: HloInstruction) -> Fields:
    rows = _value(i, "slice_sizes") or ()
    if i.opcode.name == "gather":
        return {"gather_slice_sizes": list(rows)}
    if i.opcode.name == "dynamic-slice":
        return {"dynamic_slice_sizes": list(i.attribute("dynamic_slice_sizes"))}
    return {"dynamic_slice_sizes": [size for row in rows for size in row]}


def _triangle(i: HloInstruction) -> Fields:
    if i.opcode.name == "cholesky":
        return {"cholesky_options": message(schema.CHOLESKY, lower=i.attribute("lower"))}
    options = message(
        schema.TRIANGULAR_SOLVE,
        left_side=i.attribute("left_side"),
        lower=i.attribute("lower"),
        unit_diagonal=i.attribute("unit_diagonal"),
        transpose_a=TRANSPOSES.index(i.attribute("transpose_a")),
    )
    return {"triangular_solve_options": options}


def _comparison(i: HloInstruction) -> Fields:
    implied = comparison_types(i.operands[0].shape.element_type)[0]
    return {"comparison_type": _value(i, "type") or implied}


_MESSAGES: Final[tuple[tuple[frozenset[str], Callable[[HloInstruction], Fields]], ...]] = (
    (frozenset({"lhs_contracting_dims"}), _dot),
    (frozenset({"operand_precision", "algorithm"}), _precision),
    (frozenset({"offset_dims"}), _gather),
    (frozenset({"update_window_dims"}), _scatter),
    (frozenset({"slice_sizes", "dynamic_slice_sizes"}), _sizes),
    (frozenset({"lower"}), _triangle),
    (frozenset({"type"}), _comparison),
    # jaxlib 0.12 has a top-k that is not stable; HLO text without the attribute means a stable one.
    (frozenset({"largest"}), lambda i: {"is_stable": i.attributes.get("is_stable") is not False}),
)
