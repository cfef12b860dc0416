"""Source places of instructions: `OpMetadata` and the stack frame tables as HLO text.

Source: hlo_instruction.cc OpMetadataToString, hlo_module.cc.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.shapes import joined
from xla_explorer.frontends.protobuf import Message
from xla_explorer.hlo.text.strings import quoted_string

_STRINGS: Final = ("op_type", "op_name", "source_file")
_NUMBERS: Final = (
    "source_line", "source_end_line", "source_column", "source_end_column", "stack_frame_id", "size_of_generated_code_in_bytes",
    "size_of_memory_working_set_in_bytes",
)  # fmt: skip

_PLACE: Final = ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column")


def metadata_text(metadata: Message, payload: bytes = b"") -> str:
    """Return `{op_name="jit(f)/add" source_file="f.py" source_line=3}`; `{}` without contents.

    payload: the payload that the metadata refers to.
    """
    present = metadata.present()  # of twenty fields an instruction has two or three

    def strings(names: Iterable[str]) -> Iterator[str]:
        for name in names:
            if name in present and (value := metadata.text(name)):
                yield f"{name}={quoted_string(value)}"

    parts = [*strings(_STRINGS)]
    if "profile_type" in present and (kinds := metadata.numbers("profile_type")):
        parts.append(f"profile_type={{{joined(kinds)}}}")
    parts += [
        f"{name}={number}"
        for name in _NUMBERS
        if name in present and (number := metadata.number(name))
    ]
    parts += strings(("deduplicated_name", "scheduling_name"))
    if payload:
        parts.append(
            f"metadata_payload={quoted_string(payload.decode('utf-8', 'surrogateescape'))}"
        )
    return "{" + " ".join(parts) + "}"


def metadata_list(holder: Message, prefix: str) -> str:
    """Return the metadata of a sharding after `prefix`; empty if there is none."""
    found = [metadata_text(one) for one in holder.messages("metadata", schema.METADATA)]
    if not found:
        return ""
    return prefix + (found[0] if len(found) == 1 else "{" + ", ".join(found) + "}")


def frames_text(index: Message) -> str:
    """Return the four tables as in a module's text; empty if all are empty."""
    files, functions = index.texts("file_names"), index.texts("function_names")
    places = [
        " ".join([f"{name}={place.number(name)}" for name in _PLACE])
        for place in index.messages("file_locations", schema.FILE_LOCATION)
    ]
    # Frames count from 1 in both, and 0 is "no parent" here: the text has 1 there, and parents one
    # higher.
    frames = [
        (
            f"file_location_id={frame.number('file_location_id')} "
            f"parent_frame_id={frame.number('parent_frame_id') + 1}"
        )
        for frame in index.messages("stack_frames", schema.STACK_FRAME)
    ]
    if not (files or functions or places or frames):
        return ""
    tables = (
        ("FileNames", [quoted_string(name) for name in files]),
        ("FunctionNames", [quoted_string(name) for name in functions]),
        ("FileLocations", [f"{{{place}}}" for place in places]),
        ("StackFrames", [f"{{{frame}}}" for frame in frames]),
    )
    return "\n".join(
        [
            f"{title}\n" + "".join([f"{number} {row}\n" for number, row in enumerate(rows, 1)])
            for title, rows in tables
        ]
    )
