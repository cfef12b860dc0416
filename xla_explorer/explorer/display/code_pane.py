"""A code text, line by line, each line with the instruction that it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, overload

MOST_PANE_LINES = 5_000


PrintedLine = tuple[str, int | None]
"""A line of a module's text, and the id of the instruction on it, if any."""


class TextLine(NamedTuple):
    """One printed line.

    Attributes
    ----------
    text : str
        The line.
    instruction : int, optional
        The id of the instruction that it came from.
    also : tuple of int
        The ids of further instructions that it came from.
    number : int, optional
        Its line number if earlier lines are left out; None for its position; 0 for a line outside
        the text.
    """

    text: str
    instruction: int | None = None
    also: tuple[int, ...] = ()
    number: int | None = None


class CodePane(NamedTuple):
    """One code text.

    Attributes
    ----------
    name : str
        The stage ("source", "hlo", "llvm-ir", "llvm-ir-optimized", "assembly", "ptx", "sass").
    lines : sequence of TextLine
        The text.
    producer : str
        The compiler ("xla_explorer cpu, LLVM 20").
    note : str
        The lines left out, and the call that shows them.
    costly : str
        The call that makes the lines, if that takes another compile and a page leaves them out.
    sections : tuple of (int, str)
        The first line, from 0, and the title of each text in the pane.
    """

    name: str
    lines: Sequence[TextLine]
    producer: str = ""
    note: str = ""
    costly: str = ""
    sections: tuple[tuple[int, str], ...] = ()


class LazyLines(Sequence[TextLine]):
    """The lines of a code pane, made at the first use.

    Assembly takes a code generation, PTX another compile. An error becomes the only line, so that
    one backend never spoils the view of another. Of a long text `chosen` lines are kept, by default
    the first ones, with a line that counts the rest.
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
