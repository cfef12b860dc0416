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
    """One line.

    kind: `instruction`, `label`, `directive`, `data`, `comment`, `packet` (a brace around
    instructions that are issued together) or `blank`.

    hlo_line: line of the source file, from 1; None where the compiler names none. function: the
    symbol it belongs to.
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
    functions: set[str] = set()
    lines: list[AssemblyLine] = []
    current: int | None = None
    function: str | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            lines.append(AssemblyLine(line, None, "blank", function))
            continue
        label = _LABEL.match(line)
        if label is not None:
            name = label[1].strip('"')
            if name in functions:
                function, current = name, None
            lines.append(AssemblyLine(line, None, "label", function))
            continue
        if stripped.startswith(_COMMENT_STARTS):
            lines.append(AssemblyLine(line, None, "comment", function))
            continue
        ptx = _PTX_FUNCTION.match(line)
        if ptx is not None:
            function, current = ptx[1], None
        if not stripped.startswith("."):
            kind = "directive" if stripped in "{}()" or ptx is not None else "instruction"
            if _PACKET.match(line):
                kind = "packet"
            lines.append(
                AssemblyLine(line, current if kind == "instruction" else None, kind, function)
            )
            continue
        if stripped.startswith(".loc"):
            found = _LOC.match(line)
            if found is not None:
                current = (
                    (int(found[2]) or None) if filename is None or found[1] in accepted else None
                )
        elif stripped.startswith(".type"):
            typed = _FUNCTION_TYPE.match(line)
            if typed is not None:
                functions.add(typed[1].strip('"'))
        elif stripped.startswith((".section", ".size")):
            # Constants and debug tables between functions belong to none.
            function = (
                None if stripped.startswith(".section") and ".text" not in stripped else function
            )
        kind = "data" if stripped.split(None, 1)[0] in _DATA_DIRECTIVES else "directive"
        lines.append(AssemblyLine(line, None, kind, function))
    return lines


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
        if section_is_debug or line.kind == "blank":
            continue
        if line.kind in ("instruction", "packet"):
            kept.append(line)
        elif line.kind == "label":
            name = line.text.split(":", 1)[0].strip().strip('"')
            if _DEBUG_LABEL.match(name):
                continue
            # The label of a constant pool says nothing without its data.
            if constants or name == line.function or (name in used and "LCPI" not in name):
                kept.append(line)
        elif line.kind == "data":
            if constants:
                kept.append(line)
        elif line.kind == "comment" and line.function is not None:
            kept.append(line)
    return kept


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
