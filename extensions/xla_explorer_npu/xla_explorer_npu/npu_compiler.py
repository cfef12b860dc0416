"""The compiler: passes and buffer assignment of xla_explorer, one own pass, own instructions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import xla_explorer_npu.npu_fusion  # noqa: F401  # declares the pass
from xla_explorer.plugin import (
    BufferAssignment,
    CompilationStage,
    CompileOptions,
    CompileResult,
    HloInstruction,
    HloModule,
    PassPipeline,
    PassTrace,
    Reason,
    Target,
    assign_buffers,
    default_simplification_pipeline,
    hlo_stage,
    make_pass,
    optimize,
    requested_pipeline,
    sequential_computations,
)
from xla_explorer_npu.assembler import listing
from xla_explorer_npu.lowering import supports, write_program
from xla_explorer_npu.npu_executable import NpuExecutable

if TYPE_CHECKING:
    from xla_explorer_npu.npu_platform import NpuStreamExecutor

NPU = Target(name="npu")
# Expanders of operations for which the machine has no instruction.
EXPANDERS = (
    "batchnorm_expander", "rng-bit-generator-expander", "cholesky_expander", "triangular_solve_expander", "select_and_scatter_expander",
    "comparison-expander", "scan-expander", "batched_gather_scatter_normalizer", "gather_expander", "scatter_expander",
)  # fmt: skip


def npu_pipeline() -> PassPipeline:
    """Return the pipeline: expand, simplify, fix layouts, fuse, insert copies, schedule."""
    return PassPipeline(
        "npu",
        (
            # Expanders create loops and conditionals, so they precede the simplification of loops.
            PassPipeline("expanders", (make_pass("call-inliner"), *[make_pass(name) for name in EXPANDERS])),
            make_pass("convolution-group-converter", convert_feature_groups=False),
            default_simplification_pipeline(),
            PassPipeline("lowering", (make_pass("flatten-call-graph", flatten_embedded=False), make_pass("layout-assignment"),
                                      make_pass("reshape-decomposer"), make_pass("dce"), make_pass("cse", is_layout_sensitive=True))),
            make_pass("npu-fusion"),
            PassPipeline("finishing", (make_pass("copy-insertion"), make_pass("dce"), make_pass("memory-scheduler"))),
        ),
    )  # fmt: skip


class NpuCompiler:
    """See `backends.interfaces.Compiler`."""

    name = "npu"

    def __init__(self, executor: NpuStreamExecutor) -> None:
        self._executor = executor

    def default_pipeline(self) -> PassPipeline:
        """Return the HLO pipeline, as data."""
        return npu_pipeline()

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None if the instruction has a lowering, else the reason."""
        return supports(instruction)

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module; `none` runs only what every code generator needs."""
        pipeline = requested_pipeline(options.passes, npu_pipeline())
        return optimize(
            module,
            pipeline,
            options.journal,
            control=options.control,
            target=NPU,
            verify=options.verify,
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Return the program, or the Reason of the first instruction without a lowering."""
        module = trace.module
        seconds = {"hlo-passes": trace.seconds}
        stages = (
            [hlo_stage("hlo", HloModule.from_snapshot(trace.initial))]
            if trace.initial is not None
            else []
        )
        stages.append(hlo_stage("hlo-optimized", module))
        reasons = [supports(i) for c in sequential_computations(module) for i in c.sequence()]
        refusal = next((reason for reason in reasons if reason is not None), None)
        if refusal is not None:
            return CompileResult(
                trace, None, {s.name: s for s in stages}, None, seconds, why_not=refusal
            )
        started = time.perf_counter()
        assignment = assign_buffers(module)
        seconds["buffers"] = time.perf_counter() - started
        started = time.perf_counter()
        program = write_program(module, assignment)
        seconds["npu-assembly"] = time.perf_counter() - started
        stages.append(CompilationStage("buffers", lambda: _buffer_table(assignment)))
        stages.append(
            CompilationStage(
                "npu-assembly", lambda: listing(program.instructions, program.notes), "asm"
            )
        )
        executable = NpuExecutable(module, assignment, program, self._executor)
        return CompileResult(
            trace, executable, {s.name: s for s in stages}, assignment, seconds, program=program
        )


def _buffer_table(assignment: BufferAssignment) -> tuple[str, list[int | None]]:
    rows = assignment.to_rows()
    lines = [
        repr(assignment),
        *[
            (
                f"%{row['value']} {row['shape']}: {row['allocation']} + {row['offset']}, "
                f"{row['size']} bytes"
            )
            for row in rows
        ],
    ]
    return "\n".join(lines), [None, *[row["id"] for row in rows]]
