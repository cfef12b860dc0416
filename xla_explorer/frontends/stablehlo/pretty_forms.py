"""Custom forms of StableHLO, MHLO and CHLO, read into the attributes of the generic form.

Nearly all of them are a list of operands, bare words and `name = value` pairs, then `{attributes} :
type`; `FIELDS` maps each name to an attribute. The others have a reader each. Source: the assembly
formats of StablehloOps.td and ChloOps.td.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from xla_explorer.frontends.stablehlo.attributes import (
    Dictionary,
    Keyword,
    Symbol,
    read_attribute,
    read_convolution_numbers,
    read_dictionary,
    read_fields,
    read_list,
)
from xla_explorer.frontends.stablehlo.errors import NEEDS_JAX, scalar_constant
from xla_explorer.frontends.stablehlo.generic_attributes import make_generic
from xla_explorer.frontends.stablehlo.locations import skip_location
from xla_explorer.frontends.stablehlo.parser import Parser
from xla_explorer.frontends.stablehlo.program import CONSTANTS, Argument, Operation, Region, Use
from xla_explorer.frontends.stablehlo.reader import STRING, WORD
from xla_explorer.frontends.stablehlo.types import integer, read_type
from xla_explorer.hlo.literal import Literal

# operation -> {name in its own form: attribute}
FIELDS: dict[str, dict[str, str]] = {
    "broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "dynamic_broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "transpose": {"dims": "permutation"},
    "reverse": {"dims": "dimensions"},
    "iota": {"dim": "iota_dimension"},
    "dynamic_iota": {"dim": "iota_dimension"},
    "concatenate": {"dim": "dimension"},
    "get_dimension_size": {"dim": "dimension"},
    "set_dimension_size": {"dim": "dimension"},
    "broadcast": {"sizes": "broadcast_sizes"},
    "dynamic_slice": {"sizes": "slice_sizes"},
    "pad": {"low": "edge_padding_low", "high": "edge_padding_high", "interior": "interior_padding"},
    "fft": {"type": "fft_type", "length": "fft_length"},
    "rng": {"distribution": "rng_distribution"},
    "rng_bit_generator": {"algorithm": "rng_algorithm"},
    "dot": {"precision": "precision_config"},
    "dot_general": {
        "precision": "precision_config",
        "contracting_dims": "contracting",
        "batching_dims": "batching",
    },
    "convolution": {"dim_numbers": "dimension_numbers"},
    "dynamic_conv": {"dim_numbers": "dimension_numbers"},
    "einsum": {"config": "einsum_config"},
    "unary_einsum": {"config": "einsum_config"},
    "cholesky": {"lower": "lower"},
}
_PAIR = re.compile(r"x\s*(?=\[)")
_FIELD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)")
_SLICE = re.compile(r"(-?\d+)\s*:\s*(-?\d+)(?:\s*:\s*(-?\d+))?")
_DIALECTS = ("stablehlo", "mhlo", "chlo", "func", "sdy")


def read_custom_form(parser: Parser, operation: Operation) -> None:
    """Read the rest of an operation after its name, in its custom form."""
    reader = parser.reader
    name = operation.name
    if name in ("return", "call"):  # func's own, printed without the dialect inside a function
        operation.name = name = f"func.{name}"
    dialect, _, short = name.partition(".")
    if name in CONSTANTS:
        dialect, short, operation.name = "stablehlo", "constant", CONSTANTS[name]
    if dialect not in _DIALECTS:
        reader.refuse(
            "dialect",
            f"{name}: the dialect {dialect} is not StableHLO, MHLO or CHLO",
            f"lower {dialect} to StableHLO before export{NEEDS_JAX}",
            operation.at,
            len(name),
            dialect=dialect,
        )
    special = _SPECIAL.get(f"{dialect}.{short}", _shardy if dialect == "sdy" else None)
    if special is not None:
        special(parser, operation)
        return
    _pieces(parser, operation, FIELDS.get(short, {}))
    try:
        make_generic(parser, operation, short)
    except (TypeError, ValueError, AttributeError, IndexError):
        reader.fail(
            f"{name} is not written in a form that MLIR prints",
            f'compare with the specification, or write "{name}"(...)',
            operation.at,
            len(name),
        )


def _pieces(parser: Parser, operation: Operation, fields: dict[str, str]) -> None:
    """Read operands, words and fields up to the end of the operation."""
    reader = parser.reader
    while True:
        at = reader.skip()
        character = reader.text[at : at + 1]
        if character == ":":
            reader.at += 1
            parser.signature(operation)
            return
        if character == ",":
            reader.at += 1
        elif character == "(":
            reader.at += 1
            operation.operands += _parenthesis(parser, operation, fields)
        elif character in _PIECES and (character != "[" or operation.operands):
            _PIECES[character](parser, operation)
        elif (field := reader.take(_FIELD)) is not None:
            name = field.group(1)
            operation.attributes[fields.get(name, name)] = _field(parser, name)
        elif not operation.types and operation.name.endswith("return"):
            return
        elif operation.name.endswith("compare") and (word := reader.take(WORD)) is not None:
            operation.words.append(Keyword(word.group()))
        else:
            reader.fail(
                f"expected operands, attributes or ': type' of {operation.name}, found "
                f"{reader.found()}",
                f"compare with how MLIR prints {operation.name}, or write the generic form "
                f'"{operation.name}"(...)',
            )


def _operand(parser: Parser, operation: Operation) -> None:
    operation.operands.append(parser.use())
    if parser.reader.text.startswith("[", parser.reader.at):
        _slice_of(parser, operation)


def _dictionary(parser: Parser, operation: Operation) -> None:
    operation.attributes.update(read_dictionary(parser.reader))


def _symbol(parser: Parser, operation: Operation) -> None:
    operation.words.append(Symbol(parser.reader.symbol()))


def _string(parser: Parser, operation: Operation) -> None:
    operation.words.append(parser.reader.string())


def _parenthesis(parser: Parser, operation: Operation, fields: dict[str, str]) -> list[Use]:
    """Read `(%a, %b, k = 3)`."""
    reader, found = parser.reader, []
    while not reader.accept(")"):
        field = reader.take(_FIELD)
        if field is not None:
            operation.attributes[fields.get(field.group(1), field.group(1))] = _field(
                parser, field.group(1)
            )
        else:
            found.append(parser.use())
        if not reader.accept(","):
            reader.expect(")", "a list of operands")
            break
    return found


def _field(parser: Parser, name: str) -> Any:
    reader = parser.reader
    if name == "dim_numbers":
        return read_convolution_numbers(reader)
    if reader.peek("<"):
        return read_fields(reader, name)
    if (
        name == "type" and (word := reader.take(WORD)) is not None
    ):  # `complex` would be read as a type
        return Keyword(word.group())
    value = read_attribute(reader)
    if isinstance(value, tuple) and reader.take(_PAIR) is not None:
        return value, read_list(reader)
    return value


def _slice_of(parser: Parser, operation: Operation) -> None:
    """Read `[0:4:2, 1:3]` after the operand of a slice, or `[1]` of a get_tuple_element."""
    reader = parser.reader
    reader.expect("[", "a slice")
    starts, limits, strides = [], [], []
    while not reader.accept("]"):
        m = reader.take(_SLICE)
        if m is None:
            operation.attributes["index"] = integer(
                reader, "start:limit:stride, or the number of a tuple element"
            )
        else:
            starts.append(int(m.group(1)))
            limits.append(int(m.group(2)))
            strides.append(int(m.group(3) or 1))
        if not reader.accept(","):
            reader.expect("]", "a slice")
            break
    if "index" not in operation.attributes:
        operation.attributes.update(
            start_indices=tuple(starts), limit_indices=tuple(limits), strides=tuple(strides)
        )


# -- forms of their own ----------------------------------------------------------------------------
def _constant(parser: Parser, operation: Operation) -> None:
    reader = parser.reader
    if reader.peek("("):  # `constant() {value = ...} : () -> T`, which older printers wrote
        parser.generic(operation)
        return
    if reader.peek("{"):
        operation.attributes.update(read_dictionary(reader))
    at = reader.skip()
    value = read_attribute(reader)
    if not isinstance(value, Literal):
        if isinstance(value, int | float):
            scalar = " ".join(reader.text[at : reader.at].split())
            message, hint = scalar_constant(scalar)
            reader.refuse("constant", message, hint, at)
        reader.refuse(
            "constant",
            f"{operation.name} holds no dense literal",
            "write dense<...> : tensor<...>",
            at,
        )
    operation.attributes["value"] = value
    operation.types = (value.shape,)
    if reader.accept(":"):
        read_type(reader)


def _while(parser: Parser, operation: Operation) -> None:
    """Read `(%i = %0, ...) : types attributes {...} cond {...} do {...}`."""
    reader = parser.reader
    names: list[tuple[str, int]] = []
    reader.expect("(", "a while")
    while not reader.accept(")"):
        argument = parser.use()
        reader.expect("=", "a while")
        names.append((argument.name, argument.at))
        operation.operands.append(parser.use())
        if not reader.accept(","):
            reader.expect(")", "a while")
            break
    if reader.accept(":"):
        parser.signature(operation)
    if len(operation.types) != len(names):
        reader.fail(
            f"{len(names)} values are carried, but {len(operation.types)} types are given",
            "give one type for each value",
            operation.at,
            5,
        )
    if reader.keyword("attributes"):
        operation.attributes.update(read_dictionary(reader))
    for word in ("cond", "do"):
        if not reader.keyword(word):
            reader.fail(
                f"expected {word!r} and a region, found {reader.found()}",
                "write cond {...} do {...}",
            )
        arguments = [
            Argument(name, kind, Dictionary(), None, at)
            for (name, at), kind in zip(names, operation.types, strict=True)
        ]
        operation.regions.append(parser.region(arguments))


def _reduce(parser: Parser, operation: Operation) -> None:
    """Read `(%x init: %c), ... applies op across dimensions = [0] : type`, or one with a region."""
    reader = parser.reader
    inits: list[Use] = []
    while reader.accept("("):
        operation.operands.append(parser.use())
        reader.expect("init:", "a reduce")
        inits.append(parser.use())
        reader.expect(")", "a reduce")
        reader.accept(",")
    inner = None
    if reader.keyword("applies"):
        at = reader.skip()
        inner = Operation(
            reader.need(WORD, "the operation that reduces").group(), at, [("%result", 1)]
        )
    if not (reader.keyword("across") and reader.keyword("dimensions") and reader.accept("=")):
        reader.fail(
            f"expected 'across dimensions = [...]', found {reader.found()}",
            "write across dimensions = [0]",
        )
    operation.attributes["dimensions"] = read_list(reader)
    if reader.peek("{"):
        operation.attributes.update(read_dictionary(reader))
    reader.expect(":", "a reduce")
    parser.signature(operation)
    count = len(operation.operands)
    operation.operands += inits
    operation.location = skip_location(reader)
    if inner is None:
        if not reader.keyword("reducer"):
            reader.fail(
                f"expected 'reducer', found {reader.found()}",
                "write reducer(%a: tensor<f32>, %b: tensor<f32>) {...}",
            )
        pairs = []
        while reader.accept("("):
            pairs.append(parser.arguments())
        if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
            reader.fail(
                f"the reducer needs {count} pairs of arguments",
                "write one pair (accumulator, element) for each input",
            )
        operation.regions = [
            parser.region([pair[0] for pair in pairs] + [pair[1] for pair in pairs])
        ]
        return
    kind = operation.operand_types[-1] if operation.operand_types else operation.types[-1]
    inner.types = (kind,)
    inner.operands = [Use("%lhs", 0, inner.at), Use("%rhs", 0, inner.at)]
    inner.location = operation.location
    back = Operation("stablehlo.return", inner.at, [])
    back.operands = [Use("%result", 0, inner.at)]
    arguments = [
        Argument(name, kind, Dictionary(), operation.location, inner.at)
        for name in ("%lhs", "%rhs")
    ]
    operation.regions = [Region(arguments, [inner, back], inner.at)]


def _scan(parser: Parser, operation: Operation) -> None:
    """Read `chlo.scan(%x) inits (%c) dimension=0 attributes {...} {...} : types`."""
    reader = parser.reader
    reader.expect("(", "a scan")
    operation.operands = parser.uses(")")
    count = len(operation.operands)
    if not reader.keyword("inits"):
        reader.fail(f"expected 'inits', found {reader.found()}", "write inits (%c)")
    reader.expect("(", "a scan")
    operation.operands += parser.uses(")")
    operation.attributes["operandSegmentSizes"] = (count, len(operation.operands) - count)
    field = reader.take(_FIELD)
    while field is not None:
        operation.attributes[field.group(1)] = read_attribute(reader)
        field = reader.take(_FIELD)
    if reader.keyword("attributes"):
        operation.attributes.update(read_dictionary(reader))
    operation.regions = [parser.region()]
    reader.expect(":", "a scan")
    parser.signature(operation)


def _mesh(parser: Parser, operation: Operation) -> None:
    """Read `sdy.mesh @name = <["x"=2]>`."""
    reader = parser.reader
    name = reader.symbol()
    reader.expect("=", "a mesh")
    text = reader.balanced()
    if reader.peek("{"):
        read_dictionary(reader)
    operation.words = [name, text]


_OF_SHARDY = (
    "sharding_constraint",
    "reshard",
    "propagation_barrier",
    "sharding_group",
    "return",
    "manual_computation",
)


def _shardy(parser: Parser, operation: Operation) -> None:
    """Read an operation of Shardy such as `sdy.sharding_constraint %x <@mesh, [{}]> : type`.

    Unsupported operations are refused by name.
    """
    reader = parser.reader
    if operation.name.removeprefix("sdy.") not in _OF_SHARDY:
        reader.refuse(
            "sdy",
            f"{operation.name} is supported by Shardy's own lowering only",
            "lower with jax_use_shardy_partitioner off, or load through the extra jax",
            operation.at,
            len(operation.name),
        )
    if reader.peek("%"):
        operation.operands.append(parser.use())
        while reader.peek(","):
            reader.accept(",")
            if not reader.peek("%"):
                break
            operation.operands.append(parser.use())
    elif operation.name == "sdy.return":  # of a region without results; a place may follow
        return
    if reader.peek("<"):
        operation.words = [reader.balanced()]
    while not reader.peek(":"):
        reader.accept(",")
        if reader.take(_FIELD) is not None:
            read_attribute(reader)
        elif reader.take(STRING) is None and reader.take(WORD) is None:
            break
    reader.expect(":", operation.name)
    parser.signature(operation)
    if operation.name == "sdy.sharding_group":
        operation.types = ()


def _manual_computation(parser: Parser, operation: Operation) -> None:
    """Read a manual computation.

    Its form is `(%a, ...) in_shardings=[...] out_shardings=[...] manual_axes={...} (%x: type, ...)
    { ... } : (...) -> ...`.
    """
    reader = parser.reader
    reader.expect("(", "a manual computation (its operands)")
    operation.operands = parser.uses(")")
    while (field := reader.take(_FIELD)) is not None:
        operation.attributes[field.group(1)] = reader.balanced()
    reader.expect("(", "a manual computation (what its body takes)")
    arguments = parser.arguments()
    operation.regions = [parser.region(arguments)]
    if reader.peek("{"):
        operation.attributes.update(read_dictionary(reader))
    reader.expect(":", "a manual computation (its type)")
    parser.signature(operation)


_PIECES: dict[str, Callable[[Parser, Operation], None]] = {
    "%": _operand,
    "[": _slice_of,
    "{": _dictionary,
    "@": _symbol,
    '"': _string,
}
_SPECIAL = {
    "stablehlo.constant": _constant,
    "mhlo.constant": _constant,
    "chlo.constant": _constant,
    "stablehlo.while": _while,
    "mhlo.while": _while,
    "stablehlo.reduce": _reduce,
    "mhlo.reduce": _reduce,
    "chlo.scan": _scan,
    "sdy.mesh": _mesh,
    "sdy.manual_computation": _manual_computation,
}
