"""Find large constants of a program: arrays that a traced function closed over.

A jitted function that uses an array of an enclosing scope has this array as a constant of each
program, instead of an argument.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from xla_explorer.explorer.display.quantities import byte_count, number_of
from xla_explorer.explorer.sessions.compilation import Compilation, source_line
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

LEAST_BYTES: Final = 1 << 20
_NAMED: Final = 3  # constants that the sentence names


class CapturedConstant(NamedTuple):
    """A large constant of a program before its first pass.

    line: the line of the user's source; empty if unknown. variable: the captured variable; empty if
    unknown.
    """

    name: str
    shape: str
    bytes: int
    line: str
    variable: str = ""


def large_constants(module: HloModule, least_bytes: int = LEAST_BYTES) -> list[HloInstruction]:
    """Return the constants of at least `least_bytes`, the largest first."""
    found = [
        i
        for i in module.instructions()
        if i.opcode.name == "constant" and i.shape.is_array and i.shape.byte_size >= least_bytes
    ]
    return sorted(found, key=lambda i: -i.shape.byte_size)


def captured_constants(
    session: Compilation, least_bytes: int = LEAST_BYTES
) -> list[CapturedConstant]:
    """Return the large constants of a session's program before passes, the largest first.

    If a constant has no source line, the line of its first user is returned.
    """
    found = []
    for i in large_constants(session.source, least_bytes):
        places = [session.source_lines.metadata_place(one.metadata) for one in (i, *i.users)]
        lines = [line for line in places if line] or [source_line(session, i.id)]
        found.append(
            CapturedConstant(i.name, i.shape.text_without_layout, i.shape.byte_size, lines[0])
        )
    return found


def captured_sentence(found: list[CapturedConstant]) -> str:
    """Return a sentence with the captured constants and a remedy; empty if there are none."""
    if not found:
        return ""
    named = [
        f"{one.variable or '%' + one.name} {one.shape}{f' at {one.line}' if one.line else ''}"
        for one in found[:_NAMED]
    ]
    more = f", {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    size = byte_count(sum(one.bytes for one in found))
    return (
        f"the program holds {size} in {number_of(len(found), 'captured constant')} "
        f"({'; '.join(named)}{more}): an array that a function captures is compiled into the "
        "program; pass it as an argument"
    )
