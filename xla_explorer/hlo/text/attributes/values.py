"""Grammar of attribute values: a reader passes one value and returns the spelling of its codec.

Source: hlo_parser.cc ParseAttributeHelper and the readers that it calls.
"""

from __future__ import annotations

import re
from typing import Final

from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.attributes.header_values import (
    computation_layout,
    donors,
    module_aliasing,
    recovery_table,
)
from xla_explorer.hlo.text.attributes.original_values import original_value
from xla_explorer.hlo.text.attributes.pieces import (
    Reader,
    boolean,
    boolean_or_list,
    booleans,
    entries,
    integer,
    integer_lists,
    integers,
    listed,
    metadata,
    real,
    shape,
    small_integer,
    sparsity_config,
    string,
    string_or_dictionary,
    sub_attributes,
    tuple_index,
    word_of,
)
from xla_explorer.hlo.text.attributes.shardings import device_groups, sharding
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.literal_tokens import literal_text
from xla_explorer.hlo.text.shape_text import shape_of
from xla_explorer.hlo.text.tokens import ATTRIBUTE, DIM_LABELS, DXD, END, INT, PAD, Tokens

_precision = word_of("a precision", "default", "high", "highest", "packed_nibble", any_case=True)
DOT_ALGORITHMS: Final = (
    "unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9", "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",    "dot_f32_f32_f32", "dot_f64_f64_f64",
)  # fmt: skip


def precisions(tokens: Tokens) -> str:
    """Parse a list of operand precisions: `{default,highest}`."""
    return "{" + ",".join(listed(tokens, _precision)) + "}"


# -- lists that mean something ---------------------------------------------------------------------
def pairs(tokens: Tokens) -> str:
    """Parse a list of pairs: `{{0,1},{1,0}}`."""
    at = tokens.start
    text = integer_lists(tokens)
    if any(row.count(",") != 1 for row in re.findall(r"\{([^{}]*)\}", text[1:-1])):
        raise TextError(
            "expects a list of pairs",
            at,
            "write pairs of source and target such as {{0,1},{1,0}}",
            tokens.previous_end - at,
        )
    return text


# -- windows, labels, paddings, slices -------------------------------------------------------------
_WINDOW_FIELDS = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")


def window(tokens: Tokens) -> str:
    """Parse a window: `{size=3x3 stride=2x2 pad=0_1x0_1}`."""
    start = tokens.start
    tokens.expect("{", "a window such as {size=3x3 stride=2x2 pad=0_1x0_1}")
    fields: dict[str, str] = {}
    while tokens.kind != "}":
        at, name = (
            tokens.start,
            tokens.expect(
                ATTRIBUTE,
                "a field of the window, such as size=",
                "fields are separated by blanks: {size=3 pad=1_1}",
            ),
        )
        if name not in _WINDOW_FIELDS:
            raise TextError(
                f"unknown window field {name}",
                at,
                f"a window has {', '.join(_WINDOW_FIELDS)}",
                len(name),
            )
        if name in fields:
            raise TextError(
                f"sub-attribute '{name}=' already exists", at, "keep one of the two", len(name)
            )
        if name == "pad":
            fields[name] = tokens.expect(PAD, "padding such as 0_0x3_3")
            if any(part.count("_") != 1 for part in fields[name].split("x")):
                raise TextError(
                    "expects padding_low and padding_high separated by '_'",
                    at,
                    "a window has no interior padding",
                    len(name),
                )
        elif tokens.kind == DXD:
            fields[name] = tokens.expect(DXD)
        else:
            fields[name] = str(tokens.integer())
    tokens.advance()
    count = fields["size"].count("x") if "size" in fields else -1
    for name, value in fields.items():
        if value.count("x") != count:
            raise TextError(
                f"expects '{name}=' has the same size as 'size='",
                start,
                "give each dimension its number",
                tokens.previous_end - start,
            )
    return (
        "{"
        + " ".join([f"{name}={fields[name]}" for name in _WINDOW_FIELDS if name in fields])
        + "}"
    )


