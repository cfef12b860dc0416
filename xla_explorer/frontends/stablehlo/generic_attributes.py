"""Words and fields of custom forms as attributes of the generic form.

Source: the assembly formats of StablehloOps.td and ChloOps.td.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xla_explorer.frontends.stablehlo.attributes import Dictionary, Symbol
from xla_explorer.frontends.stablehlo.parser import Parser
from xla_explorer.frontends.stablehlo.program import Operation

_WINDOW = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
_FORMAT = re.compile(r"e(\d+)m(\d+)")


def make_generic(parser: Parser, operation: Operation, short: str) -> None:
    """Replace an operation's words and fields by attributes of the generic form.

    short: the name without the dialect.
    """
    if short in _CHANGES:
        _CHANGES[short](parser, operation)


def _compare(parser: Parser, operation: Operation) -> None:
    words = operation.words
    if words:
        operation.attributes["comparison_direction"] = words[0]
    if len(words) > 1:
        operation.attributes["compare_type"] = words[1]


def _select(parser: Parser, operation: Operation) -> None:
    if operation.operand_types is None:
        operation.types = operation.types[-1:]


def _name(parser: Parser, operation: Operation) -> None:
    attribute = "name" if operation.name.endswith("composite") else "call_target_name"
    operation.attributes[attribute] = str(operation.words[0]) if operation.words else ""


def _reduce_precision(parser: Parser, operation: Operation) -> None:
    if "format" not in operation.attributes:
        return
    m = _FORMAT.fullmatch(str(operation.attributes.pop("format")))
    if m is None:
        parser.reader.fail("expected a format such as e5m10", "write format = e5m10", operation.at)
    operation.attributes.update(exponent_bits=int(m.group(1)), mantissa_bits=int(m.group(2)))


def _dot_general(parser: Parser, operation: Operation) -> None:
    given = operation.attributes
    contracting, batching = given.pop("contracting", ((), ())), given.pop("batching", ((), ()))
    given["dot_dimension_numbers"] = Dictionary(
        lhs_batching_dimensions=batching[0],
        rhs_batching_dimensions=batching[1],
        lhs_contracting_dimensions=contracting[0],
        rhs_contracting_dimensions=contracting[1],
    )


def _convolution(parser: Parser, operation: Operation) -> None:
    for name, value in operation.attributes.pop("window", Dictionary()).items():
        operation.attributes[_WINDOW.get(name, name)] = value


def _call(parser: Parser, operation: Operation) -> None:
    operation.attributes["callee"] = operation.words[0] if operation.words else Symbol("")


def _return(parser: Parser, operation: Operation) -> None:
    operation.types = ()


_CHANGES: dict[str, Callable[[Parser, Operation], None]] = {
    "compare": _compare,
    "broadcast_compare": _compare,
    "select": _select,
    "custom_call": _name,
    "composite": _name,
    "reduce_precision": _reduce_precision,
    "dot_general": _dot_general,
    "convolution": _convolution,
    "dynamic_conv": _convolution,
    "call": _call,
    "return": _return,
}
