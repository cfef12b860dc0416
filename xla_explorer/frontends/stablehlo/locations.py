"""Source locations of operations (`loc(...)`), read on demand.

Source: https://mlir.llvm.org/docs/Dialects/Builtin, location attributes. JAX nests them: a name
(the path of the operation) around a call site whose callee is the frame of the user's code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xla_explorer.frontends.stablehlo.reader import INTEGER, WORD, Reader
from xla_explorer.hlo.metadata import OpMetadata, write_metadata


class SourceLocation(NamedTuple):
    """A source location.

    name: the outermost one, empty if there is none. file and line: of the innermost frame.
    """

    name: str = ""
    file: str = ""
    line: int = 0


NO_LOCATION = SourceLocation()
_ALIAS = re.compile(r"#[A-Za-z_][\w$\-]*")
_RANGE = re.compile(r"\s*:\s*(\d+)\s*:\s*\d+(?:\s+to\s+(?:\d+\s*)?:\s*\d+)?")


def skip_location(reader: Reader) -> int | None:
    """Pass an optional `loc(...)`; return the offset after its opening bracket, or None."""
    if not reader.text.startswith("loc", reader.skip()):
        return None
    start = reader.at
    reader.at += len("loc")
    if not reader.peek("("):
        reader.at = start
        return None
    inside = reader.at + 1
    end = reader.text.find(")", inside)
    if _ALIAS.fullmatch(reader.text, inside, end):
        reader.at = end + 1
    else:
        reader.balanced()
    return inside


class Locations:
    """Reads locations of one file, each alias once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[int, SourceLocation] = {}

    def at(self, offset: int | None) -> SourceLocation:
        """Return the place at an offset, one that `skip_location` returned."""
        if offset is None:
            return NO_LOCATION
        found = self._known.get(offset)
        if found is None:
            here = self._reader.at
            self._reader.at = offset
            found = self._known[offset] = self._read()
            self._reader.at = here
        return found

    def metadata(self, offset: int | None) -> str | None:
        """Return the place at an offset as the text of an instruction's metadata."""
        place = self.at(offset)
        return (
            None
            if place is NO_LOCATION
            else write_metadata(OpMetadata("", place.name, place.file, place.line, 0))
        )

    def _read(self) -> SourceLocation:
        reader = self._reader
        alias = reader.take(_ALIAS)
        if alias is not None:
            return self._alias(alias)
        if reader.peek('"'):
            return self._named()
        word = reader.take(WORD)
        name = word.group() if word else ""
        if name == "callsite":
            reader.expect("(", "a call site")
            return self._read()  # the rest is the caller
        if name == "fused":
            return self._fused()
        if name == "loc":  # nested spelling
            reader.expect("(", "a location")
            return self._read()
        if name == "unknown" or reader.take(INTEGER):
            return NO_LOCATION
        reader.fail(
            f"expected a location, found {name or reader.found()}",
            'write loc("file.py":3:1), loc("name"(...)) or loc(unknown)',
        )

    def _alias(self, alias: re.Match[str]) -> SourceLocation:
        reader = self._reader
        start = reader.aliases.get(alias.group())
        if start is None:
            reader.fail(
                f"{alias.group()} is defined nowhere in the file",
                f"add the line {alias.group()} = loc(...)",
                alias.start(),
                len(alias.group()),
            )
        here, reader.at = reader.at, start
        reader.keyword("loc")
        reader.expect("(", "a location")
        found = self.at(reader.at)
        reader.at = here
        return found

    def _named(self) -> SourceLocation:
        """Read `"file":line:column`, `"name"` or `"name"(location)`."""
        reader = self._reader
        text = reader.string()
        line = _RANGE.match(reader.text, reader.at)
        if line is not None:
            reader.at = line.end()
            return SourceLocation("", text, int(line.group(1)))
        if not reader.accept("("):
            return SourceLocation(text)
        inner = self._read()
        reader.expect(")", "a named location")
        return SourceLocation(text, inner.file, inner.line)

    def _fused(self) -> SourceLocation:
        """Read the locations after `fused`, and return the first name, file and line."""
        reader = self._reader
        if reader.peek("<"):
            reader.balanced()
        reader.expect("[", "a fused location")
        first = NO_LOCATION
        while not reader.accept("]"):
            found = self._read()
            first = SourceLocation(
                first.name or found.name, first.file or found.file, first.line or found.line
            )
            if not reader.accept(","):
                break
        return first