def dim_labels(tokens: Tokens) -> str:
    """Parse dimension labels: `b01f_01io->b01f`."""
    return tokens.expect(DIM_LABELS, "dimension labels such as b01f_01io->b01f")


def padding(tokens: Tokens) -> str:
    """Parse a padding: `0_0_0x3_3_1`."""
    return tokens.expect(PAD, "a padding such as 0_0_0x3_3_1")


def _range(tokens: Tokens) -> str:
    at = tokens.start
    tokens.expect("[", "[start:limit] or [start:limit:stride]")
    numbers = [integer(tokens)]
    while tokens.eat(":"):
        numbers.append(integer(tokens))
    tokens.expect("]", "':' or ']'")
    if len(numbers) not in (2, 3):
        raise TextError(
            f"expects [start:limit] or [start:limit:stride] but sees {len(numbers)} numbers",
            at,
            "",
            tokens.previous_end - at,
        )
    return f"[{':'.join(numbers)}]"


def slices(tokens: Tokens) -> str:
    """Parse a list of slices: `{[0:2], [1:9:3]}`."""
    return "{" + ", ".join(listed(tokens, _range, what="a list such as {[0:2], [1:9:3]}")) + "}"


# -- shapes and aliases ----------------------------------------------------------------------------
def shapes(tokens: Tokens) -> str:
    """Parse a list of shapes: `{f32[4]{0}}`."""
    return "{" + ", ".join(listed(tokens, shape, what="a list of shapes such as {f32[4]{0}}")) + "}"


def literal(tokens: Tokens) -> str:
    """Parse a literal with its shape, or a tuple of literals."""
    if tokens.kind == "(":  # a tuple whose elements state their shapes
        return "(" + ", ".join(listed(tokens, literal, "(", ")")) + ")"
    one: Shape = shape_of(tokens)
    return f"{one.text} {literal_text(one, tokens)}"


def _alias(tokens: Tokens) -> str:
    output = tuple_index(tokens)
    tokens.expect(":", "':' between the index of the output and (operand, {index})")
    tokens.expect("(", "(operand, {index})")
    number = integer(tokens)
    tokens.expect(",", "',' and the index inside the operand")
    inside = tuple_index(tokens)
    tokens.expect(")", "')'")
    return f"{output}: ({number}, {inside})"


def aliasing(tokens: Tokens) -> str:
    """Parse the aliases of an instruction: `{{0}: (1, {})}`."""
    return "{" + ", ".join(entries(tokens, _alias, "a list such as {{0}: (1, {})}")) + "}"


# -- dictionaries ----------------------------------------------------------------------------------
def frontend_attributes(tokens: Tokens) -> str:
    """Parse frontend attributes: `{name="text",other={...}}`."""

    def entry(tokens: Tokens) -> str:
        name = tokens.expect(ATTRIBUTE, "the name of a frontend attribute and '='")
        return f"{name}={string_or_dictionary(tokens)}"

    return "{" + ",".join(listed(tokens, entry)) + "}"


def statistics(tokens: Tokens) -> str:
    """Parse statistics: `{visualizing_index=0,name=1.5}`; an index alone is dropped."""
    found: list[str] = []

    def entry(tokens: Tokens) -> str:
        name = tokens.expect(ATTRIBUTE, "the name of a statistic and '='")
        if tokens.kind != INT and (not found or tokens.kind != "decimal"):
            raise tokens.problem("an integer" if not found else "a number")
        found.append(name if found else "visualizing_index")
        return f"{found[-1]}={_as_double(tokens.number()) if len(found) > 1 else integer(tokens)}"

    entries_read = listed(tokens, entry)
    return (
        "{" + ",".join(entries_read) + "}" if len(entries_read) > 1 else "{}"
    )  # an index without statistics is dropped


def _as_double(text: str) -> str:
    return f"{float(text):g}"


_mode = word_of("a mode", "default", "highest", any_case=True)


