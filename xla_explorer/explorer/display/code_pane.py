"""A text of code, line by line, each line with the instruction that it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, overload

MOST_PANE_LINES = 5_000


PrintedLine = tuple[str, int | None]
"""A line of a module's text and the id of the instruction that it prints, if one."""


class TextLine(NamedTuple):
    """One printed line and the instruction that it prints, if one; `also`: more instructions that came from this line.

    number: the line's in its text, where lines before it are left out; None: its place among the
    lines; 0: it is in no text.
    """

    text: str
    instruction: int | None = None
    also: tuple[int, ...] = ()
    number: int | None = None


class CodePane(NamedTuple):
    """One code text.

    `name` is the stage ("source", "hlo", "llvm-ir", "llvm-ir-optimized", "assembly", "ptx",
    "sass").

    `producer` says which compiler made it ("xla_explorer cpu, LLVM 20"), `note` what was left out
    and how to see it. `sections` are the texts that it has one after the other: the first line of
    each, from 0, and its title. `costly` is set when the lines take a compile of their own: it says
    how to make them, for a page that leaves them out.
    """

    name: str
    lines: Sequence[TextLine]
    producer: str = ""
    note: str = ""
    costly: str = ""
    sections: tuple[tuple[int, str], ...] = ()


class LazyLines(Sequence[TextLine]):
    """The lines of a code pane, made when they are looked at: assembly takes a code generation, PTX a compile of its own.

    What cannot be made says so in its one line; a second backend must never spoil the view of the
    first. Of long texts `chosen` are kept, by default the first lines, and lines between them say
    so.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], list[TextLine]],
        chosen: Callable[[str, list[TextLine]], list[TextLine]] | None = None,
    ) -> None:
        self._name, self._make, self._chosen = name, make, chosen

    @cached_property
    def _lines(self) -> list[TextLine]:
        try:
            lines = self._make()
            if len(lines) > MOST_PANE_LINES and self._chosen is not None:
                return self._chosen(self._name, lines)
        except Exception as problem:
            return [
                TextLine(f"{self._name} could not be made: {type(problem).__name__}: {problem}")
            ]
        if len(lines) > MOST_PANE_LINES:
            rest = len(lines) - MOST_PANE_LINES
            return [
                *lines[:MOST_PANE_LINES],
                TextLine(f"... {rest} more lines: session.stage({self._name!r}).text"),
            ]
        return lines

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> TextLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[TextLine]: ...
    def __getitem__(self, index: int | slice) -> TextLine | list[TextLine]:
        return self._lines[index]

    def __iter__(self) -> Iterator[TextLine]:
        return iter(self._lines)
