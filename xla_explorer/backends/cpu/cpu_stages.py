"""The CPU backend's stages: what can be looked at between the HLO that came in and the machine code."""

from __future__ import annotations

from typing import Any

from xla_explorer.backends.interfaces import Stage
from xla_explorer.backends.llvm.assembly import assembly_with_lines
from xla_explorer.backends.llvm.llvm_compiler import CompiledObject, emit_assembly, optimized_ir
from xla_explorer.compiler.buffers.assignment import BufferAssignment
from xla_explorer.compiler.codegen.debug_lines import with_debug_lines
from xla_explorer.compiler.codegen.host_program import HostProgram
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.printer import module_text_with_lines


def hlo_stage(name: str, module: HloModule) -> Stage:
    """A module as text with a source map."""
    def produce() -> tuple[str, list[int | None]]:
        text, lines = module_text_with_lines(module)
        return text, [lines.get(k + 1) for k in range(text.count("\n") + 1)]

    return Stage(name, produce, "hlo")


def cpu_stages(trace: PassTrace, assignment: BufferAssignment, program: HostProgram, compiled: CompiledObject) -> dict[str, Stage]:
    """hlo, hlo-optimized, buffers, llvm-ir, llvm-ir-optimized, assembly, object."""
    module = trace.module
    stages = []
    if trace.initial is not None:
        stages.append(hlo_stage("hlo", HloModule.from_snapshot(trace.initial)))
    stages.append(hlo_stage("hlo-optimized", module))

    def buffers() -> tuple[str, list[int | None]]:
        rows: list[dict[str, Any]] = assignment.to_rows()
        return "\n".join([repr(assignment), *[", ".join([f"{k}={v}" for k, v in row.items()]) for row in rows]]), []

    def with_lines() -> str:
        """The IR with the HLO line numbers as debug locations: line k is instruction id k."""
        return with_debug_lines(program.lines, program.origins)

    def optimized() -> tuple[str, list[int | None]]:
        text = optimized_ir(with_lines())
        return strip_debug(text)

    def assembly() -> tuple[str, list[int | None]]:
        found = assembly_with_lines(emit_assembly(with_lines()), "module.hlo")
        return "\n".join([line for line, _ in found]), [None if origin is None else origin - 1 for _, origin in found]

    stages.append(Stage("buffers", buffers))
    stages.append(Stage("llvm-ir", lambda: (program.text, program.origins), "llvm"))
    stages.append(Stage("llvm-ir-optimized", optimized, "llvm"))
    stages.append(Stage("assembly", assembly, "asm"))
    stages.append(Stage("object", lambda: (b"".join(compiled.objects), []), "object"))
    return {stage.name: stage for stage in stages}


def strip_debug(text: str) -> tuple[str, list[int | None]]:
    """LLVM IR without its debug metadata, and the instruction id of each line from it."""
    import re

    locations = {m.group(1): int(m.group(2)) - 1 for m in re.finditer(r"^(!\d+) = !DILocation\(line: (\d+)", text, re.M)}
    lines, origins = [], []
    for line in text.splitlines():
        if re.match(r"!\d+ = |!llvm\.(dbg|module)|!\w+ = ", line):
            continue
        found = re.search(r", !dbg (!\d+)", line)
        origins.append(locations.get(found.group(1)) if found else None)
        lines.append(re.sub(r",? !dbg !\d+", "", line))
    return "\n".join(lines), origins