def result_accuracy(tokens: Tokens) -> str:
    """Parse a result accuracy: `{mode=...}` or `{tolerance={...}}`."""
    tokens.expect("{", "{mode=...} or {tolerance={...}}")
    at, name = tokens.start, tokens.expect(ATTRIBUTE, "mode= or tolerance=")
    if name == "mode":
        value = f"{{mode={_mode(tokens)}}}"
    elif name == "tolerance":
        given = {"atol": "0", "rtol": "0", "ulps": "0"}

        def entry(tokens: Tokens) -> str:
            at, name = tokens.start, tokens.expect(ATTRIBUTE, "atol=, rtol= or ulps=")
            if name not in given:
                raise TextError(
                    f"invalid attribute name: {name}",
                    at,
                    "a tolerance has atol, rtol and ulps",
                    len(name),
                )
            given[name] = tokens.number()
            return ""

        listed(tokens, entry)
        value = (
            "{tolerance={" + ",".join([f"{name}={number}" for name, number in given.items()]) + "}}"
        )
    else:
        raise TextError(
            f"invalid attribute name: {name}", at, "write mode= or tolerance=", len(name)
        )
    tokens.expect("}", "'}'")
    return value


def domain(tokens: Tokens) -> str:
    """Parse a sharding domain: `{kind="sharding", entry={...}, exit={...}}`."""
    start = tokens.start
    readers = {"kind": string, "entry": sharding, "exit": sharding}
    found = sub_attributes(tokens, readers)
    for name in readers:
        if name not in found:
            raise TextError(
                f"sub-attribute {name} is expected but not seen",
                start,
                'write {kind="sharding", entry={...}, exit={...}}',
            )
    if found["kind"] != '"sharding"':
        raise TextError(
            f"unsupported domain kind: {found['kind']}",
            start,
            'write kind="sharding"',
            tokens.previous_end - start,
        )
    return "{" + ", ".join([f"{name}={found[name]}" for name in readers]) + "}"


_RNG = word_of("a random algorithm", "rng_default", "rng_three_fry", "rng_philox", any_case=True)
_MODES = word_of(
    "a mode of collectives",
    "cross_replica",
    "cross_partition",
    "cross_replica_and_partition",
    "flattened_id",
)

