"""The user's line of an instruction: the innermost stack frame outside of installed libraries, and the library's line below it."""

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
    """line: `model.py:12` of the user.

    library: the line of an installed library that the user's line called, empty where none is
    known. scope: the path of `op_name` without its last part.
    """

    line: str
    library: str
    scope: str


NOWHERE: Final = SourcePlace("", "", "")


class PlacedModule:
    """A module whose instructions are found by name, each with its place."""

    def __init__(self, module: HloModule) -> None:
        self.module = module.clone()
        # What instructions said themselves, before those without a place took one from their
        # neighbours.
        self._said = {i.name: i.metadata for i in module.instructions()}
        complete_source_places(self.module)
        self._lines = SourceLines(self.module)

    @cached_property
    def _by_name(self) -> dict[str, HloInstruction]:
        return {i.name: i for i in reversed(list(self.module.instructions()))}

    def find(self, name: str) -> tuple[HloInstruction | None, SourcePlace]:
        """(instruction, place) of a name; nothing where the module has no such instruction."""
        i = self._by_name.get(name)
        if i is None:
            return None, NOWHERE
        for metadata in (*[self._said.get(one.name) for one in _told_by(i)], i.metadata):
            if line := self._lines.metadata_place(metadata):
                innermost = self._lines.innermost_place(metadata)
                return i, SourcePlace(
                    line, innermost if innermost != line else "", parse_metadata(metadata).scope
                )
        return i, NOWHERE


def short_place(place: str) -> str:
    """`optax/transform.py:12` of a path in an installed package, `models/gpt.py:38` of another: enough to know it, little to read."""
    tail = re.split(r"(?:site|dist)-packages[/\\]", place)[-1]
    return tail if tail != place else "/".join(re.split(r"[/\\]", place)[-2:])


def _told_by(i: HloInstruction) -> Iterator[HloInstruction]:
    """The instructions that say where a kernel came from, the best first: itself, then what a fusion computes, its root first."""
    yield i
    for called in i.called:
        yield called.root
        yield from called.instructions.values()
