"""The GPU compiler: HLO passes, buffers, one LLVM module with a kernel per fusion, PTX."""

from __future__ import annotations

import time
from typing import Any

from xla_explorer.backends.gpu.architecture import DEFAULT_ARCHITECTURE, GpuArchitecture, gpu_architecture
from xla_explorer.backends.gpu.gpu_platform import no_runtime
from xla_explorer.backends.gpu.gpu_program import kernel_is_emitted_for_gpu, write_gpu_program
from xla_explorer.backends.gpu.gpu_stages import gpu_stages
from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.compiler.buffers import assign_buffers
from xla_explorer.compiler.pipeline.default_pipelines import default_simplification_pipeline
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline, parse_pipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def gpu_pipeline() -> PassPipeline:
    """Simplify; fix layouts; fuse; make copies explicit; order. The order is XLA's (gpu_compiler.cc)."""
    lowering = PassPipeline(
        "lowering",
        (
            # Each call site gets a computation of its own, so that its values have one place in memory.
            make_pass("flatten-call-graph"),
            make_pass("layout-assignment"),
            make_pass("algsimp", is_layout_sensitive=True),
            make_pass("reshape-decomposer"),
            make_pass("dce"),
            make_pass("cse", is_layout_sensitive=True),
        ),
    )
    fusion = PassPipeline(
        "fusion",
        (
            make_pass("fusion"),
            make_pass("fusion-wrapper"),
            make_pass("multi-output-fusion"),
            make_pass("cse", is_layout_sensitive=True),
            make_pass("dce"),
            # Needs the trip counts that simplification annotated; two steps at a time need no copy of the state between.
            make_pass("double-buffer-loop-unrolling"),
        ),
    )
    return PassPipeline("gpu", (default_simplification_pipeline(), lowering, fusion, _finishing()))


def _finishing() -> PassPipeline:
    # Copies come after fusion: a copy inserted earlier would be fused away and the aliasing it guards with it.
    return PassPipeline("finishing", (make_pass("copy-insertion"), make_pass("dce"), make_pass("memory-scheduler")))


def _required_pipeline() -> PassPipeline:
    """What code generation needs whatever the user asks for."""
    before = PassPipeline(
        "required", (make_pass("flatten-call-graph"), make_pass("layout-assignment"), make_pass("reshape-decomposer"))
    )
    return PassPipeline("required", (before, _finishing()))


class GpuCompiler:
    """See `backends.interfaces.Compiler`. `CompileOptions.backend_options["architecture"]`: `sm_80`, `sm_90`
    (default), ..."""

    name = "gpu"

    def default_pipeline(self) -> PassPipeline:
        """The HLO pipeline, as data."""
        return gpu_pipeline()

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """None when there is a PTX kernel (or nothing to do) for the (optimised) instruction."""
        return kernel_is_emitted_for_gpu(instruction)

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module; `none` runs only what code generation cannot do without."""
        pipeline: Any = options.passes
        if pipeline == "default":
            pipeline = gpu_pipeline()
        elif pipeline in ("none", ""):
            pipeline = _required_pipeline()
        elif isinstance(pipeline, str):
            pipeline = PassPipeline("custom", (parse_pipeline(pipeline), _required_pipeline()))
        return optimize(
            module,
            pipeline,
            options.journal,
            control=options.control,
            target=target_facts(_architecture(options)),
            verify=options.verify,
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Buffers, kernels, launch dimensions. LLVM runs when a stage is looked at; there is no executable yet."""
        architecture = _architecture(options)
        seconds = {"hlo-passes": trace.seconds}
        started = time.perf_counter()
        assignment = assign_buffers(trace.module)
        seconds["buffers"] = time.perf_counter() - started
        started = time.perf_counter()
        program = write_gpu_program(trace.module, assignment, architecture)
        seconds["llvm-ir"] = time.perf_counter() - started
        return CompileResult(
            trace,
            None,
            gpu_stages(trace, assignment, program, architecture),
            assignment,
            seconds,
            no_runtime(),
            program,
        )


def _architecture(options: CompileOptions) -> GpuArchitecture:
    return gpu_architecture(options.backend_options.get("architecture", DEFAULT_ARCHITECTURE))


def target_facts(architecture: GpuArchitecture) -> dict[str, Any]:
    """What passes may ask about the GPU."""
    return {
        "backend": "gpu",
        "architecture": architecture.name,
        "vector_register_bits": 0,
        "multiprocessors": architecture.multiprocessors,
        "warp_size": architecture.warp_size,
    }