# By name of the attribute, or by (opcode, name) if an opcode reads it differently.
READERS: dict[str | tuple[str, str], Reader] = {
    **dict.fromkeys(
        (
            "dimensions", "dynamic_slice_sizes", "lhs_batch_dims", "lhs_contracting_dims", "rhs_batch_dims", "rhs_contracting_dims",
            "lhs_ragged_dims", "rhs_group_dims", "offset_dims", "collapsed_slice_dims", "start_index_map", "update_window_dims",
            "inserted_window_dims", "scatter_dims_to_operand_dims", "operand_batching_dims", "start_indices_batching_dims",
            "input_batching_dims", "scatter_indices_batching_dims", "slice_sizes", "fft_length",
        ),
        integers,
    ),
    **dict.fromkeys(
        (
            "index", "iota_dimension", "inferred_dimension", "feature_group_count", "batch_group_count", "index_vector_dim", "k",
            "exponent_bits", "mantissa_bits", "feature_index", "delta", "num_carries", "channel_id", "replica_count", "num_partitions",
        ),
        integer,
    ),
    **dict.fromkeys(
        (
            "indices_are_sorted", "unique_indices", "is_stable", "largest", "lower", "left_side", "unit_diagonal", "is_reverse",
            "is_associative", "custom_call_has_side_effect", "is_composite", "constrain_layout", "use_global_device_ids",
            "is_host_transfer", "is_scheduled", "alias_passthrough_params",
        ),
        boolean,
    ),
    **dict.fromkeys(("custom_call_target", "infeed_config", "outfeed_config", "async_execution_thread", "execution_thread"), string),
    **dict.fromkeys(("allow_spmd_sharding_propagation_to_parameters", "allow_spmd_sharding_propagation_to_output"), boolean_or_list),
    ("collective-permute", "slice_sizes"): integer_lists,
    ("collective-permute-start", "slice_sizes"): integer_lists,
    ("rng-bit-generator", "algorithm"): _RNG,
    ("compare", "order"): word_of("comparison order", "PARTIAL", "TOTAL"),
    "slice": slices,
    "padding": padding,
    "window": window,
    "dim_labels": dim_labels,
    "convolution_kind": word_of("a convolution kind", "fprop", "wgrad", "dgrad", "unset"),
    "conv_kind": word_of("a convolution kind", "fprop", "wgrad", "dgrad", "unset"),
    "operand_precision": precisions,
    "sparsity_config": sparsity_config,
    "algorithm": word_of("an algorithm", *DOT_ALGORITHMS, any_case=True),
    "direction": word_of("comparison direction", "EQ", "NE", "LT", "LE", "GT", "GE"),
    "type": word_of("comparison type", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
    "result_accuracy": result_accuracy,
    "fft_type": word_of("fft type", "FFT", "IFFT", "RFFT", "IRFFT"),
    "transpose_a": word_of("transposition", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "epsilon": real,
    "distribution": word_of("random distribution", "rng_uniform", "rng_normal", "rng_invalid", any_case=True),
    "kind": word_of("fusion kind", "kLoop", "kInput", "kOutput", "kCustom"),
    "operand_layout_constraints": shapes,
    "output_to_operand_aliasing": aliasing,
    "schedule": word_of("custom-call schedule", "SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST", any_case=True),
    "api_version": word_of(
        "custom-call API version", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI", any_case=True,
    ),
    "padding_type": word_of("padding type", "PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"),
    "literal": literal,
    "mode": _MODES,
    "replica_groups": device_groups,
    "source_target_pairs": pairs,
    "outfeed_shape": shape,
    "cross_program_prefetch_index": small_integer,
    "domain": domain,
    "parameter_replication": booleans,
    "sharding": sharding,
    "frontend_attributes": frontend_attributes,
    "statistics": statistics,
    "origin": original_value,
    "metadata": metadata,
    ("HloModule", "input_output_alias"): module_aliasing,
    ("HloModule", "buffer_donor"): donors,
    ("HloModule", "entry_computation_layout"): computation_layout,
    ("HloModule", "origin_recovery_table"): recovery_table,
    "backend_config": string_or_dictionary,
}  # fmt: skip

_RANGE = r"\[[0-9]{1,18}:[0-9]{1,18}(?::[0-9]{1,18})?+\]"
_NUMBERS = re.compile(r"\{(?:[0-9]{1,18}(?:,[0-9]{1,18})*+)?+\}")
# Values in XLA's own spelling, which need no reading. These attributes differ most between lines.
ORDINARY: dict[Reader, re.Pattern[str]] = {
    integers: _NUMBERS,
    integer: re.compile(r"[0-9]{1,18}"),
    boolean: re.compile(r"true|false"),
    slices: re.compile(rf"\{{{_RANGE}(?:, {_RANGE})*+\}}"),
    string: re.compile(r'"[^"\\\x00-\x1f\x7f]*+"'),
    dim_labels: re.compile(r"b[0-9]*+f_[0-9]*+io->b[0-9]*+f"),
}


def reader_of(opcode_name: str, name: str) -> Reader | None:
    """Return the reader of an attribute; None for an unknown one."""
    return READERS.get((opcode_name, name)) or READERS.get(name)


def canonical_value(opcode_name: str, name: str, text: str) -> str:
    """Return the value of an attribute in the spelling of its codec.

    TextError (offsets in `text`) for any other text.
    """
    reader = reader_of(opcode_name, name)
    if reader is None:
        return text
    ordinary = ORDINARY.get(reader)
    if ordinary is not None and ordinary.fullmatch(text):
        return text
    tokens = Tokens(text)
    value = reader(tokens)
    tokens.expect(END, "the end of the value")
    return value
