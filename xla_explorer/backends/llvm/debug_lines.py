"""Debug locations in LLVM IR text, which keep each line's HLO instruction through LLVM.

The line number of a location is the instruction id plus one, because DWARF has no line zero. The
file is called module.hlo.
"""

from __future__ import annotations

import re

_DEFINE = re.compile(r"^define .*@\"?([\w.$-]+)\"?\(.*\{$")
_INSTRUCTION = re.compile(r"^  \S")


def with_debug_lines(
    lines: list[str], origins: list[int | None], emission: str = "LineTablesOnly"
) -> str:
    """Return the IR with a DISubprogram per function and a DILocation per instruction.

    emission: `LineTablesOnly`, or `DebugDirectivesOnly` for PTX (the other changes the code).
    """
    base = 100_000  # well above the metadata numbers of the text itself
    next_number = base + 4
    out: list[str] = []
    tail: list[str] = []
    scope: int | None = None
    known: dict[int, int] = {}
    current = 0
    for line, origin in zip(lines, origins, strict=True):
        define = _DEFINE.match(line)
        if define:
            if (
                "alwaysinline" in line and origin is None
            ):  # vector math: inlined into lines that have their own location
                scope = None
            else:
                scope, next_number, known = next_number, next_number + 1, {}
                current = 0 if origin is None else origin + 1  # line 0: of no instruction
                tail.append(
                    f'!{scope} = distinct !DISubprogram(name: "{define.group(1)}", scope: !{base + 1}, file: !{base + 1}, line: {current}, '
                    f"type: !{base + 3}, unit: !{base}, spFlags: DISPFlagDefinition | DISPFlagOptimized)"
                )
                line = line[:-1] + f"!dbg !{scope} {{"
        elif line == "}":
            scope = None
        elif scope is not None and _INSTRUCTION.match(line):
            if origin is not None:
                current = origin + 1
            location = known.get(current)
            if location is None:
                location = known[current] = next_number
                next_number += 1
                tail.append(
                    f"!{location} = !DILocation(line: {current}, column: 1, scope: !{scope})"
                )
            line = f"{line}, !dbg !{location}"
        out.append(line)
    out += [
        f"!llvm.dbg.cu = !{{!{base}}}",
        f"!llvm.module.flags = !{{!{base + 2}, !{next_number}}}",
        f'!{base} = distinct !DICompileUnit(language: DW_LANG_C, file: !{base + 1}, producer: "xla_explorer", isOptimized: true, '
        f"runtimeVersion: 0, emissionKind: {emission})",
        f'!{base + 1} = !DIFile(filename: "module.hlo", directory: "")',
        f'!{base + 2} = !{{i32 2, !"Dwarf Version", i32 4}}',
        f"!{base + 3} = !DISubroutineType(types: !{next_number + 1})",
        f'!{next_number} = !{{i32 2, !"Debug Info Version", i32 3}}',
        f"!{next_number + 1} = !{{}}",
        *tail,
    ]
    return "\n".join(out) + "\n"
