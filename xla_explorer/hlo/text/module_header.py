"""Reads the first line of a module, its attributes, and the stack frame tables.

Source: hlo_parser.cc ParseHloModule; hlo_input_output_alias_config.h.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

from xla_explorer.hlo.attributes.dictionary_text import read_frontend_attributes
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.attribute_text import AttributeText, read_attributes
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.lexical import KEYWORDS, NAME, skip_blank
from xla_explorer.hlo.text.shape_text import read_shape

HEADER_ATTRIBUTES = (
    "is_scheduled",
    "alias_passthrough_params",
    "input_output_alias",
    "buffer_donor",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
)
# What says nothing: XLA forgets it when it reads, and so do we.
HEADER_DEFAULTS = {"replica_count": "1", "num_partitions": "1", "alias_passthrough_params": "false"}
_MODULE = re.compile(r"HloModule\b")
_TABLES = re.compile(r"(?:FileNames|FunctionNames|FileLocations|StackFrames)\b[ \t]*\n(?:[ \t]*\d+[ \t][^\n]*\n|[ \t]*\n)*+")
_ALIAS = re.compile(r"\{([\d,\s]*)\}\s*:\s*\(\s*(\d{1,9})\s*(?:,\s*\{([\d,\s]*)\}\s*)?(?:,\s*([a-z\-]+)\s*)?\)")
_DONOR = re.compile(r"\(\s*(\d{1,9})\s*,\s*\{([\d,\s]*)\}\s*\)")


class InputOutputAlias(NamedTuple):
    """One output that lives in the buffer of a parameter; tuple indices; kind is may-alias or must-alias."""

    output_index: tuple[int, ...]
    parameter_number: int
    parameter_index: tuple[int, ...]
    kind: str


class ModuleHeader(NamedTuple):
    """What stands before the first computation. frames: the text of the tables, empty when there are none."""

    name: str | None
    attributes: dict[str, str]
    places: dict[str, AttributeText]
    frames: str
    end: int


def _index(text: str) -> tuple[int, ...]:
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    if not all(piece.isdecimal() and len(piece) < 10 for piece in pieces):
        raise TextProblem(f"expects tuple indices, sees {text}", 0, "write indices such as {0,1}")
    return tuple(map(int, pieces))


def _entries(text: str, pattern: re.Pattern[str], what: str) -> list[re.Match[str]]:
    """The comma-separated entries between the outer braces; TextProblem at the first that is none."""
    at, found = skip_blank(text, 1), []
    while not text.startswith("}", at):
        m = pattern.match(text, at)
        if m is None:
            raise TextProblem(f"expects {what}", at, f"write {what}")
        found.append(m)
        at = skip_blank(text, m.end())
        if text.startswith(",", at):
            at = skip_blank(text, at + 1)
        elif not text.startswith("}", at):
            raise TextProblem("expects ',' or '}'", at, f"separate entries by commas; each is {what}")
    return found


def parse_input_output_alias(text: str) -> tuple[InputOutputAlias, ...]:
    """Decode `{ {0}: (1, {}, may-alias), ... }`. ValueError says what was expected."""
    found = []
    for m in _entries(text, _ALIAS, "{output index}: (parameter, {parameter index}, may-alias)"):
        kind = m.group(4) or "may-alias"
        if kind not in ("may-alias", "must-alias"):
            raise TextProblem(f"Unexpected aliasing kind: {kind}", m.start(4), "write may-alias or must-alias", len(kind))
        found.append(InputOutputAlias(_index(m.group(1)), int(m.group(2)), _index(m.group(3) or ""), kind))
    return tuple(found)


def parse_buffer_donor(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Decode `{ (2, {}) }` to (parameter number, parameter index) pairs."""
    return tuple([(int(m.group(1)), _index(m.group(2))) for m in _entries(text, _DONOR, "(parameter, {parameter index})")])


