"""Find large constants of a program: arrays that a traced function closed over.

A jitted function that uses an array of an enclosing scope has this array as a constant of each
program, instead of an argument.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from xla_explorer.explorer.display.quantities import byte_count, number_of
from xla_explorer.explorer.sessions.compilation import Compilation, source_line
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

LEAST_BYTES: Final = 1 << 18
_LEAST_PART: Final = 1 << 10
"""Bytes of a constant from which on it can be a part of a captured array."""
_NAMED: Final = 3  # constants that the sentence names


class CapturedConstant(NamedTuple):
    """A large constant of a program before its first pass.

    line: the line of the user's source; empty if unknown. variable: the captured variable; empty if
    unknown. parts: the number of constants, more than one if the function reads rows of an array
    one by one; `name` and `shape` are those of the first.
    """

    name: str
    shape: str
    bytes: int
    line: str
    variable: str = ""
    parts: int = 1


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

    Smaller constants of one shape that are read on one line count together: JAX takes `array[k]` of
    a captured array as a constant of its own. If a constant has no source line, the line of its
    first user is returned.
    """
    large = large_constants(session.source, least_bytes)
    groups: dict[tuple[str, str], list[HloInstruction]] = {}
    for i in large_constants(session.source, _LEAST_PART)[len(large) :]:
        if not np.ptp(np.asarray(i.payload.array)):
            continue  # a constant that JAX made: zeros, or a fill value
        groups.setdefault((_line(session, i), i.shape.text_without_layout), []).append(i)
    parts = [of for of in groups.values() if of[0].shape.byte_size * len(of) >= least_bytes]
    found = [
        CapturedConstant(
            of[0].name,
            of[0].shape.text_without_layout,
            of[0].shape.byte_size * len(of),
            _line(session, of[0]),
            parts=len(of),
        )
        for of in [*[[i] for i in large], *parts]
    ]
    return sorted(found, key=lambda one: -one.bytes)


def _line(session: Compilation, i: HloInstruction) -> str:
    places = [session.source_lines.metadata_place(one.metadata) for one in (i, *i.users)]
    return next(filter(None, places), "") or source_line(session, i.id)


def captured_sentence(found: list[CapturedConstant]) -> str:
    """Return a sentence with the captured constants and a remedy; empty if there are none."""
    if not found:
        return ""
    named = [
        f"{one.variable or '%' + one.name} {f'{one.parts} times ' if one.parts > 1 else ''}"
        f"{one.shape}{f' at {one.line}' if one.line else ''}"
        for one in found[:_NAMED]
    ]
    more = f", {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    size = byte_count(sum(one.bytes for one in found))
    return (
        f"the program holds {size} in {number_of(len(found), 'captured constant')} "
        f"({'; '.join(named)}{more}): an array that a function captures is compiled into the "
        "program; pass it as an argument"
    )
