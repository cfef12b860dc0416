"""Instruction metadata: where an operation came from. Kept as raw text on the instruction, decoded when asked.

Source: xla_data.proto OpMetadata; the module-level tables FileNames, FunctionNames, FileLocations, StackFrames.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_FIELD = re.compile(r"""([a-z_]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{[^{}]*\}|[^\s,}]+)""")


class OpMetadata(NamedTuple):
    """Decoded metadata; empty strings and zeros where absent."""

    op_type: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    stack_frame_id: int = 0

    @property
    def scope(self) -> str:
        """`jit(f)/layer` of the operation `jit(f)/layer/add`: `op_name` without its last part."""
        return self.op_name.rpartition("/")[0]


@lru_cache(maxsize=4096)
def parse_metadata(text: str | None) -> OpMetadata:
    """Decode `{op_name="jit(f)/add" source_file="f.py" source_line=3}`."""
    if not text:
        return OpMetadata()
    fields = dict(_FIELD.findall(text))

    def string(name: str) -> str:
        value = fields.get(name, "")
        return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] in "\"'" else value

    def integer(name: str) -> int:
        value = fields.get(name, "0")
        return int(value) if value.lstrip("-").isdigit() else 0

    return OpMetadata(string("op_type"), string("op_name"), string("source_file"), integer("source_line"), integer("stack_frame_id"))


def write_metadata(metadata: OpMetadata) -> str | None:
    """The text form, None when everything is empty."""
    def quoted(value: str) -> str:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    parts = [f"{name}={quoted(value)}" for name, value in zip(("op_type", "op_name", "source_file"), metadata[:3], strict=True) if value]
    if metadata.source_line:
        parts.append(f"source_line={metadata.source_line}")
    if metadata.stack_frame_id:
        parts.append(f"stack_frame_id={metadata.stack_frame_id}")
    return "{" + " ".join(parts) + "}" if parts else None


class StackFrameTables:
    """The FileNames / FunctionNames / FileLocations / StackFrames tables of a module. `text` is kept to the letter."""

    __slots__ = ("_frames", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._frames: dict[int, tuple[str, str, int, int]] | None = None

    def _decode(self) -> dict[int, tuple[str, str, int, int]]:
        tables: dict[str, dict[int, str]] = {}
        current: dict[int, str] = {}
        for line in self.text.splitlines():
            line = line.strip()
            found = re.match(r"(\d+)\s+(.*)$", line)
            if found:
                current[int(found.group(1))] = found.group(2)
            elif line:
                current = tables.setdefault(line, {})
        numbers = {key: {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
                   for key, text in tables.get("FileLocations", {}).items()}
        frames = {}
        for key, text in tables.get("StackFrames", {}).items():
            frame = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
            place = numbers.get(frame.get("file_location_id", 0), {})
            frames[key] = (tables.get("FileNames", {}).get(place.get("file_name_id", 0), "").strip('"'),
                           tables.get("FunctionNames", {}).get(place.get("function_name_id", 0), "").strip('"'),
                           # The text counts parents from one more than frames: 1 is "no parent", as XLA prints the outermost frame.
                           place.get("line", 0), frame.get("parent_frame_id", 1) - 1)
        return frames

    def stack(self, frame_id: int) -> list[tuple[str, str, int]]:
        """(file, function, line) from the innermost frame outwards."""
        if self._frames is None:
            self._frames = self._decode()
        found, seen = [], set()
        while frame_id in self._frames and frame_id not in seen:
            seen.add(frame_id)
            file, function, line, parent = self._frames[frame_id]
            found.append((file, function, line))
            frame_id = parent
        return found
