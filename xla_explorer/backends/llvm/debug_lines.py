"""Debug locations in an LLVM module, which keep each line's HLO instruction through LLVM.

The line number of a location is the instruction id plus one, because DWARF has no line zero. The
file is called module.hlo.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.compiler.codegen.ir.definitions import Metadata, node_list
from xla_explorer.compiler.codegen.ir.llvm_module import SOURCE, LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.records import Label

_BASE = 100_000  # metadata numbers: well above those of the module itself
_FIRST_SCOPE = _BASE + 4


def with_debug_lines(module: LlvmModule, emission: str = "LineTablesOnly") -> LlvmModule:
    """Return the module with a DISubprogram per function and a DILocation per operation.

    emission: `LineTablesOnly`, or `DebugDirectivesOnly` for PTX (the other changes the code).
    """
    locations: list[Metadata] = []
    functions = tuple([_with_locations(function, locations) for function in module.functions])
    following = _FIRST_SCOPE + len(locations)
    unit = (
        f"distinct !DICompileUnit(language: DW_LANG_C, file: !{_BASE + 1}, producer: "
        '"xla_explorer", '
        f"isOptimized: true, runtimeVersion: 0, emissionKind: {emission})"
    )
    nodes = (
        Metadata("llvm.dbg.cu", node_list(_BASE)),
        Metadata("llvm.module.flags", node_list(_BASE + 2, following)),
        Metadata(_BASE, unit),
        Metadata(_BASE + 1, f'!DIFile(filename: "{SOURCE}", directory: "")'),
        Metadata(_BASE + 2, '!{i32 2, !"Dwarf Version", i32 4}'),
        Metadata(_BASE + 3, f"!DISubroutineType(types: !{following + 1})"),
        Metadata(following, '!{i32 2, !"Debug Info Version", i32 3}'),
        Metadata(following + 1, "!{}"),
    )
    return replace(module, functions=functions, metadata=(*module.metadata, *nodes, *locations))


def _with_locations(function: LlvmFunction, locations: list[Metadata]) -> LlvmFunction:
    """Return a function with locations, whose metadata is appended to `locations`.

    Functions of no instruction that are inlined have none: their lines get those of the callers.
    """
    if function.is_inlined and function.origin is None:
        return function
    scope = _FIRST_SCOPE + len(locations)
    current = 0 if function.origin is None else function.origin + 1  # line 0: of no instruction
    program = (
        f'distinct !DISubprogram(name: "{function.name}", scope: !{_BASE + 1}, file: !{_BASE + 1}, '
        f"line: {current}, type: !{_BASE + 3}, unit: !{_BASE}, "
        "spFlags: DISPFlagDefinition | DISPFlagOptimized)"
    )
    locations.append(Metadata(scope, program))
    known: dict[int, int] = {}
    numbers = []
    for record in function.body:
        if isinstance(record, Label):
            numbers.append(0)
            continue
        current = current if record.origin is None else record.origin + 1
        if current not in known:
            known[current] = _FIRST_SCOPE + len(locations)
            location = f"!DILocation(line: {current}, column: 1, scope: !{scope})"
            locations.append(Metadata(known[current], location))
        numbers.append(known[current])
    return function._replace(locations=tuple(numbers), scope=scope)
