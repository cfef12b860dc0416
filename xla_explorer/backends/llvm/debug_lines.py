"""Debug locations in an LLVM module, which keep each line's HLO instruction through LLVM.

The line number of a location is the instruction id plus one, because DWARF has no line zero. The
file is called module.hlo.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.records import Label

_BASE = 100_000  # metadata numbers: well above those of the module itself
_FIRST_SCOPE = _BASE + 4


def with_debug_lines(module: LlvmModule, emission: str = "LineTablesOnly") -> LlvmModule:
    """Return the module with a DISubprogram per function and a DILocation per operation.

    emission: `LineTablesOnly`, or `DebugDirectivesOnly` for PTX (the other changes the code).
    """
    locations: list[str] = []
    functions = tuple([_with_locations(function, locations) for function in module.functions])
    following = _FIRST_SCOPE + len(locations)
    return replace(
        module,
        functions=functions,
        metadata=(
            *module.metadata,
            f"!llvm.dbg.cu = !{{!{_BASE}}}",
            f"!llvm.module.flags = !{{!{_BASE + 2}, !{following}}}",
            f'!{_BASE} = distinct !DICompileUnit(language: DW_LANG_C, file: !{_BASE + 1}, producer: "xla_explorer", isOptimized: true, '
            f"runtimeVersion: 0, emissionKind: {emission})",
            f'!{_BASE + 1} = !DIFile(filename: "module.hlo", directory: "")',
            f'!{_BASE + 2} = !{{i32 2, !"Dwarf Version", i32 4}}',
            f"!{_BASE + 3} = !DISubroutineType(types: !{following + 1})",
            f'!{following} = !{{i32 2, !"Debug Info Version", i32 3}}',
            f"!{following + 1} = !{{}}",
            *locations,
        ),
    )


def _with_locations(function: LlvmFunction, locations: list[str]) -> LlvmFunction:
    """Return a function with locations, whose metadata is appended to `locations`.

    Functions of no instruction that are inlined have none: their lines get those of the callers.
    """
    if function.is_inlined and function.origin is None:
        return function
    scope = _FIRST_SCOPE + len(locations)
    current = 0 if function.origin is None else function.origin + 1  # line 0: of no instruction
    locations.append(
        f'!{scope} = distinct !DISubprogram(name: "{function.name}", scope: !{_BASE + 1}, file: !{_BASE + 1}, line: {current}, '
        f"type: !{_BASE + 3}, unit: !{_BASE}, spFlags: DISPFlagDefinition | DISPFlagOptimized)"
    )
    known: dict[int, int] = {}
    numbers = []
    for record in function.body:
        if isinstance(record, Label):
            numbers.append(0)
            continue
        current = current if record.origin is None else record.origin + 1
        if current not in known:
            known[current] = _FIRST_SCOPE + len(locations)
            locations.append(
                f"!{known[current]} = !DILocation(line: {current}, column: 1, scope: !{scope})"
            )
        numbers.append(known[current])
    return function._replace(locations=tuple(numbers), scope=scope)
