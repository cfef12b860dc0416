"""The compiler for AMD GPUs: the GPU backend's passes, kernels and thunks.

LLVM's AMDGPU target compiles them to assembly and object code.
"""

from __future__ import annotations

import time

from xla_explorer.backends.amdgpu.amdgpu_kernels import (
    AMD_KERNELS,
    AmdArchitecture,
    amd_architecture,
    kernel_registers,
)
from xla_explorer.backends.amdgpu.availability import why_nothing_runs
from xla_explorer.backends.gpu.gpu_program import GpuProgram, GpuProgramWriter
from xla_explorer.backends.gpu.gpu_stages import (
    PTX_OPTIMIZATION,
    launch_table,
    stages_before_assembly,
)
from xla_explorer.backends.gpu.lowering_strategies import gpu_strategy
from xla_explorer.backends.interfaces import CompilationStage, CompileOptions, CompileResult
from xla_explorer.backends.llvm.debug_lines import with_debug_lines
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly, optimize_and_emit, optimized_ir
from xla_explorer.backends.llvm.stages import assembly_with_origins, strip_debug
from xla_explorer.compiler.buffers.assignment import BufferAssignment, assign_buffers
from xla_explorer.compiler.pipeline.default_pipelines import (
    code_generation_pipeline,
    requested_pipeline,
)
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.target import AMDGPU
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_EXPANDED = (
    "batchnorm_expander",
    "scan-expander",
    "stochastic_convert_decomposer",
    "cholesky-expander",
    "triangular-solve-expander",
    "select_and_scatter_expander",
    "ragged-dot-rewriter",
)


class AmdGpuCompiler:
    """See `backends.interfaces.Compiler`.

    `CompileOptions.backend_options`: architecture: `gfx942` (default) or `gfx90a`.
    """

    name = "amdgpu"

    def default_pipeline(self) -> PassPipeline:
        """Return the HLO pipeline, as data.

        Opcodes without kernels are expanded, because no host evaluator runs beside the device.
        """
        return code_generation_pipeline(
            "amdgpu", before_layouts=tuple([make_pass(name) for name in _EXPANDED])
        )

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None if there is a kernel for the (optimised) instruction, else the reason."""
        return gpu_strategy(instruction, AMDGPU).why_not_native

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module; `none` runs only the passes that code generation needs."""
        architecture = _architecture(options)
        pipeline = requested_pipeline(options.passes, self.default_pipeline())
        return optimize(
            module,
            pipeline,
            options.journal,
            control=options.control,
            target=architecture.described,
            verify=options.verify,
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Assign buffers and write kernels with their launches; LLVM runs when a stage is read."""
        architecture = _architecture(options)
        seconds = {"hlo-passes": trace.seconds}
        started = time.perf_counter()
        assignment = assign_buffers(trace.module)
        seconds["buffers"] = time.perf_counter() - started
        started = time.perf_counter()
        program = GpuProgramWriter(
            trace.module, assignment, architecture, architecture.described, AMD_KERNELS
        ).write()
        seconds["llvm-ir"] = time.perf_counter() - started
        stages = _stages(trace, assignment, program, architecture)
        return CompileResult(trace, None, stages, assignment, seconds, why_nothing_runs(), program)


def _architecture(options: CompileOptions) -> AmdArchitecture:
    return amd_architecture(options.backend_options.get("architecture"))


def _stages(
    trace: PassTrace,
    assignment: BufferAssignment,
    program: GpuProgram,
    architecture: AmdArchitecture,
) -> dict[str, CompilationStage]:
    target = architecture.target

    def assembly() -> tuple[str, list[int | None]]:
        return assembly_with_origins(program.module, target, PTX_OPTIMIZATION)

    def registers() -> tuple[str, list[int | None]]:
        instructions = {kernel.name: kernel.instruction for kernel in program.kernels}
        rows = kernel_registers(emit_assembly(program.module, target, PTX_OPTIMIZATION))
        text = [
            f"{row.name}: {row.vector_registers} vector and {row.scalar_registers} scalar "
            f"registers, {row.spilled} spilled, "
            f"{row.stack_bytes} bytes of stack a thread"
            for row in rows
        ]
        return "\n".join(text) or "no kernels", [instructions.get(row.name) for row in rows]

    def compiled() -> tuple[bytes, list[int | None]]:
        return optimize_and_emit(program.module, target, options=PTX_OPTIMIZATION).object_bytes, []

    stages = stages_before_assembly(trace, assignment, program)
    stages.append(
        CompilationStage(
            "llvm-ir-optimized",
            lambda: strip_debug(
                optimized_ir(with_debug_lines(program.module), target, PTX_OPTIMIZATION)
            ),
            "llvm",
        )
    )
    stages += [
        CompilationStage("assembly", assembly, "asm"),
        CompilationStage("registers", registers),
        CompilationStage("object", compiled, "object"),
    ]
    stages.append(CompilationStage("launches", lambda: launch_table(program)))
    return {stage.name: stage for stage in stages}
