"""Source places, original values and string maps as protos, from the canonical text of each.

Source: hlo_instruction.cc ToProto, hlo_module.cc, original_value.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.writer.shapes import numbers_of
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.metadata import StackFrameTables
from xla_explorer.hlo.text.strings import string_value

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_FIELD: Final = re.compile(rf"(\w+)=({_STRING}|\{{[\d,]*\}}|-?\d+)", re.DOTALL)
_ROW: Final = re.compile(rf"\d+\s+({_STRING}|\{{[^{{}}]*\}})", re.DOTALL)
_ARRAY: Final = re.compile(rf"\{{(?:({_STRING})(?:\s+\{{([\d,]*)\}})?)?\}}", re.DOTALL)
_STATISTIC: Final = re.compile(r"([A-Za-z_][\w.\-]*)=([^,{}]+)")


def unquoted(text: str) -> str:
    """Return the content of a string in double quotes; other text unchanged."""
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        content = string_value(text)
        return text[1:-1] if content is None else content
    return text


def metadata_proto(text: str) -> bytes:
    """Return the `OpMetadata` of `{op_name="jit(f)/add" source_line=3}`."""
    fields: dict[str, Any] = {}
    for name, value in _FIELD.findall(text):
        if name == "metadata_payload":
            raw = unquoted(value).encode("utf-8", "surrogateescape")
            fields[name] = message(schema.PAYLOAD, value=raw, id=-1)
        elif value.startswith("{"):
            fields[name] = numbers_of(value[1:-1])
        elif value.startswith('"'):
            fields[name] = unquoted(value)
        else:
            fields[name] = int(value)
    return message(schema.METADATA, **fields)


def map_proto(text: str) -> bytes:
    """Return the `FrontendAttributes` of `{a="x",b={"k":1}}`."""
    entries = [
        message(schema.MAP_ENTRY, key=name, value=value)
        for name, value in frontend_attribute_values(text).items()
    ]
    return message(schema.FRONTEND_ATTRIBUTES, map=entries)


def frames_proto(tables: StackFrameTables) -> bytes:
    """Return the `StackFrameIndexProto` of a module's tables."""
    found: dict[str, list[str]] = {}
    for title in re.split(r"(?m)^(?=[A-Z][A-Za-z]+\s*$)", tables.text):
        name, _, rows = title.partition("\n")
        found[name.strip()] = _ROW.findall(rows)
    places = [_numbers(row) for row in found.get("FileLocations", ())]
    frames = [_numbers(row) for row in found.get("StackFrames", ())]
    for frame in frames:  # in the text, parents are numbered one higher
        frame["parent_frame_id"] = max(frame.get("parent_frame_id", 1) - 1, 0)
    return message(
        schema.FRAME_INDEX,
        file_names=[unquoted(row) for row in found.get("FileNames", ())],
        function_names=[unquoted(row) for row in found.get("FunctionNames", ())],
        file_locations=[message(schema.FILE_LOCATION, **row) for row in places],
        stack_frames=[message(schema.STACK_FRAME, **row) for row in frames],
    )


def _numbers(row: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(-?\d+)", row)}


def original_array_proto(text: str) -> bytes:
    """Return the `OriginalArrayProto` of `{"name" {0}}`."""
    found = _ARRAY.fullmatch(text.strip())
    name, index = (found[1] or '""', found[2] or "") if found else ('""', "")
    return message(
        schema.ORIGINAL_ARRAY, instruction_name=unquoted(name), shape_index=numbers_of(index)
    )


def original_value_proto(text: str) -> bytes:
    """Return the `OriginalValueProto` of a tree such as `{({"a"}, {"b" {0}})}`."""
    if "[synthetic_call]" in text:
        return message(schema.ORIGINAL_VALUE, is_synthetic_call=True)
    elements = [
        message(
            schema.ORIGINAL_ELEMENT,
            shape_index=list(place),
            original_array=original_array_proto(array) if array != "{}" else None,
        )
        for place, array in _leaves(text[1:-1])
    ]
    return message(schema.ORIGINAL_VALUE, elements=elements)


def _leaves(text: str) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield (tuple index, text) of each array in a tree of parentheses."""
    place: list[int] = []
    at = 0
    while at < len(text):
        found = _ARRAY.match(text, at)
        if found is not None:
            yield tuple(place), found.group()
            at = found.end()
            continue
        if text[at] == "(":
            place.append(0)
        elif text[at] == ")":
            place.pop()
        elif text[at] == "," and place:
            place[-1] += 1
        at += 1


def recovery_proto(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (old array, new array, text of the recovery module or "") of a recovery table."""
    row = re.compile(
        rf"(\{{[^{{}}]*(?:\{{[\d,]*\}})?\}})\s*:\s*(\{{[^{{}}]*(?:\{{[\d,]*\}})?\}})(?:,\s*({_STRING}))?",
        re.DOTALL,
    )
    for old, new, module in row.findall(text[1:-1]):
        yield old, new, unquoted(module) if module else ""


def statistics_proto(text: str) -> bytes:
    """Return the `StatisticsViz` of `{visualizing_index=0,name=1.5}`."""
    rows = _STATISTIC.findall(text)
    shown = [int(value) for name, value in rows if name == "visualizing_index"]
    return message(
        schema.STATISTICS,
        stat_index_to_visualize=shown[0] if shown else 0,
        statistics=[
            message(schema.STATISTIC, stat_name=name, stat_val=float(value))
            for name, value in rows
            if name != "visualizing_index"
        ],
    )
