"""Text codecs: one row per attribute name, in the order in which XLA prints them.

A codec turns the text after `=` into a hashable value and back. An attribute without a row can only
be given to the builder, and is kept as raw text: the parser refuses it, as XLA's does. Source:
hlo_parser.cc (attribute tables), hlo_instruction(s).cc (printing).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from xla_explorer.hlo.attributes.device_groups import read_replica_groups
from xla_explorer.hlo.attributes.dictionary_text import (
    read_backend_config,
    read_frontend_attributes,
)
from xla_explorer.hlo.attributes.dimension_text import (
    read_dim_labels,
    read_padding,
    read_slice,
    read_window,
    write_dim_labels,
    write_padding,
    write_slice,
    write_window,
)
from xla_explorer.hlo.attributes.number_lists import (
    as_integers,
    read_integer,
    read_integers,
    read_pairs,
    read_slice_sizes,
    write_integers,
    write_pairs,
    write_slice_sizes,
)
from xla_explorer.hlo.attributes.values import OperandAlias, ReplicaGroups, Window

_DEVICES = re.compile(
    r"devices=\s*\[\s*-?\d+\s*(?:,\s*-?\d+\s*)*\]\s*"
    r"(?:<=\s*\[\s*-?\d+\s*(?:,\s*-?\d+\s*)*\]\s*(?:T\(\s*\d+\s*(?:,\s*\d+\s*)*\))?|-?\d+\s*(?:,\s*-?\d+\s*)*)(?=[\s}])",
    re.ASCII,
)
_INDEX = r"\{\s*+((?:\d+\s*+(?:,\s*+|(?=\})))*+)\}"
_ALIAS = re.compile(
    rf"\s*+{_INDEX}\s*+:\s*+\(\s*+(\d+)\s*+,\s*+{_INDEX}\s*+\)\s*+(?:,|(?=\}}\s*+$))", re.ASCII
)


class AttributeCodec:
    """Reader and writer of one attribute. `read` raises ValueError with the expected form."""

    REQUIRED: ClassVar[Any] = object()
    __slots__ = ("default", "name", "rank", "read", "summary", "write")

    def __init__(
        self,
        name: str,
        read: Callable[[str], Any],
        write: Callable[[Any], str],
        default: Any,
        summary: str,
    ) -> None:
        self.name, self.read, self.write, self.default, self.summary = (
            name,
            read,
            write,
            default,
            summary,
        )
        self.rank = 0


def _read_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"expects true or false but sees {text}")
    return text == "true"


def _write_bool(value: bool) -> str:
    return "true" if value else "false"


def _read_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expects a number but sees {text}") from None


def _write_float(value: float) -> str:
    return f"{value:.17g}" if float(f"{value:.6g}") != value else f"{value:.6g}"


def _one_of(what: str, *choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expects {what} ({', '.join(choices)}) but sees: {text}")
        return text

    return read


def _read_one_string(text: str) -> str:
    if not re.fullmatch(r"""\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*""", text):
        raise ValueError(f"{text} is not one string in quotes")
    return text


def _read_result_accuracy(text: str) -> str:
    mode = re.search(r"mode\s*=\s*(\w*)", text)
    if mode is not None and mode.group(1).lower() not in ("default", "highest"):
        raise ValueError(
            f"expects a mode (default, highest) or tolerance={{...}} but sees: {mode.group(1)}"
        )
    if mode is not None:
        return f"{{mode={mode.group(1).lower()}}}"
    given = dict(re.findall(r"(atol|rtol|ulps)\s*=\s*([^\s,{}]+)", text))
    return (
        "{tolerance={"
        + ",".join([f"{name}={float(given.get(name, 0)):g}" for name in ("atol", "rtol", "ulps")])
        + "}}"
    )


def _read_shapes(text: str) -> str:
    return (
        "{" + re.sub(r"\s*,\s+|\s+,", ", ", text[1:-1].strip()) + "}"
        if text.startswith("{") and text.endswith("}")
        else text
    )


def _write_replica_groups(value: ReplicaGroups) -> str:
    return value.text


_ALL_DEVICES = ReplicaGroups((), "{}")


def _read_aliasing(text: str) -> tuple[OperandAlias, ...]:
    """Read aliases as XLA does: a comma may follow the last entry."""
    found, at = [], 1
    while (entry := _ALIAS.match(text, at)) is not None:
        found.append(
            OperandAlias(_tuple_index(entry[1]), read_integer(entry[2]), _tuple_index(entry[3]))
        )
        at = entry.end()
    if not text.startswith("{") or text[at:].strip() != "}":
        raise ValueError(f"expects a list such as {{{{0}}: (1, {{}})}} but sees {text}")
    return tuple(found)


def _tuple_index(text: str) -> tuple[int, ...]:
    pieces = text.split(",")
    return as_integers(pieces if pieces[-1].strip() else pieces[:-1])


def _write_aliasing(value: tuple[OperandAlias, ...]) -> str:
    entries = [
        f"{write_integers(out)}: ({number}, {write_integers(inside)})"
        for out, number, inside in value
    ]
    return "{" + ", ".join(entries) + "}"


def _read_sharding(text: str) -> str:
    """Return the text unchanged, after a check that its lists of devices are lists."""
    for place in re.finditer(r"\bdevices=", text):
        if _DEVICES.match(text, place.start()) is None:
            raise ValueError(
                "expects devices=[2,1]0,1 or devices=[2,1]<=[2] but sees "
                f"{text[place.start() : place.start() + 60]}"
            )
    return text


def _read_precisions(text: str) -> tuple[str, ...]:
    names = tuple([n.strip().lower() for n in text.strip("{} ").split(",") if n.strip()])
    for name in names:
        if name not in ("default", "high", "highest", "packed_nibble"):
            raise ValueError(
                f"expects a precision (default, high, highest, packed_nibble) but sees: {name}"
            )
    return () if all(n == "default" for n in names) else names


def _write_names(value: tuple[str, ...]) -> str:
    return "{" + ",".join(value) + "}"


def _raw(text: str) -> str:
    return text


RawCodec = AttributeCodec("", _raw, str, AttributeCodec.REQUIRED, "kept as text")
_REQUIRED = AttributeCodec.REQUIRED


def _integers(name: str, summary: str, default: Any = _REQUIRED) -> AttributeCodec:
    return AttributeCodec(name, read_integers, write_integers, default, summary)


def _integer(name: str, summary: str, default: Any = _REQUIRED) -> AttributeCodec:
    return AttributeCodec(name, read_integer, str, default, summary)


def _flag(name: str, summary: str) -> AttributeCodec:
    return AttributeCodec(name, _read_bool, _write_bool, False, summary)


def _read_algorithm(text: str) -> str | None:
    return None if text == "unset" else _raw(text)


def _text(name: str, summary: str, default: Any = None) -> AttributeCodec:
    return AttributeCodec(name, _raw, str, default, summary)


# In XLA's printing order. A default of None means "absent"; REQUIRED means that `Attributes.value`
# raises when absent.
_ROWS = (
    _integers(
        "dimensions",
        "dimensions that the operation works along, or the mapping of a broadcast, or a "
        "permutation",
        (),
    ),
    AttributeCodec(
        "slice", read_slice, write_slice, _REQUIRED, "start, limit and stride of each dimension"
    ),
    _integers("dynamic_slice_sizes", "sizes of the slice taken"),
    AttributeCodec(
        "padding", read_padding, write_padding, _REQUIRED, "low_high[_interior] of each dimension"
    ),
    _integer("index", "which element of the tuple"),
    _integer("iota_dimension", "the dimension along which the values count"),
    _integer("inferred_dimension", "the dimension whose size a dynamic reshape infers", None),
    AttributeCodec(
        "window",
        read_window,
        write_window,
        Window(()),
        "size, stride, padding and dilation of each dimension",
    ),
    AttributeCodec(
        "dim_labels",
        read_dim_labels,
        write_dim_labels,
        _REQUIRED,
        "which dimension is batch, feature, spatial",
    ),
    _integer("feature_group_count", "number of groups of features", 1),
    _integer("batch_group_count", "number of groups of batches", 1),
    _text("convolution_kind", "fprop, wgrad, dgrad or unset", "unset"),
    _text("conv_kind", "fprop, wgrad, dgrad or unset", "unset"),
    _integers("lhs_batch_dims", "batch dimensions of the left side", ()),
    _integers("lhs_contracting_dims", "contracted dimensions of the left side", ()),
    _integers("rhs_batch_dims", "batch dimensions of the right side", ()),
    _integers("rhs_contracting_dims", "contracted dimensions of the right side", ()),
    _integers("lhs_ragged_dims", "ragged dimension of the left side", ()),
    _integers("rhs_group_dims", "group dimension of the right side", ()),
    AttributeCodec(
        "operand_precision", _read_precisions, _write_names, (), "requested precision, per operand"
    ),
    AttributeCodec(
        "algorithm", _read_algorithm, str, None, "algorithm of a dot or of a random bit generator"
    ),
    _text("sparsity_config", "which elements of a convolution's operands are not zero", "{}"),
    _integers("offset_dims", "result dimensions that run inside a slice"),
    _integers("collapsed_slice_dims", "slice dimensions dropped", ()),
    _integers("start_index_map", "operand dimension of each index component"),
    _integers("update_window_dims", "update dimensions that run inside a window"),
    _integers("inserted_window_dims", "window dimensions of size one that updates lack", ()),
    _integers("scatter_dims_to_operand_dims", "operand dimension of each index component"),
    _integers("operand_batching_dims", "batch dimensions of the operand", ()),
    _integers("start_indices_batching_dims", "batch dimensions of the indices", ()),
    _integers("input_batching_dims", "batch dimensions of the operand", ()),
    _integers("scatter_indices_batching_dims", "batch dimensions of the indices", ()),
    _integer("index_vector_dim", "dimension of the indices that holds the index vector"),
    AttributeCodec(
        "slice_sizes", read_slice_sizes, write_slice_sizes, (), "sizes of the slices gathered"
    ),
    _flag("indices_are_sorted", "promise that indices are sorted"),
    _flag("unique_indices", "promise that no index repeats"),
    _flag("is_stable", "equal keys keep their order"),
    _integer("k", "how many elements topk returns"),
    AttributeCodec("largest", _read_bool, _write_bool, True, "whether topk takes the largest"),
    AttributeCodec(
        "direction",
        _one_of("comparison direction", "EQ", "NE", "LT", "LE", "GT", "GE"),
        str,
        _REQUIRED,
        "which comparison",
    ),
    AttributeCodec(
        "type",
        _one_of("comparison type", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
        str,
        None,
        "order of the comparison",
    ),
    _integer("exponent_bits", "bits of the exponent kept"),
    _integer("mantissa_bits", "bits of the mantissa kept"),
    AttributeCodec(
        "result_accuracy",
        _read_result_accuracy,
        str,
        "{mode=default}",
        "requested accuracy of a transcendental function",
    ),
    _text("fft_type", "FFT, IFFT, RFFT or IRFFT", _REQUIRED),
    _integers("fft_length", "sizes transformed"),
    _flag("lower", "the lower triangle is meant"),
    _flag("left_side", "the triangular matrix is on the left"),
    _flag("unit_diagonal", "the diagonal counts as ones"),
    _text("transpose_a", "NO_TRANSPOSE, TRANSPOSE or ADJOINT", "NO_TRANSPOSE"),
    AttributeCodec("epsilon", _read_float, _write_float, _REQUIRED, "added to the variance"),
    _integer("feature_index", "the feature dimension"),
    _text("distribution", "rng_uniform or rng_normal", _REQUIRED),
    _integer("delta", "how far the state moves"),
    _integer("num_carries", "number of carried values"),
    _flag("is_reverse", "scan from the end"),
    _flag("is_associative", "the combiner is associative"),
    AttributeCodec(
        "kind",
        _one_of("fusion kind", "kLoop", "kInput", "kOutput", "kCustom"),
        str,
        None,
        "how the fusion is emitted",
    ),
    _text("custom_call_target", "name of the function called", _REQUIRED),
    AttributeCodec(
        "operand_layout_constraints", _read_shapes, str, None, "layouts that the callee requires"
    ),
    _flag("custom_call_has_side_effect", "must not be removed or repeated"),
    AttributeCodec(
        "output_to_operand_aliasing",
        _read_aliasing,
        _write_aliasing,
        (),
        "outputs that live in operands",
    ),
    _text("schedule", "SCHEDULE_NONE, SCHEDULE_EARLIEST or SCHEDULE_LATEST"),
    _text("api_version", "calling convention of a custom call"),
    _text("padding_type", "padding of a custom-call convolution"),
    _text("literal", "literal of a custom call"),
    _flag("is_composite", "the call represents one composite operation"),
    _integer("channel_id", "channel of a collective or transfer", None),
    AttributeCodec(
        "replica_groups",
        read_replica_groups,
        _write_replica_groups,
        _ALL_DEVICES,
        "devices that take part together",
    ),
    AttributeCodec(
        "source_target_pairs",
        read_pairs,
        write_pairs,
        _REQUIRED,
        "pairs of source and target devices",
    ),
    _flag("constrain_layout", "operand layouts are fixed"),
    _flag("use_global_device_ids", "ids count over replicas and partitions"),
    _flag("is_host_transfer", "the other end is the host"),
    _text("infeed_config", "opaque configuration"),
    _text("outfeed_shape", "shape sent"),
    _text("outfeed_config", "opaque configuration"),
    _integer("cross_program_prefetch_index", "prefetch slot", None),
    _text("domain", "what a domain marks"),
    AttributeCodec(
        "async_execution_thread",
        _read_one_string,
        str,
        '"main"',
        "thread of the asynchronous computation",
    ),
    _text("parameter_replication", "which leaves are replicated"),
    AttributeCodec("sharding", _read_sharding, str, None, "how the value is spread over devices"),
    AttributeCodec(
        "frontend_attributes",
        read_frontend_attributes,
        str,
        "{}",
        "attributes of the frontend, which are kept",
    ),
    _text("statistics", "numbers for visualisation", "{}"),
    _text("origin", "the value of the original module"),
    AttributeCodec("backend_config", read_backend_config, str, '""', "what the backend decided"),
)

CODECS: dict[str, AttributeCodec] = {row.name: row for row in _ROWS}
for _number, _row in enumerate(_ROWS):
    _row.rank = _number

# Attributes that XLA prints after the called computations ("sharding") or after the metadata
# ("backend").
TRAILING: dict[str, str] = {
    "is_composite": "sharding",
    "parameter_replication": "sharding",
    "sharding": "sharding",
    "frontend_attributes": "sharding",
    "statistics": "backend",
    "origin": "sharding",
    "backend_config": "backend",
}
