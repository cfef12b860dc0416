"""The functions in the text of a stage: LLVM IR, PTX, assembly or SASS, with headers and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from xla_explorer.backends.interfaces.stage import CompilationStage
from xla_explorer.foundation.kept import kept


class CodeLine(NamedTuple):
    """A line of a stage's text.

    number: in that text, from 1. instruction: that it came from, None for headers and labels.
    """

    number: int
    text: str
    instruction: int | None


_LLVM = re.compile(r'^define [^@]*@"?([^"( ]+)"?\(')
_PTX = re.compile(
    r"^(?:\.(?:visible|weak|extern)\s+)*\.(?:entry|func)\b(?:\s*\([^)]*\))?\s*([\w$]+)"
)
_SASS = re.compile(r"^\.text\.([\w$.]+):")
_ASSEMBLY = re.compile(r'^"?([A-Za-z_$][\w$.]*)"?:')


@kept
def stage_functions(stage: CompilationStage) -> dict[str, list[CodeLine]]:
    """Return the functions of a stage's lines; see `functions_of`."""
    return functions_of(stage.name, stage.lines())


def functions_of(stage: str, lines: Iterable[tuple[str, int | None]]) -> dict[str, list[CodeLine]]:
    """Name -> the lines of each function. Lines between functions belong to none."""
    if stage == "ptx":
        return _delimited(_PTX, lines, "}")
    if stage == "sass":
        return _delimited(_SASS, lines, ".section", "//-----")
    if stage == "assembly":
        return _labelled(lines)
    return _delimited(_LLVM, lines, "}")


def _delimited(
    begin: re.Pattern[str], lines: Iterable[tuple[str, int | None]], *ends: str
) -> dict[str, list[CodeLine]]:
    found: dict[str, list[CodeLine]] = {}
    body: list[CodeLine] | None = None
    for number, (text, key) in enumerate(lines, 1):
        if start := begin.match(text):
            body = found.setdefault(start[1], [])
        if body is None:
            continue
        last = text.lstrip().startswith(ends) if ends != ("}",) else text == "}"
        if not last or ends == ("}",):
            body.append(CodeLine(number, text, key))
        if last:
            body = None
    return found


def _labelled(lines: Iterable[tuple[str, int | None]]) -> dict[str, list[CodeLine]]:
    """Return functions of assembly, which begin at labels without a leading dot.

    Tables of constants after a function's end are left out.
    """
    found: dict[str, list[CodeLine]] = {}
    body: list[CodeLine] | None = None
    for number, (text, key) in enumerate(lines, 1):
        if start := _ASSEMBLY.match(text):
            body = found.setdefault(start[1], [])
        elif text.startswith((".Lfunc_end", ".LCPI")) or text.lstrip().startswith(
            (".section", ".size")
        ):
            body = None
        if body is not None:
            body.append(CodeLine(number, text, key))
    return found