def parse_entry_computation_layout(text: str) -> tuple[tuple[Shape, ...], Shape]:
    """Decode `{(f32[2]{0}, s32[])->f32[2]{0}}` to the shapes of the parameters and of the result."""
    at = skip_blank(text, 1)
    if not text.startswith("(", at):
        raise TextProblem("expects '(' and the shapes of the parameters", at, "write {(shapes)->shape}")
    parameters, at = read_shape(text, at)
    at = skip_blank(text, at)
    if not text.startswith("->", at):
        raise TextProblem("expects '->'", at, "write {(shapes)->shape}")
    result, at = read_shape(text, at + 2)
    if skip_blank(text, at) != len(text) - 1:
        raise TextProblem("expects '}'", at, "write {(shapes)->shape}")
    return parameters.tuple_shapes, result


def _write_index(index: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, index)) + "}"


def header_value(name: str, text: str) -> str:
    """The value of a header attribute in XLA's spelling: `{ {0}: (1, {}, may-alias) }`, `{ (2, {}) }`, sorted frontend attributes."""
    if name == "frontend_attributes":
        return read_frontend_attributes(text)
    if name.startswith("allow_spmd_sharding_propagation_to_") and text in ("true", "false"):
        return f"{{{text}}}"
    if name == "input_output_alias":
        aliases = parse_input_output_alias(text)
        entries = [f"{_write_index(a.output_index)}: ({a.parameter_number}, {_write_index(a.parameter_index)}, {a.kind})" for a in aliases]
    elif name == "buffer_donor":
        entries = [f"({number}, {_write_index(index)})" for number, index in parse_buffer_donor(text)]
    else:
        return text
    return f"{{ {', '.join(entries)} }}" if entries else "{}"


def _check(item: AttributeText) -> None:
    name, value = item.name, item.value
    try:
        if name == "input_output_alias":
            parse_input_output_alias(value)
        elif name == "buffer_donor":
            parse_buffer_donor(value)
        elif name == "entry_computation_layout":
            parse_entry_computation_layout(value)
        elif name in ("is_scheduled", "alias_passthrough_params") and value not in ("true", "false"):
            raise TextProblem(f"expects true or false but sees {value}", 0, "write true or false", len(value))
        elif name in ("replica_count", "num_partitions") and not value.isdecimal():
            raise TextProblem(f"expects a number but sees {value}", 0, "write a positive number", len(value))
    except TextProblem as problem:
        raise TextProblem(f"{problem.message} (in {name})", item.value_at + problem.at, problem.hint, problem.length) from None


def read_header(text: str, at: int) -> ModuleHeader:
    """The optional `HloModule` line and tables at `at`. TextProblem for what XLA refuses."""
    name: str | None = None
    attributes: dict[str, str] = {}
    places: dict[str, AttributeText] = {}
    at = skip_blank(text, at)
    opening = _MODULE.match(text, at)
    if opening is not None:
        place = skip_blank(text, opening.end())
        found = NAME.match(text, place)
        if found is None or place == opening.end() or (text[place] != "%" and found.group(1) in KEYWORDS):
            raise TextProblem("expects the name of the module", place, "write HloModule and a name, such as: HloModule my_module")
        name, at = found.group(1), found.end()
        if text.startswith(":", at):  # an old spelling that XLA still reads
            at += 1
        items, at = read_attributes(text, at)
        for item in items:
            if item.name in attributes:
                raise TextProblem(f"attribute {item.name} already exists", item.name_at, "keep one of the two", len(item.name))
            if item.name not in HEADER_ATTRIBUTES:
                near = difflib.get_close_matches(item.name, HEADER_ATTRIBUTES, 1, 0.6)
                raise TextProblem(
                    f'unexpected attribute "{item.name}"',
                    item.name_at,
                    f"did you mean {near[0]}?" if near else f"a module has {', '.join(HEADER_ATTRIBUTES)}",
                    len(item.name),
                )
            _check(item)
            attributes[item.name] = item.value
            places[item.name] = item
    at = skip_blank(text, at)
    start = at
    while (table := _TABLES.match(text, at)) is not None:
        at = skip_blank(text, table.end())
    return ModuleHeader(name, attributes, places, text[start:at].rstrip(), at)
