"""Reads the first line of a module, its attributes, and the stack frame tables.

Source: hlo_parser.cc ParseHloModule; hlo_input_output_alias_config.h.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes.dictionary_text import read_frontend_attributes
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.attributes.attribute_list import AttributeText, read_attributes
from xla_explorer.hlo.text.attributes.pieces import Reader, small_integer, string, sub_attributes
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import skip_blank
from xla_explorer.hlo.text.shape_text import read_shape
from xla_explorer.hlo.text.tokens import INT, Tokens

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
# Default values, which XLA drops when it reads them.
_DEFAULTS = {"replica_count": "1", "num_partitions": "1", "alias_passthrough_params": "false"}
_EMPTY = ("{}", "{false}")


def is_default(name: str, value: str) -> bool:
    """Return True if the value of a header attribute equals the default."""
    return value in _EMPTY or _DEFAULTS.get(name) == value


_FILE = r'(?:[ \t]*+\d{1,18}+ "[^"\\\n]*+"[ \t]*+\n)*+\n*+'
_N = r"\d{1,9}"
_LOCATION = rf"(?:\d{{1,18}}+ \{{file_name_id={_N} function_name_id={_N} line={_N} end_line={_N} column={_N} end_column={_N}\}}\n)*+\n*+"
_FRAME = r"(?:\d{1,18}+ \{file_location_id=\d{1,9} parent_frame_id=\d{1,9}\}\n)*+"
# As XLA prints them.
_TABLES = re.compile(
    rf"FileNames\n{_FILE}FunctionNames\n{_FILE}FileLocations\n{_LOCATION}StackFrames\n{_FRAME}(?=\s*+[A-Z%])",
    re.ASCII,
)
_LOCATION_FIELDS = dict.fromkeys(
    ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column"), small_integer
)
_FRAME_FIELDS = dict.fromkeys(("file_location_id", "parent_frame_id"), small_integer)
_ALIAS = re.compile(
    r"\{([\d,\s\-]*)\}\s*:\s*\(\s*(\d{1,19})\s*(?:,\s*\{([\d,\s\-]*)\}\s*)?(?:,\s*([a-z\-]+)\s*)?\)"
)
_DONOR = re.compile(r"\(\s*(\d{1,19})\s*,\s*\{([\d,\s\-]*)\}\s*\)")
_STEP = re.compile(r"-?\d{1,19}", re.ASCII)


class InputOutputAlias(NamedTuple):
    """One output in the buffer of a parameter, as tuple indices.

    Kind is may-alias or must-alias.
    """

    output_index: tuple[int, ...]
    parameter_number: int
    parameter_index: tuple[int, ...]
    kind: str


class ModuleHeader(NamedTuple):
    """The text before the first computation.

    frames: the text of the frame tables, empty if there are none.
    """

    name: str | None
    attributes: dict[str, str]
    places: dict[str, AttributeText]
    frames: str
    end: int


def _index(text: str) -> tuple[int, ...]:
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    if not all(map(_STEP.fullmatch, pieces)):
        raise TextError(f"expects tuple indices, sees {text}", 0, "write indices such as {0,1}")
    return tuple(map(int, pieces))


def _entries(text: str, pattern: re.Pattern[str], what: str) -> list[re.Match[str]]:
    """Return the comma-separated entries between the outer braces.

    TextError at the first entry that does not match.
    """
    at, found = skip_blank(text, 1), []
    while not text.startswith("}", at):
        m = pattern.match(text, at)
        if m is None:
            raise TextError(f"expects {what}", at, f"write {what}")
        found.append(m)
        at = skip_blank(text, m.end())
        if text.startswith(",", at):
            at = skip_blank(text, at + 1)
        elif not text.startswith("}", at):
            raise TextError("expects ',' or '}'", at, f"separate entries by commas; each is {what}")
    return found


def parse_input_output_alias(text: str) -> tuple[InputOutputAlias, ...]:
    """Decode `{ {0}: (1, {}, may-alias), ... }`. ValueError names the expected form."""
    found = []
    for m in _entries(text, _ALIAS, "{output index}: (parameter, {parameter index}, may-alias)"):
        kind = m.group(4) or "may-alias"
        if kind not in ("may-alias", "must-alias"):
            raise TextError(
                f"Unexpected aliasing kind: {kind}",
                m.start(4),
                "write may-alias or must-alias",
                len(kind),
            )
        found.append(
            InputOutputAlias(_index(m.group(1)), int(m.group(2)), _index(m.group(3) or ""), kind)
        )
    return tuple(found)


def parse_buffer_donor(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Decode `{ (2, {}) }` to (parameter number, parameter index) pairs."""
    return tuple(
        [
            (int(m.group(1)), _index(m.group(2)))
            for m in _entries(text, _DONOR, "(parameter, {parameter index})")
        ]
    )


def input_output_alias_text(aliases: Iterable[InputOutputAlias]) -> str:
    """Encode aliases as `{ {0}: (1, {}, may-alias), ... }`."""
    entries = [
        (
            f"{_index_text(a.output_index)}: ({a.parameter_number}, "
            f"{_index_text(a.parameter_index)}, {a.kind})"
        )
        for a in aliases
    ]
    return f"{{ {', '.join(entries)} }}"


