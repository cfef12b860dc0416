"""The user's source line of an instruction: the innermost frame outside installed libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.frontends.source_places import complete_source_places
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule


class SourcePlace(NamedTuple):
    """The source position of an instruction.

    Attributes
    ----------
    line : str
        `model.py:12` of the user.
    library : str
        The line of an installed library that the user's line called; empty if unknown.
    scope : str
        The path of `op_name` without its last part.
    """

    line: str
    library: str
    scope: str


NOWHERE: Final = SourcePlace("", "", "")


class PlacedModule:
    """A module whose instructions are found by name, each with its source position."""

    def __init__(self, module: HloModule) -> None:
        self.module = module.clone()
        # The instructions' own metadata, before those without a position took one from their
        # neighbours.
        self._metadata = {i.name: i.metadata for i in module.instructions()}
        complete_source_places(self.module)
        self._lines = SourceLines(self.module)

    @cached_property
    def _instructions_by_name(self) -> dict[str, HloInstruction]:
        return {i.name: i for i in reversed(list(self.module.instructions()))}

    def find(self, name: str) -> tuple[HloInstruction | None, SourcePlace]:
        """Return (instruction, position) of a name; (None, NOWHERE) if there is none."""
        i = self._instructions_by_name.get(name)
        if i is None:
            return None, NOWHERE
        for metadata in (*[self._metadata.get(one.name) for one in _located_by(i)], i.metadata):
            if line := self._lines.metadata_place(metadata):
                innermost = self._lines.innermost_place(metadata)
                return i, SourcePlace(
                    line, innermost if innermost != line else "", parse_metadata(metadata).scope
                )
        return i, NOWHERE


def short_place(place: str) -> str:
    """Return a short path: `optax/transform.py:12` of a package, `models/gpt.py:38` of others."""
    tail = re.split(r"(?:site|dist)-packages[/\\]", place)[-1]
    return tail if tail != place else "/".join(re.split(r"[/\\]", place)[-2:])


def _located_by(i: HloInstruction) -> Iterator[HloInstruction]:
    """Yield the instructions whose metadata locates a kernel: itself, its root, then the others."""
    yield i
    for called in i.called:
        yield called.root
        yield from called.instructions.values()
