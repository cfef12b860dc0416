"""Instruction metadata: the origin of an operation, kept as raw text and decoded on demand.

Source: xla_data.proto OpMetadata; the module-level tables FileNames, FunctionNames, FileLocations,
StackFrames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_FIELD = re.compile(
    r"""([a-z_]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{[^{}]*\}|[^\s,}]+)"""
)
_WRAPPED = re.compile(r"^(?:(?:jvp|transpose|vmap|checkpoint|remat)\()+")


class OpMetadata(NamedTuple):
    """Decoded metadata; absent fields are empty strings and zeros."""

    op_type: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    stack_frame_id: int = 0

    @property
    def scope(self) -> str:
        """`op_name` without its last part: `jit(f)/layer` of `jit(f)/layer/add`."""
        return self.op_name.rpartition("/")[0]


def layers_of_scope(parts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of a name scope without the wrappers of JAX's transformations.

    Forward and backward operations of a layer then have one scope.

    >>> layers_of_scope(["jit(step)", "transpose(jvp(Model))", "Dense_0"])
    ('jit(step)', 'Model', 'Dense_0')
    """
    found = []
    for part in parts:  # one wrapper may span several parts: `jvp(Model`, `Dense_0)`
        inner = _WRAPPED.sub("", part)
        excess = inner.count(")") - inner.count("(")
        found.append(
            inner[: len(inner) - excess] if excess > 0 and inner.endswith(")" * excess) else inner
        )
    return tuple([part for part in found if part])


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

    return OpMetadata(
        string("op_type"),
        string("op_name"),
        string("source_file"),
        integer("source_line"),
        integer("stack_frame_id"),
    )


def write_metadata(metadata: OpMetadata) -> str | None:
    """Return the text form, None if everything is empty."""

    def quoted(value: str) -> str:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    parts = [
        f"{name}={quoted(value)}"
        for name, value in zip(("op_type", "op_name", "source_file"), metadata[:3], strict=True)
        if value
    ]
    if metadata.source_line:
        parts.append(f"source_line={metadata.source_line}")
    if metadata.stack_frame_id:
        parts.append(f"stack_frame_id={metadata.stack_frame_id}")
    return "{" + " ".join(parts) + "}" if parts else None


def _numbers(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}


class StackFrameTables:
    """A module's tables FileNames, FunctionNames, FileLocations and StackFrames, as exact text."""

    __slots__ = ("_frames", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._frames: dict[int, tuple[str, str, int, int]] | None = None

    def _rows(self) -> dict[str, dict[int, str]]:
        tables: dict[str, dict[int, str]] = {}
        current: dict[int, str] = {}
        for line in self.text.splitlines():
            line = line.strip()
            found = re.match(r"(\d+)\s+(.*)$", line)
            if found:
                current[int(found.group(1))] = found.group(2)
            elif line:
                current = tables.setdefault(line, {})
        return tables

    def _decode(self) -> dict[int, tuple[str, str, int, int]]:
        tables = self._rows()
        numbers = {key: _numbers(text) for key, text in tables.get("FileLocations", {}).items()}
        frames = {}
        for key, text in tables.get("StackFrames", {}).items():
            frame = _numbers(text)
            place = numbers.get(frame.get("file_location_id", 0), {})
            frames[key] = (
                tables.get("FileNames", {}).get(place.get("file_name_id", 0), "").strip('"'),
                tables.get("FunctionNames", {})
                .get(place.get("function_name_id", 0), "")
                .strip('"'),
                # Parents are numbered one higher than frames: 1 is "no parent", as XLA prints the
                # outermost frame.
                place.get("line", 0),
                frame.get("parent_frame_id", 1) - 1,
            )
        return frames

    def called_from(self, file: str) -> tuple[StackFrameTables, dict[int, int]]:
        """Return the tables of frames called from `file`, and the new number of each frame.

        Frames of `file` and their callers are removed.
        """
        if self._frames is None:
            self._frames = self._decode()
        outside: set[int] = set()
        for number, frame in self._frames.items():
            if frame[0] == file:
                while number in self._frames and number not in outside:
                    outside.add(number)
                    number = self._frames[number][3]
        if not outside:
            return self, {number: number for number in self._frames}
        rows = self._rows()
        kept = {
            number: new
            for new, number in enumerate([n for n in self._frames if n not in outside], 1)
        }
        made: dict[str, list[str]] = {
            title: [] for title in ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
        }
        known: dict[tuple[str, int], int] = {}

        def row(title: str, number: int) -> int:
            if (title, number) not in known:
                text, refers = rows[title][number], _numbers(rows[title][number])
                for field, of in (
                    ("file_name_id", "FileNames"),
                    ("function_name_id", "FunctionNames"),
                ):
                    if field in refers:
                        text = re.sub(rf"\b{field}=\d+", f"{field}={row(of, refers[field])}", text)
                made[title].append(text)
                known[title, number] = len(made[title])
            return known[title, number]

        for number in kept:
            place, parent = (
                _numbers(rows["StackFrames"][number])["file_location_id"],
                self._frames[number][3],
            )
            made["StackFrames"].append(
                f"{{file_location_id={row('FileLocations', place)} "
                f"parent_frame_id={kept.get(parent, 0) + 1}}}"
            )
        text = "\n\n".join(
            [
                "\n".join([title, *[f"{n} {line}" for n, line in enumerate(lines, 1)]])
                for title, lines in made.items()
            ]
        )
        return StackFrameTables(text), kept

    def stack(self, frame_id: int) -> list[tuple[str, str, int]]:
        """Return (file, function, line) from the innermost frame outwards."""
        if self._frames is None:
            self._frames = self._decode()
        found, seen = [], set()
        while frame_id in self._frames and frame_id not in seen:
            seen.add(frame_id)
            file, function, line, parent = self._frames[frame_id]
            found.append((file, function, line))
            frame_id = parent
        return found
