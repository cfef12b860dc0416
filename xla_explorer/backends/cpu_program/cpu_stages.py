"""The CPU backend's stages between the input HLO and machine code."""

from __future__ import annotations

from typing import Any

from xla_explorer.backends.interfaces import CompilationStage, hlo_stage
from xla_explorer.backends.llvm.debug_lines import with_debug_lines
from xla_explorer.backends.llvm.llvm_compiler import CompiledObject, optimized_parts
from xla_explorer.backends.llvm.stages import assembly_with_origins, strip_debug
from xla_explorer.compiler.buffers.assignment import BufferAssignment
from xla_explorer.compiler.codegen.ir.llvm_text import text_with_origins
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.hlo.module import HloModule


def cpu_stages(
    trace: PassTrace, assignment: BufferAssignment, program: HostProgram, compiled: CompiledObject
) -> dict[str, CompilationStage]:
    """Return hlo, hlo-optimized, buffers, llvm-ir, llvm-ir-optimized, assembly and object."""
    module = trace.module
    stages = []
    if trace.initial is not None:
        stages.append(hlo_stage("hlo", HloModule.from_snapshot(trace.initial)))
    stages.append(hlo_stage("hlo-optimized", module))

    def buffers() -> tuple[str, list[int | None]]:
        rows: list[dict[str, Any]] = assignment.to_rows()
        return "\n".join(
            [repr(assignment), *[", ".join([f"{k}={v}" for k, v in row.items()]) for row in rows]]
        ), []

    def optimized() -> tuple[str, list[int | None]]:
        lines: list[str] = []
        origins: list[int | None] = []
        module = with_debug_lines(program.module)
        for text in optimized_parts(module, compiled.description, compiled.options):
            part, part_origins = strip_debug(text)
            lines += part.split("\n")
            origins += part_origins
        return "\n".join(lines), origins

    def assembly() -> tuple[str, list[int | None]]:
        return assembly_with_origins(program.module, compiled.description, compiled.options)

    stages.append(CompilationStage("buffers", buffers))
    stages.append(CompilationStage("llvm-ir", lambda: text_with_origins(program.module), "llvm"))
    stages.append(CompilationStage("llvm-ir-optimized", optimized, "llvm"))
    stages.append(CompilationStage("assembly", assembly, "asm"))
    stages.append(CompilationStage("object", lambda: (b"".join(compiled.images), []), "object"))
    return {stage.name: stage for stage in stages}
