"""The GPU compiler: HLO passes, buffers, one LLVM module with a kernel per fusion, PTX."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from xla_explorer.backends.gpu.architecture import GpuArchitecture, gpu_architecture
from xla_explorer.backends.gpu.device_executor import DeviceExecutor
from xla_explorer.backends.gpu.device_math import DEFAULT_LEVEL, LEVELS, TABLE, write_device_math
from xla_explorer.backends.gpu.emitters.constant_memory import ConstantBank
from xla_explorer.backends.gpu.emitters.products import ProductPlans
from xla_explorer.backends.gpu.emitters.selection import write_gpu_kernels
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.gpu_program import GpuProgram, GpuProgramWriter
from xla_explorer.backends.gpu.gpu_stages import gpu_stages
from xla_explorer.backends.gpu.kernel_module import ptx_kernels
from xla_explorer.backends.gpu.libraries.shared_objects import LIBRARIES, why_missing
from xla_explorer.backends.gpu.lowering_strategies import gpu_strategy
from xla_explorer.backends.gpu.runtime.devices import device_executor
from xla_explorer.backends.gpu.runtime.several_devices import DevicesInTurn
from xla_explorer.backends.interfaces import CompileOptions, CompileResult, DevicesProgram
from xla_explorer.backends.interpreter.whole_module import on_the_evaluator, why_no_native_code
from xla_explorer.compiler.buffers import assign_buffers
from xla_explorer.compiler.codegen.ir.builder import contraction
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_facts import reorders_sums
from xla_explorer.compiler.codegen.nest.schedule_text import parse_schedules
from xla_explorer.compiler.codegen.scheduled_kernel import ScheduledKernels
from xla_explorer.compiler.decisions.recorded import code_check
from xla_explorer.compiler.pipeline.default_pipelines import (
    code_generation_pipeline,
    requested_pipeline,
)
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.target import NVPTX, ServesCalls, Target
from xla_explorer.compiler.transforms.library_calls.library_rewriter import why_no_library
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal, Level
from xla_explorer.foundation.reason import Reason, place_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

# Opcodes without a kernel, and products with several kept or reduced dimensions, which become
# matrix products for tiles and libraries.
_EXPANDED = (
    "batchnorm_expander",
    "scan-expander",
    "stochastic_convert_decomposer",
    "ragged-dot-rewriter",
    "dot-decomposer",
)


def gpu_pipeline() -> PassPipeline:
    """Return the shared pipeline with fusion by estimated time and GPU passes.

    It adds horizontal fusion, latency hiding and stream assignment.
    """
    horizontal = (make_pass("horizontal-loop-fusion"), make_pass("horizontal-input-fusion"))
    # Libraries first, so that a product fuses its bias and activation before a loop does. Then
    # rows: priority fusion gets only what a block cannot keep in registers.
    fusing = PassPipeline(
        "gpu-fusion",
        tuple(
            [
                make_pass(name)
                for name in (
                    "library-rewriter",
                    "product-epilogue-fusion",
                    "normalization-fusion",
                    "priority-fusion",
                )
            ]
        ),
    )
    return code_generation_pipeline(
        "gpu",
        after_inlining=(
            make_pass("async-inliner", only_several=True),
            make_pass("dynamic-padder"),
            make_pass("defuser"),
            # Short loops with a small body are unrolled and fused: the rounds of a random number
            # generator become one kernel.
            make_pass("while_loop_unroller", trip_count_limit=8, instruction_limit=80),
        ),
        before_layouts=tuple([make_pass(expander) for expander in _EXPANDED]),
        fusing=fusing,
        after_fusion=horizontal,
        merges_reductions=True,
        asynchronous=True,
        smallest_copy=1,  # every copy is a launch
    )


class GpuCompiler:
    """The compiler of NVIDIA GPUs (see `backends.interfaces.Compiler`).

    Keys of `CompileOptions.backend_options`:

    architecture: `sm_80`, `sm_90` ...; default: the device's.
    device: `auto` (default: an NVIDIA device, else the emulator), `cuda` or `emulator`.
    synchronous: wait after every kernel, so that an error names its kernel.
    graphs: a device replays the program as a CUDA graph from the second call on, and keeps its
    memory in between (default: yes).
    libraries: `auto` (default: NVIDIA's libraries if they are installed and a device runs the
    program), `never`, or `always` (on the emulator the evaluator replaces them).
    tf32: f32 products and convolutions of default precision may use it in a library (default: yes,
    as in XLA).
    math: accuracy of f32 division and functions, `xla` (default: as XLA's GPU code), `precise` or
    `fast`; `device_math.TABLE` has the bounds in ulps.
    schedules: directives of kernels as text, a line each.
    """

    name = "gpu"

    def default_pipeline(self) -> PassPipeline:
        """Return the HLO pipeline, as data."""
        return gpu_pipeline()

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return the reason if the (optimised) instruction needs the evaluator, else None."""
        return gpu_strategy(instruction).why_not_native

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module.

        `none` runs only the passes required by code generation.
        """
        pipeline = requested_pipeline(options.passes, gpu_pipeline())
        return optimize(
            module,
            pipeline,
            options.journal,
            control=options.control,
            target=_target(options),
            verify=options.verify,
        )

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Assign buffers and write kernels with launch dimensions.

        LLVM runs when a stage is read or the program first runs. A module with dynamic dimensions
        runs on the evaluator as a whole.
        """
        dynamic = why_no_native_code(trace.module)
        if dynamic is not None:
            return on_the_evaluator(trace, options, dynamic)
        architecture = _architecture(options)
        executor, why_emulated = _device(options)
        seconds = {"hlo-passes": trace.seconds}
        started = time.perf_counter()
        assignment = assign_buffers(trace.module)
        seconds["buffers"] = time.perf_counter() - started
        started = time.perf_counter()
        target = trace.target
        writer = GpuProgramWriter(
            trace.module,
            assignment,
            architecture,
            target,
            dialect=ptx_kernels(_math_level(options)),
            why_no_library=lambda i: why_no_library(i, target),
            schedules=parse_schedules(str(options.backend_options.get("schedules") or "")),
            control=options.control,
        )
        with contraction(bool(options.backend_options.get("contraction", True))):
            program = writer.write()
        seconds["llvm-ir"] = time.perf_counter() - started
        record_launches(program, trace.journal)
        record_directives(program, trace.journal)
        record_math(program, trace.journal)
        record_constants(program, trace.journal)
        stages = gpu_stages(trace, assignment, program, architecture)
        executable = GpuExecutable(
            assignment,
            program,
            stages["ptx"],
            architecture.name,
            executor,
            why_emulated,
            synchronous=bool(options.backend_options.get("synchronous", False)),
            graphs=bool(options.backend_options.get("graphs", True)),
        )
        return CompileResult(trace, executable, stages, assignment, seconds, program=program)

    def on_devices(
        self, result: CompileResult, replicas: int, partitions: int
    ) -> DevicesProgram | None:
        """See `SeveralDevices`: the devices run one after another between collectives."""
        found = result.executable
        return (
            DevicesInTurn(found, replicas, partitions) if isinstance(found, GpuExecutable) else None
        )


_DIRECTIVES = place_of(ScheduledKernels.with_overrides)
_LAUNCH, _MATH, _CONSTANTS = (
    place_of(write_gpu_kernels),
    place_of(write_device_math),
    place_of(ConstantBank.place),
)


def record_launches(program: GpuProgram, journal: Journal | None) -> None:
    """Record emitters, launch dimensions and refusals as decisions of kind `launch`."""
    if journal is None or journal.level < Level.DECISIONS:
        return
    for i, made in program.emitted:
        if made.nest is not None:
            why = made.nest if isinstance(made.nest, Reason) else None
            about: dict[str, object] = {"emitter": made.emitter}
            if isinstance(made.nest, Schedule):
                about |= {"schedule": str(made.nest)} | (
                    {"reorders-sum": True} if reorders_sums(made.nest) else {}
                )
            checks = code_check("loop-nest", why is None, why, about, _LAUNCH)
            journal.write(
                "decision",
                "loop-nest",
                (i.id,),
                (i.name,),
                why,
                about,
                accepted=why is None,
                checklist=checks,
            )
        for name, reason in made.refused:
            checks = code_check("launch", False, reason, {"emitter": name}, _LAUNCH)
            journal.write(
                "decision",
                "launch",
                (i.id,),
                (i.name,),
                reason,
                {"emitter": name},
                accepted=False,
                checklist=checks,
            )
        for one in made.kernels:
            facts = {
                "emitter": made.emitter,
                "grid": one.launch.blocks,
                "block": one.launch.threads_per_block,
                "shared_bytes": one.shared_bytes,
                "reasoning": one.launch.reasoning,
            }
            if made.forced:
                facts["forced-by-user"] = True
            if made.estimated_us is not None:
                facts["own_arithmetic_us"] = round(made.estimated_us, 2)
            checks = code_check("launch", True, None, facts, _LAUNCH)
            journal.write(
                "decision",
                "launch",
                (i.id,),
                (i.name,),
                None,
                facts,
                accepted=True,
                checklist=checks,
            )


def record_directives(program: GpuProgram, journal: Journal | None) -> None:
    """Record the result of the user's forced and forbidden directives."""
    if journal is None or journal.level < Level.DECISIONS:
        return
    for d in program.directives:
        facts = dict(d.reason.facts)
        checks = code_check(d.kind, d.accepted, d.reason, facts, _DIRECTIVES)
        journal.write(
            "decision",
            d.kind,
            (d.instruction,),
            (d.name,),
            d.reason,
            facts,
            accepted=d.accepted,
            checklist=checks,
        )


def record_math(program: GpuProgram, journal: Journal | None) -> None:
    """Record f32 functions and divisions of kernels, with bounds, as decisions of kind `math`."""
    if journal is None or journal.level < Level.DECISIONS or not program.dialect.math:
        return
    for i, made in program.emitted:
        for opcode, level in made.math:
            row = TABLE[level][opcode]
            facts = {
                "level": level,
                "function": opcode,
                "instructions": list(row.instructions),
                "max_ulps": row.max_ulps,
            }
            checks = code_check("math", True, None, facts, _MATH)
            journal.write(
                "decision", "math", (i.id,), (i.name,), None, facts, accepted=True, checklist=checks
            )


def record_constants(program: GpuProgram, journal: Journal | None) -> None:
    """Record the placement of constants as decisions of kind `constant-memory`.

    The subjects are the constant and its reader.
    """
    if journal is None or journal.level < Level.DECISIONS:
        return
    for i, placed in program.constants:
        facts = {
            "bytes": placed.size,
            "loads": placed.loads,
            "addresses_per_warp": placed.addresses,
            "bank_bytes": placed.bank_bytes,
        }
        subjects, names = (placed.constant.id, i.id), (placed.constant.name, i.name)
        held = placed.reason is None
        if placed.forced:
            facts["forced-by-user"] = True
        checks = code_check("constant-memory", held, placed.reason, facts, _CONSTANTS)
        journal.write(
            "decision",
            "constant-memory",
            subjects,
            names,
            placed.reason,
            facts,
            accepted=held,
            checklist=checks,
        )


def _math_level(options: CompileOptions) -> str:
    level = str(options.backend_options.get("math", DEFAULT_LEVEL))
    if level not in LEVELS:
        raise XlaExplorerError(
            f"math must be a level of math, got {level!r}", f"choose from {', '.join(LEVELS)}"
        )
    return level


def _device(options: CompileOptions) -> tuple[DeviceExecutor, Reason | None]:
    return device_executor(options.backend_options.get("device", "auto"))


def _architecture(options: CompileOptions) -> GpuArchitecture:
    """Return the requested or the device's architecture.

    It has the device's own numbers if the device is of that architecture.
    """
    given, device = options.backend_options.get("architecture"), _device(options)[0].facts
    architecture = gpu_architecture(given if given is not None else device.architecture)
    if device.emulated or device.architecture.rstrip("a") != architecture.name.rstrip("a"):
        return architecture
    return architecture.on_device(
        multiprocessors=device.multiprocessors,
        clock_gigahertz=device.clock_gigahertz,
        dram_bytes_per_nanosecond=device.dram_bytes_per_nanosecond,
        l2_bytes=device.l2_bytes,
    )


def _target(options: CompileOptions) -> Target:
    """Return the target with the abilities of the options."""
    choice = options.backend_options.get("libraries", "auto")
    if choice not in ("auto", "never", "always"):
        raise XlaExplorerError(f"libraries must be auto, never or always, got {choice!r}")
    if choice == "always":
        why_not = dict.fromkeys(LIBRARIES, "")
    elif choice == "never":
        why_not = dict.fromkeys(LIBRARIES, "compiled with libraries='never'")
    elif _device(options)[0].facts.emulated:
        why_not = dict.fromkeys(LIBRARIES, "no library computes on the emulator")
    else:
        why_not = {name: why_missing(name) for name in LIBRARIES}
    libraries = _device(options)[0].libraries if choice != "never" else None
    serves = libraries.why_not if libraries is not None else None
    return gpu_target(
        _architecture(options),
        why_not,
        tf32=bool(options.backend_options.get("tf32", True)),
        serves=serves,
    )


def gpu_target(
    architecture: GpuArchitecture,
    libraries: Mapping[str, str] | None = None,
    *,
    tf32: bool = True,
    serves: ServesCalls | None = None,
) -> Target:
    """Return the target of a GPU for passes and code generation.

    libraries, serves: see `Abilities`.
    """
    abilities = replace(
        NVPTX.abilities,
        libraries=libraries or {},
        serves=serves,
        tf32=tf32,
        product_epilogues=True,
        products=ProductPlans(architecture),
    )
    return replace(NVPTX, gpu=architecture, abilities=abilities)