def buffer_donor_text(donors: Iterable[tuple[int, tuple[int, ...]]]) -> str:
    """Encode (parameter number, parameter index) pairs as `{ (2, {}) }`."""
    entries = [f"({number}, {_index_text(index)})" for number, index in donors]
    return f"{{ {', '.join(entries)} }}"


def _index_text(index: tuple[int, ...]) -> str:
    return f"{{{','.join(map(str, index))}}}"


def parse_entry_computation_layout(text: str) -> tuple[tuple[Shape, ...], Shape]:
    """Decode `{(f32[2]{0}, s32[])->f32[2]{0}}` to the shapes of parameters and result."""
    at = skip_blank(text, 1)
    if not text.startswith("(", at):
        raise TextError(
            "expects '(' and the shapes of the parameters", at, "write {(shapes)->shape}"
        )
    parameters, at = [], skip_blank(text, at + 1)
    while not text.startswith(")", at):  # not as a tuple, which has stricter rules
        shape, at = read_shape(text, at)
        parameters.append(shape)
        at = skip_blank(text, at)
        if text.startswith(",", at):
            at = skip_blank(text, at + 1)
        elif not text.startswith(")", at):
            raise TextError("expects ',' or ')'", at, "write {(shapes)->shape}")
    at = skip_blank(text, at + 1)
    if not text.startswith("->", at):
        raise TextError("expects '->'", at, "write {(shapes)->shape}")
    result, at = read_shape(text, at + 2)
    if skip_blank(text, at) != len(text) - 1:
        raise TextError("expects '}'", at, "write {(shapes)->shape}")
    return tuple(parameters), result


def _check(item: AttributeText) -> None:
    """Check a header attribute with its codec, which is stricter than the grammar."""
    name, value = item.name, item.canonical or item.value
    try:
        if name == "input_output_alias":
            parse_input_output_alias(value)
        elif name == "buffer_donor":
            parse_buffer_donor(value)
    except TextError as problem:
        raise TextError(
            f"{problem.message} (in {name})",
            item.value_at + problem.at,
            problem.hint,
            problem.length,
        ) from None


def _rows(tokens: Tokens, row: Callable[[Tokens], str]) -> str:
    """Return the rows of a table, numbered from 1."""
    found: list[str] = []
    while tokens.eat(INT):
        found.append(f"{len(found) + 1} {row(tokens)}")
    return "".join([f"{line}\n" for line in found])


def _fields(readers: Mapping[str, Reader]) -> Callable[[Tokens], str]:
    def row(tokens: Tokens) -> str:
        start, found = tokens.start, sub_attributes(tokens, readers)
        for name in readers:
            if name not in found:
                raise TextError(
                    f"sub-attribute {name} is expected but not seen",
                    start,
                    f"a row has {', '.join(readers)}",
                )
        return "{" + " ".join([f"{name}={found[name]}" for name in readers]) + "}"

    return row


def _tables(tokens: Tokens) -> str:
    """Parse the stack frame tables in any spelling; as XLA prints them."""
    parts = []
    for name, row in (
        ("FileNames", string),
        ("FunctionNames", string),
        ("FileLocations", _fields(_LOCATION_FIELDS)),
        ("StackFrames", _fields(_FRAME_FIELDS)),
    ):
        tokens.expect(
            name,
            f"the table {name}",
            "the tables are FileNames, FunctionNames, FileLocations and StackFrames, in this order",
        )
        parts.append(f"{name}\n{_rows(tokens, row)}")
    return "\n".join(parts).rstrip()


def read_header(text: str, at: int) -> ModuleHeader:
    """Return the optional `HloModule` line and tables at `at`. TextError for what XLA rejects."""
    name: str | None = None
    attributes: dict[str, str] = {}
    places: dict[str, AttributeText] = {}
    tokens = Tokens(text, at)
    if tokens.eat("HloModule"):
        name = tokens.name(
            "the name of the module", "write HloModule and a name, such as: HloModule my_module"
        )
        for item in read_attributes(tokens, "HloModule"):
            if item.name in attributes:
                raise TextError(
                    f"attribute {item.name} already exists",
                    item.name_at,
                    "keep one of the two",
                    len(item.name),
                )
            if item.name not in HEADER_ATTRIBUTES:
                near = nearest(item.name, HEADER_ATTRIBUTES, 1, 0.6)
                raise TextError(
                    f'unexpected attribute "{item.name}"',
                    item.name_at,
                    f"did you mean {near[0]}?"
                    if near
                    else f"a module has {', '.join(HEADER_ATTRIBUTES)}",
                    len(item.name),
                )
            _check(item)
            value = item.canonical or item.value
            attributes[item.name] = (
                read_frontend_attributes(value) if item.name == "frontend_attributes" else value
            )
            places[item.name] = item
    frames = ""
    if tokens.kind == "FileNames":
        ordinary = _TABLES.match(text, tokens.start)
        if ordinary is not None:
            return ModuleHeader(
                name,
                attributes,
                places,
                ordinary.group().rstrip(),
                skip_blank(text, ordinary.end()),
            )
        frames = _tables(tokens)
    return ModuleHeader(name, attributes, places, frames, tokens.start)
