"""Assembly text, line by line, with the source line each instruction came from.

The LLVM IR carries `!dbg` locations whose file is the HLO text and whose line is the HLO line; LLVM
prints them as `.loc` directives between the instructions, which are read back here. Works for every
target whose assembly has these (x86, AArch64, RISC-V, PTX, ...).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"', re.MULTILINE)
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_LABEL = re.compile(r'\s*("[^"]+"|[A-Za-z_.$][\w.$@-]*):')
_FUNCTION_TYPE = re.compile(r"\s*\.type\s+(\"[^\"]+\"|[^,\s]+)\s*,\s*[@%#]function")
_PTX_FUNCTION = re.compile(
    r"\s*(?:\.visible|\.weak|\.extern)?\s*\.(?:entry|func)\b[^(]*?\b([A-Za-z_$][\w$]*)\s*\("
)
# Labels that only delimit debug information and unwinding tables.
_DEBUG_LABEL = re.compile(
    r"\.?L(tmp|func_begin|func_end|debug|info|line|sec|str|abbrev|addr|cu_begin|names)"
)
_DATA_DIRECTIVES = frozenset(
    (
        ".long",
        ".quad",
        ".zero",
        ".byte",
        ".short",
        ".ascii",
        ".asciz",
        ".string",
        ".hword",
        ".word",
        ".xword",
        ".half",
        ".2byte",
        ".4byte",
        ".8byte",
        ".int",
        ".int8",
        ".int16",
        ".int32",
        ".int64",
        ".float",
        ".double",
        ".skip",
        ".space",
    )
)
_PACKET = re.compile(r"\t(?:\{|\}.*)$")  # Hexagon: what is between the braces is issued together
_COMMENT_STARTS = ("#", "//", ";")
_WORD = re.compile(r"[\w.$]+")


class AssemblyLine(NamedTuple):
    """A line of assembly.

    kind: `instruction`, `label`, `directive`, `data`, `comment`, `packet` (a brace around
    instructions that are issued together) or `blank`. hlo_line: line of the source file, from 1;
    None without debug information. function: the symbol of its function.
    """

    text: str
    hlo_line: int | None
    kind: str
    function: str | None


def parse_assembly(text: str, filename: str | None = None) -> list[AssemblyLine]:
    """Return all lines of an assembly text with kind, function and source line.

    filename: only locations in the file of this name count (the last path component decides); None
    takes all.
    """
    # PTX declares its files at the end.
    accepted = {
        number
        for number, path in _FILE.findall(text)
        if filename is None or _same_file(path, filename)
    }
    reader = _AssemblyReader(accepted if filename is not None else None)
    return [reader.read(line) for line in text.splitlines()]


class _AssemblyReader:
    """Reader of assembly, line by line.

    accepted: numbers of the files whose locations count; None for all.
    """

    def __init__(self, accepted: set[str] | None) -> None:
        self._accepted = accepted
        self._functions: set[str] = set()
        self._function: str | None = None
        self._location: int | None = None

    def read(self, line: str) -> AssemblyLine:
        """Return the next line with its kind, function and source line."""
        stripped = line.strip()
        if not stripped:
            return AssemblyLine(line, None, "blank", self._function)
        label = _LABEL.match(line)
        if label is not None:
            self._enter(label[1].strip('"'))
            return AssemblyLine(line, None, "label", self._function)
        if stripped.startswith(_COMMENT_STARTS):
            return AssemblyLine(line, None, "comment", self._function)
        ptx = _PTX_FUNCTION.match(line)
        if ptx is not None:
            self._function, self._location = ptx[1], None
        if stripped.startswith("."):
            self._directive(line, stripped)
            kind = "data" if stripped.split(None, 1)[0] in _DATA_DIRECTIVES else "directive"
            return AssemblyLine(line, None, kind, self._function)
        if _PACKET.match(line):
            return AssemblyLine(line, None, "packet", self._function)
        if stripped in "{}()" or ptx is not None:
            return AssemblyLine(line, None, "directive", self._function)
        return AssemblyLine(line, self._location, "instruction", self._function)

    def _enter(self, name: str) -> None:
        """Begin a function if the label is one."""
        if name in self._functions:
            self._function, self._location = name, None

    def _directive(self, line: str, stripped: str) -> None:
        """Record locations, function symbols and section changes."""
        if (found := _LOC.match(line)) is not None:
            counts = self._accepted is None or found[1] in self._accepted
            self._location = (int(found[2]) or None) if counts else None
        elif (typed := _FUNCTION_TYPE.match(line)) is not None:
            self._functions.add(typed[1].strip('"'))
        elif stripped.startswith(".section") and ".text" not in stripped:
            self._function = None  # constants and debug tables belong to no function


def _same_file(path: str, filename: str) -> bool:
    return re.split(r"[\\/]", path)[-1] == re.split(r"[\\/]", filename)[-1]


def readable(lines: list[AssemblyLine], *, constants: bool = False) -> list[AssemblyLine]:
    """Keep instructions, comments and referenced labels; drop directives and debug tables.

    constants: keep constant pools (label and data) as well.
    """
    used: set[str] = set()
    if not constants:
        used.update(*(_WORD.findall(line.text) for line in lines if line.kind == "instruction"))
    kept: list[AssemblyLine] = []
    section_is_debug = False
    for line in lines:
        if line.kind == "directive":
            stripped = line.text.lstrip()
            if stripped.startswith((".section", ".text", ".data")):
                section_is_debug = (
                    ".debug" in stripped or ".note" in stripped or ".eh_frame" in stripped
                )
            continue
        if not section_is_debug and _is_readable(line, used, constants):
            kept.append(line)
    return kept


def _is_readable(line: AssemblyLine, used: set[str], constants: bool) -> bool:
    """Return True for a line that is kept. used: words of all instructions."""
    if line.kind == "label":
        name = line.text.split(":", 1)[0].strip().strip('"')
        # The label of a constant pool is meaningless without its data.
        is_referenced = name in used and "LCPI" not in name
        return not _DEBUG_LABEL.match(name) and (
            constants or name == line.function or is_referenced
        )
    if line.kind == "data":
        return constants
    if line.kind == "comment":
        return line.function is not None
    return line.kind in ("instruction", "packet")


def assembly_with_lines(
    text: str,
    filename: str | None = None,
    *,
    filter_directives: bool = True,
) -> list[tuple[str, int | None]]:
    """Return pairs of (assembly line, source line or None), in order.

    filter_directives: leave out directives and debug tables.
    """
    lines = parse_assembly(text, filename)
    if filter_directives:
        lines = readable(lines)
    return [(line.text, line.hlo_line) for line in lines]
