"""Source lines of instructions: the user's file by metadata, else the line of HLO text.

The user's line is the innermost stack frame outside of installed packages and of Python: of a model
in flax it is the model's, not flax's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from xla_explorer.hlo.metadata import StackFrameTables, parse_metadata

if TYPE_CHECKING:
    from xla_explorer.hlo.module import HloModule


_CELL: Final = re.compile(r"(?:[/\\]ipykernel_\d+[/\\]\d+\.py|<ipython-input-.*>)\Z")


_LIBRARY: Final = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|lib[/\\]python3[.\d]*|<frozen)[/\\]?"
)


def in_library(file: str) -> bool:
    """Return True if a file belongs to an installed package or to Python itself."""
    return _LIBRARY.search(file) is not None


def shown_file(file: str) -> str:
    """Return the name of a source file, `In[5]` for a cell of this process's notebook.

    A cell is compiled as a temporary file.
    """
    if _CELL.search(file) is None or (ipython := sys.modules.get("IPython")) is None:
        return file
    shell = ipython.get_ipython()
    named = shell.compile.format_code_name(file) if shell is not None else None
    return str(named[1]) if named is not None else file


def users_frame(frames: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """Return the innermost frame outside of installed packages, or the innermost of all."""
    return next((frame for frame in frames if not in_library(frame[0])), frames[0])


def _place(frame: tuple[str, int]) -> str:
    return f"{shown_file(frame[0])}:{frame[1]}"


class SourceLines:
    """Answers for all instructions of one compile, also those that passes made."""

    def __init__(self, module: HloModule) -> None:
        self._frames: StackFrameTables | None = module.frames
        self._lines = {i.id: i.line for i in module.instructions() if i.line}
        self._filename = module.filename or "<hlo>"

    def learn(self, module: HloModule) -> None:
        """Record the lines that passes kept on instructions (clones, inlined calls)."""
        for i in module.instructions():
            if i.line:
                self._lines.setdefault(i.id, i.line)

    def frames(self, metadata: str | None) -> list[tuple[str, int]]:
        """Return (file, line) of the stack frames, the innermost first.

        They come from metadata or the stack frame tables; the list is empty without either.
        """
        if not metadata:
            return []
        found = parse_metadata(metadata)
        stack = (
            self._frames.stack(found.stack_frame_id)
            if found.stack_frame_id and self._frames is not None
            else []
        )
        frames = [(file, line) for file, _, line in stack]
        innermost = (found.source_file, found.source_line)
        return frames if not found.source_file or innermost in frames else [innermost, *frames]

    def metadata_place(self, metadata: str | None) -> str:
        """Return `model.py:12`: the user's line, else the innermost; empty without metadata."""
        frames = self.frames(metadata)
        return _place(users_frame(frames)) if frames else ""

    def innermost_place(self, metadata: str | None) -> str:
        """Return the innermost line, also of an installed package; empty without metadata."""
        frames = self.frames(metadata)
        return _place(frames[0]) if frames else ""

    def hlo_line(self, instruction: int) -> int:
        """Return the line of the HLO text that defined the instruction, 0 if a pass made it."""
        return self._lines.get(instruction, 0)

    def place(self, instruction: int, metadata: str | None) -> str:
        """Return the user's file and line, else those of the HLO text, else an empty text."""
        found = self.metadata_place(metadata)
        if found:
            return found
        line = self._lines.get(instruction, 0)
        return f"{self._filename}:{line}" if line else ""


def stack_frames(modules: Iterable[HloModule]) -> tuple[list[list[Any]], dict[str, int]]:
    """Return the stack frames of modules, and the innermost frame of each instruction by id.

    A frame is [file, function, line, index of its caller or -1]. The tables are those of the first
    module, of which the others are later states.
    """
    frames: list[list[Any]] = []
    at: dict[tuple[str, str, int, int], int] = {}
    of: dict[str, int] = {}
    tables: StackFrameTables | None = None
    for module in modules:
        tables = tables or module.frames
        if tables is None:
            break
        for i in module.instructions():
            parent = -1
            frame = parse_metadata(i.metadata).stack_frame_id if i.metadata else 0
            for file, function, line in reversed(tables.stack(frame) if frame else []):
                place = (file, function, line, parent)
                if place not in at:
                    at[place] = len(frames)
                    frames.append(list(place))
                parent = at[place]
            if parent >= 0:
                of[str(i.id)] = parent
    return frames, of
