"""Parse the header of a computation: `ENTRY %main (p: f32[2]) -> f32[2] {`.

A regular expression parses what XLA prints; the tokens parse all other headers and report errors.

Source: hlo_parser.cc ParseComputation, ParseParamListToShape.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import Shape, ShapeError, parse_shape
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import KEYWORDS, NAME_PATTERN, RESERVED
from xla_explorer.hlo.text.shape_text import shape_of
from xla_explorer.hlo.text.tokens import IDENT, NAME, TYPE, Tokens

# A header as XLA prints it: one line, array parameters, no layouts in the signature.
_ARRAY_TYPES = "|".join(
    sorted(
        [name for name, one in PRIMITIVE_TYPES.items() if one.is_array_type], key=len, reverse=True
    )
)
_PARAMETER = rf"{NAME_PATTERN}: (?:{_ARRAY_TYPES})\[(?:\d{{1,18}}+(?:,\d{{1,18}}+)*+)?+\]"
_ORDINARY = re.compile(
    rf"(ENTRY )?+%?+({NAME_PATTERN}) "
    rf"(?:\((?:{_PARAMETER}(?:, (?:/\*index=\d++\*/)?+{_PARAMETER})*+)?+\) -> ([^{{}}\"\n/]*[\])]) )?+\{{[ \t]*+\n",
    re.ASCII,
)


class ComputationHeader(NamedTuple):
    """A parsed header.

    result: the declared shape, None without a signature. name_at, result_at, start, end: offsets in
    the text; end is behind the opening brace.
    """

    is_entry: bool
    name: str
    name_at: int
    result: Shape | None
    result_at: int
    start: int
    end: int


def _parse_parameters(tokens: Tokens) -> None:
    """Parse `(p: f32[2], q: s32[])`; the colons are optional, as in XLA's parser."""
    tokens.advance()
    if tokens.kind != ")":
        while True:
            tokens.name(
                "the name of a parameter", "a list of parameters looks like: (p: f32[2], q: s32[])"
            )
            shape_of(tokens)
            if not tokens.eat(","):
                break
            if tokens.kind == ")":
                raise TextError(
                    "expects a parameter after the comma", tokens.start, "remove the comma"
                )
    tokens.expect(
        ")", "',' or ')' after a parameter", "separate parameters by commas: (p: f32[2], q: s32[])"
    )


def read_computation_header(text: str, start: int) -> ComputationHeader:
    """Return the header at `start`; TextError if there is none.

    The parameter list is not returned, because the instructions of the body repeat it.
    """
    ordinary = _ORDINARY.match(text, start)
    if ordinary is not None and ordinary.group(2) not in RESERVED:
        is_entry, found, result_text = ordinary.groups()
        try:
            declared = parse_shape(result_text) if result_text else None
        except ShapeError:
            declared = None  # parsed again below, to report the offset of the error
        if declared is not None or not result_text:
            return ComputationHeader(
                is_entry is not None,
                found,
                ordinary.start(2),
                declared,
                ordinary.start(3),
                start,
                ordinary.end(),
            )
    tokens = Tokens(text, start)
    is_entry_word = tokens.eat("ENTRY")
    at = tokens.start
    if tokens.kind == TYPE:
        message = f"expects the name of a computation, but sees the element type {tokens.value}"
        raise TextError(message, at, f"rename it, for example to {tokens.value}_", tokens.end - at)
    if tokens.kind not in (IDENT, NAME):
        if tokens.kind == "HloModule" and not is_entry_word:
            raise TextError(
                "a second module begins",
                at,
                "a text holds one module: read the others on their own",
                9,
            )
        if tokens.kind in KEYWORDS:
            message = f"expects the name of a computation, but sees the keyword {tokens.value}"
            raise TextError(message, at, "give the computation another name", tokens.end - at)
        stray = tokens.kind == "}"
        raise TextError(
            "unexpected '}'" if stray else "expects the name of a computation",
            at,
            "remove the brace, or open a computation before it"
            if stray
            else "a computation looks like: name { ... } or ENTRY name { ... }",
            max(tokens.end - at, 1),
        )
    name = tokens.name()
    result: Shape | None = None
    result_at = tokens.start
    if tokens.kind == "(":
        _parse_parameters(tokens)
        tokens.expect(
            "->",
            "'->' and the shape of the result",
            "a signature looks like: (p: f32[2]) -> f32[2]",
        )
        result_at = tokens.start
        result = shape_of(tokens)
    if tokens.kind != "{":
        raise TextError(
            "expects '{'",
            tokens.start,
            f"open the body of computation {name} with '{{'",
            max(tokens.end - tokens.start, 1),
        )
    return ComputationHeader(is_entry_word, name, at, result, result_at, start, tokens.end)
