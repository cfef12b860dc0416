"""Reads the first line of a computation: `ENTRY %main (p: f32[2]) -> f32[2] {`.

Source: hlo_parser.cc ParseComputation, ParseParamListToShape.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import Shape, ShapeError, parse_shape
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.lexical import KEYWORDS, NAME, NAME_PATTERN, balanced_end, skip_blank
from xla_explorer.hlo.text.shape_text import read_shape

# As XLA prints it, on one line and without layouts in the signature; parameters that are arrays.
_PARAMETER = rf"{NAME_PATTERN}: (?:{'|'.join(sorted(PRIMITIVE_TYPES, key=len, reverse=True))})\[(?:\d++(?:,\d++)*+)?+\]"
_ORDINARY = re.compile(
    rf"(ENTRY )?+%?+({NAME_PATTERN}) "
    rf"(?:\((?:{_PARAMETER}(?:, (?:/\*index=\d++\*/)?+{_PARAMETER})*+)?+\) -> ([^{{}}\"\n/]*[\])]) )?+\{{[ \t]*+\n",
    re.ASCII,
)
_ENTRY = re.compile(r"ENTRY(?=[\s%/{(])")


class ComputationHeader(NamedTuple):
    """result: the declared shape, None without a signature. end: offset behind the opening brace."""

    is_entry: bool
    name: str
    name_at: int
    result: Shape | None
    result_at: int
    start: int
    end: int


def _parameters_end(text: str, opening: int) -> int:
    """Behind the parenthesis that closes the list of parameters."""
    balanced_end(text, opening, one_bracket=True)
    at = skip_blank(text, opening + 1)
    while not text.startswith(")", at):
        name = NAME.match(text, at)
        if name is None:
            raise TextProblem("expects the name of a parameter", at, "a list of parameters looks like: (p: f32[2], q: s32[])")
        at = skip_blank(text, name.end() + text.startswith(":", name.end()))
        _, at = read_shape(text, at)
        at = skip_blank(text, at)
        if text.startswith(",", at):
            at = skip_blank(text, at + 1)
            if text.startswith(")", at):
                raise TextProblem("expects a parameter behind the comma", at, "remove the comma")
        elif not text.startswith(")", at):
            raise TextProblem("expects ',' or ')' after a parameter", at, "separate parameters by commas: (p: f32[2], q: s32[])")
    return at + 1


def read_computation_header(text: str, start: int) -> ComputationHeader:
    """The header at `start`. TextProblem where there is none. What the parameter list says is dropped: the body says the same."""
    ordinary = _ORDINARY.match(text, start)
    if ordinary is not None and ordinary.group(2) not in KEYWORDS:
        is_entry, found, result_text = ordinary.groups()
        try:
            declared = parse_shape(result_text) if result_text else None
        except ShapeError:
            declared = None  # read again below, which finds the place
        if declared is not None or not result_text:
            return ComputationHeader(is_entry is not None, found, ordinary.start(2), declared, ordinary.start(3), start, ordinary.end())
    at = start
    entry = _ENTRY.match(text, at)
    if entry is not None:
        at = skip_blank(text, entry.end())
    name = NAME.match(text, at)
    if name is None:
        stray = text[at : at + 1] == "}"
        raise TextProblem(
            "unexpected '}'" if stray else "expects the name of a computation",
            at,
            "remove the brace, or open a computation before it"
            if stray
            else "a computation looks like: name { ... } or ENTRY name { ... }",
        )
    if text[at] != "%" and name.group(1) in KEYWORDS and (entry is not None or name.group(1) != "HloModule"):
        message = f"expects the name of a computation, but sees the keyword {name.group(1)}"
        raise TextProblem(message, at, "give the computation another name")
    at = skip_blank(text, name.end())
    result: Shape | None = None
    result_at = at
    if text.startswith("(", at):
        at = skip_blank(text, _parameters_end(text, at))
        if not text.startswith("->", at):
            raise TextProblem("expects '->' and the shape of the result", at, "a signature looks like: (p: f32[2]) -> f32[2]")
        result_at = skip_blank(text, at + 2)
        result, at = read_shape(text, result_at)
        at = skip_blank(text, at)
    if not text.startswith("{", at):
        if name.group(1) == "HloModule":
            raise TextProblem("a second module begins", name.start(), "a text holds one module: read the others on their own")
        raise TextProblem("expects '{'", at, f"open the body of computation {name.group(1)} with '{{'")
    return ComputationHeader(entry is not None, name.group(1), name.start(), result, result_at, start, at + 1)
